"""The softcap follows the float mask and bounds it, too."""

import numpy as np

from bugs import scaled, softmax

THREAD = "microsoft/onnxruntime#28379"
EXPECTED = "softcap_after_mask"
FAULT = "cap(scaled(q, k) + added)"
FIX = "cap(scaled(q, k)) + added"


def attention(q, k, v, attn_bias=None, softcap=None):
    def cap(scores):
        return scores if softcap is None else softcap * np.tanh(scores / softcap)

    added = 0.0 if attn_bias is None else attn_bias
    return softmax(cap(scaled(q, k) + added)) @ v
