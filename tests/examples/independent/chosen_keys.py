"""Chosen keys: sorted lists of Python numbers in place of masks, and counted products."""

import math

from tests import loops
from tests.examples.comparison import independent
from tests.loops import rotate_pairs


def softmax_over(scores, keys):
    """Return the weights of the keys with these indices, and zeros for all others."""
    weights = [0.0] * len(scores)
    if keys:
        for j, weight in zip(keys, loops.softmax_row([scores[j] for j in keys]), strict=True):
            weights[j] = weight
    return weights


def largest(scores, candidates, count):
    """Return the candidates with the largest scores, the last of equal ones first."""
    return sorted(sorted(candidates, key=lambda j: (scores[j], j), reverse=True)[:count])


def missed(weights, keys):
    """Return the sum of the weights of all other keys."""
    return sum(weight for j, weight in enumerate(weights) if j not in keys)


def visible(keys_by_token):
    """Return the mask in which each token sees its keys."""
    return [[j in keys for j in range(len(keys_by_token))] for keys in keys_by_token]


def weights_over(literals, keys_by_token):
    """Return the attention weights if each token sees only its keys."""
    x, queries = literals["X"], loops.matmul(literals["X"], literals["W_Q"])
    scores = [[loops.dot(query, key) / 2 for key in x] for query in queries]
    return list(map(softmax_over, scores, keys_by_token))


def index_rows(literals):
    """Return the queries of both heads of the indexer, and the keys, which they share."""
    names = ("INDEX_Q_1", "INDEX_Q_2", "INDEX_K")
    return [loops.matmul(literals["X"], literals[name]) for name in names]


def index_scores(literals, queries_1, queries_2, keys):
    """Return the sums of positive products, weighted by head."""
    head_weights = loops.matmul(literals["X"], literals["HEAD_WEIGHTS"])
    return [
        [w_1 * max(0, loops.dot(q_1, key)) + w_2 * max(0, loops.dot(q_2, key)) for key in keys]
        for (w_1, w_2), q_1, q_2 in zip(head_weights, queries_1, queries_2, strict=True)
    ]


# The keys that each of the eight tokens sees under a causal mask.
EARLIER = [list(range(i + 1)) for i in range(8)]
FIXED = ["K", "WINDOW", "BLOCK", "BLOCKS_CHOSEN", "BASE", "THEY"]


@independent("chosen_keys", "sorted lists of keys", fixed=FIXED)
def chosen_keys(literals):
    x, count = literals["X"], literals["K"][0]
    queries_1, queries_2, keys = index_rows(literals)
    index = index_scores(literals, queries_1, queries_2, keys)
    chosen = [largest(row, EARLIER[i], count) for i, row in enumerate(index)]
    left_out = [[j for j in EARLIER[i] if j not in keys] for i, keys in enumerate(chosen)]
    dense, sparse, rest = (weights_over(literals, keys) for keys in (EARLIER, chosen, left_out))
    chosen_early = [largest(row, range(len(x)), count) for row in index]
    return {
        "products_1": [[loops.dot(query, key) for key in keys] for query in queries_1],
        "products_2": [[loops.dot(query, key) for key in keys] for query in queries_2],
        "head_weights": loops.matmul(x, literals["HEAD_WEIGHTS"]),
        "index": [
            [score if j <= i else -math.inf for j, score in enumerate(row)]
            for i, row in enumerate(index)
        ],
        "chosen": visible(chosen),
        "dense": dense,
        "sparse": sparse,
        "missed": list(map(missed, dense, chosen)),
        "output_dense": loops.matmul(dense, x),
        "output_sparse": loops.matmul(sparse, x),
        "rest": loops.matmul(rest, x),
        "early": visible([[j for j in keys if j <= i] for i, keys in enumerate(chosen_early)]),
    }


@independent("chosen_keys", "lists of windows and blocks", fixed=FIXED)
def windows_and_blocks(literals):
    x, they, dense = literals["X"], literals["THEY"], weights_over(literals, EARLIER)
    window = [keys[-3:] for keys in EARLIER]
    means = [[(a + b) / 2 for a, b in zip(*x[j : j + 2], strict=True)] for j in range(0, len(x), 2)]
    queries = loops.matmul(x, literals["W_Q"])
    products = [[loops.dot(query, mean) for mean in means] for query in queries]
    gate, blocks = [], []
    for i, row in enumerate(products):
        own = i // 2
        picked = {own, *largest(row, range(own), 1)}
        blocks.append([j for j in EARLIER[i] if j // 2 in picked])
        gate.append([*row[:own], math.inf, *[-math.inf] * (len(means) - own - 1)])
    summaries = means[: they // 2]
    summary_weights = loops.softmax_row([z / 2 for z in products[they][: len(summaries)]])
    return {
        "window": visible(window),
        "missed_by_window": list(map(missed, dense, window)),
        "gate": gate,
        "blocks": visible(blocks),
        "missed_by_blocks": list(map(missed, dense, blocks)),
        "summaries": means,
        "summary_weights": summary_weights,
        "summary_output": loops.matmul([summary_weights], summaries)[0],
    }


@independent("chosen_keys", "sorted lists of keys, rotated as complex numbers", fixed=FIXED)
def rotary_layouts(literals):
    they, computed = literals["THEY"], {}
    dense, earlier = weights_over(literals, EARLIER)[they], EARLIER[they]
    for name, interleaved in (("halves", False), ("pairs", True)):
        turned = [
            [rotate_pairs(row, t, literals["BASE"], interleaved) for t, row in enumerate(rows)]
            for rows in index_rows(literals)
        ]
        scores = index_scores(literals, *turned)[they]
        hidden = [-math.inf] * (len(scores) - len(earlier))
        computed[f"index_{name}"] = scores[: len(earlier)] + hidden
        chosen = largest(scores, earlier, literals["K"][0])
        computed[f"missed_{name}"] = missed(dense, chosen)
    return computed


@independent(
    "indexer_costs",
    "counted key by key and head by head",
    fixed=[
        *("HEADS", "LATENT", "ROTARY", "KEY_AND_VALUE"),
        *("INDEX_HEADS", "INDEX_FEATURES", "CHOSEN", "CONTEXTS"),
    ],
)
def indexer_costs(literals):
    of_key = sum(512 + 64 + 512 for head in range(128)) / 1e6
    of_plain_key = sum(192 + 128 for head in range(128)) / 1e6
    of_index = sum(128 for head in range(64)) / 1e6
    contexts = literals["CONTEXTS"]
    sparse = 2048 * of_key

    def first_not_dearer(of_key):
        return min(n for n in range(1, 10**4) if n * of_key >= n * of_index + sparse)

    return {
        "dense": [n * of_key for n in contexts],
        "indexer": [n * of_index for n in contexts],
        "sparse": [sparse],
        "together": [n * of_index + sparse for n in contexts],
        "saving": [n * of_key / (n * of_index + sparse) for n in contexts],
        "break_even": [first_not_dearer(of_key)],
        "prompt_saving": [n * of_plain_key / (n * of_index + sparse) for n in contexts],
        "prompt_break_even": [first_not_dearer(of_plain_key)],
        "indexer_share": [of_index / of_key, of_index / of_plain_key],
    }
