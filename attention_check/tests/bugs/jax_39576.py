"""A window without keys to the right loses this bound, so the whole future is seen."""

import numpy as np

from bugs import hide, scaled, softmax

THREAD = "jax-ml/jax#39576"
EXPECTED = "window_right_ignored"
FAULT = "right = right or np.inf"
FIX = "pass"


def attention(q, k, v, local_window_size=None):
    scores = scaled(q, k)
    if local_window_size is not None:
        left, right = (np.inf if side is None else side for side in local_window_size)
        right = right or np.inf
        distance = np.arange(k.shape[-2]) - np.arange(q.shape[-2])[:, None]
        scores = hide(scores, (-left <= distance) & (distance <= right))
    return softmax(scores) @ v
