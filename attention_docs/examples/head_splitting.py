"""Splitting into heads by a reshape and a transpose, and the mistake of a reshape alone.

Three tokens of four features in two heads. The entries count from 1 to 12, so that each can be
traced. A reshape to (2, 3, 2) alone fills the first head with all of token 1 and half of token 2. A
reshape back without the transpose mixes the tokens likewise. The outputs are computed from a tenth
of the entries, which keeps the softmax from saturating.

>>> show(computed(steps))
head_1 [[1 2] [5 6] [9 10]]
head_2 [[3 4] [7 8] [11 12]]
wrong_head_1 [[1 2] [3 4] [5 6]]
wrong_head_2 [[7 8] [9 10] [11 12]]
wrong_merged [[1 2 5 6] [9 10 3 4] [7 8 11 12]]
output [[0.5226 0.6226 0.7525 0.8525] [0.5817 0.6817 0.8099 0.9099] [0.6368 0.7368 0.8623 0.9623]]
wrong_output 3 x 4
[[0.3057 0.4057 0.9281 1.0281]
 [0.3132 0.4132 0.9354 1.0354]
 [0.3207 0.4207 0.9426 1.0426]]
"""

import numpy

from attention_docs.dot_product import scaled_dot_product_attention
from attention_docs.multi_head import merge_heads, split_heads

TITLE = "Splitting into heads, right and wrong"
SOURCE = "002_d7461449c953e4ff.txt, “Multi-Head Attention”; 004_d0b6398463fb1047.txt"

X = [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]
HEADS = 2
DIVISOR = 10  # makes the scores small enough to keep the softmax from saturating


def steps(xp=numpy):
    """Split `X` into heads and merge them again, with the transpose and wrongly without it."""
    x = xp.asarray(X, dtype=xp.float64)
    heads = split_heads(x, HEADS)
    wrong_heads = xp.reshape(x, heads.shape)
    return {
        "X": x,
        "head_1": heads[0, :, :],
        "head_2": heads[1, :, :],
        "merged": merge_heads(heads),
        "wrong_head_1": wrong_heads[0, :, :],
        "wrong_head_2": wrong_heads[1, :, :],
        "wrong_merged": xp.reshape(heads, x.shape),
        "output": merge_heads(self_attention(heads / DIVISOR)),
        "wrong_output": merge_heads(self_attention(wrong_heads / DIVISOR)),
    }


def self_attention(heads):
    return scaled_dot_product_attention(heads, heads, heads)
