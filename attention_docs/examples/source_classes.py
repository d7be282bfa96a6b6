"""What the published self-attention class computes, and what it should compute.

Three tokens, embed_size = 4, two heads of head_dim = 2. `output` is right: it projects with W_Q,
W_K and W_V, splits into heads, and divides by the root of head_dim. Three endings name mistakes:

- `scaled_by_embed_size`: divides by the root of embed_size, 2, not by the root of head_dim.
- `not_projected`: skips the projections; the class makes the layers and never applies them.
- `as_in_the_source`: both, which is what the class does.

Applied to each head, its layers, from head_dim to embed_size, would give more features in all than
the output layer takes, embed_size.

`scores_1_not_projected` is symmetric. `repeated_head_output` has inputs whose two halves are equal,
so its two heads are identical. `filled`: the class fills hidden scores with -1e20 and then divides,
so a fully masked row becomes uniform (`filled_weights`); the right weights are zero.

>>> show(computed(steps))
Q [[3 -1 2 2] [-1 0 0 1] [2 -2 -1 3]]
K [[1 3 -1 1] [2 -1 1 2] [0 2 2 0]]
V [[2 0 2 3] [1 2 -1 4] [3 -2 0 2]]
scores_1 [[0 7 -2] [-1 -2 0] [-4 6 -4]]
scores_2 [[0 6 4] [1 2 0] [4 5 -2]]
weights_1 [[0.0070 0.9913 0.0017] [0.2840 0.1400 0.5760] [0.0008 0.9983 0.0008]]
weights_2 [[0.0114 0.7952 0.1933] [0.2840 0.5760 0.1400] [0.3287 0.6666 0.0047]]
merged 3 x 4
[[1.0104  1.9791 -0.7724 3.6019]
 [2.4359 -0.8719 -0.0080 3.4359]
 [1.0025  1.9949 -0.0092 3.6619]]
output 3 x 4
[[1.0104  1.2067 -0.7724 4.6123]
 [2.4359 -0.8799 -0.0080 5.8719]
 [1.0025  1.9857 -0.0092 4.6644]]
scores_1_not_projected [[1 0 2] [0 1 -1] [2 -1 5]]
weights_1_not_projected [[0.2840 0.1400 0.5760] [0.2840 0.5760 0.1400] [0.1057 0.0127 0.8816]]
weights_1_as_in_the_source [[0.3072 0.1863 0.5065] [0.3072 0.5065 0.1863] [0.1753 0.0391 0.7856]]
weights_1_scaled_by_embed_size 3 x 3
[[0.0290 0.9603 0.0107]
 [0.3072 0.1863 0.5065]
 [0.0066 0.9867 0.0066]]
output_scaled_by_embed_size 3 x 4
[[1.0503  1.2642 -0.6351 4.4962]
 [2.3202 -0.5324  0.1079 5.6403]
 [1.0199  2.0903  0.1302 4.6125]]
output_not_projected 3 x 4
[[1.4359  1.4138  1.8497 2.4359]
 [0.5641 -0.0354 -0.4713 1.5641]
 [1.8690 -0.5356  0.3333 2.8690]]
output_as_in_the_source 3 x 4
[[1.3202  1.3254  1.6456 2.3202]
 [0.6798  0.0175 -0.3026 1.6798]
 [1.7465 -0.4132  0.3333 2.7465]]
unused_parameters 24
features_if_applied 8
repeated_head_output 3 x 4
[[1.4359 -0.4359 1.4359 -0.4359]
 [0.5641  0.4359 0.5641  0.4359]
 [1.8690 -0.8690 1.8690 -0.8690]]
filled [-5.0000e+19 -5.0000e+19 -5.0000e+19]
filled_weights [0.3333 0.3333 0.3333]
hidden_weights [0 0 0]
"""

import math

import numpy

from attention_docs.dot_product import attention_steps
from attention_docs.multi_head import MultiHeadAttention, merge_heads, split_heads
from attention_docs.softmax import softmax

TITLE = "The mistakes of a self-attention class, each with its number"
SOURCE = "004_d0b6398463fb1047.txt, “Self-Attention”"

X = [[1, 0, 2, 1], [0, 1, -1, 1], [2, -1, 0, 1]]
W_Q = [[1, 0, 0, 1], [0, 1, 1, 0], [1, 0, 1, 0], [0, -1, 0, 1]]
W_K = [[0, 1, 1, 0], [1, 0, 0, 1], [0, 1, -1, 0], [1, 0, 0, 1]]
W_V = [[1, 0, 0, 0], [0, 2, 0, 1], [0, 0, 1, 0], [1, 0, 0, 3]]
W_O = [[1, 0, 0, 1], [0, 1, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1]]
HEADS, HEAD_DIM, EMBED_SIZE = 2, 2, 4
FILL = -1e20


def steps(xp=numpy):
    """Return the steps of the right computation, and weights and outputs with each mistake.

    `unused_parameters` is the size of the layers that the class never applies, and
    `features_if_applied` the number of features that they would give.
    """
    x = xp.asarray(X, dtype=xp.float64)
    matrices = [xp.asarray(matrix, dtype=xp.float64) for matrix in (W_Q, W_K, W_V, W_O)]
    layer = MultiHeadAttention(*matrices, num_heads=HEADS)
    w_o = layer.W_O
    correct = layer.steps(x, x, x)
    heads = split_heads(x, HEADS)
    wrong_scale = 1 / math.sqrt(EMBED_SIZE)
    scaled_by_embed_size = attention_steps(correct.Q, correct.K, correct.V, scale=wrong_scale)
    not_projected = attention_steps(heads, heads, heads)
    as_in_the_source = attention_steps(heads, heads, heads, scale=wrong_scale)
    repeated_head = xp.stack([heads[0, :, :], heads[0, :, :]])
    filled = xp.full((len(X),), FILL, dtype=xp.float64) * wrong_scale  # a fully masked row
    return {
        "X": x,
        "W_Q": layer.W_Q,
        "W_K": layer.W_K,
        "W_V": layer.W_V,
        "W_O": w_o,
        "Q": merge_heads(correct.Q),
        "K": merge_heads(correct.K),
        "V": merge_heads(correct.V),
        "scores_1": correct.attention.scores[0, :, :],
        "scores_2": correct.attention.scores[1, :, :],
        "weights_1": correct.attention.weights[0, :, :],
        "weights_2": correct.attention.weights[1, :, :],
        "merged": correct.merged,
        "output": correct.output,
        "scores_1_not_projected": not_projected.scores[0, :, :],
        "weights_1_not_projected": not_projected.weights[0, :, :],
        "weights_1_as_in_the_source": as_in_the_source.weights[0, :, :],
        "weights_1_scaled_by_embed_size": scaled_by_embed_size.weights[0, :, :],
        "output_scaled_by_embed_size": merge_heads(scaled_by_embed_size.output) @ w_o,
        "output_not_projected": merge_heads(not_projected.output) @ w_o,
        "output_as_in_the_source": merge_heads(as_in_the_source.output) @ w_o,
        "unused_parameters": xp.asarray(3 * HEAD_DIM * EMBED_SIZE),  # for Q, K and V
        "features_if_applied": xp.asarray(HEADS * EMBED_SIZE),
        "repeated_head_output": merge_heads(
            attention_steps(repeated_head, repeated_head, repeated_head).output
        ),
        "filled": filled,
        "filled_weights": softmax(filled),
        "hidden_weights": softmax(xp.full_like(filled, -xp.inf)),
    }
