"""The third step of the course: what the softmax makes of scores that grow.

The scores of "they", without and with the division by the root of d_k = 3. `grown` has the weights
that the scaled scores would give if they grew with the root of d again, for each d of `d`; d = 3 is
the row without the division, and `large` has the scores of "cats". `slopes` are the derivatives of
the largest weight with respect to its own score. With the division, its derivative with respect to
the scaled score is `slope`, whatever d is, and `slopes_divided` are those for the score itself.
`gain` says how many times more that is for d = 3.

>>> show(steps())
scores 5
[8 0 4 0 0]
weights_unscaled 5
[0.9810 0.0003 0.0180 0.0003 0.0003]
scaled 5
[4.6188 0 2.3094 0 0]
weights 5
[0.8858 0.0087 0.0880 0.0087 0.0087]
slope number
0.1012
d 3
[3 12 48]
large 3
[8 16 32]
grown 3 x 5
[[0.9810  0.0003  0.0180  0.0003  0.0003]
 [0.9997 1.1e-07  0.0003 1.1e-07 1.1e-07]
 [1.0000 1.3e-14 1.1e-07 1.3e-14 1.3e-14]]
slopes 3
[0.0186 0.0003 1.1e-07]
slopes_divided 3
[0.0584 0.0292 0.0146]
gain number
3.1404
"""

from types import ModuleType

import numpy

from attention_docs.arrays import Array
from attention_docs.examples.course_sentence import given
from attention_docs.softmax import softmax

TITLE = "One row of scores, and what happens as they grow"
SOURCE = "our own"

D = [3, 12, 48]


def steps(xp: ModuleType = numpy) -> dict[str, Array]:
    matrices = given(xp)
    q, k = matrices["X"][4, :] @ matrices["W_Q_1"], matrices["X"] @ matrices["W_K_1"]
    d = xp.asarray(D, dtype=xp.float64)
    scores = k @ q
    scaled = scores / 3**0.5
    weights = softmax(scaled)
    rows = xp.sqrt(d / d[0])[:, None] * scores[None, :]
    grown = softmax(rows)
    slopes = slope(grown[:, 0])
    # The chain rule: a score changes its scaled score by one over the root.
    slopes_divided = slope(weights[0]) / xp.sqrt(d)
    return {
        "scores": scores,
        "weights_unscaled": softmax(scores),
        "scaled": scaled,
        "weights": weights,
        "slope": slope(weights[0]),
        "d": d,
        "large": rows[:, 0],
        "grown": grown,
        "slopes": slopes,
        "slopes_divided": slopes_divided,
        "gain": slopes_divided[0] / slopes[0],
    }


def slope(weight: Array) -> Array:
    """Return the derivative of a softmax weight with respect to its own score."""
    return weight * (1 - weight)
