"""Products exceed the range of float16, because the scale follows them."""

import numpy as np

THREAD = "ultralytics/ultralytics#24990"
EXPECTED = "exceed the range of float16"
FAULT = "q @ k.swapaxes(-1, -2) * q.shape[-1] ** -0.5"
FIX = "q * q.shape[-1] ** -0.5 @ k.swapaxes(-1, -2)"
OPTIONS = {"expect": "torch"}


def attention(q, k, v):
    with np.errstate(over="ignore", invalid="ignore"):
        scores = q @ k.swapaxes(-1, -2) * q.shape[-1] ** -0.5
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return powers / powers.sum(axis=-1, keepdims=True) @ v
