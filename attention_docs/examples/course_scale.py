"""The fourth step of the course: the softmax of scores that grow.

`scores` are the scores of "birds". `weights_unscaled` is their softmax; `scaled` and `weights`
divide by the root of d_k = 3 first.

Random scores grow with the root of the number of features d. `scores_of_pass`, `weights_by_d` and
`slope_by_d` are the score of "pass", the weights without the division, and the derivative of the
largest weight if the scores of the course, where d = 3, grow in this way. With the division, scores
and weights would stay the same for every d.

>>> show(computed(steps))
scores [0 6 0 0 0]
weights_unscaled [0.0025 0.9902 0.0025 0.0025 0.0025]
scaled [0 3.4641 0 0 0]
weights [0.0278 0.8887 0.0278 0.0278 0.0278]
slope 0.0989
scores_of_pass [6 12]
weights_by_d [[0.0025 0.9902 0.0025 0.0025 0.0025] [6.1e-06 1.0000 6.1e-06 6.1e-06 6.1e-06]]
slope_by_d [0.0097 2.5e-05]
"""

import numpy

from attention_docs.examples.course_sentence import BIRDS, PASS, WORDS, given_matrices
from attention_docs.softmax import softmax

TITLE = "One row of scores, and what happens as they grow"
SOURCE = "our own example"

D = [3, 12]
LABELS = {
    "scores weights_unscaled scaled weights": (WORDS,),
    "weights_by_d": ([f"d = {d}" for d in D], WORDS),
}


def steps(xp=numpy):
    """Return the scores and weights of "birds" without and with the scale, and for growing scores.

    `slope` is the derivative of the largest weight, that of "pass", by its scaled score.
    """
    matrices = given_matrices(xp)
    x = matrices["X"]
    q = x[BIRDS, :] @ matrices["W_Q_1"]
    k = x @ matrices["W_K_1"]
    d = xp.asarray(D, dtype=xp.float64)
    scores = k @ q
    scaled = scores / k.shape[1] ** 0.5
    weights = softmax(scaled)
    # Random scores of d features grow with the root of d.
    scores_by_d = xp.sqrt(d / d[0])[:, None] * scores[None, :]
    weights_by_d = softmax(scores_by_d)
    return {
        "scores": scores,
        "weights_unscaled": softmax(scores),
        "scaled": scaled,
        "weights": weights,
        "slope": slope(weights[PASS]),
        "d": d,
        "scores_of_pass": scores_by_d[:, PASS],
        "weights_by_d": weights_by_d,
        "slope_by_d": slope(weights_by_d[:, PASS]),
    }


def slope(weight):
    """Return the derivative of a softmax weight with respect to its own score."""
    return weight * (1 - weight)
