"""The third step of the course: the whole of attention as one formula.

`exponentials` and `sums` lie between the scaled scores and the weights.

>>> show(computed(steps))
Q [[0 3 0] [2 0 0] [0 3 0] [2 0 0] [2 0 2]]
K [[3 0 0] [0 2 0] [3 0 0] [0 0 0] [0 0 0]]
V [[2 1 0 0] [0 0 2 0] [1 2 0 0] [0 0 0 2] [0 0 0 0]]
scores [[0 6 0 0 0] [6 0 6 0 0] [0 6 0 0 0] [6 0 6 0 0] [6 0 6 0 0]]
scaled 5 x 5
[[     0 3.4641      0 0 0]
 [3.4641      0 3.4641 0 0]
 [     0 3.4641      0 0 0]
 [3.4641      0 3.4641 0 0]
 [3.4641      0 3.4641 0 0]]
exponentials 5 x 5
[[      1 31.9477       1 1 1]
 [31.9477       1 31.9477 1 1]
 [      1 31.9477       1 1 1]
 [31.9477       1 31.9477 1 1]
 [31.9477       1 31.9477 1 1]]
sums [35.9477 66.8955 35.9477 66.8955 66.8955]
weights 5 x 5
[[0.0278 0.8887 0.0278 0.0278 0.0278]
 [0.4776 0.0149 0.4776 0.0149 0.0149]
 [0.0278 0.8887 0.0278 0.0278 0.0278]
 [0.4776 0.0149 0.4776 0.0149 0.0149]
 [0.4776 0.0149 0.4776 0.0149 0.0149]]
output 5 x 4
[[0.0835 0.0835 1.7775 0.0556]
 [1.4327 1.4327 0.0299 0.0299]
 [0.0835 0.0835 1.7775 0.0556]
 [1.4327 1.4327 0.0299 0.0299]
 [1.4327 1.4327 0.0299 0.0299]]
"""

import numpy

from attention_docs.examples import course_sentence as course

TITLE = "Attention over the sentence"
SOURCE = "our own example"
LABELS = {
    "X": (course.WORDS, course.FEATURES),
    "Q K": (course.WORDS, course.KEY_FEATURES),
    "V output": (course.WORDS, course.VALUE_FEATURES),
    "scores scaled exponentials weights": (course.WORDS, course.WORDS),
    "sums": (course.WORDS,),
}


def steps(xp=numpy):
    """Compute softmax(Q K^T / sqrt(d_k)) V step by step, with the queries and keys of head 1."""
    matrices = course.given_matrices(xp)
    x = matrices["X"]
    q, k, v = course.project(matrices, x, head=1)  # (5, 3), (5, 3), (5, 4)
    scores = q @ k.T  # (5, 5)
    scaled = scores / k.shape[1] ** 0.5
    exponentials = xp.exp(scaled)
    sums = xp.sum(exponentials, axis=1)  # (5,)
    weights = exponentials / sums[:, None]
    return {
        "X": x,
        "Q": q,
        "K": k,
        "V": v,
        "scores": scores,
        "scaled": scaled,
        "exponentials": exponentials,
        "sums": sums,
        "weights": weights,
        "output": weights @ v,
    }
