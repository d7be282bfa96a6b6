"""Filling a boolean mask with -inf makes all of it True, so nothing is hidden."""

import numpy as np

from bugs import scaled, softmax

THREAD = "open-mmlab/mmdetection#12351"
EXPECTED = "mask_ignored"
FAULT = "mask.copy()"
FIX = "mask.astype(q.dtype)"
OPTIONS = {"mask": "keep"}


def attention(q, k, v, mask=None):
    scores = scaled(q, k)
    if mask is not None:
        filled = mask.copy()
        filled[filled == 0] = -np.inf
        scores = scores + filled
    return softmax(scores) @ v
