"""Masks, batches, windows and the classical mistakes, in loops that skip pairs."""

import math

import numpy as np

from tests import reference
from tests.examples.comparison import independent
from tests.examples.independent.one_head import one_head_steps


def earlier(i, j):
    return j <= i


def mask_of(allowed, m, n):
    return [[allowed(i, j) for j in range(n)] for i in range(m)]


@independent("causal_alignments", "loops over the visible keys")
def causal_alignments(literals):
    scaled = one_head_steps(literals)["scaled"]
    computed = {"scaled": scaled}
    for name, later in {"top_left": 0, "bottom_right": 1}.items():
        computed[name] = mask_of(lambda i, j, later=later: j <= i + later, 4, 5)
        computed[f"weights_{name}"] = [
            reference.softmax_row(row[: i + later + 1]) + [0.0] * (4 - i - later)
            for i, row in enumerate(scaled)
        ]
    hidden = [
        [z if j <= i else -math.inf for j, z in enumerate(row)] for i, row in enumerate(scaled)
    ]
    return {**computed, "masked": hidden}


@independent("causal_padding", "slow loops that skip pairs")
def causal_padding(literals):
    q, k, v = (literals[letter] for letter in "QKV")
    masks = {
        "causal": earlier,
        "right": lambda i, j: j < 3,
        "causal_and_right": lambda i, j: j <= i and j < 3,
        "causal_and_left": lambda i, j: 1 <= j <= i,
    }
    unmasked = reference.every_step(q, k, v)
    computed = {name: unmasked[name] for name in ("scaled", "weights")}
    for name, allowed in masks.items():
        steps = reference.every_step(q, k, v, allowed)
        computed |= {f"weights_{name}": steps["weights"], f"output_{name}": steps["output"]}
        computed[name] = mask_of(allowed, 4, 4)
    computed["right"], computed["left"] = [[True, True, True, False]], [[False, True, True, True]]
    # A fill of -1e9 acts as minus infinity beside any score, but a fully filled row is uniform.
    weights = [[1 / 4] * 4, *computed["weights_causal_and_left"][1:]]
    return {
        **computed,
        "masked_causal_and_left": reference.every_step(q, k, v, masks["causal_and_left"])["masked"],
        "weights_filled": weights,
        "output_filled": reference.matmul(weights, v),
    }


def before_and_after_injection(literals):
    """Return queries, keys and values before and after the source injects a similar pair."""
    before = [reference.matmul(literals["DATA"][0], matrix) for matrix in literals["WEIGHTS"]]
    q, k, v = ([*rows] for rows in before)
    q[2] = k[5] = literals["INJECTED"]
    return before, (q, k, v)


@independent("batched_attention", "slow loops")
def batched_attention(literals):
    before, (q, k, v) = before_and_after_injection(literals)
    steps = reference.every_step(q, k, v)
    lengths = {
        "q_lengths": [math.hypot(*row) for row in q],
        "k_lengths": [math.hypot(*row) for row in k],
    }
    return {
        "data": literals["DATA"][0],
        "Q": q,
        "K": k,
        "V": v,
        **{name: steps[name] for name in ("scores", "scaled", "weights", "output")},
        **lengths,
        "cosines": [
            [reference.dot(np.divide(a, math.hypot(*a)), np.divide(b, math.hypot(*b))) for b in k]
            for a in q
        ],
        "smallest_value": [min(column) for column in zip(*v, strict=True)],
        "largest_value": [max(column) for column in zip(*v, strict=True)],
        "before_2": reference.attention(*before)[0][2],
        "after_2": steps["weights"][2],
        "is_a_blend": True,
        "doubled_values_keep_the_weights": True,
        "doubled_values_double_the_output": True,
    }


@independent("local_window_mask", "a slow loop that skips pairs, and shares of the visible weights")
def local_window_mask(literals):
    _, (q, k, v) = before_and_after_injection(literals)

    def near(i, j):
        return abs(i - j) <= 1

    unmasked, masked = reference.every_step(q, k, v), reference.every_step(q, k, v, near)
    visible = [
        [a if near(i, j) else 0 for j, a in enumerate(row)]
        for i, row in enumerate(unmasked["weights"])
    ]
    return {
        "mask": mask_of(near, 10, 10),
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
    right = one_head_steps(literals)
    q, k, v = (right[letter] for letter in "QKV")
    square_q, square_k, square_v = (literals[letter] for letter in "QKV")
    columns = [reference.softmax_row(column) for column in zip(*right["scaled"], strict=True)]
    late = [[a * (j <= i) for j, a in enumerate(row)] for i, row in enumerate(right["weights"])]
    negative = reference.attention(square_q, square_k, square_v, earlier, divisor=-1)[1]

    def output(*rows, **options):
        return reference.attention(*rows, **options)[1]

    return {
        "right": right["output"],
        "divided_by_d_k": output(q, k, v, divisor=2),
        "divided_by_root_of_d_model": output(q, k, v, divisor=math.sqrt(6)),
        "not_scaled": output(q, k, v, divisor=1),
        "softmax_over_queries": reference.matmul(zip(*columns, strict=True), v),
        "padding_not_hidden": output(q, [*k, [0, 0]], [*v, [0, 0, 0]]),
        "causal": output(q, k, v, allowed=earlier),
        "mask_flipped": output(q, k, v, allowed=lambda i, j: j > i),
        "mask_after_softmax": reference.matmul(late, v),
        "square": output(square_q, square_k, square_v),
        "queries_and_keys_swapped": output(square_k, square_q, square_v),
        "keys_and_values_swapped": output(square_q, square_v, square_k),
        "newest": output(q[-1:], k, v),
        "newest_with_is_causal": v[:1],  # only the first key is visible
        "aligned_bottom_right": output(q, k, v, allowed=lambda i, j: j <= i + 1),
        "negative_scale": negative,
        # A negative scale turns -inf of a hidden score into inf; the last row hides none.
        "scaled_after_mask": [[math.nan] * 2, [math.nan] * 2, negative[2]],
    }


@independent("common_mistakes", "slow loops over three heads")
def heads_without_transpose(literals):
    x_q, x_kv = np.array(literals["X_q"]), np.array(literals["X_kv"])
    pairs = [slice(0, 2), slice(2, 4), slice(4, 6)]
    heads = [reference.attention(x_q[:, i], x_kv[:, i], x_kv[:, i])[1] for i in pairs]
    pieces = zip(np.split(x_q.ravel(), 3), np.split(x_kv.ravel(), 3), strict=True)
    mixed = [(q.reshape(4, 2), k.reshape(5, 2)) for q, k in pieces]
    numbers = np.ravel([reference.attention(q, k, k)[1] for q, k in mixed])
    return {"heads": np.hstack(heads), "heads_without_transpose": numbers.reshape(4, 6)}


@independent("common_mistakes", "slow loops over the six words")
def losses_of_copying_model(literals):
    words = np.eye(6)[:5]
    copied = reference.attention(6 * words, 6 * words, words, earlier)[1]
    rows = [reference.softmax_row([5 * number for number in row]) for row in copied]
    return {
        step: [-math.log(row[i + shift]) for i, row in enumerate(rows)]
        for step, shift in (("unshifted_targets", 0), ("shifted_targets", 1))
    }
