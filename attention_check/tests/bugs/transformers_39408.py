"""The width of the window is passed where the bound is inclusive, so one key too many is seen."""

import numpy as np

from bugs import hide, scaled, softmax

THREAD = "huggingface/transformers#39408"
EXPECTED = "window_left_too_wide"
FAULT = "left + 1"
FIX = "left"


def attention(q, k, v, window=None):
    scores = scaled(q, k)
    if window is not None:
        left, right = (np.inf if side is None else side for side in window)
        distance = np.arange(k.shape[-2]) - np.arange(q.shape[-2])[:, None]
        scores = hide(scores, (-(left + 1) <= distance) & (distance <= right))
    return softmax(scores) @ v
