"""Key heads are tiled, so neighbouring query heads do not share one."""

import numpy as np

from bugs import scaled, softmax

THREAD = "onnx/onnx#7274"
EXPECTED = "heads_tiled"
FAULT = "np.tile(k, (1, group, 1, 1)), np.tile(v, (1, group, 1, 1))"
FIX = "np.repeat(k, group, axis=1), np.repeat(v, group, axis=1)"


def attention(q, k, v):
    group = q.shape[1] // k.shape[1]
    k, v = np.tile(k, (1, group, 1, 1)), np.tile(v, (1, group, 1, 1))
    return softmax(scaled(q, k)) @ v
