"""The seventh step of the course: two heads, and what one softmax would do in their place.

Both heads read words and positions under the causal mask. `pass_query` and `pass_scores` are what
head 2 computes for the second word, without the mask.

`one_head_weights` are the weights of a single head that has the queries and keys of both heads
side by side. `they_scores` has the scores of "they" in head 1 and in head 2, and their sums, which
are the scores of the single head.

Scores and `Q_2` are rounded to thirteen decimals, to remove the rounding errors of whole numbers.

>>> show(computed(steps))
with_positions 5 x 7
[[2 1 0 0 0  0.6000  0.8000]
 [0 0 2 0 0       1       0]
 [1 2 0 0 0  0.6000 -0.8000]
 [0 0 0 2 0 -0.2800 -0.9600]
 [0 0 0 0 2 -0.9360 -0.3520]]
pass_scores [10 6 -2.8000 -9.3600 -8.4320]
Q_1 [[0 3 0] [2 0 0] [0 3 0] [2 0 0] [2 0 2]]
K_1 [[3 0 1.6000] [0 2 0] [3 0 -1.6000] [0 0 -1.9200] [0 0 -0.7040]]
Q_2 [[-1.4000 4.8000 0] [3 4 0] [5 0 0] [3 -4 0] [-1.4000 -4.8000 0]]
K_2 [[1.2000 1.6000 0] [2 0 0] [1.2000 -1.6000 0] [-0.5600 -1.9200 0] [-1.8720 -0.7040 0]]
V [[2 1 0 0] [0 0 2 0] [1 2 0 0] [0 0 0 2] [0 0 0 0]]
weights_1 5 x 5
[[     1      0      0      0      0]
 [0.9696 0.0304      0      0      0]
 [0.0295 0.9411 0.0295      0      0]
 [0.4848 0.0152 0.4848 0.0152      0]
 [0.9685 0.0048 0.0241 0.0005 0.0021]]
weights_2 5 x 5
[[      1      0      0      0      0]
 [ 0.9097 0.0903      0      0      0]
 [ 0.0829 0.8343 0.0829      0      0]
 [ 0.0005 0.0828 0.8338 0.0828      0]
 [1.2e-05 0.0005 0.0828 0.8338 0.0828]]
head_1 5 x 4
[[     2      1      0      0]
 [1.9393 0.9696 0.0607      0]
 [0.0884 0.0884 1.8822      0]
 [1.4545 1.4545 0.0304 0.0304]
 [1.9611 1.0166 0.0096 0.0010]]
head_2 5 x 4
[[     2      1      0      0]
 [1.8193 0.9097 0.1807      0]
 [0.2486 0.2486 1.6686      0]
 [0.8349 1.6682 0.1656 0.1656]
 [0.0828 0.1656 0.0010 1.6677]]
side_by_side 5 x 8
[[     2      1      0      0      2      1      0      0]
 [1.9393 0.9696 0.0607      0 1.8193 0.9097 0.1807      0]
 [0.0884 0.0884 1.8822      0 0.2486 0.2486 1.6686      0]
 [1.4545 1.4545 0.0304 0.0304 0.8349 1.6682 0.1656 0.1656]
 [1.9611 1.0166 0.0096 0.0010 0.0828 0.1656 0.0010 1.6677]]
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
[[     2      1      0      0 0 0 0]
 [1.9393 0.9696 0.0607      0 0 0 0]
 [0.0884 0.0884 1.8822      0 0 0 0]
 [1.4545 1.4545 0.0304 0.0304 0 0 0]
 [1.9611 1.0166 0.0096 0.0010 0 0 0]]
added_2 5 x 7
[[0 0      0      0 0 0 0]
 [0 0 0.1807      0 0 0 0]
 [0 0 1.6686      0 0 0 0]
 [0 0 0.1656 0.1656 0 0 0]
 [0 0 0.0010 1.6677 0 0 0]]
output 5 x 7
[[     2      1      0      0 0 0 0]
 [1.9393 0.9696 0.2414      0 0 0 0]
 [0.0884 0.0884 3.5507      0 0 0 0]
 [1.4545 1.4545 0.1960 0.1960 0 0 0]
 [1.9611 1.0166 0.0106 1.6687 0 0 0]]
they_scores 3 x 5
[[ 9.2000       0 2.8000 -3.8400 -1.4080]
 [-9.3600 -2.8000      6      10       6]
 [-0.1600 -2.8000 8.8000  6.1600  4.5920]]
one_head_weights 5 x 5
[[     1      0      0      0      0]
 [0.9834 0.0166      0      0      0]
 [0.0163 0.9674 0.0163      0      0]
 [0.0052 0.0162 0.9624 0.0162      0]
 [0.0166 0.0056 0.6434 0.2190 0.1154]]
"""

import numpy

from attention_docs.dot_product import attention_steps
from attention_docs.examples import course_sentence as course

TITLE = "Two heads on one sentence"
SOURCE = "our own example"
BOTH_HEADS = [f"{feature} {head}" for head in (1, 2) for feature in course.VALUE_FEATURES]
LABELS = {
    "with_positions added_1 added_2 output": (course.WORDS, course.FEATURES),
    "W_Q_2 W_K_2": (course.FEATURES, course.HAND_FEATURES),
    "pass_query": (course.HAND_FEATURES,),
    "pass_scores": (course.WORDS,),
    "Q_1 K_1": (course.WORDS, course.KEY_FEATURES),
    "Q_2 K_2": (course.WORDS, course.HAND_FEATURES),
    "V head_1 head_2": (course.WORDS, course.VALUE_FEATURES),
    "weights_1 weights_2 one_head_weights": (course.WORDS, course.WORDS),
    "side_by_side": (course.WORDS, BOTH_HEADS),
    "W_O": (BOTH_HEADS, course.FEATURES),
    "they_scores": (["head 1", "head 2", "sum"], course.WORDS),
}


def steps(xp=numpy):
    """Return the steps of both heads, the sum of their outputs, and one head in place of two.

    `added_1` and `added_2` are what each head adds through its rows of W_O.
    """
    matrices = course.given_matrices(xp)
    with_positions = matrices["X"] + matrices["E"]
    q_1, k_1, v = course.project(matrices, with_positions, head=1)
    q_2, k_2, _ = course.project(matrices, with_positions, head=2)  # the values are those of head 1
    head_1 = attention_steps(q_1, k_1, v, is_causal=True)
    head_2 = attention_steps(q_2, k_2, v, is_causal=True)
    both_queries = xp.concat([q_1, q_2], axis=1)
    both_keys = xp.concat([k_1, k_2], axis=1)
    one_head = attention_steps(both_queries, both_keys, v, is_causal=True)
    they_scores = xp.stack([head.scores[course.THEY, :] for head in (head_1, head_2, one_head)])
    unmasked_scores = course.round_off(xp, attention_steps(q_2, k_2, v).scores)
    w_o = xp.concat([matrices["W_O_1"], matrices["W_O_2"]])
    side_by_side = xp.concat([head_1.output, head_2.output], axis=1)
    return {
        "with_positions": with_positions,
        "W_Q_2": matrices["W_Q_2"],
        "W_K_2": matrices["W_K_2"],
        "pass_query": course.round_off(xp, q_2[course.PASS, :]),
        "pass_scores": unmasked_scores[course.PASS, :],
        "Q_1": q_1,
        "K_1": k_1,
        "Q_2": course.round_off(xp, q_2),
        "K_2": k_2,
        "V": v,
        "weights_1": head_1.weights,
        "weights_2": head_2.weights,
        "head_1": head_1.output,
        "head_2": head_2.output,
        "side_by_side": side_by_side,
        "W_O": w_o,
        "added_1": head_1.output @ matrices["W_O_1"],
        "added_2": head_2.output @ matrices["W_O_2"],
        "output": side_by_side @ w_o,
        "they_scores": course.round_off(xp, they_scores),
        "one_head_weights": one_head.weights,
    }
