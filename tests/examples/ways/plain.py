"""Attention of one head and nothing else, pair by pair."""

from tests import reference
from tests.examples.comparison import Way, way


def one_head(given):
    """Return all steps of a head on given rows and matrices."""
    queries, keys = (given.get(name, given.get("X")) for name in ("X_q", "X_kv"))
    rows = {"Q": queries, "K": keys, "V": keys}
    q, k, v = (reference.matmul(rows[letter], given[f"W_{letter}"]) for letter in "QKV")
    return {"Q": q, "K": k, "V": v, **reference.every_step(q, k, v)}


def steps_of_one_head(names):
    """Make a way to compute some of them."""

    def compute(given):
        steps = one_head(given)
        return {name: steps[name] for name in names}

    return Way(compute, "a slow loop over pairs", rtol=1e-11, atol=1e-13, fixed=())


@way("word_order", "a slow loop over pairs")
def word_order(given):
    q, k = (
        [[given["STRETCH"] * x for x in row] for row in given[f"X_{language}"]]
        for language in ("japanese", "english")
    )
    v = given["X_english"]
    steps = reference.every_step(q, k, v)
    w = [[given["STRETCH"] * (i == j) for j in range(4)] for i in range(4)]
    computed = {name: steps[name] for name in ("scores", "scaled", "weights", "output")}
    aligned = [row.index(max(row)) for row in steps["weights"]]
    return {"W_Q": w, "W_K": w, "Q": q, "K": k, "V": v, **computed, "aligned": aligned}
