"""Head 1 of the course under a mask that readers can edit pair by pair; at first it is causal.

>>> show(computed(steps))
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
leaked [0 0 0 0 0]
"""

import numpy

from attention_docs.dot_product import attention_steps
from attention_docs.examples.course_sentence import VALUE_FEATURES, WORDS, given_matrices, project
from attention_docs.masks import causal_mask

TITLE = "The sentence under a mask of one's own"
SOURCE = "our own example"

MASK = [
    [True, False, False, False, False],
    [True, True, False, False, False],
    [True, True, True, False, False],
    [True, True, True, True, False],
    [True, True, True, True, True],
]
LABELS = {
    "mask masked weights": (WORDS, WORDS),
    "output": (WORDS, VALUE_FEATURES),
    "leaked": (WORDS,),
}


def steps(xp=numpy):
    """Attend with head 1 under MASK; `leaked` is the weight that each word gives to later words."""
    matrices = given_matrices(xp)
    with_positions = matrices["X"] + matrices["E"]
    q, k, v = project(matrices, with_positions, head=1)
    mask = xp.asarray(MASK, dtype=xp.bool)
    attention = attention_steps(q, k, v, attn_mask=mask)
    causal = causal_mask(len(WORDS), xp=xp)
    weights_of_later_words = xp.where(causal, xp.asarray(0.0), attention.weights)
    return {
        "mask": mask,
        "masked": attention.masked,
        "weights": attention.weights,
        "output": attention.output,
        "leaked": xp.sum(weights_of_later_words, axis=1),
    }
