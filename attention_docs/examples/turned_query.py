"""One query among three keys in a plane, and its output among their values.

>>> show(computed(steps))
scores [[2.5000 1.5000 -3]]
scaled [[1.7678 1.0607 -2.1213]]
weights [[0.6607 0.3258 0.0135]]
output [[1.4573 -0.0227]]
"""

import numpy

from attention_docs.softmax import softmax

TITLE = "One query to turn, three keys and their values in a plane"
SOURCE = "our own example"

Q = [[1, 1]]
K = [[2, 0.5], [-0.5, 2], [-1.5, -1.5]]
V = [[2, -1], [0.5, 2], [-2, -1]]
LABELS = {
    "scores weights": (["query"], ["a", "b", "c"]),
    "Q output": (["query"], ["right", "up"]),
    "K V": (["a", "b", "c"], ["right", "up"]),
}


def steps(xp=numpy):
    """Return the steps of attention of one query."""
    q, k, v = (xp.asarray(rows, dtype=xp.float64) for rows in (Q, K, V))
    scores = q @ k.T
    d_k = k.shape[1]
    scaled = scores / d_k**0.5
    weights = softmax(scaled)
    return {
        "Q": q,
        "K": k,
        "V": v,
        "scores": scores,
        "scaled": scaled,
        "weights": weights,
        "output": weights @ v,
    }
