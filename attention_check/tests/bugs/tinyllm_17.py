"""The causal mask is left out as soon as there are earlier keys."""

import numpy as np

from bugs import hide, scaled, softmax

THREAD = "Mikyx-1/TinyLLM#17"
EXPECTED = "causal_ignored"
FAULT = "causal and m == n"
FIX = "causal"


def attention(q, k, v, causal=False):
    scores, m, n = scaled(q, k), q.shape[-2], k.shape[-2]
    if causal and m == n:
        scores = hide(scores, np.tri(m, n, n - m, dtype=bool))
    return softmax(scores) @ v
