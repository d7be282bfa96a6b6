"""The masks of sequences meet scores of all heads in one axis, so they only fit a batch of one."""

import numpy as np

from bugs import hide, scaled, softmax

THREAD = "lucidrains/graph-transformer-pytorch#2"
EXPECTED = "ValueError"
FAULT = "hide(scores, masks)"
FIX = "hide(scores, np.repeat(masks, h, axis=0))"


def attention(q, k, v, mask=None):
    (b, h, m, _), n = q.shape, k.shape[-2]
    scores = scaled(q, k).reshape(b * h, m, n)
    if mask is not None:
        masks = np.broadcast_to(mask, (b, 1, m, n))[:, 0]
        scores = hide(scores, masks)
    return softmax(scores).reshape(b, h, m, n) @ v
