"""Cross-attention from "la voiture" to "the green car stops", in which all sizes differ.

2 queries, 4 keys, 6 features, keys of 5 features, values of 3. Each French word asks for the
English word to translate next: after an article a noun, after a noun an adjective. The four values
are the corners of a tetrahedron, so each output lies inside it, and no other weights give the same
output.

>>> show(computed(steps))
Q [[-1 6 2 0 0] [0 -1 6 0 1]]
K [[1 0 0 0 0] [0 0 1 0 0] [0 1 0 0 1] [0 0 0 1 2]]
V [[0 0 0] [0 2 0] [2 0 1] [0 0 2]]
scores [[-1 2 6 0] [0 6 0 2]]
scaled [[-0.4472 0.8944 2.6833 0] [0 2.6833 0 0.8944]]
weights [[0.0342 0.1307 0.7817 0.0534] [0.0524 0.7670 0.0524 0.1282]]
output [[1.5635 0.2613 0.8886] [0.1048 1.5339 0.3088]]
"""

import numpy

from attention_docs.examples.cross_attention import cross_attention

TITLE = "Two sequences, two French words on four English ones"
SOURCE = "our own example, for 000_2da5eed0b4267db4.txt, “Cross-Attention Example”"

FRENCH, ENGLISH = ["la", "voiture"], ["the", "green", "car", "stops"]
FEATURES = ["article", "noun", "adjective", "verb", "motion", "gender"]
KEY_FEATURES = ["article", "noun", "adjective", "verb", "motion"]
VALUE_FEATURES = ["thing", "colour", "motion"]

X_q = [[1, 0, 0, 0, 0, 1], [0, 1, 0, 0, 1, 1]]
X_kv = [[1, 0, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0], [0, 1, 0, 0, 1, 0], [0, 0, 0, 1, 2, 0]]
W_Q = [
    [-1, 6, 2, 0, 0],
    [0, -1, 6, 0, 0],
    [0, 0, -1, 6, 0],
    [0, 0, 0, -1, 0],
    [0, 0, 0, 0, 1],
    [0, 0, 0, 0, 0],
]
W_K = [
    [1, 0, 0, 0, 0],
    [0, 1, 0, 0, 0],
    [0, 0, 1, 0, 0],
    [0, 0, 0, 1, 0],
    [0, 0, 0, 0, 1],
    [0, 0, 0, 0, 0],
]
W_V = [[0, 0, 0], [2, 0, 0], [0, 2, 0], [0, 0, 0], [0, 0, 1], [0, 0, 0]]
LABELS = {
    "X_q": (FRENCH, FEATURES),
    "X_kv": (ENGLISH, FEATURES),
    "W_Q W_K": (FEATURES, KEY_FEATURES),
    "W_V": (FEATURES, VALUE_FEATURES),
    "Q": (FRENCH, KEY_FEATURES),
    "K": (ENGLISH, KEY_FEATURES),
    "V": (ENGLISH, VALUE_FEATURES),
    "scores scaled weights": (FRENCH, ENGLISH),
    "output": (FRENCH, VALUE_FEATURES),
}


def steps(xp=numpy):
    """Return the steps of attention, with queries from `X_q` and keys and values from `X_kv`."""
    x_q, x_kv = (xp.asarray(tokens, dtype=xp.float64) for tokens in (X_q, X_kv))
    w_q, w_k, w_v = (xp.asarray(matrix, dtype=xp.float64) for matrix in (W_Q, W_K, W_V))
    return cross_attention(x_q, x_kv, w_q, w_k, w_v)
