"""The scale that is passed is ignored."""

from bugs import softmax

THREAD = "tenstorrent/tt-metal#33304"
EXPECTED = "scale_ignored"
FAULT = "factor = q.shape[-1] ** -0.5"
FIX = "factor = q.shape[-1] ** -0.5 if scale is None else scale"


def attention(q, k, v, scale=None):
    factor = q.shape[-1] ** -0.5
    return softmax(q @ k.swapaxes(-1, -2) * factor) @ v
