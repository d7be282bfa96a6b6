"""The window is ignored if there is no mask."""

import numpy as np

from bugs import hide, scaled, softmax

THREAD = "jax-ml/jax#32300"
EXPECTED = "window_ignored"
FAULT = "if mask is None and not is_causal:"
FIX = "if mask is None and not is_causal and window is None:"


def attention(q, k, v, mask=None, is_causal=False, window=None):
    scores = scaled(q, k)
    if mask is None and not is_causal:
        return softmax(scores) @ v
    distance = np.arange(k.shape[-2]) - np.arange(q.shape[-2])[:, None]
    visible = (distance <= 0) | (not is_causal)
    if window is not None:
        left, right = (np.inf if side is None else side for side in window)
        visible = visible & (-left <= distance) & (distance <= right)
    if mask is not None:
        visible = visible & mask
    return softmax(hide(scores, visible)) @ v
