"""Filling a boolean mask with a large number makes all of it True, so nothing is hidden."""

from tests.diagnosis.bugs import scaled, softmax

THREAD = "open-mmlab/mmdetection#12351"
EXPECTED = "mask_ignored"
FAULT = 'mask.copy()'
FIX = 'np.where(mask, 1.0, -np.inf)'
OPTIONS = {"mask": "keep"}


def attention(q, k, v, mask=None):
    scores = scaled(q, k)
    if mask is not None:
        filled = mask.copy()
        filled[filled == 0] = -9e15
        scores = scores + filled
    return softmax(scores) @ v
