"""One softmax minus a multiple of another, for two pairs of heads with a value each.

>>> show(computed(steps))
weights 4 x 3
[[0.6652 0.2447 0.0900]
 [0.4223 0.4223 0.1554]
 [0.0900 0.2447 0.6652]
 [0.0900 0.6652 0.2447]]
difference [[0.4541 0.0336 0.0123] [0.0450 -0.0879 0.5429]]
sums [0.5000 0.5000]
output [1.0424 1.6736]
halves [1.2665 2.1218]
"""

import numpy

from attention_docs.softmax import softmax

TITLE = "Differential attention in two pairs of heads"
SOURCE = "our own example"

SCORES = [[2, 1, 0], [1, 1, 0], [0, 1, 2], [0, 2, 1]]
V = [[2, 4, 0], [1, 0, 3]]
SHARE = [0.5]

HEADS, KEYS = ["head 1", "head 2", "head 3", "head 4"], ["they", "like", "trees"]
LABELS = {"SCORES weights": (HEADS, KEYS), "difference": (["heads 1, 2", "heads 3, 4"], KEYS)}


def steps(xp=numpy):
    """Subtract neighbouring heads, and by mistake the second half of the heads from the first."""
    scores, v, share = (xp.asarray(rows, dtype=xp.float64) for rows in (SCORES, V, SHARE))
    weights = softmax(scores)
    difference = weights[::2, :] - share * weights[1::2, :]
    heads = xp.sum(weights * xp.repeat(v, 2, axis=0), axis=1)
    inputs = {"scores": scores, "V": v, "share": share}
    return inputs | {
        "weights": weights,
        "difference": difference,
        "sums": xp.sum(difference, axis=1),
        "output": heads[::2] - share * heads[1::2],
        "halves": heads[:2] - share * heads[2:],
    }
