"""The softmax runs over the rows of all queries and sequences."""

from bugs import softmax

THREAD = "PetrochukM/PyTorch-NLP#2"
EXPECTED = "softmax_over_queries"
FAULT = "axis=0"
FIX = "axis=-1"


def attention(query, key, value):
    b, m, d = query.shape
    rows = (query @ key.swapaxes(1, 2) * d**-0.5).reshape(b * m, -1)
    return softmax(rows, axis=0).reshape(b, m, -1) @ value
