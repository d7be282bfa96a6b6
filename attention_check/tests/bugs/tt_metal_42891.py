"""The float mask is scaled with the scores."""

from bugs import softmax

THREAD = "tenstorrent/tt-metal#42891"
EXPECTED = "bias_before_scale"
FAULT = "(scores + attn_bias) * q.shape[-1] ** -0.5"
FIX = "scores * q.shape[-1] ** -0.5 + attn_bias"


def attention(q, k, v, attn_bias=None):
    scores, attn_bias = q @ k.swapaxes(-1, -2), 0.0 if attn_bias is None else attn_bias
    return softmax((scores + attn_bias) * q.shape[-1] ** -0.5) @ v
