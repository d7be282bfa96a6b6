"""Attention once more, as slow loops over Python numbers: the independent engine of the tests.

Nothing of the package is used here, and no array operation but indexing.
"""

import math


def softmax_row(scores):
    peak = max(scores)
    if peak == -math.inf:
        return [0.0 for _ in scores]
    powers = [math.exp(score - peak) for score in scores]
    return [power / math.fsum(powers) for power in powers]


def dot(a, b):
    return math.fsum(float(x) * float(y) for x, y in zip(a, b, strict=True))


def matmul(a, b):
    columns = list(zip(*b, strict=True))
    return [[dot(row, column) for column in columns] for row in a]


def attention(query, key, value, allowed=lambda i, j: True):
    """Return the weights and the output of one head, pair by pair."""
    scale = math.sqrt(len(query[0]))
    weights = [
        softmax_row([dot(q, k) / scale if allowed(i, j) else -math.inf for j, k in enumerate(key)])
        for i, q in enumerate(query)
    ]
    return weights, matmul(weights, value)
