"""The softmax runs over the queries of scores with the axes b, i, j, h."""

import numpy as np

from bugs import softmax

THREAD = "labmlai/annotated_deep_learning_paper_implementations#146"
EXPECTED = "softmax_over_queries"
FAULT = "axis=1"
FIX = "axis=2"


def attention(q, k, v):
    scores = np.einsum("bihd,bjhd->bijh", q, k) * q.shape[-1] ** -0.5
    return np.einsum("bijh,bjhd->bihd", softmax(scores, axis=1), v)
