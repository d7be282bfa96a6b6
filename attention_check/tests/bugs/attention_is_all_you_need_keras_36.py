"""Heads come before sequences, but each mask is repeated for its neighbours."""

import numpy as np

from bugs import hide, scaled, softmax

THREAD = "lsdefine/attention-is-all-you-need-keras#36"
EXPECTED = "mask_in_sequence_order"
FAULT = "np.repeat(masks, h, axis=0)"
FIX = "np.tile(masks, (h, 1, 1))"


def attention(q, k, v, mask=None):
    (b, h, m, _), n = q.shape, k.shape[-2]
    scores = scaled(q, k).swapaxes(0, 1).reshape(h * b, m, n)
    if mask is not None:
        masks = np.broadcast_to(mask, (b, 1, m, n))[:, 0]
        scores = hide(scores, np.repeat(masks, h, axis=0))
    return softmax(scores).reshape(h, b, m, n).swapaxes(0, 1) @ v
