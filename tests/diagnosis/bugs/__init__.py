"""Public bugs, replayed: each file has the fault of one thread in a few lines of our own.

A file says in its docstring what went wrong. `THREAD` names project and number, `EXPECTED` the mistake
of the catalogue or words that the report must have, and replacing `FAULT` by `FIX` mends the code.
`OPTIONS` are the options of the check, if it needs any.
"""

import numpy as np


def softmax(scores, axis=-1):
    maximum = scores.max(axis=axis, keepdims=True)
    powers = np.exp(scores - np.where(np.isfinite(maximum), maximum, 0))
    total = powers.sum(axis=axis, keepdims=True)
    return powers / np.where(total == 0, 1, total)


def scaled(query, key):
    return query * query.shape[-1] ** -0.5 @ key.swapaxes(-1, -2)


def hide(scores, visible):
    return np.where(visible, scores, -np.inf)
