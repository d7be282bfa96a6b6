"""Masks, batches, windows and common mistakes, in loops that skip pairs."""

import math

import numpy as np

from tests import loops
from tests.examples.comparison import independent
from tests.examples.independent.one_head import is_causal, one_head_steps
from tests.loops import rotate_pairs


def boolean_mask(allowed, m, n):
    """Return an (m, n) mask, True where `allowed(i, j)`."""
    return [[allowed(i, j) for j in range(n)] for i in range(m)]


@independent("causal_alignments", "loops over the visible keys")
def causal_alignments(literals):
    scaled = one_head_steps(literals)["scaled"]
    return {
        "scaled": scaled,
        "top_left": boolean_mask(is_causal, 4, 5),
        "bottom_right": boolean_mask(lambda i, j: j <= i + 1, 4, 5),
        "masked": [
            [z if is_causal(i, j) else -math.inf for j, z in enumerate(row)]
            for i, row in enumerate(scaled)
        ],
    }


@independent("causal_padding", "slow loops that skip pairs")
def causal_padding(literals):
    q, k, v = (literals[letter] for letter in "QKV")
    masks = {
        "causal": is_causal,
        "right": lambda i, j: j < 3,
        "causal_and_right": lambda i, j: j <= i and j < 3,
        "causal_and_left": lambda i, j: 1 <= j <= i,
    }
    unmasked = loops.every_step(q, k, v)
    computed = {name: unmasked[name] for name in ("scaled", "weights")}
    for name, allowed in masks.items():
        steps = loops.every_step(q, k, v, allowed)
        computed[name] = boolean_mask(allowed, 4, 4)
        computed[f"weights_{name}"] = steps["weights"]
        if name in ("causal", "causal_and_left"):
            computed[f"output_{name}"] = steps["output"]
    computed["right"], computed["left"] = [[True, True, True, False]], [[False, True, True, True]]
    # A fill of -1e9 acts as minus infinity next to any score, but a fully filled row is uniform.
    weights = [[1 / 4] * 4, *computed["weights_causal_and_left"][1:]]
    return {
        **computed,
        "masked_causal": loops.every_step(q, k, v, is_causal)["masked"],
        "masked_causal_and_left": loops.every_step(q, k, v, masks["causal_and_left"])["masked"],
        "weights_filled": weights,
        "output_filled": loops.matmul(weights, v),
    }


@independent("masked_row", "a softmax of the visible scores alone", fixed=["MASK"])
def masked_row(literals):
    first, second, hidden = literals["SCORES"]
    lowered, multiplied = [first, second, hidden - literals["LARGE"][0]], [first, second, 0]
    return {
        "mask": [True, True, False],
        "weights": [*loops.softmax_row([first, second]), 0],
        "kept": [*loops.softmax_row([first, second, hidden])[:2], 0],
        "kept_sum": math.fsum(loops.softmax_row([first, second, hidden])[:2]),
        "lowered": lowered,
        "weights_lowered": loops.softmax_row(lowered),
        "multiplied": multiplied,
        "weights_multiplied": loops.softmax_row(multiplied),
    }


def before_and_after_injection(literals):
    """Return queries, keys and values before and after a query and a key are set equal."""
    before = [loops.matmul(literals["DATA"][0], matrix) for matrix in literals["WEIGHTS"]]
    q, k, v = ([*rows] for rows in before)
    q[2] = k[5] = literals["INJECTED"]
    return before, (q, k, v)


@independent("batched_attention", "slow loops")
def batched_attention(literals):
    before, (q, k, v) = before_and_after_injection(literals)
    steps = loops.every_step(q, k, v)
    return {
        "Q": q,
        "K": k,
        "V": v,
        **{name: steps[name] for name in ("scores", "scaled", "weights", "output")},
        "k_lengths": [math.hypot(*row) for row in k],
        "cosines": [
            [loops.dot(query, key) / (math.hypot(*query) * math.hypot(*key)) for key in k]
            for query in q
        ],
        "smallest_value": [min(column) for column in zip(*v, strict=True)],
        "largest_value": [max(column) for column in zip(*v, strict=True)],
        "before_2": loops.attention(*before)[0][2],
        "after_2": steps["weights"][2],
    }


@independent("local_window_mask", "a slow loop that skips pairs, and shares of the visible weights")
def local_window_mask(literals):
    _, (q, k, v) = before_and_after_injection(literals)

    def near(i, j):
        return abs(i - j) <= 1

    unmasked, masked = loops.every_step(q, k, v), loops.every_step(q, k, v, near)
    visible = [
        [weight if near(i, j) else 0 for j, weight in enumerate(row)]
        for i, row in enumerate(unmasked["weights"])
    ]
    return {
        "mask": boolean_mask(near, 10, 10),
        **{name: unmasked[name] for name in ("scaled", "weights", "output")},
        "masked": masked["masked"],
        "weights_masked": masked["weights"],
        "kept": visible,
        "kept_sum": [math.fsum(row) for row in visible],
        "renormalised": masked["weights"],
        "weight_2_5": unmasked["weights"][2][5],
        "weight_2_5_masked": 0,
        "output_masked": masked["output"],
    }


@independent("common_mistakes", "slow loops, each with the mistake")
def common_mistakes(literals):
    correct = one_head_steps(literals)
    q, k, v = (correct[letter] for letter in "QKV")
    square_q, square_k, square_v = (literals[letter] for letter in "QKV")
    # A softmax over the queries normalises the columns.
    columns = [loops.softmax_row(column) for column in np.transpose(correct["scaled"])]
    masked_late = [
        [weight if is_causal(i, j) else 0 for j, weight in enumerate(row)]
        for i, row in enumerate(correct["weights"])
    ]
    negative_scale = loops.attention(square_q, square_k, square_v, is_causal, divisor=-1)[1]

    def output(*rows, **options):
        return loops.attention(*rows, **options)[1]

    return {
        "right": correct["output"],
        "divided_by_d_k": output(q, k, v, divisor=2),
        "divided_by_root_of_d_model": output(q, k, v, divisor=math.sqrt(6)),
        "not_scaled": output(q, k, v, divisor=1),
        "softmax_over_queries": loops.matmul(np.transpose(columns), v),
        "padding_not_hidden": output(q, [*k, [0, 0]], [*v, [0, 0, 0]]),
        "causal": output(q, k, v, allowed=is_causal),
        "mask_flipped": output(q, k, v, allowed=lambda i, j: j > i),
        "mask_after_softmax": loops.matmul(masked_late, v),
        "square": output(square_q, square_k, square_v),
        "queries_and_keys_swapped": output(square_k, square_q, square_v),
        "keys_and_values_swapped": output(square_q, square_v, square_k),
        "newest": output(q[-1:], k, v),
        "newest_with_is_causal": v[:1],  # only the first key is visible
        "aligned_bottom_right": output(q, k, v, allowed=lambda i, j: j <= i + 1),
        "negative_scale": negative_scale,
        # A negative scale turns -inf of a hidden score into inf; the last row hides none.
        "scaled_after_mask": [[math.nan] * 2, [math.nan] * 2, negative_scale[2]],
    }


@independent("common_mistakes", "slow loops over three heads")
def heads_without_transpose(literals):
    x_q, x_kv = np.array(literals["X_q"]), np.array(literals["X_kv"])

    def attend(q, k):
        return loops.attention(q, k, k)[1]

    columns = [slice(0, 2), slice(2, 4), slice(4, 6)]
    heads = [attend(x_q[:, pair], x_kv[:, pair]) for pair in columns]
    # Without the transpose, a head has a third of the numbers in the order of memory.
    wrong_heads = [attend(x_q.reshape(3, 4, 2)[i], x_kv.reshape(3, 5, 2)[i]) for i in range(3)]
    return {
        "heads": np.hstack(heads),
        "heads_without_transpose": np.ravel(wrong_heads).reshape(4, 6),
    }


@independent("common_mistakes", "slow loops over the six words")
def losses_of_copying_model(literals):
    words = np.eye(6)[:5]
    copied = loops.attention(6 * words, 6 * words, words, is_causal)[1]
    rows = [loops.softmax_row(5 * row) for row in np.array(copied)]
    return {
        "unshifted_targets": [-math.log(row[i]) for i, row in enumerate(rows)],
        "shifted_targets": [-math.log(row[i + 1]) for i, row in enumerate(rows)],
    }


@independent("mask_functions", "rules for one pair", fixed=["WINDOW", "PREFIX", "CHUNK"])
def mask_functions(literals):
    n = len(literals["X"])
    rules = {
        "causal": is_causal,
        "document": lambda i, j: (i < 3) == (j < 3),
        "packed": lambda i, j: is_causal(i, j) and (i < 3) == (j < 3),
    }
    return {name: boolean_mask(rule, n, n) for name, rule in rules.items()}


@independent("mask_functions", "paths in the tree of the draft", fixed=["PARENTS"])
def tree_of_draft(literals):
    paths = []  # from the root of the draft to each token
    for token, parent in enumerate(literals["PARENTS"]):
        paths.append([token] if parent is None else [*paths[parent], token])
    return {
        "tree": boolean_mask(lambda i, j: j in paths[i], len(paths), len(paths)),
        "depth": [len(path) - 1 for path in paths],
    }


@independent(
    "mask_functions", "attention over the visible keys alone", fixed=["DOCUMENTS", "SECOND"]
)
def packed_documents(literals):
    x, documents = literals["X"], literals["DOCUMENTS"]
    n, d, second_document = len(x), len(x[0]), range(3, len(x))
    positions = [documents[:i].count(documents[i]) for i in range(n)]

    def with_position(row, position):
        """Add a sinusoidal position to a row."""
        angles = [position / 10000 ** (2 * pair / d) for pair in range(d // 2)]
        waves = [wave(angle) for angle in angles for wave in (math.sin, math.cos)]
        return [feature + wave for feature, wave in zip(row, waves, strict=True)]

    def last_output(queries, values, keys):
        """Attend from the last token to the keys with these indices."""
        scores = [loops.dot(queries[-1], queries[j]) / math.sqrt(d) for j in keys]
        weights = loops.softmax_row(scores)
        columns = zip(*(values[j] for j in keys), strict=True)
        return [loops.dot(weights, column) for column in columns]

    def output_with_added(positions, keys):
        rows = [with_position(row, position) for row, position in zip(x, positions, strict=True)]
        return last_output(rows, rows, keys)

    rotated = [rotate_pairs(row, t, base=10000) for t, row in enumerate(x)]
    return {
        "positions": positions,
        "alone": output_with_added([0, 0, 0, *range(5)], second_document),
        "restarted": output_with_added(positions, second_document),
        "running": output_with_added(range(n), second_document),
        "open": output_with_added(positions, range(n)),
        "turned_running": last_output(rotated, x, second_document),
    }


@independent(
    "mask_blocks",
    "counted pair by pair",
    fixed=["WINDOW", "PREFIX", "SECOND", "CHUNK", "TOKENS", "BLOCK"],
)
def mask_blocks(literals):
    window, prefix, second, chunk = (
        literals[name][0] for name in ("WINDOW", "PREFIX", "SECOND", "CHUNK")
    )
    n, size = literals["TOKENS"], literals["BLOCK"]

    def sees(i, j):
        if i // chunk != j // chunk or (i < second) != (j < second):
            return False
        return j < prefix or i - window <= j <= i

    pairs = {(i, j) for i in range(n) for j in range(n) if sees(i, j)}
    blocks = range(0, n, size)
    counts = [
        [sum((i + a, j + b) in pairs for a in range(size) for b in range(size)) for j in blocks]
        for i in blocks
    ]
    visible = [[j for j in range(n) if (i, j) in pairs] for i in range(n)]
    flat = [count for row in counts for count in row]
    return {
        "mask": boolean_mask(sees, n, n),
        "weights": [[(j in keys) / len(keys) for j in range(n)] for keys in visible],
        "counts": counts,
        "pairs": len(pairs),
        "computed": sum(count > 0 for count in flat),
        "partial": sum(0 < count < size**2 for count in flat),
    }
