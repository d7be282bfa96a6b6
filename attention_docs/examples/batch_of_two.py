"""A batch of two sequences.

b = 2 sequences of n = 4 tokens with d_model = 6 features, d_k = 3 and d_v = 5: all these sizes
differ, so an array with its axes in the wrong order does not fit. Steps that end in `_1` and `_2`
belong to one sequence each; they are slices of arrays whose first axis is the batch.
`joined_weights` and `joined_output` show a mistake: the two sequences are concatenated into one of
eight tokens, so they see each other.

>>> show(computed(steps))
Q_1 [[1 1 2] [-0.5000 0.5000 -1] [2.5000 0.5000 0] [0 0 1]]
Q_2 [[0 1 -1] [1.5000 1.5000 1] [1 -0.5000 3] [-0.5000 1 1]]
K_1 [[-1 3 -2] [2 0 0.5000] [0 1 2.5000] [-1 1 1]]
K_2 [[3 -1 1] [-1 1 1.5000] [0 1 -1] [1 2 -2.5000]]
V_1 [[5 0 1 2 1] [0 4 -2 -1 0] [0 3 1 -1 5] [2 5 0 2 0]]
V_2 [[-2 2 -1 -3 1] [1 3 2 0 2] [2 -3 2 1 2] [4 1 -1 1 -1]]
weights_1 4 x 4
[[0.0077 0.1376 0.7775 0.0772]
 [0.8530 0.0356 0.0267 0.0847]
 [0.0279 0.8902 0.0662 0.0156]
 [0.0411 0.1741 0.5524 0.2324]]
weights_2 4 x 4
[[0.0178 0.0424 0.1795 0.7603]
 [0.5939 0.1402 0.0787 0.1872]
 [0.8803 0.1167 0.0027 0.0003]
 [0.0551 0.7404 0.1310 0.0735]]
output_1 4 x 5
[[0.1928 3.2690  0.5101 -0.7453 3.8954]
 [4.4342 0.6462  0.8084  1.8130 0.9864]
 [0.1706 3.8379 -1.6864 -0.8695 0.3591]
 [0.6703 3.5155  0.2453 -0.1796 2.8033]]
output_2 4 x 5
[[ 3.4068 0.3845 -0.3343  0.8863 -0.2986]
 [-0.1414 1.5594 -0.3431 -1.5158  0.8446]
 [-1.6373 2.1027 -0.6417 -2.6379  1.1189]
 [ 1.1863 2.0119  1.6141  0.0392  1.7243]]
joined_weights 8 x 8
[[0.0055 0.0980 0.5538 0.0550 0.1745 0.0980 0.0097 0.0055]
 [0.4850 0.0203 0.0152 0.0482 0.0085 0.0361 0.1145 0.2723]
 [0.0065 0.2079 0.0155 0.0037 0.6598 0.0037 0.0155 0.0875]
 [0.0250 0.1057 0.3355 0.1411 0.1411 0.1884 0.0445 0.0187]
 [0.4747 0.0198 0.0111 0.0265 0.0083 0.0198 0.0840 0.3557]
 [0.0467 0.1979 0.2641 0.0467 0.2641 0.0624 0.0350 0.0832]
 [0.0001 0.0654 0.4937 0.0206 0.3699 0.0490 0.0011 0.0001]
 [0.1055 0.0332 0.3347 0.1879 0.0187 0.2508 0.0444 0.0249]]
joined_output 8 x 5
[[-0.0724 2.9477  0.3988 -1.0393 3.1591]
 [ 3.8584 0.4215  0.4801  1.3921 0.5984]
 [-0.8953 2.2681 -1.1029 -2.0796 0.6945]
 [ 0.4770 2.8677  0.4548 -0.4693 2.2906]
 [ 4.0204 0.4250  0.2898  1.3861 0.3907]
 [ 0.2641 2.5106 -0.2375 -0.9490 1.7426]
 [-0.6464 2.7295  0.0932 -1.6262 2.9386]
 [ 1.3050 2.7579  0.9204  0.2321 2.3629]]
"""

import numpy

from attention_docs.dot_product import attention_steps

TITLE = "A batch of two sequences"
SOURCE = "our own example, for 003_e3f694db51754fdb.txt, section 1"

X = [
    [[1, 0, 0, 2, -1, 0], [0, 1, -1, 0, 1, 1], [2, 0, 1, -1, 0, 1], [0, -1, 0, 1, 0, 2]],
    [[0, 2, 0, -1, 1, 0], [1, 0, 1, 0, -1, 1], [0, 0, 2, 1, 0, -1], [0, 1, -1, 2, 0, 0]],
]
W_Q = [[1, 0, 0], [0, 1, 0], [0.5, 0, 1], [0, 0, 1], [0, -1, 0], [0, 0.5, 0]]
W_K = [[0, 1, 0], [1, 0, 0], [0, 0, 0.5], [0, 1, -1], [1, 0, 0], [0, 0, 1]]
W_V = [
    [1, 0, 0, 0, 2],
    [0, 1, 0, -1, 0],
    [0, 0, 1, 0, 1],
    [2, 0, 0, 1, 0],
    [0, 0, -1, 0, 1],
    [0, 3, 0, 0, 0],
]


def steps(xp=numpy):
    """Attend in a batch of two sequences, and in both joined to one."""
    x = xp.asarray(X, dtype=xp.float64)
    w_q, w_k, w_v = (xp.asarray(matrix, dtype=xp.float64) for matrix in (W_Q, W_K, W_V))
    q, k, v = x @ w_q, x @ w_k, x @ w_v  # (2, 4, 3), (2, 4, 3), (2, 4, 5)
    attention = attention_steps(q, k, v)
    tokens = x.shape[0] * x.shape[1]
    joined_q, joined_k, joined_v = (xp.reshape(rows, (tokens, -1)) for rows in (q, k, v))
    joined = attention_steps(joined_q, joined_k, joined_v)
    batch = {
        "X": x,
        "Q": q,
        "K": k,
        "V": v,
        "weights": attention.weights,
        "output": attention.output,
    }
    return {
        "W_Q": w_q,
        "W_K": w_k,
        "W_V": w_v,
        **{f"{name}_{i + 1}": array[i, ...] for name, array in batch.items() for i in (0, 1)},
        "joined_weights": joined.weights,
        "joined_output": joined.output,
    }
