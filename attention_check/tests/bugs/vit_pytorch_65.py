"""The scale is the root of the model's width, not of a head's."""

from bugs import softmax

THREAD = "lucidrains/vit-pytorch#65"
EXPECTED = "divided_by_root_of_d_model"
FAULT = "(q.shape[1] * q.shape[-1])"
FIX = "q.shape[-1]"


def attention(q, k, v):
    scores = q @ k.swapaxes(-1, -2) * (q.shape[1] * q.shape[-1]) ** -0.5
    return softmax(scores) @ v
