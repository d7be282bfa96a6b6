"""Self-attention among three tokens of four features.

>>> show(computed(steps))
Q [[2 0] [0 2] [2 2]]
K [[0 2] [2 0] [2 2]]
V [[2 0] [0 2] [2 2]]
scores [[0 4 4] [4 0 4] [4 4 8]]
scaled [[0 2.8284 2.8284] [2.8284 0 2.8284] [2.8284 2.8284 5.6569]]
weights [[0.0287 0.4856 0.4856] [0.4856 0.0287 0.4856] [0.0529 0.0529 0.8943]]
output [[1.0287 1.9426] [1.9426 1.0287] [1.8943 1.8943]]
"""

import numpy

from attention_docs.dot_product import attention_steps

TITLE = "Self-attention, three tokens"
SOURCE = "000_2da5eed0b4267db4.txt, “Self-Attention with Example”"

X = [[1, 0, 1, 0], [0, 1, 0, 1], [1, 1, 1, 1]]
W_Q = [[1, 0], [0, 1], [1, 0], [0, 1]]
W_K = [[0, 1], [1, 0], [0, 1], [1, 0]]
W_V = [[1, 0], [0, 1], [1, 0], [0, 1]]

# The numbers are the publication's, and the words ours.
TOKENS, FEATURES = ["bird", "boat", "seaplane"], ["flies", "floats", "wings", "hull"]
TOPICS, VALUE_FEATURES = ["water", "air"], ["airborne", "afloat"]
LABELS = {
    "X": (TOKENS, FEATURES),
    "W_Q W_K": (FEATURES, TOPICS),
    "W_V": (FEATURES, VALUE_FEATURES),
    "Q K": (TOKENS, TOPICS),
    "V output": (TOKENS, VALUE_FEATURES),
    "scores scaled weights": (TOKENS, TOKENS),
}


def steps(xp=numpy):
    """Return the steps of attention, with queries, keys and values from the tokens `X`."""
    x = xp.asarray(X, dtype=xp.float64)  # (3, 4)
    w_q, w_k, w_v = (xp.asarray(matrix, dtype=xp.float64) for matrix in (W_Q, W_K, W_V))
    q, k, v = x @ w_q, x @ w_k, x @ w_v  # (3, 2) each
    attention = attention_steps(q, k, v)
    return {
        "X": x,
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
