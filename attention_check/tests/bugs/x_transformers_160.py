"""A mask in which True keeps goes to code in which True hides."""

from bugs import hide, scaled, softmax

THREAD = "lucidrains/x-transformers#160"
EXPECTED = "True hides a key"
FAULT = "~mask"
FIX = "mask"
OPTIONS = {"expect": "torch"}


def attention(q, k, v, mask=None):
    scores = scaled(q, k)
    return softmax(scores if mask is None else hide(scores, ~mask)) @ v
