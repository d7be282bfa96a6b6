"""The window is ignored for a single query."""

import numpy as np

from bugs import hide, scaled, softmax

THREAD = "karpathy/nanochat#452"
EXPECTED = "window_ignored"
FAULT = "window is not None and m > 1"
FIX = "window is not None"


def attention(q, k, v, window=None):
    scores, m, n = scaled(q, k), q.shape[-2], k.shape[-2]
    if window is not None and m > 1:
        left, right = (np.inf if side is None else side for side in window)
        distance = np.arange(n) - np.arange(n - m, n)[:, None]
        scores = hide(scores, (-left <= distance) & (distance <= right))
    return softmax(scores) @ v
