"""Attention without positions and without a mask cannot see the order of its tokens.

The tokens of `self_attention` are in their own order, and permuted by the matrix P to 3, 1, 2.
Without positions, each token gets the same output in both orders. With the sinusoids `E` added, it
does not.

`score_parts` are the four parts of the scores of the boat, which add up to `scores_of_boat`: token
with token, token with position, position with token, and position with position. `G` is W_Q W_K^T.

>>> show(computed(steps))
X_permuted [[1 1 1 1] [1 0 1 0] [0 1 0 1]]
weights [[0.0287 0.4856 0.4856] [0.4856 0.0287 0.4856] [0.0529 0.0529 0.8943]]
weights_permuted [[0.8943 0.0529 0.0529] [0.4856 0.0287 0.4856] [0.4856 0.4856 0.0287]]
output [[1.0287 1.9426] [1.9426 1.0287] [1.8943 1.8943]]
output_permuted [[1.8943 1.8943] [1.0287 1.9426] [1.9426 1.0287]]
E [[0 1 0 1] [0.8415 0.5403 0.0998 0.9950] [0.9093 -0.4161 0.1987 0.9801]]
with_positions [[1 1 1 1] [0.8415 1.5403 0.0998 1.9950] [1.9093 0.5839 1.1987 1.9801]]
with_positions_permuted [[1 2 1 2] [1.8415 0.5403 1.0998 0.9950] [0.9093 0.5839 0.1987 1.9801]]
output_with_positions [[2.7139 2.6626] [3.0451 2.5487] [2.7731 2.6799]]
output_with_positions_permuted [[2.2786 3.2431] [1.9985 3.9342] [2.3728 2.8935]]
G [[0 1 0 1] [1 0 1 0] [0 1 0 1] [1 0 1 0]]
score_parts [[4 0 4] [0 1.8826 2.2159] [3.0706 1.8826 4.9532] [1.8826 2.8904 2.2319]]
scores_of_boat [8.9532 6.6556 13.4010]
weights_with_positions [[0.0735 0.1443 0.7822] [0.0410 0.0081 0.9510] [0.0322 0.1381 0.8297]]
"""

import numpy

from attention_docs.dot_product import attention_steps
from attention_docs.examples.positional_encoding import BASE, CLOCKS
from attention_docs.examples.self_attention import (
    FEATURES,
    TOKENS,
    VALUE_FEATURES,
    W_K,
    W_Q,
    W_V,
    X,
)
from attention_docs.positions import sinusoidal_positions

TITLE = "Permuted tokens, without and with positions"
SOURCE = "001_7d27211e1d664477.txt, “Positional Encoding”"

P = [[0, 0, 1], [1, 0, 0], [0, 1, 0]]
BOAT = 1

PERMUTED = ["seaplane", "bird", "boat"]
POSITIONS = [f"position {position}" for position in range(len(TOKENS))]
PARTS = ["token, token", "token, position", "position, token", "position, position"]
LABELS = {
    "X with_positions": (TOKENS, FEATURES),
    "X_permuted with_positions_permuted": (PERMUTED, FEATURES),
    "weights weights_with_positions": (TOKENS, TOKENS),
    "weights_permuted": (PERMUTED, PERMUTED),
    "output output_with_positions": (TOKENS, VALUE_FEATURES),
    "output_permuted output_with_positions_permuted": (PERMUTED, VALUE_FEATURES),
    "E": (POSITIONS, CLOCKS),
    "G": (FEATURES, FEATURES),
    "score_parts": (PARTS, TOKENS),
    "scores_of_boat": (TOKENS,),
}


def steps(xp=numpy):
    """Attend to the tokens in both orders, without positions and with sinusoids added."""
    x, p = xp.asarray(X, dtype=xp.float64), xp.asarray(P, dtype=xp.float64)
    w_q, w_k, w_v = (xp.asarray(matrix, dtype=xp.float64) for matrix in (W_Q, W_K, W_V))
    e = sinusoidal_positions(x.shape[0], x.shape[1], BASE, xp=xp)

    def attend(tokens):
        return attention_steps(tokens @ w_q, tokens @ w_k, tokens @ w_v)

    in_order, permuted = attend(x), attend(p @ x)
    with_positions, with_positions_permuted = attend(x + e), attend(p @ x + e)
    g = w_q @ w_k.T
    # With positions e and f, the score of two tokens x and y is (x + e) G (y + f)^T.
    token, position = x[BOAT : BOAT + 1, :], e[BOAT : BOAT + 1, :]
    score_parts = xp.concat(
        [token @ g @ x.T, token @ g @ e.T, position @ g @ x.T, position @ g @ e.T]
    )
    return {
        "X": x,
        "P": p,
        "X_permuted": p @ x,
        "weights": in_order.weights,
        "weights_permuted": permuted.weights,
        "output": in_order.output,
        "output_permuted": permuted.output,
        "E": e,
        "with_positions": x + e,
        "with_positions_permuted": p @ x + e,
        "output_with_positions": with_positions.output,
        "output_with_positions_permuted": with_positions_permuted.output,
        "G": g,
        "score_parts": score_parts,
        "scores_of_boat": xp.sum(score_parts, axis=0),
        "weights_with_positions": with_positions.weights,
    }
