"""A row of scores whose number of features and temperature can be set.

The scores belong to "birds" in the course. They grow with the root of d, as random scores do, so at
d = 3 they are the scores of the course. A softmax with a temperature divides its scores by the
temperature. `slope` and `slope_unscaled` are the derivatives of the weight of "pass" with respect
to the input of the softmax.

>>> show(computed(steps))
scores [0 12 0 0 0]
weights_unscaled [6.1e-06 1.0000 6.1e-06 6.1e-06 6.1e-06]
slope_unscaled [2.5e-05]
scaled [0 3.4641 0 0 0]
weights [0.0278 0.8887 0.0278 0.0278 0.0278]
slope [0.0989]
"""

import numpy

from attention_docs.arrays import check_positive
from attention_docs.examples.course_sentence import BIRDS, PASS, WORDS, given_matrices
from attention_docs.softmax import softmax

TITLE = "Scores of more features, and a softmax with a temperature"
SOURCE = "our own example"

D = [12]
TEMPERATURE = [1]
LABELS = {"scores weights_unscaled scaled weights": (WORDS,)}


def steps(xp=numpy):
    """Return the weights of the scores with and without the scale, and the slopes of one weight."""
    matrices = given_matrices(xp)
    q, k = matrices["X"][BIRDS, :] @ matrices["W_Q_1"], matrices["X"] @ matrices["W_K_1"]
    d, temperature = (xp.asarray(number, dtype=xp.float64) for number in (D, TEMPERATURE))
    check_positive(xp, d=d, temperature=temperature)
    scores = xp.sqrt(d / k.shape[1]) * (k @ q)
    scaled = scores / xp.sqrt(d)
    weights_unscaled = softmax(scores / temperature)
    weights = softmax(scaled / temperature)
    return {
        "d": d,
        "temperature": temperature,
        "scores": scores,
        "weights_unscaled": weights_unscaled,
        "slope_unscaled": slope(xp, weights_unscaled),
        "scaled": scaled,
        "weights": weights,
        "slope": slope(xp, weights),
    }


def slope(xp, weights):
    """Return the derivative of the weight of "pass" with respect to its score in the softmax.

    For a weight a it is a (1 - a). The sum of the other weights stands for 1 - a, because it is
    precise even if a is close to 1.
    """
    other_weights = xp.concat([weights[:PASS], weights[PASS + 1 :]])
    return weights[PASS : PASS + 1] * xp.sum(other_weights)
