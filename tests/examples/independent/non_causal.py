"""Masks as rules for one pair of letters."""

from tests.examples.comparison import independent

IMAGE = "aa.bbbb."  # the image of each token
BLOCK = "aabbAABB"  # of each row of block diffusion, and in capitals without noise

RULES = [
    lambda q, k: k <= q,
    lambda q, k: True,
    lambda q, k: abs(q - k) <= 2,
    lambda q, k: k <= max(q, 2),
    lambda q, k: k <= q or IMAGE[q] == IMAGE[k] != ".",
    lambda q, k: q - k <= 2 and (k <= q or IMAGE[q] == IMAGE[k] != "."),
    lambda q, k: BLOCK[q] == BLOCK[k] or (BLOCK[k] < BLOCK[q].upper() and k > 3),
    lambda q, k: k <= (q if q < 4 else 7),
    lambda q, k: k <= q or "." not in (IMAGE[q], IMAGE[k]),
    lambda q, k: 0 <= q - k <= 2 or IMAGE[q] == IMAGE[k] != ".",
    lambda q, k: BLOCK[q] == BLOCK[k] or (BLOCK[k] <= BLOCK[q].upper() and k > 3),
]


@independent("non_causal_masks", "means over the keys that a rule allows", fixed=["IMAGE"])
def non_causal_masks(literals):
    seen = [[[k for k in range(8) if rule(q, k)] for q in range(8)] for rule in RULES]
    means = [[sum(literals["V"][k][0] for k in keys) / len(keys) for keys in rows] for rows in seen]
    return {"output": means}
