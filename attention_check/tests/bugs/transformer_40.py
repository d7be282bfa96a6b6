"""The padding mask lies on the axis of the queries."""

import numpy as np

from bugs import scaled, softmax

THREAD = "hyunwoongko/transformer#40"
EXPECTED = "padding_on_query_axis"
FAULT = "[:, None, :, None]"
FIX = "[:, None, None, :]"


def attention(q, k, v, padding_mask=None):
    scores = scaled(q, k)
    if padding_mask is not None:
        scores = np.where(padding_mask[:, None, :, None], scores, -10000.0)
    return softmax(scores) @ v
