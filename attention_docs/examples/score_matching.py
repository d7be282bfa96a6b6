"""Which query matches which key: five tokens of six features, read from the scores.

Query 1 looks like keys 1, 2, 4 and 5 (a large second feature). Queries 2 to 5 look like key 3 (a
large third feature). `matches` marks the scores of at least one half.

>>> show(computed(steps))
scores 5 x 5
[[0.9000 0.9000 0.1800 0.9000 0.9000]
 [     0      0 0.9000      0      0]
 [     0      0 0.9000      0      0]
 [     0      0 0.9000      0      0]
 [     0      0 0.9000      0      0]]
matches 5 x 5
[[ True  True False  True  True]
 [False False  True False False]
 [False False  True False False]
 [False False  True False False]
 [False False  True False False]]
query_1_meets_key_3 [0 0.0900 0.0900 0 0 0]
scaled 5 x 5
[[0.3674 0.3674 0.0735 0.3674 0.3674]
 [     0      0 0.3674      0      0]
 [     0      0 0.3674      0      0]
 [     0      0 0.3674      0      0]
 [     0      0 0.3674      0      0]]
weights 5 x 5
[[0.2107 0.2107 0.1571 0.2107 0.2107]
 [0.1837 0.1837 0.2652 0.1837 0.1837]
 [0.1837 0.1837 0.2652 0.1837 0.1837]
 [0.1837 0.1837 0.2652 0.1837 0.1837]
 [0.1837 0.1837 0.2652 0.1837 0.1837]]
"""

import numpy

from attention_docs.dot_product import attention_steps

TITLE = "Which query matches which key"
SOURCE = "002_d7461449c953e4ff.txt, “Attention Score by QKᵀ”"

Q = [
    [0, 0.9, 0.1, 0, 0, 0],
    [0, 0, 1, 0, 0, 0],
    [0, 0, 1, 0, 0, 0],
    [0, 0, 1, 0, 0, 0],
    [0, 0, 1, 0, 0, 0],
]
K = [
    [0, 1, 0, 0, 0, 0],
    [0, 1, 0, 0, 0, 0],
    [0, 0.1, 0.9, 0, 0, 0],
    [0, 1, 0, 0, 0, 0],
    [0, 1, 0, 0, 0, 0],
]


def steps(xp=numpy):
    """Return the scores and weights of the queries.

    `query_1_meets_key_3` has a product for each feature; their sum is the score of the two.
    """
    q, k = xp.asarray(Q, dtype=xp.float64), xp.asarray(K, dtype=xp.float64)
    attention = attention_steps(q, k, k)  # the values do not matter, so the keys stand in
    return {
        "Q": q,
        "K": k,
        "scores": attention.scores,
        "matches": attention.scores >= 0.5,
        "query_1_meets_key_3": q[0, :] * k[2, :],
        "scaled": attention.scaled,
        "weights": attention.weights,
    }
