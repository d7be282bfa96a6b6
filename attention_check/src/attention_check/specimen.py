"""An attention function with two mistakes, on which the documentation shows the check."""

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def attention(query: Array, key: Array, value: Array, mask: Array | None = None) -> Array:
    """Compute attention with the wrong scale and the mask after the softmax."""
    scores = query @ key.T / key.shape[-1]
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    if mask is not None:
        weights = np.where(mask, weights, 0.0)
    output: Array = weights @ value
    return output
