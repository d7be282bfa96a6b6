"""In float16 the large number that hides is infinite, and times zero it is NaN."""

import numpy as np

from bugs import scaled, softmax

THREAD = "ml-explore/mlx#1725"
EXPECTED = "mask_times_infinity"
FAULT = "later * q.dtype.type(-1e9)"
FIX = "np.where(later, q.dtype.type(-np.inf), 0)"


def attention(q, k, v, is_causal=False):
    scores = scaled(q, k)
    with np.errstate(invalid="ignore", over="ignore"):
        if is_causal:
            later = np.triu(np.ones(scores.shape[-2:], q.dtype), k=1)
            scores = scores + later * q.dtype.type(-1e9)
        return softmax(scores) @ v
