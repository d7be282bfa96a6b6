"""Public bugs, replayed: each file has the fault of one thread in a few lines of our own.

A file says in its docstring what went wrong. `THREAD` names project and number, `EXPECTED` the mistake
of the catalogue or words that the report must have, and replacing `FAULT` by `FIX` mends the code.
`OPTIONS` are the options of the check, if it needs any.
"""

import numpy as np
from functions import softmax

__all__ = ["hide", "scaled", "softmax"]


def scaled(query, key):
    # In float16, the product may overflow if the scale comes after it.
    return query * query.shape[-1] ** -0.5 @ key.swapaxes(-1, -2)


def hide(scores, visible):
    return np.where(visible, scores, -np.inf)
