"""Dropout of attention weights: one seeded draw, and the mean of all possible ones.

Each weight is set to zero with the probability 1/4, and those that remain are divided by 3/4. The
sum of a row is then random, but its mean is still one, and the mean of each output is the output
without dropout: `mean_output` is the mean of the 16 patterns of a row, each times its probability,
and `deviation` the standard deviation. Without the division, each mean would be too small by 3/4.

>>> show(computed(steps))
weights [[0.5388 0.1310 0.2657 0.0646] [0.0750 0.3083 0.3083 0.3083] [0.3655 0.1802 0.3655 0.0889]]
output [[2.4281 1.0552] [-0.3168 1.8501] [1.8374 1.4518]]
dropped [[0.7184 0.1746 0.3542 0.0861] [0.1000 0.4111 0 0] [0 0.2403 0 0.1185]]
row_sums [1.3333 0.5111 0.3587]
dropped_output [[3.2374 1.4070] [0.3998 1.6445] [-0.4739 0.9611]]
unscaled_output [[2.4281 1.0552] [0.2999 1.2334] [-0.3554 0.7208]]
mean_output [[2.4281 1.0552] [-0.3168 1.8501] [1.8374 1.4518]]
deviation [[1.2902 0.4308] [0.8147 0.7961] [0.9657 0.5927]]
"""

import itertools

import numpy

from attention_docs.dot_product import attention_steps

TITLE = "Dropout of weights"
SOURCE = "our own example"

Q = [[1, 0], [0, 2], [1, 1]]
K = [[2, 0], [0, 1], [1, 1], [-1, 1]]
V = [[4, 0], [0, 4], [2, 2], [-4, 0]]
RATE = 1 / 4
# Drawn with `numpy.random.RandomState(3).random_sample((3, 4)) >= RATE`.
KEPT = [[1, 1, 1, 1], [1, 1, 0, 0], [0, 1, 0, 1]]
PATTERNS = list(itertools.product((0, 1), repeat=4))  # of kept weights in a row
KEYS = ["key 1", "key 2", "key 3", "key 4"]
QUERIES = ["query 1", "query 2", "query 3"]
LABELS = {
    "K V": (KEYS, []),
    "Q output dropped_output unscaled_output mean_output deviation": (QUERIES, []),
    "weights kept dropped": (QUERIES, KEYS),
}


def steps(xp=numpy):
    """Return the weights and outputs without dropout, with one draw of it, and on average."""
    q, k, v, kept = (xp.asarray(rows, dtype=xp.float64) for rows in (Q, K, V, KEPT))
    attention = attention_steps(q, k, v)
    dropped = attention.weights * kept / (1 - RATE)

    patterns = xp.asarray(PATTERNS, dtype=xp.float64)
    kept_counts = xp.sum(patterns, axis=1)[:, None, None]
    probabilities = (1 - RATE) ** kept_counts * RATE ** (len(K) - kept_counts)
    outputs = (attention.weights * patterns[:, None, :] / (1 - RATE)) @ v
    mean_output = xp.sum(probabilities * outputs, axis=0)
    variance = xp.sum(probabilities * (outputs - mean_output) ** 2, axis=0)
    return {
        "Q": q,
        "K": k,
        "V": v,
        "weights": attention.weights,
        "output": attention.output,
        "kept": kept,
        "dropped": dropped,
        "row_sums": xp.sum(dropped, axis=1),
        "dropped_output": dropped @ v,
        "unscaled_output": (attention.weights * kept) @ v,
        "mean_output": mean_output,
        "deviation": xp.sqrt(variance),
    }
