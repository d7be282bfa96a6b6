"""The fifth step of the course: the words in another order, without and with positions.

The two orders are "birds pass boats because they" and "boats pass birds because they". Without
positions, each word gets the same output in both. `E` adds a clock hand to each position, so the
keys of head 1 say how early a word comes, and "they" finds the noun that comes first.

`they_query` and `they_scores` are the query and the scores of "they". The scores are rounded to
thirteen decimals, which removes the rounding errors of the float arithmetic.

>>> show(computed(steps))
X_swapped [[1 2 0 0 0 0 0] [0 0 2 0 0 0 0] [2 1 0 0 0 0 0] [0 0 0 2 0 0 0] [0 0 0 0 2 0 0]]
weights 5 x 5
[[0.0278 0.8887 0.0278 0.0278 0.0278]
 [0.4776 0.0149 0.4776 0.0149 0.0149]
 [0.0278 0.8887 0.0278 0.0278 0.0278]
 [0.4776 0.0149 0.4776 0.0149 0.0149]
 [0.4776 0.0149 0.4776 0.0149 0.0149]]
weights_swapped 5 x 5
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
output_swapped 5 x 4
[[0.0835 0.0835 1.7775 0.0556]
 [1.4327 1.4327 0.0299 0.0299]
 [0.0835 0.0835 1.7775 0.0556]
 [1.4327 1.4327 0.0299 0.0299]
 [1.4327 1.4327 0.0299 0.0299]]
with_positions 5 x 7
[[2 1 0 0 0  0.6000  0.8000]
 [0 0 2 0 0       1       0]
 [1 2 0 0 0  0.6000 -0.8000]
 [0 0 0 2 0 -0.2800 -0.9600]
 [0 0 0 0 2 -0.9360 -0.3520]]
angle 53.1301
K_with_positions [[3 0 1.6000] [0 2 0] [3 0 -1.6000] [0 0 -1.9200] [0 0 -0.7040]]
they_query [2 0 2]
they_scores [9.2000 0 2.8000 -3.8400 -1.4080]
weights_with_positions 5 x 5
[[0.0278 0.8887 0.0278 0.0278 0.0278]
 [0.4776 0.0149 0.4776 0.0149 0.0149]
 [0.0278 0.8887 0.0278 0.0278 0.0278]
 [0.4776 0.0149 0.4776 0.0149 0.0149]
 [0.9685 0.0048 0.0241 0.0005 0.0021]]
weights_with_positions_swapped 5 x 5
[[0.0278 0.8887 0.0278 0.0278 0.0278]
 [0.4776 0.0149 0.4776 0.0149 0.0149]
 [0.0278 0.8887 0.0278 0.0278 0.0278]
 [0.4776 0.0149 0.4776 0.0149 0.0149]
 [0.9685 0.0048 0.0241 0.0005 0.0021]]
output_with_positions 5 x 4
[[0.0835 0.0835 1.7775 0.0556]
 [1.4327 1.4327 0.0299 0.0299]
 [0.0835 0.0835 1.7775 0.0556]
 [1.4327 1.4327 0.0299 0.0299]
 [1.9611 1.0166 0.0096 0.0010]]
output_with_positions_swapped 5 x 4
[[0.0835 0.0835 1.7775 0.0556]
 [1.4327 1.4327 0.0299 0.0299]
 [0.0835 0.0835 1.7775 0.0556]
 [1.4327 1.4327 0.0299 0.0299]
 [1.0166 1.9611 0.0096 0.0010]]
"""

import math

import numpy

from attention_docs.dot_product import attention_steps
from attention_docs.examples import course_sentence as course

TITLE = "Two words exchange their places"
SOURCE = "our own example"
LABELS = {
    "X E with_positions": (course.WORDS, course.FEATURES),
    "X_swapped": (course.SWAPPED, course.FEATURES),
    "weights weights_with_positions": (course.WORDS, course.WORDS),
    "weights_swapped weights_with_positions_swapped": (course.SWAPPED, course.SWAPPED),
    "output output_with_positions": (course.WORDS, course.VALUE_FEATURES),
    "output_swapped output_with_positions_swapped": (course.SWAPPED, course.VALUE_FEATURES),
    "W_Q W_K": (course.FEATURES, course.KEY_FEATURES),
    "K_with_positions": (course.WORDS, course.KEY_FEATURES),
    "they_query": (course.KEY_FEATURES,),
    "they_scores": (course.WORDS,),
}


def steps(xp=numpy):
    """Attend in both orders of the words, without and with positions, but without a mask.

    `angle` is the angle between the clock hands of neighbouring positions, in degrees.
    """
    matrices = course.given_matrices(xp)
    x, e = matrices["X"], matrices["E"]
    w_q, w_k, w_v = matrices["W_Q_1"], matrices["W_K_1"], matrices["W_V"]
    x_swapped = course.swap_nouns(xp, x)

    def attend(rows):
        """Return the steps of head 1 for these rows."""
        return attention_steps(rows @ w_q, rows @ w_k, rows @ w_v)

    words, words_swapped = attend(x), attend(x_swapped)
    with_positions, with_positions_swapped = attend(x + e), attend(x_swapped + e)
    clock_1, clock_2 = course.FEATURES.index("clock 1"), course.FEATURES.index("clock 2")
    # Clock hands have length 1, so their dot product is the cosine of the angle.
    cosine = e[0, clock_1] * e[1, clock_1] + e[0, clock_2] * e[1, clock_2]
    return {
        "X": x,
        "X_swapped": x_swapped,
        "weights": words.weights,
        "weights_swapped": words_swapped.weights,
        "output": words.output,
        "output_swapped": words_swapped.output,
        "E": e,
        "with_positions": x + e,
        "W_Q": w_q,
        "W_K": w_k,
        "angle": xp.acos(cosine) * (180 / math.pi),
        "K_with_positions": (x + e) @ w_k,
        "they_query": (x + e)[course.THEY, :] @ w_q,
        "they_scores": course.round_off(xp, with_positions.scores[course.THEY, :]),
        "weights_with_positions": with_positions.weights,
        "weights_with_positions_swapped": with_positions_swapped.weights,
        "output_with_positions": with_positions.output,
        "output_with_positions_swapped": with_positions_swapped.output,
    }
