"""Grouped queries: four query heads share two heads of keys and values.

Each head has one query and 5 keys of 3 features, with values of a single feature. Neighbouring
heads share keys and values.

>>> show(computed(steps))
weights 4 x 5
[[0.2675 0.0473 0.1502 0.2675 0.2675]
 [0.0913 0.5163 0.0513 0.0513 0.2898]
 [0.0694 0.1237 0.3925 0.0219 0.3925]
 [0.6071 0.0339 0.1913 0.1074 0.0603]]
output [0.7180 0.7223 1.4467 0.2250]
wrong [0.7180 -0.3005 1.8586 0.2250]
"""

import numpy

from attention_docs.dot_product import attention_steps

TITLE = "Grouped queries: four heads, two of keys and values"
SOURCE = "our own example"

Q = [[1, 0, 2], [0, 2, -1], [2, 1, 0], [-1, 1, 1]]
K_1 = [[1, 0, 1], [0, 1, 0], [2, -1, 0], [-1, 0, 2], [1, 1, 1]]
K_2 = [[0, 1, 2], [1, 0, -1], [1, 2, 0], [0, -1, 1], [2, 0, 1]]
V = [[1, 0], [0, 2], [3, -1], [-2, 1], [2, 4]]

WORDS = ["birds", "pass", "boats", "because", "they"]
HEADS = ["head 1", "head 2", "head 3", "head 4"]
LABELS = {
    "Q": (HEADS, []),
    "K_1 K_2": (WORDS, []),
    "V": (WORDS, ["heads 1, 2", "heads 3, 4"]),
    "weights": (HEADS, WORDS),
    "output wrong": (HEADS,),
}


def steps(xp=numpy):
    """Return the weights and outputs of grouped queries.

    In `wrong`, heads 1 and 3 share the first keys by mistake, and heads 2 and 4 the second.
    """
    q, k_1, k_2, v = (xp.asarray(rows, dtype=xp.float64) for rows in (Q, K_1, K_2, V))
    queries = q[:, None, :]  # (4, 1, 3)
    keys = xp.stack([k_1, k_2])  # (2, 5, 3)
    values = xp.stack([v[:, :1], v[:, 1:]])  # (2, 5, 1)
    grouped = attention_steps(queries, keys, values, enable_gqa=True)
    # One set of keys and values for each head, in the wrong order 1, 2, 1, 2.
    tiled = attention_steps(queries, xp.concat([keys, keys]), xp.concat([values, values]))
    return {
        "Q": q,
        "K_1": k_1,
        "K_2": k_2,
        "V": v,
        "weights": grouped.weights[:, 0, :],
        "output": grouped.output[:, 0, 0],
        "wrong": tiled.output[:, 0, 0],
    }
