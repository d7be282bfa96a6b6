"""Functions for the check: it must name the fault of the faulty ones and accept the unusual ones.

A docstring says what is wrong or unusual. The report on a faulty function must have the words in
brackets: a mistake of the catalogue, a case, or a part of the reason. Helpers have no docstring.
"""

import numpy as np


def softmax(scores, axis=-1):
    maximum = scores.max(axis=axis, keepdims=True)
    powers = np.exp(scores - np.where(np.isfinite(maximum), maximum, 0))
    total = powers.sum(axis=axis, keepdims=True)
    return powers / np.where(total == 0, 1, total)


def scaled_scores(query, key):
    return query @ np.swapaxes(key, -1, -2) * query.shape[-1] ** -0.5
