"""A mask in which True hides goes to code in which True keeps."""

import numpy as np

from bugs import hide, scaled, softmax

THREAD = "rasbt/LLMs-from-scratch#1062"
EXPECTED = "mask_flipped"
FAULT = "later = "
FIX = "later = ~"


def attention(q, k, v, is_causal=False):
    scores = scaled(q, k)
    if is_causal:
        later = np.triu(np.ones(scores.shape[-2:], dtype=bool), k=1)
        scores = hide(scores, later)
    return softmax(scores) @ v
