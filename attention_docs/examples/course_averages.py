"""The first step of the course: averages of words, with equal weights and by similarity.

`mean` is the average with equal weights. `dots` holds the dot product of every word with every
word; nothing is learned. The softmax of each row gives the weights of a soft lookup, `weights`, and
`blended` holds the weighted averages. `birds_exponentials` and `birds_sum` follow the row of
"birds".

>>> show(computed(steps))
mean [0.6000 0.6000 0.4000 0.4000 0.4000 0 0]
dots [[5 0 4 0 0] [0 4 0 0 0] [4 0 5 0 0] [0 0 0 4 0] [0 0 0 0 4]]
birds_exponentials [148.4132 1 54.5982 1 1]
birds_sum 206.0113
weights 5 x 5
[[0.7204 0.0049 0.2650 0.0049 0.0049]
 [0.0171 0.9317 0.0171 0.0171 0.0171]
 [0.2650 0.0049 0.7204 0.0049 0.0049]
 [0.0171 0.0171 0.0171 0.9317 0.0171]
 [0.0171 0.0171 0.0171 0.0171 0.9317]]
blended 5 x 7
[[1.7059 1.2505 0.0097 0.0097 0.0097 0 0]
 [0.0512 0.0512 1.8635 0.0341 0.0341 0 0]
 [1.2505 1.7059 0.0097 0.0097 0.0097 0 0]
 [0.0512 0.0512 0.0341 1.8635 0.0341 0 0]
 [0.0512 0.0512 0.0341 0.0341 1.8635 0 0]]
"""

import numpy

from attention_docs.examples.course_sentence import BIRDS, FEATURES, WORDS, given_matrices

TITLE = "Averages of the words of a sentence"
SOURCE = "our own example"
LABELS = {
    "X blended": (WORDS, FEATURES),
    "mean": (FEATURES,),
    "dots weights": (WORDS, WORDS),
    "birds_exponentials": (WORDS,),
}


def steps(xp=numpy):
    """Average the words with equal weights, and with the softmax of their dot products."""
    x = given_matrices(xp)["X"]
    dots = x @ x.T  # (5, 5)
    exponentials = xp.exp(dots)
    sums = xp.sum(exponentials, axis=1, keepdims=True)
    weights = exponentials / sums
    return {
        "X": x,
        "mean": xp.mean(x, axis=0),
        "dots": dots,
        "birds_exponentials": exponentials[BIRDS, :],
        "birds_sum": sums[BIRDS, 0],
        "weights": weights,
        "blended": weights @ x,
    }
