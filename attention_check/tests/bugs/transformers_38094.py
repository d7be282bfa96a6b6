"""A float mask of zeros and the smallest number is read as boolean, which inverts it."""

from bugs import hide, scaled, softmax

THREAD = "huggingface/transformers#38094"
EXPECTED = "mask_flipped"
FAULT = "hide(scores, attn_mask.astype(bool))"
FIX = "scores + attn_mask"
OPTIONS = {"mask": "additive"}


def attention(q, k, v, attn_mask=None):
    scores = scaled(q, k)
    if attn_mask is None:
        return softmax(scores) @ v
    return softmax(hide(scores, attn_mask.astype(bool))) @ v
