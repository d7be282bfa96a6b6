"""Cross-attention in which all sizes differ, with values in space.

2 queries, 4 keys, 6 features, keys of 5 features, values of 3. The four values are the corners of a
tetrahedron, so each output lies inside it, and its weights are the only way to blend it from them.

>>> show(steps())
X_q 2 x 6
[[-1 0 1 -1 1 0]
 [ 0 0 0  1 1 2]]
X_kv 4 x 6
[[1 0 0 0 1 0]
 [0 1 0 1 0 0]
 [0 0 1 0 1 1]
 [1 1 0 0 0 2]]
W_Q 6 x 5
[[0  0 -1 -1  0]
 [1  0  0 -1  0]
 [0  0  1 -1  0]
 [0  0 -1  0  0]
 [1 -1  0 -1  0]
 [0  1  1  0 -1]]
W_K 6 x 5
[[ 1 -1  0  0 -1]
 [-1 -1  0 -1 -1]
 [ 0  0  0 -1  0]
 [ 0  0 -1  0  0]
 [-1 -1 -1  0  0]
 [-1  0  0  0  1]]
W_V 6 x 3
[[2      0 -1]
 [0      1  1]
 [0 0.5000  0]
 [0      1 -1]
 [0      0  1]
 [0 0.5000  1]]
Q 2 x 5
[[1 -1 3 -1  0]
 [1  1 1 -1 -2]]
K 4 x 5
[[ 0 -2 -1  0 -1]
 [-1 -1 -1 -1 -1]
 [-2 -1 -1 -1  1]
 [-2 -2  0 -1  0]]
V 4 x 3
[[2 0 0]
 [0 2 0]
 [0 1 2]
 [2 2 2]]
scores 2 x 4
[[-1 -2 -3  1]
 [-1  0 -5 -3]]
scaled 2 x 4
[[-0.4472 -0.8944 -1.3416  0.4472]
 [-0.4472       0 -2.2361 -1.3416]]
weights 2 x 4
[[0.2225 0.1423 0.0910 0.5442]
 [0.3185 0.4981 0.0532 0.1302]]
output 2 x 3
[[1.5335 1.4640 1.2704]
 [0.8974 1.3098 0.3669]]
"""

from types import ModuleType

import numpy

from attention_docs.arrays import Array
from attention_docs.dot_product import attention_steps

TITLE = "Two sequences, two queries on four keys"
SOURCE = "our own example, for 000_2da5eed0b4267db4.txt, “Cross-Attention Example”"

X_q = [[-1, 0, 1, -1, 1, 0], [0, 0, 0, 1, 1, 2]]
X_kv = [[1, 0, 0, 0, 1, 0], [0, 1, 0, 1, 0, 0], [0, 0, 1, 0, 1, 1], [1, 1, 0, 0, 0, 2]]
W_Q = [
    [0, 0, -1, -1, 0],
    [1, 0, 0, -1, 0],
    [0, 0, 1, -1, 0],
    [0, 0, -1, 0, 0],
    [1, -1, 0, -1, 0],
    [0, 1, 1, 0, -1],
]
W_K = [
    [1, -1, 0, 0, -1],
    [-1, -1, 0, -1, -1],
    [0, 0, 0, -1, 0],
    [0, 0, -1, 0, 0],
    [-1, -1, -1, 0, 0],
    [-1, 0, 0, 0, 1],
]
W_V = [[2, 0, -1], [0, 1, 1], [0, 0.5, 0], [0, 1, -1], [0, 0, 1], [0, 0.5, 1]]


def steps(xp: ModuleType = numpy) -> dict[str, Array]:
    inputs = (X_q, X_kv, W_Q, W_K, W_V)
    x_q, x_kv, w_q, w_k, w_v = (xp.asarray(matrix, dtype=xp.float64) for matrix in inputs)
    q, k, v = x_q @ w_q, x_kv @ w_k, x_kv @ w_v
    attention = attention_steps(q, k, v)
    return {
        "X_q": x_q,
        "X_kv": x_kv,
        "W_Q": w_q,
        "W_K": w_k,
        "W_V": w_v,
        "Q": q,
        "K": k,
        "V": v,
        "scores": attention.scores,
        "scaled": attention.scaled,
        "weights": attention.weights,
        "output": attention.output,
    }
