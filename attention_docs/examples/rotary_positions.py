"""One query and one key, each rotated by a position of its own.

The query and the key are the same as in `rotary`, with pairs of neighbouring features. `q_turned`
and `k_turned` have a row for each of the three pairs, `products` are the dot products of the pairs,
and `score` is their sum.

>>> show(computed(steps))
q_turned [[0.2391 2.2232] [0.2474 -0.9689] [0.8107 3.0566]]
k_turned [[-1.1459 1.1734] [0.7817 2.0950] [-0.3728 1.9649]]
products [2.3348 -1.8364 5.7038]
score 6.2022
"""

import numpy

from attention_docs.examples.rotary import BASE, K, Q
from attention_docs.positions import rotary

TITLE = "Rotary positions of one query and one key"
SOURCE = "our own example"

QUERY_POSITION, KEY_POSITION = [1], [3]

PAIRS = ["pair 0", "pair 1", "pair 2"]
LABELS = {
    "q_turned k_turned": (PAIRS, []),
    "products": (PAIRS,),
}


def steps(xp=numpy):
    """Rotate the query and the key, and return the score as a sum over pairs of features."""
    q_position = xp.asarray(QUERY_POSITION, dtype=xp.float64)
    k_position = xp.asarray(KEY_POSITION, dtype=xp.float64)
    q = xp.asarray(Q, dtype=xp.float64)[None, :]
    k = xp.asarray(K, dtype=xp.float64)[None, :]
    q_pairs = xp.reshape(rotary(q, q_position, BASE, interleaved=True), (-1, 2))
    k_pairs = xp.reshape(rotary(k, k_position, BASE, interleaved=True), (-1, 2))
    products = xp.sum(q_pairs * k_pairs, axis=1)
    return {
        "query_position": q_position,
        "key_position": k_position,
        "q_turned": q_pairs,
        "k_turned": k_pairs,
        "products": products,
        "score": xp.sum(products),
    }
