"""The weights that the publication of `self_attention` prints, times its values.

The printed weights are wrong, and no row of the printed output follows even from them.

>>> show(computed(steps))
output [[1.1060 1.7880] [1.7880 1.1060] [1.5760 1.5760]]
"""

import numpy

from attention_docs.examples import self_attention

TITLE = "Self-attention with the weights its publication prints"
SOURCE = "000_2da5eed0b4267db4.txt, “Computation of Attention Scores”, where they are wrong"

WEIGHTS = [[0.106, 0.447, 0.447], [0.447, 0.106, 0.447], [0.211, 0.211, 0.577]]


def steps(xp=numpy):
    """Return the printed weights, and their products with the right values."""
    weights = xp.asarray(WEIGHTS, dtype=xp.float64)
    return {"weights": weights, "output": weights @ self_attention.steps(xp)["V"]}
