"""The fifth step of the course: the words in another order, without and with positions.

"cats drink milk because they" and "milk drink cats because they". Head 1 reads the words alone, so
each word gets the same output in both. Head 2 reads the clock that `E` adds to each position, and
looks at the previous word. `angle`, in degrees, is what the hand turns by from each word to the
next. `drink_query`, `drink_scores` and `cats_scores` are what head 2 computes for the second and
the first word; they are rounded to nine decimals, because most of them are whole numbers but for
the rounding of floats.

>>> show(steps())
X 5 x 7
[[2 0 0 0 0 0 0]
 [0 1 1 0 0 0 0]
 [1 2 0 0 0 0 0]
 [0 0 0 2 1 0 0]
 [0 0 0 0 2 0 0]]
X_swapped 5 x 7
[[1 2 0 0 0 0 0]
 [0 1 1 0 0 0 0]
 [2 0 0 0 0 0 0]
 [0 0 0 2 1 0 0]
 [0 0 0 0 2 0 0]]
weights 5 x 5
[[0.0711 0.7157 0.0711 0.0711 0.0711]
 [0.3623 0.2034 0.3623 0.0360 0.0360]
 [0.0278 0.8887 0.0278 0.0278 0.0278]
 [0.3978 0.3978 0.1254 0.0395 0.0395]
 [0.8858 0.0087 0.0880 0.0087 0.0087]]
weights_swapped 5 x 5
[[0.0278 0.8887 0.0278 0.0278 0.0278]
 [0.3623 0.2034 0.3623 0.0360 0.0360]
 [0.0711 0.7157 0.0711 0.0711 0.0711]
 [0.1254 0.3978 0.3978 0.0395 0.0395]
 [0.0880 0.0087 0.8858 0.0087 0.0087]]
output 5 x 4
[[0.2132 0.8578 0.7157 0.1422]
 [1.0869 0.9280 0.2034 0.0720]
 [0.0835 0.9444 0.8887 0.0556]
 [0.9210 0.6485 0.3978 0.0790]
 [1.8596 0.1847 0.0087 0.0175]]
output_swapped 5 x 4
[[0.0835 0.9444 0.8887 0.0556]
 [1.0869 0.9280 0.2034 0.0720]
 [0.2132 0.8578 0.7157 0.1422]
 [0.9210 0.6485 0.3978 0.0790]
 [1.8596 0.1847 0.0087 0.0175]]
E 5 x 7
[[0 0 0 0 0       0       1]
 [0 0 0 0 0  0.8000  0.6000]
 [0 0 0 0 0  0.9600 -0.2800]
 [0 0 0 0 0  0.3520 -0.9360]
 [0 0 0 0 0 -0.5376 -0.8432]]
placed 5 x 7
[[2 0 0 0 0       0       1]
 [0 1 1 0 0  0.8000  0.6000]
 [1 2 0 0 0  0.9600 -0.2800]
 [0 0 0 2 1  0.3520 -0.9360]
 [0 0 0 0 2 -0.5376 -0.8432]]
placed_swapped 5 x 7
[[1 2 0 0 0       0       1]
 [0 1 1 0 0  0.8000  0.6000]
 [2 0 0 0 0  0.9600 -0.2800]
 [0 0 0 2 1  0.3520 -0.9360]
 [0 0 0 0 2 -0.5376 -0.8432]]
W_Q_2 7 x 3
[[ 0 0 0]
 [ 0 0 0]
 [ 0 0 0]
 [ 0 0 0]
 [ 0 0 0]
 [ 3 4 0]
 [-4 3 0]]
W_K_2 7 x 3
[[0 0 0]
 [0 0 0]
 [0 0 0]
 [0 0 0]
 [0 0 0]
 [2 0 0]
 [0 2 0]]
angle number
53.1301
drink_query 3
[0 5 0]
drink_scores 5
[10 6 -2.8000 -9.3600 -8.4320]
cats_scores 5
[6 -2.8000 -9.3600 -8.4320 -0.7584]
weights_2 5 x 5
[[ 0.9739 0.0061 0.0001  0.0002  0.0197]
 [ 0.9091 0.0903 0.0006 1.3e-05 2.2e-05]
 [ 0.0828 0.8338 0.0828  0.0005 1.2e-05]
 [ 0.0005 0.0828 0.8334  0.0828  0.0005]
 [1.2e-05 0.0005 0.0828  0.8338  0.0828]]
weights_2_swapped 5 x 5
[[ 0.9739 0.0061 0.0001  0.0002  0.0197]
 [ 0.9091 0.0903 0.0006 1.3e-05 2.2e-05]
 [ 0.0828 0.8338 0.0828  0.0005 1.2e-05]
 [ 0.0005 0.0828 0.8334  0.0828  0.0005]
 [1.2e-05 0.0005 0.0828  0.8338  0.0828]]
output_2 5 x 4
[[1.9479 0.0063 0.0061  0.0005]
 [1.8188 0.0914 0.0903 2.5e-05]
 [0.2485 0.9995 0.8338  0.0010]
 [0.8344 1.7496 0.0828  0.1656]
 [0.0828 0.1661 0.0005  1.6677]]
output_2_swapped 5 x 4
[[0.9742 1.9539 0.0061  0.0005]
 [0.9102 1.9085 0.0903 2.5e-05]
 [0.2485 0.9995 0.8338  0.0010]
 [1.6674 0.0838 0.0828  0.1656]
 [0.1656 0.0005 0.0005  1.6677]]
"""

import math
from types import ModuleType

import numpy

from attention_docs.arrays import Array
from attention_docs.dot_product import AttentionSteps, attention_steps
from attention_docs.examples.course_sentence import given, nine_decimals

TITLE = "Two words exchange their places"
SOURCE = "our own"

ORDER = [2, 1, 0, 3, 4]


def steps(xp: ModuleType = numpy) -> dict[str, Array]:
    matrices = given(xp)
    x, e, w_v = (matrices[name] for name in ("X", "E", "W_V"))
    swapped = xp.take(x, xp.asarray(ORDER), axis=0)

    def attend(rows: Array, head: int) -> AttentionSteps:
        w_q, w_k = matrices[f"W_Q_{head}"], matrices[f"W_K_{head}"]
        return attention_steps(rows @ w_q, rows @ w_k, rows @ w_v)

    words, words_swapped = attend(x, 1), attend(swapped, 1)
    before, before_swapped = attend(x + e, 2), attend(swapped + e, 2)
    drink_query = nine_decimals(xp, (x + e)[1, :] @ matrices["W_Q_2"])
    scores = nine_decimals(xp, before.scores)
    return {
        "X": x,
        "X_swapped": swapped,
        "weights": words.weights,
        "weights_swapped": words_swapped.weights,
        "output": words.output,
        "output_swapped": words_swapped.output,
        "E": e,
        "placed": x + e,
        "placed_swapped": swapped + e,
        "W_Q_2": matrices["W_Q_2"],
        "W_K_2": matrices["W_K_2"],
        "angle": xp.acos(e[1, 6]) * (180 / math.pi),
        "drink_query": drink_query,
        "drink_scores": scores[1, :],
        "cats_scores": scores[0, :],
        "weights_2": before.weights,
        "weights_2_swapped": before_swapped.weights,
        "output_2": before.output,
        "output_2_swapped": before_swapped.output,
    }
