"""The self-attention example with values of three features.

Inputs, queries and keys are the same as in `self_attention`, so the weights are too. W_V has one
column more, so values and outputs are points in space. The outputs lie in the triangle of the
values, and their first two features are the same as in `self_attention`.

>>> show(computed(steps))
V [[2 0 0] [0 2 1] [2 2 1]]
output [[1.0287 1.9426 0.9713] [1.9426 1.0287 0.5144] [1.8943 1.8943 0.9471]]
"""

import numpy

from attention_docs.dot_product import attention_steps
from attention_docs.examples import self_attention
from attention_docs.examples.self_attention import FEATURES, TOKENS, W_K, W_Q, X

TITLE = "Self-attention, values in space"
SOURCE = "000_2da5eed0b4267db4.txt, “Self-Attention with Example”; our own third column of W_V"

W_V = [[1, 0, 0], [0, 1, 1], [1, 0, 0], [0, 1, 0]]

VALUE_FEATURES = ["airborne", "afloat", "floats"]
LABELS = self_attention.LABELS | {
    "W_V": (FEATURES, VALUE_FEATURES),
    "V output": (TOKENS, VALUE_FEATURES),
}


def steps(xp=numpy):
    """Return the weights and the output of self-attention, with values of three features."""
    x = xp.asarray(X, dtype=xp.float64)
    w_q, w_k, w_v = (xp.asarray(matrix, dtype=xp.float64) for matrix in (W_Q, W_K, W_V))
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    attention = attention_steps(q, k, v)
    return {
        "X": x,
        "W_Q": w_q,
        "W_K": w_k,
        "W_V": w_v,
        "Q": q,
        "K": k,
        "V": v,
        "weights": attention.weights,
        "output": attention.output,
    }
