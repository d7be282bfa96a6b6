"""A query that sees no key gives NaN, where ONNX and PyTorch give zeros."""

import numpy as np

from bugs import hide, scaled

THREAD = "robertknight/rten#1321"
EXPECTED = "fully masked row gives NaN"
FAULT = "scores.max(axis=-1, keepdims=True)"
FIX = "np.maximum(scores.max(axis=-1, keepdims=True), -1e300)"
OPTIONS = {"expect": "onnx"}


def attention(q, k, v, mask=None):
    scores = scaled(q, k)
    scores = scores if mask is None else hide(scores, mask)
    with np.errstate(invalid="ignore", divide="ignore"):
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        total = powers.sum(axis=-1, keepdims=True)
        return powers / np.where(total == 0, 1, total) @ v
