"""Infinity times zero is NaN, where the mask is 1."""

import numpy as np

from bugs import scaled, softmax

THREAD = "cerebroai/reformers#3"
EXPECTED = "mask_times_infinity"
FAULT = "scores * mask + (1 - mask) * -np.inf"
FIX = "np.where(mask == 1, scores, -np.inf)"


def attention(q, k, v, mask=None):
    scores = scaled(q, k)
    with np.errstate(invalid="ignore"):
        if mask is not None:
            mask = mask.astype(scores.dtype)
            scores = scores * mask + (1 - mask) * -np.inf
        return softmax(scores) @ v
