"""Cross-attention in which all sizes differ: no mistake can hide behind shapes that fit.

4 queries, 5 keys, 6 features, keys of 2 features, values of 3. No matrix has two equal rows or
columns, and none is symmetric.

>>> show(computed(steps))
Q [[2 -1] [-1.2500 1.7500] [1.5000 1.7500] [1 0.2500]]
K [[-0.2500 0.2500] [2 -0.5000] [1.7500 2.5000] [0.2500 0.2500] [-0.5000 1.7500]]
V [[0 4 1] [0 6 -2] [6 0 6] [-4 2 -1] [2 -6 5]]
scores 4 x 5
[[-0.7500  4.5000      1 0.2500 -2.7500]
 [ 0.7500 -3.3750 2.1875 0.1250  3.6875]
 [ 0.0625  2.1250      7 0.8125  2.3125]
 [-0.1875  1.8750 2.3750 0.3125 -0.0625]]
scaled 4 x 5
[[-0.5303  3.1820 0.7071 0.1768 -1.9445]
 [ 0.5303 -2.3865 1.5468 0.0884  2.6075]
 [ 0.0442  1.5026 4.9497 0.5745  1.6352]
 [-0.1326  1.3258 1.6794 0.2210 -0.0442]]
weights 4 x 5
[[0.0210 0.8591 0.0723 0.0425 0.0051]
 [0.0804 0.0043 0.2221 0.0517 0.6415]
 [0.0068 0.0293 0.9190 0.0116 0.0334]
 [0.0717 0.3084 0.4393 0.1022 0.0784]]
output 4 x 3
[[0.2739  5.2928 -1.2803]
 [2.4090 -3.3981  4.5602]
 [5.5344  0.0255  5.6176]
 [2.3836  1.8717  2.3801]]
"""

import numpy

from attention_docs.examples.cross_attention import cross_attention

TITLE = "Distinct sizes, four queries on five keys"
SOURCE = "our own example"

X_q = [
    [1, 0, 2, -1, 0, 1],
    [0, 3, -1, 0, 1, 0],
    [2, -1, 0, 1, 0, 1],
    [-1, 1, 2, 0, 2, 0],
]
X_kv = [
    [1, 2, 0, -1, 1, 0],
    [0, 1, 1, 0, -2, 1],
    [3, 0, -1, 1, 0, 0],
    [-1, 0, 2, 1, 1, 0],
    [0, -2, 1, 0, 1, 2],
]
W_Q = [[0.5, 0], [0, 0.25], [1, -0.5], [0.5, 1], [-0.25, 0.5], [0, 1]]
W_K = [[0.25, 1], [0.5, -0.5], [0, 0.5], [1, 0], [-0.5, 0.25], [0.5, 0]]
W_V = [[1, 0, 2], [0, 3, -1], [-2, 1, 0], [1, 1, 0], [0, -1, 1], [2, 0, 1]]

QUERIES, KEYS = [f"query {query}" for query in range(1, 5)], [f"key {key}" for key in range(1, 6)]
LABELS = {
    "X_q Q output": (QUERIES, []),
    "X_kv K V": (KEYS, []),
    "scores scaled weights": (QUERIES, KEYS),
}


def steps(xp=numpy):
    """Return the steps of attention, with queries from `X_q` and keys and values from `X_kv`."""
    x_q, x_kv = (xp.asarray(tokens, dtype=xp.float64) for tokens in (X_q, X_kv))
    w_q, w_k, w_v = (xp.asarray(matrix, dtype=xp.float64) for matrix in (W_Q, W_K, W_V))
    return cross_attention(x_q, x_kv, w_q, w_k, w_v)
