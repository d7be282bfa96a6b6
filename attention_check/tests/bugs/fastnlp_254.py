"""The softmax runs over axis 2, which are the queries if there are heads."""

import math

from bugs import softmax

THREAD = "FudanNLP/fastNLP#254"
EXPECTED = "softmax_over_queries"
FAULT = "axis=2"
FIX = "axis=-1"


def attention(Q, K, V):
    scores = Q @ K.swapaxes(-1, -2) / math.sqrt(K.shape[-1])
    return softmax(scores, axis=2) @ V
