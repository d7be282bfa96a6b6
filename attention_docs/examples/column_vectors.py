"""Self-attention of four tokens a_1 ... a_4 as column vectors, and the same with rows.

The columns of I are the tokens. Steps without a suffix are unscaled, as in the publication, which
gives no W_V: this one is our own. Steps that end in `scaled` divide by the root of d_k = 3.

>>> show(computed(steps))
Q [[3 7 11 8] [3 3 6 7] [2 4 7 5]]
K [[2 1 4 4] [2 3 5 5] [2 4 7 5]]
V [[3 1 5 6] [-1 6 2 1]]
q_1 [3 3 2]
A [[16 28 48 40] [20 32 57 49] [41 71 123 102] [37 63 109 92]]
alpha_1 [16 20 41 37]
weights 4 x 4
[[1.4e-11 2.1e-19 2.7e-33 1.2e-27]
 [7.4e-10 1.2e-17 2.2e-29 9.6e-24]
 [ 0.9820  0.9997  1.0000  1.0000]
 [ 0.0180  0.0003 8.3e-07 4.5e-05]]
alpha_1_weights [1.4e-11 7.4e-10 0.9820 0.0180]
B [[5.0180 5.0003 5.0000 5.0000] [1.9820 1.9997 2.0000 2.0000]]
b_1 [5.0180 1.9820]
A_scaled 4 x 4
[[ 9.2376 16.1658 27.7128 23.0940]
 [11.5470 18.4752 32.9090 28.2902]
 [23.6714 40.9919 71.0141 58.8897]
 [21.3620 36.3731 62.9312 53.1162]]
alpha_1_scaled [9.2376 11.5470 23.6714 21.3620]
weights_scaled 4 x 4
[[4.9e-07 1.6e-11 1.6e-19 2.8e-16]
 [4.9e-06 1.6e-10 2.8e-17 5.1e-14]
 [ 0.9096  0.9902  0.9997  0.9969]
 [ 0.0903  0.0098  0.0003  0.0031]]
alpha_1_weights_scaled [4.9e-07 4.9e-06 0.9096 0.0903]
B_scaled [[5.0903 5.0098 5.0003 5.0031] [1.9097 1.9902 1.9997 1.9969]]
b_1_scaled [5.0903 1.9097]
Q_rows [[3 3 2] [7 3 4] [11 6 7] [8 7 5]]
K_rows [[2 2 2] [1 3 4] [4 5 7] [4 5 5]]
V_rows [[3 -1] [1 6] [5 2] [6 1]]
scores_rows [[16 20 41 37] [28 32 71 63] [48 57 123 109] [40 49 102 92]]
weights_rows 4 x 4
[[1.4e-11 7.4e-10 0.9820  0.0180]
 [2.1e-19 1.2e-17 0.9997  0.0003]
 [2.7e-33 2.2e-29 1.0000 8.3e-07]
 [1.2e-27 9.6e-24 1.0000 4.5e-05]]
output_rows [[5.0180 1.9820] [5.0003 1.9997] [5.0000 2.0000] [5.0000 2.0000]]
"""

import math

import numpy

from attention_docs.dot_product import attention_steps
from attention_docs.softmax import softmax

TITLE = "Self-attention in columns and in rows"
SOURCE = "001_7d27211e1d664477.txt, “Example” and “In general”"

I = [[1, 1, 3, 2], [0, 2, 1, 1], [1, 0, 1, 2]]  # noqa: E741, the publication's letter
W_Q = [[3, 2, 0], [1, 1, 2], [2, 1, 0]]
W_K = [[1, 0, 1], [1, 1, 1], [2, 1, 0]]
W_V = [[1, 0, 2], [0, 3, -1]]


def steps(xp=numpy):
    """Attend with tokens as columns, without and with the scale, and once more with rows.

    The letters are the publication's: A has the scores, alpha_1 those of query 1, B the output.
    """
    tokens = xp.asarray(I, dtype=xp.float64)
    w_q, w_k, w_v = (xp.asarray(matrix, dtype=xp.float64) for matrix in (W_Q, W_K, W_V))
    # (3, 4), (3, 4) and (2, 4): one column per token.
    q, k, v = w_q @ tokens, w_k @ tokens, w_v @ tokens
    a = k.T @ q  # column i: the scores of query i
    weights = softmax(a, axis=0)
    a_scaled = a / math.sqrt(k.shape[0])
    weights_scaled = softmax(a_scaled, axis=0)
    b, b_scaled = v @ weights, v @ weights_scaled
    rows = attention_steps(q.T, k.T, v.T, scale=1.0)
    return {
        "I": tokens,
        "W_Q": w_q,
        "W_K": w_k,
        "W_V": w_v,
        "Q": q,
        "K": k,
        "V": v,
        "q_1": q[:, 0],
        "A": a,
        "alpha_1": a[:, 0],
        "weights": weights,
        "alpha_1_weights": weights[:, 0],
        "B": b,
        "b_1": b[:, 0],
        "A_scaled": a_scaled,
        "alpha_1_scaled": a_scaled[:, 0],
        "weights_scaled": weights_scaled,
        "alpha_1_weights_scaled": weights_scaled[:, 0],
        "B_scaled": b_scaled,
        "b_1_scaled": b_scaled[:, 0],
        "Q_rows": q.T,
        "K_rows": k.T,
        "V_rows": v.T,
        "scores_rows": rows.scores,
        "weights_rows": rows.weights,
        "output_rows": rows.output,
    }
