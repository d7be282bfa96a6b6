"""Attention without positions and without a mask cannot see the order of its tokens.

The tokens of the self-attention example, in their order and permuted by the matrix P to 3, 1, 2.
Without positions each token gets the same output in both orders. With a vector added per position
(here a table E of our own, as a model would learn it) it does not.

>>> show(steps())
X 3 x 4
[[1 0 1 0]
 [0 1 0 1]
 [1 1 1 1]]
P 3 x 3
[[0 0 1]
 [1 0 0]
 [0 1 0]]
X_permuted 3 x 4
[[1 1 1 1]
 [1 0 1 0]
 [0 1 0 1]]
weights 3 x 3
[[0.0287 0.4856 0.4856]
 [0.4856 0.0287 0.4856]
 [0.0529 0.0529 0.8943]]
weights_permuted 3 x 3
[[0.8943 0.0529 0.0529]
 [0.4856 0.0287 0.4856]
 [0.4856 0.4856 0.0287]]
output 3 x 2
[[1.0287 1.9426]
 [1.9426 1.0287]
 [1.8943 1.8943]]
output_permuted 3 x 2
[[1.8943 1.8943]
 [1.0287 1.9426]
 [1.9426 1.0287]]
equivariant number
True
E 3 x 4
[[      0 0 0.5000       0]
 [ 0.5000 0      0 -0.5000]
 [-0.5000 1      0  0.5000]]
with_positions 3 x 4
[[     1 0 1.5000      0]
 [0.5000 1      0 0.5000]
 [0.5000 2      1 1.5000]]
with_positions_permuted 3 x 4
[[      1 1 1.5000       1]
 [ 1.5000 0      1 -0.5000]
 [-0.5000 2      0  1.5000]]
output_with_positions 3 x 2
[[1.4737 3.4365]
 [1.8322 1.8699]
 [1.7154 2.7035]]
output_with_positions_permuted 3 x 2
[[ 1.9973 2.2266]
 [-0.4276 3.4631]
 [ 2.4997 0.2313]]
equivariant_with_positions number
False
"""

from types import ModuleType

import numpy

from attention_docs.arrays import Array
from attention_docs.dot_product import AttentionSteps, attention_steps
from attention_docs.examples.self_attention import (
    FEATURES,
    TOKENS,
    VALUE_FEATURES,
    W_K,
    W_Q,
    W_V,
    X,
)

TITLE = "Permuted tokens, without and with positions"
SOURCE = "001_7d27211e1d664477.txt, “Positional Encoding”"

P = [[0, 0, 1], [1, 0, 0], [0, 1, 0]]
E = [[0, 0, 0.5, 0], [0.5, 0, 0, -0.5], [-0.5, 1, 0, 0.5]]

PERMUTED, PLACES = ["seaplane", "bird", "boat"], ["first", "second", "third"]
LABELS = {
    "X": (TOKENS, FEATURES),
    "X_permuted": (PERMUTED, FEATURES),
    "weights": (TOKENS, TOKENS),
    "weights_permuted": (PERMUTED, PERMUTED),
    "output": (TOKENS, VALUE_FEATURES),
    "output_permuted": (PERMUTED, VALUE_FEATURES),
    "E": (PLACES, FEATURES),
    "with_positions": (TOKENS, FEATURES),
    "with_positions_permuted": (PERMUTED, FEATURES),
    "output_with_positions": (TOKENS, VALUE_FEATURES),
    "output_with_positions_permuted": (PERMUTED, VALUE_FEATURES),
}


def steps(xp: ModuleType = numpy) -> dict[str, Array]:
    inputs = (X, P, E, W_Q, W_K, W_V)
    x, p, e, w_q, w_k, w_v = (xp.asarray(matrix, dtype=xp.float64) for matrix in inputs)

    def attend(tokens: Array) -> AttentionSteps:
        return attention_steps(tokens @ w_q, tokens @ w_k, tokens @ w_v)

    in_order, permuted = attend(x), attend(p @ x)
    with_positions, with_positions_permuted = attend(x + e), attend(p @ x + e)
    return {
        "X": x,
        "P": p,
        "X_permuted": p @ x,
        "weights": in_order.weights,
        "weights_permuted": permuted.weights,
        "output": in_order.output,
        "output_permuted": permuted.output,
        "equivariant": is_close(xp, p @ in_order.output, permuted.output),
        "E": e,
        "with_positions": x + e,
        "with_positions_permuted": p @ x + e,
        "output_with_positions": with_positions.output,
        "output_with_positions_permuted": with_positions_permuted.output,
        "equivariant_with_positions": is_close(
            xp, p @ with_positions.output, with_positions_permuted.output
        ),
    }


def is_close(xp: ModuleType, one: Array, other: Array) -> Array:
    """Whether all numbers of two arrays agree but for rounding."""
    return xp.all(xp.abs(one - other) < 1e-12)
