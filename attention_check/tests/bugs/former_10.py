"""The causal mask hides the own position, so the first row sees nothing."""

import numpy as np

from bugs import hide, scaled

THREAD = "pbloem/former#10"
EXPECTED = "causal_hides_own_position"
FAULT = "k=-1"
FIX = "k=0"


def attention(q, k, v, causal=False):
    scores = scaled(q, k)
    if causal:
        scores = hide(scores, np.tri(*scores.shape[-2:], k=-1, dtype=bool))
    with np.errstate(invalid="ignore"):
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True) @ v
