"""The first step of the course: averages of words, with equal weights and by similarity.

`dots` holds the dot product of every word with every word, and nothing is learned. A softmax of
each row of it gives the weights of a soft lookup, and `blended` the averages. `drink_exponentials`
and `drink_sum` follow the row of "drink".

>>> show(steps())
X 5 x 7
[[2 0 0 0 0 0 0]
 [0 1 1 0 0 0 0]
 [1 2 0 0 0 0 0]
 [0 0 0 2 1 0 0]
 [0 0 0 0 2 0 0]]
mean 7
[0.6000 0.6000 0.2000 0.4000 0.6000 0 0]
dots 5 x 5
[[4 0 2 0 0]
 [0 2 2 0 0]
 [2 2 5 0 0]
 [0 0 0 5 2]
 [0 0 0 2 4]]
drink_exponentials 5
[1 7.3891 7.3891 1 1]
drink_sum number
17.7781
weights 5 x 5
[[0.8401 0.0154 0.1137 0.0154 0.0154]
 [0.0562 0.4156 0.4156 0.0562 0.0562]
 [0.0447 0.0447 0.8984 0.0061 0.0061]
 [0.0063 0.0063 0.0063 0.9346 0.0465]
 [0.0154 0.0154 0.0154 0.1137 0.8401]]
blended 5 x 7
[[1.7940 0.2428 0.0154 0.0308 0.0462 0 0]
 [0.5281 1.2469 0.4156 0.1125 0.1687 0 0]
 [0.9879 1.8416 0.0447 0.0121 0.0182 0 0]
 [0.0189 0.0189 0.0063 1.8692 1.0276 0 0]
 [0.0462 0.0462 0.0154 0.2274 1.7940 0 0]]
"""

from types import ModuleType

import numpy

from attention_docs.arrays import Array
from attention_docs.examples.course_sentence import given
from attention_docs.softmax import softmax

TITLE = "Averages of the words of a sentence"
SOURCE = "our own"


def steps(xp: ModuleType = numpy) -> dict[str, Array]:
    x = given(xp)["X"]
    dots = x @ x.T
    exponentials = xp.exp(dots[1, :])
    weights = softmax(dots)
    return {
        "X": x,
        "mean": xp.mean(x, axis=0),
        "dots": dots,
        "drink_exponentials": exponentials,
        "drink_sum": xp.sum(exponentials),
        "weights": weights,
        "blended": weights @ x,
    }
