"""The softcap follows the mask, so hidden keys keep a finite score."""

import numpy as np

from bugs import hide, scaled, softmax

THREAD = "onnx/onnx#7865"
EXPECTED = "softcap_after_mask"
FAULT = "cap(hide(scores, visible))"
FIX = "hide(cap(scores), visible)"


def attention(q, k, v, mask=None, softcap=None):
    def cap(scores):
        return scores if softcap is None else softcap * np.tanh(scores / softcap)

    scores, visible = scaled(q, k), True if mask is None else mask
    return softmax(cap(hide(scores, visible))) @ v
