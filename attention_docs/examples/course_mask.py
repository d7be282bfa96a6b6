"""The sixth step of the course: head 1 without and with the causal mask.

Words and positions go in together, as everywhere after the fifth step; head 1 does not read the
positions, so `open_weights` are those of the fourth.

>>> show(steps())
scaled 5 x 5
[[     0 2.3094      0 0 0]
 [2.3094 1.7321 2.3094 0 0]
 [     0 3.4641      0 0 0]
 [2.3094 2.3094 1.1547 0 0]
 [4.6188      0 2.3094 0 0]]
open_weights 5 x 5
[[0.0711 0.7157 0.0711 0.0711 0.0711]
 [0.3623 0.2034 0.3623 0.0360 0.0360]
 [0.0278 0.8887 0.0278 0.0278 0.0278]
 [0.3978 0.3978 0.1254 0.0395 0.0395]
 [0.8858 0.0087 0.0880 0.0087 0.0087]]
mask 5 x 5
[[True False False False False]
 [True  True False False False]
 [True  True  True False False]
 [True  True  True  True False]
 [True  True  True  True  True]]
masked 5 x 5
[[     0   -inf   -inf -inf -inf]
 [2.3094 1.7321   -inf -inf -inf]
 [     0 3.4641      0 -inf -inf]
 [2.3094 2.3094 1.1547    0 -inf]
 [4.6188      0 2.3094    0    0]]
weights 5 x 5
[[     1      0      0      0      0]
 [0.6405 0.3595      0      0      0]
 [0.0295 0.9411 0.0295      0      0]
 [0.4142 0.4142 0.1305 0.0411      0]
 [0.8858 0.0087 0.0880 0.0087 0.0087]]
output 5 x 4
[[     2      0      0      0]
 [1.2809 0.3595 0.3595      0]
 [0.0884 1.0000 0.9411      0]
 [0.9589 0.6752 0.4142 0.0823]
 [1.8596 0.1847 0.0087 0.0175]]
"""

from types import ModuleType

import numpy

from attention_docs.arrays import Array
from attention_docs.dot_product import attention_steps
from attention_docs.examples.course_sentence import given
from attention_docs.masks import causal_mask

TITLE = "The sentence under a causal mask"
SOURCE = "our own"


def steps(xp: ModuleType = numpy) -> dict[str, Array]:
    matrices = given(xp)
    placed = matrices["X"] + matrices["E"]
    q, k, v = (placed @ matrices[name] for name in ("W_Q_1", "W_K_1", "W_V"))
    attention = attention_steps(q, k, v, is_causal=True)
    return {
        "scaled": attention.scaled,
        "open_weights": attention_steps(q, k, v).weights,
        "mask": causal_mask(placed.shape[0], xp=xp),
        "masked": attention.masked,
        "weights": attention.weights,
        "output": attention.output,
    }
