"""An induction head built by hand: two layers that continue C A B A with B.

A token is one of A, B, C. A row of X has eight features: the token, one-hot (three); its position
as a point on a circle, a quarter of a turn per step (two); and the token before it, which the first
layer fills in (three). The head of the first layer looks one position back and writes the token it
finds into the last three features. The head of the second layer looks for a position whose last
three features equal the query's own token, and reads the token there.

The queries are so large that the weights are exactly 0 and 1: e to the -1000 underflows to zero. So
the scores need no scaling, and the scale is 1.

>>> show(computed(steps))
Q1 [[0 -1000] [1000 0] [0 1000] [-1000 0]]
K1 [[1 0] [0 1] [-1 0] [0 -1]]
scores1 [[0 -inf -inf -inf] [1000 0 -inf -inf] [0 1000 0 -inf] [-1000 0 1000 0]]
weights1 [[1 0 0 0] [1 0 0 0] [0 1 0 0] [0 0 1 0]]
between [[0 0 1 1 0 0 0 1] [1 0 0 0 1 0 0 1] [0 1 0 -1 0 1 0 0] [1 0 0 0 -1 0 1 0]]
Q2 [[0 0 1000] [1000 0 0] [0 1000 0] [1000 0 0]]
K2 [[0 0 1] [0 0 1] [1 0 0] [0 1 0]]
scores2 [[1000 -inf -inf -inf] [0 0 -inf -inf] [0 0 0 -inf] [0 0 1000 0]]
weights2 [[1 0 0 0] [0.5000 0.5000 0 0] [0.3333 0.3333 0.3333 0] [0 0 1 0]]
output [[0 0 1] [0.5000 0 0.5000] [0.3333 0.3333 0.3333] [0 1 0]]
output_without_first [[0 0 1] [0.5000 0 0.5000] [0.3333 0.3333 0.3333] [0.5000 0.2500 0.2500]]
"""

import numpy

from attention_docs.dot_product import attention_steps

TITLE = "An induction head built by hand"
SOURCE = "our own; the idea: Elhage and others 2021, Olsson and others 2022"

# C A B A. The features are A B C | position | A B C of the token before.
X = [
    [0, 0, 1, 1, 0, 0, 0, 0],
    [1, 0, 0, 0, 1, 0, 0, 0],
    [0, 1, 0, -1, 0, 0, 0, 0],
    [1, 0, 0, 0, -1, 0, 0, 0],
]
LARGE = 1000
# The first head attends to the token before: a query is the position turned back by a quarter, and
# a key is the position.
W_Q1 = [[0, 0], [0, 0], [0, 0], [0, -LARGE], [LARGE, 0], [0, 0], [0, 0], [0, 0]]
W_K1 = [[0, 0], [0, 0], [0, 0], [1, 0], [0, 1], [0, 0], [0, 0], [0, 0]]
W_V1 = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]]
W_O1 = [[0, 0, 0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 0, 0, 1]]
# The second head looks for the token that followed an earlier occurrence of the query's token: a
# query is the token, a key is the token before, and a value is the token, as in the first head.
W_Q2 = [
    [LARGE, 0, 0],
    [0, LARGE, 0],
    [0, 0, LARGE],
    [0, 0, 0],
    [0, 0, 0],
    [0, 0, 0],
    [0, 0, 0],
    [0, 0, 0],
]
W_K2 = [[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]


def steps(xp=numpy):
    """Return the steps of both layers, and the output of the second one alone on `X`."""
    x = xp.asarray(X, dtype=xp.float64)
    w_q1, w_k1, w_v1 = (xp.asarray(matrix, dtype=xp.float64) for matrix in (W_Q1, W_K1, W_V1))
    w_o1 = xp.asarray(W_O1, dtype=xp.float64)
    w_q2, w_k2, w_v2 = (xp.asarray(matrix, dtype=xp.float64) for matrix in (W_Q2, W_K2, W_V1))
    q1, k1 = x @ w_q1, x @ w_k1
    layer_1 = attention_steps(q1, k1, x @ w_v1, is_causal=True, scale=1.0)
    hidden_state = x + layer_1.output @ w_o1
    q2, k2 = hidden_state @ w_q2, hidden_state @ w_k2
    layer_2 = attention_steps(q2, k2, hidden_state @ w_v2, is_causal=True, scale=1.0)
    layer_2_alone = attention_steps(x @ w_q2, x @ w_k2, x @ w_v2, is_causal=True, scale=1.0)
    return {
        "X": x,
        "W_Q1": w_q1,
        "W_K1": w_k1,
        "W_V1": w_v1,
        "W_O1": w_o1,
        "W_Q2": w_q2,
        "W_K2": w_k2,
        "W_V2": w_v2,
        "Q1": q1,
        "K1": k1,
        "scores1": layer_1.masked,
        "weights1": layer_1.weights,
        "between": hidden_state,
        "Q2": q2,
        "K2": k2,
        "scores2": layer_2.masked,
        "weights2": layer_2.weights,
        "output": layer_2.output,
        "output_without_first": layer_2_alone.output,
    }
