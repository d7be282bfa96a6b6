"""A mask of zeros and -inf goes to code that expects ones and zeros."""

import numpy as np

from bugs import scaled, softmax

THREAD = "harvard-edge/cs249r_book#1785"
EXPECTED = "same score"
FAULT = "np.triu(np.full((m, n), -np.inf), k=1)"
FIX = "np.tri(m, n)"


def attention(q, k, v, is_causal=False):
    scores, m, n = scaled(q, k), q.shape[-2], k.shape[-2]
    if is_causal:
        mask = np.triu(np.full((m, n), -np.inf), k=1)
        scores = scores + ((1 - mask) * -1e9).astype(q.dtype)
    return softmax(scores) @ v
