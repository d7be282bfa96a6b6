"""One query and one key, each rotated by a position of its own.

The query and the key are the same as in `rotary`, with pairs of neighbouring features. `q_turned`
and `k_turned` have a row for each of the three pairs, `products` are the dot products of the pairs,
and `score` is their sum.

>>> show(steps())
query_position 1
[1]
key_position 1
[3]
q_turned 3 x 2
[[0.2391  2.2232]
 [0.2474 -0.9689]
 [0.8107  3.0566]]
k_turned 3 x 2
[[-1.1459 1.1734]
 [ 0.7817 2.0950]
 [-0.3728 1.9649]]
products 3
[2.3348 -1.8364 5.7038]
score number
6.2022
"""

from types import ModuleType

import numpy

from attention_docs.arrays import Array
from attention_docs.examples.rotary import BASE, K, Q
from attention_docs.positions import rotary

TITLE = "Rotary positions of one query and one key"
SOURCE = "our own example"

QUERY_POSITION, KEY_POSITION = [1], [3]

PAIRS = ["pair 0", "pair 1", "pair 2"]
LABELS = {"q_turned": (PAIRS, []), "k_turned": (PAIRS, []), "products": (PAIRS,)}


def steps(xp: ModuleType = numpy) -> dict[str, Array]:
    positions = [xp.asarray(at, dtype=xp.float64) for at in (QUERY_POSITION, KEY_POSITION)]
    rows = [xp.asarray(row, dtype=xp.float64)[None, :] for row in (Q, K)]
    q, k = (
        xp.reshape(rotary(row, position, BASE, interleaved=True), (-1, 2))
        for row, position in zip(rows, positions, strict=True)
    )
    products = xp.sum(q * k, axis=1)
    return {
        "query_position": positions[0],
        "key_position": positions[1],
        "q_turned": q,
        "k_turned": k,
        "products": products,
        "score": xp.sum(products),
    }
