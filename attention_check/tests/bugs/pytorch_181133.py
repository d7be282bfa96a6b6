"""The memory of permuted arrays is read as if they were contiguous."""

import numpy as np

from bugs import scaled, softmax

THREAD = "pytorch/pytorch#181133"
EXPECTED = "look at how it uses strides"
FAULT = 'np.frombuffer(a.tobytes(order="A"), a.dtype).reshape(a.shape)'
FIX = "np.ascontiguousarray(a)"


def attention(q, k, v):
    q, k, v = (np.frombuffer(a.tobytes(order="A"), a.dtype).reshape(a.shape) for a in (q, k, v))
    return softmax(scaled(q, k)) @ v
