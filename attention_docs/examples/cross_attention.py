"""Cross-attention: two query tokens attend to three tokens, the first two of which are the same.

>>> show(computed(steps))
Q [[2 0] [0 2]]
K [[2 0] [0 2] [2 2]]
V [[2 0] [0 2] [2 2]]
scores [[4 0 4] [0 4 4]]
scaled [[2.8284 0 2.8284] [0 2.8284 2.8284]]
weights [[0.4856 0.0287 0.4856] [0.0287 0.4856 0.4856]]
output [[1.9426 1.0287] [1.0287 1.9426]]
"""

import numpy

from attention_docs.dot_product import attention_steps

TITLE = "Cross-attention, two queries on three keys"
SOURCE = "000_2da5eed0b4267db4.txt, “Cross-Attention Example”"

X_q = [[1, 0, 1, 0], [0, 1, 0, 1]]
X_kv = [[1, 0, 1, 0], [0, 1, 0, 1], [1, 1, 1, 1]]
W_Q = [[1, 0], [0, 1], [1, 0], [0, 1]]
W_K = [[1, 0], [0, 1], [1, 0], [0, 1]]
W_V = [[1, 0], [0, 1], [1, 0], [0, 1]]

# The numbers are the publication's, and the words ours.
QUERIES, KEYS = ["bird", "boat"], ["bird", "boat", "seaplane"]
FEATURES, SUMS = ["flies", "floats", "wings", "hull"], ["air", "water"]
LABELS = {
    "X_q": (QUERIES, FEATURES),
    "X_kv": (KEYS, FEATURES),
    "W_Q W_K W_V": (FEATURES, SUMS),
    "Q output": (QUERIES, SUMS),
    "K V": (KEYS, SUMS),
    "scores scaled weights": (QUERIES, KEYS),
}


def steps(xp=numpy):
    """Return the steps of attention, with queries from `X_q` and keys and values from `X_kv`."""
    x_q, x_kv = (xp.asarray(tokens, dtype=xp.float64) for tokens in (X_q, X_kv))
    w_q, w_k, w_v = (xp.asarray(matrix, dtype=xp.float64) for matrix in (W_Q, W_K, W_V))
    return cross_attention(x_q, x_kv, w_q, w_k, w_v)


def cross_attention(x_q, x_kv, w_q, w_k, w_v):
    """Return the steps of attention from the tokens and the matrices."""
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
