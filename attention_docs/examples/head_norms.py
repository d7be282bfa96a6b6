"""Norms of queries and keys, of each head or of all heads together, and a gate on the output.

One query with two heads meets four keys; each head has two features. The query of the second head
is (`long`, -`long`).

- Norms: `q_by_head` and `K_by_head` are the query and the keys divided by the root mean square of
  each head, `q_together` and `K_together` divided by the root mean square of all four features.
- `weights_without_norm`, `weights_by_head` and `weights_together` are the weights of both heads.
  `largest` has the largest absolute score of the second head in these three cases, and `bounds` the
  largest that each of the two norms allows.
- Gate: `row` is the output of one projection: query and gate of the first head, then of the second.
  `gate` has its gates after the sigmoid, and `gated` is the output times the gate. `gate_flat` and
  `gated_flat` take the second half of the row for the gates, which is a mistake.

>>> show(computed(steps))
q [1 1 7 -7]
q_by_head [1 1 1 -1]
K_by_head [[1.4000 0.2000 1 1] [1 -1 1.4000 -0.2000] [1 1 -1 1] [-0.2000 1.4000 1 1]]
q_together [0.2000 0.2000 1.4000 -1.4000]
K_together 4 x 4
[[ 1.9415  0.2774 0.2774  0.2774]
 [ 0.2774 -0.2774 1.9415 -0.2774]
 [      1       1     -1       1]
 [-0.2626  1.8383 0.5252  0.5252]]
weights_without_norm [[0.7930 0.0028 0.0114 0.1928] [6.4e-18 1 3.2e-22 6.4e-18]]
weights_by_head [[0.2938 0.0948 0.3899 0.2215] [0.1872 0.5802 0.0455 0.1872]]
weights_together [[0.2768 0.2022 0.2683 0.2527] [0.0898 0.8079 0.0124 0.0898]]
largest [39.5980 1.4142 2.1965]
bounds [1.4142 2.8284]
row [1 1 2 0 7 -7 -3 1]
gate [0.8808 0.5000 0.0474 0.7311]
output [2.1473 1.5390 0.5615 2.3662]
gated [1.8913 0.7695 0.0266 1.7298]
gate_flat [0.9991 0.0009 0.0474 0.7311]
gated_flat [2.1454 0.0014 0.0266 1.7298]
"""

import math

import numpy

from attention_docs.dot_product import attention_steps

TITLE = "Norms of queries and keys, and a gate"
SOURCE = "our own example"

LONG = [7]
FIRST_QUERY, DIRECTION = [1, 1], [1, -1]
K = [[7, 1, 1, 1], [1, -1, 7, -1], [1, 1, -1, 1], [-1, 7, 2, 2]]
V = [[2, 0, 1, 0], [0, 1, 0, 4], [4, 2, 0, 1], [0, 3, 2, 0]]
GATES = [[2, 0], [-3, 1]]
HEADS, FEATURES = 2, 2  # FEATURES of each head

TOKENS = ["birds", "pass", "boats", "because"]
HEAD_NAMES = ["head 1", "head 2"]
LABELS = {
    "K V K_by_head K_together": (TOKENS, []),
    "weights_without_norm weights_by_head weights_together": (HEAD_NAMES, TOKENS),
    "largest": (["no norm", "of each head", "of all heads"],),
    "bounds": (["of each head", "of all heads"],),
}


def norm(rows, xp):
    """Divide rows by the root of their mean square."""
    return rows / xp.sqrt(xp.mean(rows**2, axis=-1, keepdims=True))


def norm_by_head(rows, xp):
    """Divide the features of each head by the root of their own mean square.

    The (n, d_model) rows hold the heads side by side.
    """
    heads = xp.reshape(rows, (rows.shape[0], HEADS, FEATURES))
    return xp.reshape(norm(heads, xp), rows.shape)


def sigmoid(x, xp):
    return 1 / (1 + xp.exp(-x))


def steps(xp=numpy):
    """Attend without norms, with norms of each head and of all heads together, and with a gate."""
    long_feature = xp.asarray(LONG, dtype=xp.float64)
    first_query = xp.asarray(FIRST_QUERY, dtype=xp.float64)
    second_query = long_feature * xp.asarray(DIRECTION, dtype=xp.float64)
    q = xp.concat([first_query, second_query])[None, :]
    k, v, gates = (xp.asarray(rows, dtype=xp.float64) for rows in (K, V, GATES))

    def split(rows):
        """Split (n, 4) rows into (2, n, 2) heads."""
        return xp.permute_dims(xp.reshape(rows, (rows.shape[0], HEADS, FEATURES)), (1, 0, 2))

    def attend(query, key):
        return attention_steps(split(query), split(key), split(v))

    q_by_head, k_by_head = norm_by_head(q, xp), norm_by_head(k, xp)
    q_together, k_together = norm(q, xp), norm(k, xp)
    without_norm = attend(q, k)
    by_head = attend(q_by_head, k_by_head)
    together = attend(q_together, k_together)
    scores_of_head_2 = [case.scaled[1, :, :] for case in (without_norm, by_head, together)]
    output = xp.reshape(by_head.output, (HEADS * FEATURES,))
    # As in models whose projection returns the query and the gates of each head side by side.
    projected = xp.concat([first_query, gates[0, :], second_query, gates[1, :]])
    gate = sigmoid(xp.reshape(gates, (HEADS * FEATURES,)), xp)
    second_half = projected[HEADS * FEATURES :]  # query and gates of head 2, not all gates
    gate_flat = sigmoid(second_half, xp)
    return {
        "long": long_feature,
        "q": q[0, :],
        "K": k,
        "V": v,
        "q_by_head": q_by_head[0, :],
        "K_by_head": k_by_head,
        "q_together": q_together[0, :],
        "K_together": k_together,
        "weights_without_norm": without_norm.weights[:, 0, :],
        "weights_by_head": by_head.weights[:, 0, :],
        "weights_together": together.weights[:, 0, :],
        "largest": xp.stack([xp.max(xp.abs(scores)) for scores in scores_of_head_2]),
        "bounds": math.sqrt(FEATURES) * xp.asarray([1.0, HEADS]),
        "row": projected,
        "gate": gate,
        "output": output,
        "gated": output * gate,
        "gate_flat": gate_flat,
        "gated_flat": output * gate_flat,
    }
