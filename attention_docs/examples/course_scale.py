"""The fourth step of the course: the softmax of scores that grow.

The scores of "birds", without and with the division by the root of d_k = 3. `weights_by_d` has the
weights that the scaled scores would give if they grew with the root of d again, for each d of `d`;
d = 3 is the row without the division. `scores_of_pass` are the scores of "pass" there, and
`slope_by_d` the derivatives of the largest weight with respect to its own score. With the division,
its derivative with respect to the scaled score is `slope`, whatever d is.

>>> show(steps())
scores 5
[0 6 0 0 0]
weights_unscaled 5
[0.0025 0.9902 0.0025 0.0025 0.0025]
scaled 5
[0 3.4641 0 0 0]
weights 5
[0.0278 0.8887 0.0278 0.0278 0.0278]
slope number
0.0989
d 3
[3 12 48]
scores_of_pass 3
[6 12 24]
weights_by_d 3 x 5
[[ 0.0025 0.9902  0.0025  0.0025  0.0025]
 [6.1e-06 1.0000 6.1e-06 6.1e-06 6.1e-06]
 [3.8e-11 1.0000 3.8e-11 3.8e-11 3.8e-11]]
slope_by_d 3
[0.0097 2.5e-05 1.5e-10]
"""

from types import ModuleType

import numpy

from attention_docs.arrays import Array
from attention_docs.examples.course_sentence import WORDS, given_matrices
from attention_docs.softmax import softmax

TITLE = "One row of scores, and what happens as they grow"
SOURCE = "our own example"

D = [3, 12, 48]
LABELS = {
    "scores": (WORDS,),
    "weights_unscaled": (WORDS,),
    "scaled": (WORDS,),
    "weights": (WORDS,),
    "weights_by_d": ([f"d = {d}" for d in D], WORDS),
}


def steps(xp: ModuleType = numpy) -> dict[str, Array]:
    matrices = given_matrices(xp)
    q, k = matrices["X"][0, :] @ matrices["W_Q_1"], matrices["X"] @ matrices["W_K_1"]
    d = xp.asarray(D, dtype=xp.float64)
    scores = k @ q
    scaled = scores / 3**0.5
    weights = softmax(scaled)
    rows = xp.sqrt(d / d[0])[:, None] * scores[None, :]
    weights_by_d = softmax(rows)
    return {
        "scores": scores,
        "weights_unscaled": softmax(scores),
        "scaled": scaled,
        "weights": weights,
        "slope": slope(weights[1]),
        "d": d,
        "scores_of_pass": rows[:, 1],
        "weights_by_d": weights_by_d,
        "slope_by_d": slope(weights_by_d[:, 1]),
    }


def slope(weight: Array) -> Array:
    """Return the derivative of a softmax weight with respect to its own score."""
    return weight * (1 - weight)
