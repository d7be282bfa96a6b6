"""Dropout of weights, by moments: the mean and the variance of independent terms add up."""

import numpy as np

from tests import loops
from tests.examples.comparison import independent


@independent("dropout", "moments of independent terms", fixed=["PATTERNS", "KEPT"])
def dropout(literals):
    q, k, v, rate = (literals[name] for name in ("Q", "K", "V", "RATE"))
    steps = loops.every_step(q, k, v)
    weights, v = np.array(steps["weights"]), np.array(v, dtype=float)
    kept = np.array(literals["KEPT"], dtype=float)
    dropped = weights * kept / (1 - rate)
    # A kept weight is 1 / (1 - rate) times itself: mean 1, variance rate / (1 - rate).
    variance = np.einsum("mn,nd->md", weights**2, v**2) * rate / (1 - rate)
    return {
        **{name: steps[name] for name in ("weights", "output")},
        "dropped": dropped,
        "row_sums": dropped.sum(axis=1),
        "dropped_output": np.einsum("mn,nd->md", dropped, v),
        "unscaled_output": np.einsum("mn,nd->md", weights * kept, v),
        "mean_output": steps["output"],
        "deviation": np.sqrt(variance),
    }
