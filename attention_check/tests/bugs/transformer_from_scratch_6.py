"""Heads are merged by a reshape without the transpose."""

from bugs import scaled, softmax

THREAD = "jsbaan/transformer-from-scratch#6"
EXPECTED = "heads_merged_without_transpose"
FAULT = "(weights @ v).reshape"
FIX = "(weights @ v).swapaxes(1, 2).reshape"


def attention(x, W_Q, W_K, W_V, W_O, num_heads):
    b, n, d_model = x.shape
    q, k, v = ((x @ W).reshape(b, n, num_heads, -1).swapaxes(1, 2) for W in (W_Q, W_K, W_V))
    weights = softmax(scaled(q, k))
    return (weights @ v).reshape(b, n, d_model) @ W_O
