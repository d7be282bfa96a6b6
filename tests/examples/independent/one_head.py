"""Attention of a single head, pair by pair."""

import numpy as np

from tests import loops
from tests.examples.comparison import Computation, independent


def is_causal(i, j):
    """Whether a causal mask lets query i see key j."""
    return j <= i


def one_head_steps(literals):
    """Return all steps of a head from `X`, or `X_q` and `X_kv`, or from `Q`, `K` and `V`."""

    def projected(letter, sequence):
        if f"W_{letter}" not in literals:
            return literals[letter]
        rows = literals[sequence if sequence in literals else "X"]
        return loops.matmul(rows, literals[f"W_{letter}"])

    q, k, v = projected("Q", "X_q"), projected("K", "X_kv"), projected("V", "X_kv")
    return {"Q": q, "K": k, "V": v, **loops.every_step(q, k, v)}


def steps_of_one_head(names):
    """Return an independent computation of the named steps."""

    def compute(literals):
        steps = one_head_steps(literals)
        return {name: steps[name] for name in names}

    return Computation(compute, "a slow loop over pairs", rtol=1e-11, atol=1e-13, fixed=())


@independent("word_order", "a slow loop over pairs")
def word_order(literals):
    q = np.multiply(literals["STRETCH"], literals["X_japanese"])
    k = np.multiply(literals["STRETCH"], literals["X_english"])
    v = literals["X_english"]
    steps = loops.every_step(q, k, v)
    w = np.diag(4 * [literals["STRETCH"]])
    computed = {name: steps[name] for name in ("scores", "scaled", "weights", "output")}
    aligned = [row.index(max(row)) for row in steps["weights"]]
    return {"W_Q": w, "W_K": w, "Q": q, "K": k, **computed, "aligned": aligned}
