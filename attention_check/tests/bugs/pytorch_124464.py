"""Dropout stays on, because nothing tells the function that training is over."""

import numpy as np

from bugs import scaled, softmax

THREAD = "pytorch/pytorch#124464"
EXPECTED = "differs from call to call"
FAULT = "DROPOUT = 0.1"
FIX = "DROPOUT = 0.0"


DROPOUT = 0.1
RANDOM = np.random.RandomState(0)


def attention(q, k, v):
    weights = softmax(scaled(q, k))
    kept = RANDOM.uniform(size=weights.shape) >= DROPOUT
    return weights * kept / (1 - DROPOUT) @ v
