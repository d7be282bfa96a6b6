"""The scale is the root of the number of heads, not of their features."""

import math

from bugs import softmax

THREAD = "tenstorrent/tt-metal#56789"
EXPECTED = "divided_by_root_of_heads"
FAULT = "math.sqrt(q.shape[1])"
FIX = "math.sqrt(q.shape[-1])"


def attention(q, k, v):
    return softmax(q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[1])) @ v
