"""The second step of the course: queries, keys and values, three vectors for each word.

Nothing is scaled yet: `weights` is the softmax of the unscaled `scores`.

>>> show(computed(steps))
weights_alike 5 x 5
[[0.7204 0.0049 0.2650 0.0049 0.0049]
 [0.0171 0.9317 0.0171 0.0171 0.0171]
 [0.2650 0.0049 0.7204 0.0049 0.0049]
 [0.0171 0.0171 0.0171 0.9317 0.0171]
 [0.0171 0.0171 0.0171 0.0171 0.9317]]
Q [[0 3 0] [2 0 0] [0 3 0] [2 0 0] [2 0 2]]
K [[3 0 0] [0 2 0] [3 0 0] [0 0 0] [0 0 0]]
V [[2 1 0 0] [0 0 2 0] [1 2 0 0] [0 0 0 2] [0 0 0 0]]
scores [[0 6 0 0 0] [6 0 6 0 0] [0 6 0 0 0] [6 0 6 0 0] [6 0 6 0 0]]
weights 5 x 5
[[0.0025 0.9902 0.0025 0.0025 0.0025]
 [0.4981 0.0012 0.4981 0.0012 0.0012]
 [0.0025 0.9902 0.0025 0.0025 0.0025]
 [0.4981 0.0012 0.4981 0.0012 0.0012]
 [0.4981 0.0012 0.4981 0.0012 0.0012]]
output 5 x 4
[[0.0074 0.0074 1.9804 0.0049]
 [1.4944 1.4944 0.0025 0.0025]
 [0.0074 0.0074 1.9804 0.0049]
 [1.4944 1.4944 0.0025 0.0025]
 [1.4944 1.4944 0.0025 0.0025]]
"""

import numpy

from attention_docs.examples import course_sentence as course
from attention_docs.softmax import softmax

TITLE = "Queries, keys and values of a sentence"
SOURCE = "our own example"
LABELS = {
    "X": (course.WORDS, course.FEATURES),
    "weights_alike scores weights": (course.WORDS, course.WORDS),
    "W_Q W_K": (course.FEATURES, course.KEY_FEATURES),
    "W_V": (course.FEATURES, course.VALUE_FEATURES),
    "Q K": (course.WORDS, course.KEY_FEATURES),
    "V output": (course.WORDS, course.VALUE_FEATURES),
}


def steps(xp=numpy):
    """Return each word's query, key, value, weights and output in head 1.

    `weights_alike` are the weights without projections, from the dot products of the words.
    """
    matrices = course.given_matrices(xp)
    x = matrices["X"]
    w_q, w_k, w_v = matrices["W_Q_1"], matrices["W_K_1"], matrices["W_V"]
    q, k, v = x @ w_q, x @ w_k, x @ w_v  # (5, 3), (5, 3), (5, 4)
    scores = q @ k.T  # (5, 5)
    weights = softmax(scores)
    return {
        "X": x,
        "weights_alike": softmax(x @ x.T),
        "W_Q": w_q,
        "W_K": w_k,
        "W_V": w_v,
        "Q": q,
        "K": k,
        "V": v,
        "scores": scores,
        "weights": weights,
        "output": weights @ v,
    }
