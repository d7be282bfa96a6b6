"""The comparison with the width of the window includes one key too many."""

import numpy as np

from bugs import hide, scaled, softmax

THREAD = "ml-explore/mlx-lm#390"
EXPECTED = "window_left_too_wide"
FAULT = "rows <= columns + width"
FIX = "rows < columns + width"


def attention(q, k, v, causal=False, window=None):
    scores = scaled(q, k)
    rows, columns = np.arange(q.shape[-2])[:, None], np.arange(k.shape[-2])
    visible = (columns <= rows) | (not causal)
    if window is not None:
        left, right = (np.inf if side is None else side for side in window)
        width = left + 1
        visible = visible & (rows <= columns + width) & (columns <= rows + right)
    return softmax(hide(scores, visible)) @ v
