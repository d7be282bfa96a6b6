"""The sixth step of the course: head 1 without and with the causal mask.

The input is words plus positions, as in every step after the fifth. Steps that end in `_swapped`
belong to the sentence with its nouns exchanged.

>>> show(computed(steps))
scaled 5 x 5
[[     0 3.4641      0       0       0]
 [3.4641      0 3.4641       0       0]
 [     0 3.4641      0       0       0]
 [3.4641      0 3.4641       0       0]
 [5.3116      0 1.6166 -2.2170 -0.8129]]
open_weights 5 x 5
[[0.0278 0.8887 0.0278 0.0278 0.0278]
 [0.4776 0.0149 0.4776 0.0149 0.0149]
 [0.0278 0.8887 0.0278 0.0278 0.0278]
 [0.4776 0.0149 0.4776 0.0149 0.0149]
 [0.9685 0.0048 0.0241 0.0005 0.0021]]
masked_late 5 x 5
[[0.0278      0      0      0      0]
 [0.4776 0.0149      0      0      0]
 [0.0278 0.8887 0.0278      0      0]
 [0.4776 0.0149 0.4776 0.0149      0]
 [0.9685 0.0048 0.0241 0.0005 0.0021]]
late_sums [0.0278 0.4925 0.9444 0.9851 1]
mask 5 x 5
[[True False False False False]
 [True  True False False False]
 [True  True  True False False]
 [True  True  True  True False]
 [True  True  True  True  True]]
masked 5 x 5
[[     0   -inf   -inf    -inf    -inf]
 [3.4641      0   -inf    -inf    -inf]
 [     0 3.4641      0    -inf    -inf]
 [3.4641      0 3.4641       0    -inf]
 [5.3116      0 1.6166 -2.2170 -0.8129]]
weights 5 x 5
[[     1      0      0      0      0]
 [0.9696 0.0304      0      0      0]
 [0.0295 0.9411 0.0295      0      0]
 [0.4848 0.0152 0.4848 0.0152      0]
 [0.9685 0.0048 0.0241 0.0005 0.0021]]
output 5 x 4
[[     2      1      0      0]
 [1.9393 0.9696 0.0607      0]
 [0.0884 0.0884 1.8822      0]
 [1.4545 1.4545 0.0304 0.0304]
 [1.9611 1.0166 0.0096 0.0010]]
masked_swapped 5 x 5
[[     0   -inf   -inf    -inf    -inf]
 [3.4641      0   -inf    -inf    -inf]
 [     0 3.4641      0    -inf    -inf]
 [3.4641      0 3.4641       0    -inf]
 [5.3116      0 1.6166 -2.2170 -0.8129]]
weights_swapped 5 x 5
[[     1      0      0      0      0]
 [0.9696 0.0304      0      0      0]
 [0.0295 0.9411 0.0295      0      0]
 [0.4848 0.0152 0.4848 0.0152      0]
 [0.9685 0.0048 0.0241 0.0005 0.0021]]
"""

import numpy

from attention_docs.dot_product import attention_steps
from attention_docs.examples import course_sentence as course
from attention_docs.masks import causal_mask

TITLE = "The sentence under a causal mask"
SOURCE = "our own example"
LABELS = {
    "scaled open_weights masked_late mask masked weights": (course.WORDS, course.WORDS),
    "late_sums": (course.WORDS,),
    "output": (course.WORDS, course.VALUE_FEATURES),
    "masked_swapped weights_swapped": (course.SWAPPED, course.SWAPPED),
}


def steps(xp=numpy):
    """Attend with head 1 without a mask, `open_weights`, and with the causal mask.

    `masked_late` sets the weights of later words to zero after the softmax, which is a mistake:
    only its last row still sums to one, as `late_sums` shows.
    """
    matrices = course.given_matrices(xp)
    with_positions = matrices["X"] + matrices["E"]
    q, k, v = course.project(matrices, with_positions, head=1)
    attention = attention_steps(q, k, v, is_causal=True)
    with_positions_swapped = course.swap_nouns(xp, matrices["X"]) + matrices["E"]
    swapped = course.project(matrices, with_positions_swapped, head=1)
    attention_swapped = attention_steps(*swapped, is_causal=True)
    open_weights = attention_steps(q, k, v).weights
    mask = causal_mask(with_positions.shape[0], xp=xp)
    masked_late = xp.where(mask, open_weights, xp.asarray(0.0))
    return {
        "scaled": attention.scaled,
        "open_weights": open_weights,
        "masked_late": masked_late,
        "late_sums": course.round_off(xp, xp.sum(masked_late, axis=1)),
        "mask": mask,
        "masked": attention.masked,
        "weights": attention.weights,
        "output": attention.output,
        "masked_swapped": attention_swapped.masked,
        "weights_swapped": attention_swapped.weights,
    }
