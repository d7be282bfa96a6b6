"""A causal mask for four queries and five keys, aligned top-left or bottom-right.

>>> show(computed(steps))
top_left 4 x 5
[[True False False False False]
 [True  True False False False]
 [True  True  True False False]
 [True  True  True  True False]]
bottom_right 4 x 5
[[True True False False False]
 [True True  True False False]
 [True True  True  True False]
 [True True  True  True  True]]
masked 4 x 5
[[-0.5303    -inf   -inf   -inf -inf]
 [ 0.5303 -2.3865   -inf   -inf -inf]
 [ 0.0442  1.5026 4.9497   -inf -inf]
 [-0.1326  1.3258 1.6794 0.2210 -inf]]
"""

import numpy

from attention_docs.examples import distinct_sizes
from attention_docs.masks import causal_mask, window_mask

TITLE = "Two alignments of a causal mask"
SOURCE = "our own example"


def steps(xp=numpy):
    """Mask the same scores with both alignments of the causal mask.

    With `top_left`, the first query sees the first key. With `bottom_right`, the last query sees
    the last key.
    """
    scaled = distinct_sizes.steps(xp)["scaled"]
    queries, keys = scaled.shape
    top_left = causal_mask(queries, keys, xp=xp)
    return {
        "scaled": scaled,
        "top_left": top_left,
        "bottom_right": window_mask(queries, keys, right=keys - queries, xp=xp),
        "masked": xp.where(top_left, scaled, xp.asarray(-xp.inf, dtype=xp.float64)),
    }
