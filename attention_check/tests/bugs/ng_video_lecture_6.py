"""The scale is the root of the channels of the input, not of a head."""

import numpy as np

from bugs import softmax

THREAD = "karpathy/ng-video-lecture#6"
EXPECTED = "divided_by_root_of_d_model"
FAULT = "x.shape[-1] ** -0.5"
FIX = "q.shape[-1] ** -0.5"


def attention(x, W_Q, W_K, W_V, W_O, num_heads):
    q, k, v = (np.stack(np.split(x @ W, num_heads, axis=-1), axis=1) for W in (W_Q, W_K, W_V))
    weights = softmax(q @ k.swapaxes(-1, -2) * x.shape[-1] ** -0.5)
    return np.concatenate(list((weights @ v).swapaxes(0, 1)), axis=-1) @ W_O
