"""Attention of a single head, pair by pair."""

from tests import reference
from tests.examples.comparison import Computation, independent


def one_head_steps(literals):
    """Return all steps of a head with projections."""
    queries, keys = (literals.get(name, literals.get("X")) for name in ("X_q", "X_kv"))
    rows = {"Q": queries, "K": keys, "V": keys}
    q, k, v = (reference.matmul(rows[letter], literals[f"W_{letter}"]) for letter in "QKV")
    return {"Q": q, "K": k, "V": v, **reference.every_step(q, k, v)}


def steps_of_one_head(names):
    """Return an independent computation of the named steps."""

    def compute(literals):
        steps = one_head_steps(literals)
        return {name: steps[name] for name in names}

    return Computation(compute, "a slow loop over pairs", rtol=1e-11, atol=1e-13, fixed=())


@independent("word_order", "a slow loop over pairs")
def word_order(literals):
    q, k = (
        [[literals["STRETCH"] * x for x in row] for row in literals[f"X_{language}"]]
        for language in ("japanese", "english")
    )
    v = literals["X_english"]
    steps = reference.every_step(q, k, v)
    w = [[literals["STRETCH"] * (i == j) for j in range(4)] for i in range(4)]
    computed = {name: steps[name] for name in ("scores", "scaled", "weights", "output")}
    aligned = [row.index(max(row)) for row in steps["weights"]]
    return {"W_Q": w, "W_K": w, "Q": q, "K": k, "V": v, **computed, "aligned": aligned}
