"""The causal mask is square, so earlier keys from a cache do not fit."""

import numpy as np

from bugs import hide, scaled, softmax

THREAD = "meta-llama/llama#899"
EXPECTED = "ValueError"
FAULT = "np.tri(m, dtype=bool)"
FIX = "np.tri(m, k.shape[-2], k.shape[-2] - m, dtype=bool)"


def attention(q, k, v, causal=False):
    scores, m = scaled(q, k), q.shape[-2]
    if causal:
        scores = hide(scores, np.tri(m, dtype=bool))
    return softmax(scores) @ v
