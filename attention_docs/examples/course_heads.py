"""The seventh step of the course: two heads, and what one softmax would do in their place.

Both heads read words and positions under the causal mask. `added_1` and `added_2` are what each
adds through its rows of W_O, and `output` is their sum. `one_head_weights` is what a single head
makes of the queries and keys of both, side by side. `they_scores` has the scores of "they": those
of head 1, those of head 2, and their sums, which are the scores of the single head. They are
rounded to nine decimals, because many are whole numbers but for the rounding of floats.

>>> show(steps())
placed 5 x 7
[[2 0 0 0 0       0       1]
 [0 1 1 0 0  0.8000  0.6000]
 [1 2 0 0 0  0.9600 -0.2800]
 [0 0 0 2 1  0.3520 -0.9360]
 [0 0 0 0 2 -0.5376 -0.8432]]
weights_1 5 x 5
[[     1      0      0      0      0]
 [0.6405 0.3595      0      0      0]
 [0.0295 0.9411 0.0295      0      0]
 [0.4142 0.4142 0.1305 0.0411      0]
 [0.8858 0.0087 0.0880 0.0087 0.0087]]
weights_2 5 x 5
[[      1      0      0      0      0]
 [ 0.9097 0.0903      0      0      0]
 [ 0.0829 0.8343 0.0829      0      0]
 [ 0.0005 0.0828 0.8338 0.0828      0]
 [1.2e-05 0.0005 0.0828 0.8338 0.0828]]
head_1 5 x 4
[[     2      0      0      0]
 [1.2809 0.3595 0.3595      0]
 [0.0884 1.0000 0.9411      0]
 [0.9589 0.6752 0.4142 0.0823]
 [1.8596 0.1847 0.0087 0.0175]]
head_2 5 x 4
[[     2      0      0      0]
 [1.8193 0.0903 0.0903      0]
 [0.2486 1.0000 0.8343      0]
 [0.8349 1.7505 0.0828 0.1656]
 [0.0828 0.1661 0.0005 1.6677]]
side_by_side 5 x 8
[[     2      0      0      0      2      0      0      0]
 [1.2809 0.3595 0.3595      0 1.8193 0.0903 0.0903      0]
 [0.0884 1.0000 0.9411      0 0.2486 1.0000 0.8343      0]
 [0.9589 0.6752 0.4142 0.0823 0.8349 1.7505 0.0828 0.1656]
 [1.8596 0.1847 0.0087 0.0175 0.0828 0.1661 0.0005 1.6677]]
W_O 8 x 7
[[1 0 0 0 0 0 0]
 [0 1 0 0 0 0 0]
 [0 0 1 0 0 0 0]
 [0 0 0 1 0 0 0]
 [0 0 0 0 0 0 0]
 [0 0 0 0 0 0 0]
 [0 0 1 0 0 0 0]
 [0 0 0 1 0 0 0]]
added_1 5 x 7
[[     2      0      0      0 0 0 0]
 [1.2809 0.3595 0.3595      0 0 0 0]
 [0.0884 1.0000 0.9411      0 0 0 0]
 [0.9589 0.6752 0.4142 0.0823 0 0 0]
 [1.8596 0.1847 0.0087 0.0175 0 0 0]]
added_2 5 x 7
[[0 0      0      0 0 0 0]
 [0 0 0.0903      0 0 0 0]
 [0 0 0.8343      0 0 0 0]
 [0 0 0.0828 0.1656 0 0 0]
 [0 0 0.0005 1.6677 0 0 0]]
output 5 x 7
[[     2      0      0      0 0 0 0]
 [1.2809 0.3595 0.4499      0 0 0 0]
 [0.0884 1.0000 1.7754      0 0 0 0]
 [0.9589 0.6752 0.4970 0.2479 0 0 0]
 [1.8596 0.1847 0.0093 1.6852 0 0 0]]
they_scores 3 x 5
[[      8       0  4  0 0]
 [-9.3600 -2.8000  6 10 6]
 [-1.3600 -2.8000 10 10 6]]
one_head_weights 5 x 5
[[     1      0      0      0      0]
 [0.8851 0.1149      0      0      0]
 [0.0163 0.9674 0.0163      0      0]
 [0.0079 0.2869 0.6491 0.0560      0]
 [0.0044 0.0024 0.4524 0.4524 0.0884]]
"""

from types import ModuleType

import numpy

from attention_docs.arrays import Array
from attention_docs.dot_product import attention_steps
from attention_docs.examples.course_sentence import given, nine_decimals

TITLE = "Two heads on one sentence"
SOURCE = "our own"


def steps(xp: ModuleType = numpy) -> dict[str, Array]:
    matrices = given(xp)
    placed = matrices["X"] + matrices["E"]
    v = placed @ matrices["W_V"]
    q_1, k_1, q_2, k_2 = (placed @ matrices[f"W_{name}"] for name in ("Q_1", "K_1", "Q_2", "K_2"))
    one = attention_steps(q_1, k_1, v, is_causal=True)
    two = attention_steps(q_2, k_2, v, is_causal=True)
    both = xp.concat([q_1, q_2], axis=1), xp.concat([k_1, k_2], axis=1)
    one_head = attention_steps(*both, v, is_causal=True)
    they_scores = xp.stack([attention.scores[4, :] for attention in (one, two, one_head)])
    w_o = xp.concat([matrices["W_O_1"], matrices["W_O_2"]])
    side_by_side = xp.concat([one.output, two.output], axis=1)
    return {
        "placed": placed,
        "weights_1": one.weights,
        "weights_2": two.weights,
        "head_1": one.output,
        "head_2": two.output,
        "side_by_side": side_by_side,
        "W_O": w_o,
        "added_1": one.output @ matrices["W_O_1"],
        "added_2": two.output @ matrices["W_O_2"],
        "output": side_by_side @ w_o,
        "they_scores": nine_decimals(xp, they_scores),
        "one_head_weights": one_head.weights,
    }
