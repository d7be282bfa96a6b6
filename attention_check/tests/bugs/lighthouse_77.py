"""Sequences come before heads, but the masks are tiled."""

import numpy as np

from bugs import hide, scaled, softmax

THREAD = "line/lighthouse#77"
EXPECTED = "mask_in_head_order"
FAULT = "np.tile(masks, (h, 1, 1))"
FIX = "np.repeat(masks, h, axis=0)"


def attention(q, k, v, mask=None):
    (b, h, m, _), n = q.shape, k.shape[-2]
    scores = scaled(q, k).reshape(b * h, m, n)
    if mask is not None:
        masks = np.broadcast_to(mask, (b, 1, m, n))[:, 0]
        scores = hide(scores, np.tile(masks, (h, 1, 1)))
    return softmax(scores).reshape(b, h, m, n) @ v
