"""The causal mask is lost if blocks of 32 divide the length."""

import numpy as np

from bugs import hide, scaled, softmax

THREAD = "bledden/triton-msl#7"
EXPECTED = "causal_ignored"
FAULT = "causal and k.shape[-2] % 32"
FIX = "causal"


def attention(q, k, v, causal=False):
    scores = scaled(q, k)
    if causal and k.shape[-2] % 32:
        scores = hide(scores, np.tri(*scores.shape[-2:], dtype=bool))
    return softmax(scores) @ v
