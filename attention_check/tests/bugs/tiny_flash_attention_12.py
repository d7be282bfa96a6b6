"""The last block is padded with zeros that are not hidden."""

import numpy as np

from bugs import scaled, softmax

THREAD = "66RING/tiny-flash-attention#12"
EXPECTED = "block_padding_not_hidden"
FAULT = "scores = scaled(q, k)"
FIX = "scores = np.where(np.arange(k.shape[-2]) < n, scaled(q, k), -np.inf)"


def attention(q, k, v):
    n = k.shape[-2]
    rest = [(0, 0)] * (k.ndim - 2) + [(0, -n % 16), (0, 0)]
    k, v = np.pad(k, rest), np.pad(v, rest)
    scores = scaled(q, k)
    return softmax(scores) @ v
