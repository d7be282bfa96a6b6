"""Chosen keys: sorted lists of Python numbers in place of masks, and counted products."""

import cmath
import math

from tests import reference
from tests.examples.comparison import independent


def softmax_over(scores, keys):
    """Return the weights of the keys with these indices, and zeros for all others."""
    weights = [0.0] * len(scores)
    if keys:
        for j, weight in zip(keys, reference.softmax_row([scores[j] for j in keys]), strict=True):
            weights[j] = weight
    return weights


def largest(scores, candidates, count):
    """Return the candidates with the largest scores, the last of equal ones first."""
    return sorted(sorted(candidates, key=lambda j: (scores[j], j), reverse=True)[:count])


def turned(row, position, base, pairs):
    """Rotate pairs of features of a row as complex numbers."""
    result = list(row)
    for number, (a, b) in enumerate(pairs):
        angle = position / base ** (number / len(pairs))
        rotated = complex(row[a], row[b]) * cmath.exp(1j * angle)
        result[a], result[b] = rotated.real, rotated.imag
    return result


@independent(
    "chosen_keys",
    "sorted lists of keys",
    fixed=["K", "WINDOW", "BLOCK", "BLOCKS_CHOSEN", "BASE", "THEY"],
)
def chosen_keys(literals):
    x, count = literals["X"], literals["K"][0]
    n, they = len(x), literals["THEY"]
    matrices = [literals[name] for name in ("W_Q", "INDEX_Q_1", "INDEX_Q_2", "INDEX_K")]
    queries, index_1, index_2, keys = (reference.matmul(x, matrix) for matrix in matrices)
    head_weights = reference.matmul(x, literals["HEAD_WEIGHTS"])
    earlier = [list(range(i + 1)) for i in range(n)]

    def score(i, first, second, index_key):
        heads = zip(head_weights[i], (first, second), strict=True)
        return sum(weight * max(0, reference.dot(query, index_key)) for weight, query in heads)

    scores = [[score(i, index_1[i], index_2[i], key) for key in keys] for i in range(n)]
    attention = [[reference.dot(query, key) / 2 for key in x] for query in queries]
    dense = [softmax_over(attention[i], earlier[i]) for i in range(n)]
    chosen = [largest(scores[i], earlier[i], count) for i in range(n)]
    sparse = [softmax_over(attention[i], chosen[i]) for i in range(n)]
    left_out = [[j for j in earlier[i] if j not in chosen[i]] for i in range(n)]
    rest = [softmax_over(attention[i], left_out[i]) for i in range(n)]

    means = [[(a + b) / 2 for a, b in zip(*x[j : j + 2], strict=True)] for j in range(0, n, 2)]
    gate = [[reference.dot(query, mean) for mean in means] for query in queries]
    finished = means[: they // 2]
    summary_weights = reference.softmax_row([gate[they][j] / 2 for j in range(len(finished))])
    blocks = []
    for i in range(n):
        own = i // 2
        picked = {own, *largest(gate[i], range(own), 1)}
        blocks.append([j for j in earlier[i] if j // 2 in picked])
        gate[i] = [*gate[i][:own], math.inf, *[-math.inf] * (len(means) - own - 1)]
    window = [earlier[i][-3:] for i in range(n)]

    def missed(seen, i):
        return sum(weight for j, weight in enumerate(dense[i]) if j not in seen)

    def visible(seen):
        return [[j in keys for j in range(n)] for keys in seen]

    def index_of_they(pairs):
        rows = [
            [turned(row, position, literals["BASE"], pairs) for position, row in enumerate(matrix)]
            for matrix in (index_1, index_2, keys)
        ]
        return [score(they, rows[0][they], rows[1][they], key) for key in rows[2]]

    steps = {}
    for name, pairs in (("halves", [(0, 2), (1, 3)]), ("pairs", [(0, 1), (2, 3)])):
        row = index_of_they(pairs)
        steps[f"index_{name}"] = [*row[: they + 1], *[-math.inf] * (n - they - 1)]
        steps[f"missed_{name}"] = missed(largest(row, earlier[they], count), they)
    return {
        **steps,
        "products_1": [[reference.dot(query, key) for key in keys] for query in index_1],
        "products_2": [[reference.dot(query, key) for key in keys] for query in index_2],
        "head_weights": head_weights,
        "index": [[s if j <= i else -math.inf for j, s in enumerate(scores[i])] for i in range(n)],
        "chosen": visible(chosen),
        "dense": dense,
        "sparse": sparse,
        "missed": [missed(chosen[i], i) for i in range(n)],
        "output_dense": reference.matmul(dense, x),
        "output_sparse": reference.matmul(sparse, x),
        "rest": reference.matmul(rest, x),
        "window": visible(window),
        "missed_by_window": [missed(window[i], i) for i in range(n)],
        "gate": gate,
        "blocks": visible(blocks),
        "missed_by_blocks": [missed(blocks[i], i) for i in range(n)],
        "summaries": means,
        "summary_weights": summary_weights,
        "summary_output": reference.matmul([summary_weights], finished)[0],
        "early": visible(
            [[j for j in largest(scores[i], range(n), count) if j <= i] for i in range(n)]
        ),
    }


@independent(
    "indexer_costs",
    "counted key by key and head by head",
    fixed=["HEADS", "LATENT", "ROTARY", "INDEX_HEADS", "INDEX_FEATURES", "CHOSEN", "CONTEXTS"],
)
def indexer_costs(literals):
    of_key = sum(512 + 64 + 512 for head in range(128)) / 1e6
    of_index = sum(128 for head in range(64)) / 1e6
    contexts = literals["CONTEXTS"]
    sparse = 2048 * of_key
    return {
        "dense": [n * of_key for n in contexts],
        "indexer": [n * of_index for n in contexts],
        "sparse": [sparse],
        "together": [n * of_index + sparse for n in contexts],
        "saving": [n * of_key / (n * of_index + sparse) for n in contexts],
        "break_even": [min(n for n in range(1, 10**4) if n * of_key >= n * of_index + sparse)],
    }
