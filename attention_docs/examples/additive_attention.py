"""Two ways to measure relevance, on the same numbers: dot products and additive scores.

The queries and keys are q_1, q_2 and k_1 ... k_4 of `column_vectors`, as rows. The weights of the
additive network, which has two hidden units, are our own.

>>> show(computed(steps))
dot_scores [[16 20 41 37] [28 32 71 63]]
dot_scaled [[9.2376 11.5470 23.6714 21.3620] [16.1658 18.4752 40.9919 36.3731]]
dot_weights [[4.9e-07 4.9e-06 0.9096 0.0903] [1.6e-11 1.6e-10 0.9902 0.0098]]
dot_output [[5.0903 1.9097] [5.0098 1.9902]]
projected_queries [[-0.7500 -0.1250] [0.2500 -0.6250]]
projected_keys [[0.5000 0.5000] [-0.5000 1.2500] [0.2500 1.5000] [0.7500 1.5000]]
hidden_1 [[-0.2449 0.3584] [-0.8483 0.8093] [-0.4621 0.8798] [0 0.8798]]
additive_scores [[-0.8482 -2.5059 -1.8041 -0.8798] [1.3947 -1.0444 0.2203 0.8193]]
largest_possible_score 3
additive_weights [[0.3931 0.0749 0.1511 0.3809] [0.5105 0.0445 0.1578 0.2872]]
additive_output [[4.2950 0.7395] [4.0880 0.3594]]
"""

import numpy

from attention_docs.additive import additive_scores
from attention_docs.dot_product import attention_steps
from attention_docs.softmax import softmax

TITLE = "Dot products and additive scores, side by side"
SOURCE = "001_7d27211e1d664477.txt, “Way to calculate α”"

Q = [[3, 3, 2], [7, 3, 4]]
K = [[2, 2, 2], [1, 3, 4], [4, 5, 7], [4, 5, 5]]
V = [[3, -1], [1, 6], [5, 2], [6, 1]]
W_1 = [[0.25, 0], [-0.5, 0.125], [0, -0.25]]
W_2 = [[0.5, -0.25], [0, 0.5], [-0.25, 0]]
w = [2, -1]


def steps(xp=numpy):
    """Return the scores, weights and output of both kinds of attention.

    `hidden_1` has the hidden units of the additive network for query 1, one row per key.
    """
    q, k, v = (xp.asarray(matrix, dtype=xp.float64) for matrix in (Q, K, V))
    w_1, w_2, w_out = (xp.asarray(matrix, dtype=xp.float64) for matrix in (W_1, W_2, w))
    dot = attention_steps(q, k, v)
    scores = additive_scores(q, k, w_1, w_2, w_out)
    weights = softmax(scores)
    return {
        "Q": q,
        "K": k,
        "V": v,
        "dot_scores": dot.scores,
        "dot_scaled": dot.scaled,
        "dot_weights": dot.weights,
        "dot_output": dot.output,
        "W_1": w_1,
        "W_2": w_2,
        "w": w_out,
        "projected_queries": q @ w_1,
        "projected_keys": k @ w_2,
        "hidden_1": xp.tanh(q[:1, :] @ w_1 + k @ w_2),
        "additive_scores": scores,
        "largest_possible_score": xp.sum(xp.abs(w_out)),  # because |tanh| stays below 1
        "additive_weights": weights,
        "additive_output": weights @ v,
    }
