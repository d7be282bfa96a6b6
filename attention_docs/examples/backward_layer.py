"""The backward pass of a layer: two heads that share keys, a mask, a residual sum and a layer norm.

n = 4 tokens, d_model = 5, two query heads of d_k = 3 that share one head of keys and of values with
d_v = 1. The mask B is causal and holds biases that fall with the distance; both heads add it to
their scaled scores. Y = gain * LayerNorm(X + attention) + shift, and dY is given: L = sum(dY * Y).

Steps that end in `_1` and `_2` belong to one head each. `normed` is the norm before gain and shift.
`through_attention` is the part of dX that flows through the attention, as opposed to the residual
connection.

>>> show(computed(steps))
weights_1 [[1 0 0 0] [0.0052 0.9948 0 0] [0.0098 0.0038 0.9863 0] [0.8325 0.0209 0.0708 0.0757]]
weights_2 [[1 0 0 0] [0.3125 0.6875 0 0] [0.8718 0.0292 0.0990 0] [0.0380 0.5456 0.0118 0.4046]]
merged [[0 0] [-0.9948 -0.6875] [7.8869 0.7628] [0.7731 0.7629]]
summed 4 x 5
[[      1       0       2      -1      0]
 [-0.9948  1.6562 -0.0052 -1.1850 1.6875]
 [ 9.8869 -0.6186 -7.8869  5.7063 0.2372]
 [-0.2269  1.3814  0.2269  1.1494 1.2371]]
std [1.0198 1.2423 6.0370 0.6362]
normed 4 x 5
[[ 0.5883 -0.3922  1.5689 -1.3728 -0.3922]
 [-0.9874  1.1467 -0.1907 -1.1404  1.1719]
 [ 1.3951 -0.3451 -1.5491  0.7026 -0.2034]
 [-1.5413  0.9869 -0.8278  0.6222  0.7600]]
d_gain [-3.8894 1.5389 -3.2889 2.9031 -1.7479]
d_shift [2 0 3 -1 2]
d_normed [[1 -2 0 0 3] [0 2 0.5000 -2 0] [-1 0 1 0 1.5000] [2 0 0 1 -1.5000]]
d_summed 4 x 5
[[ 0.5657 -2.3383 -0.4526 -0.3394  2.5646]
 [ 0.6315  0.7026  0.4595 -0.8681 -0.9255]
 [-0.0652 -0.0868 -0.0508  0.0259  0.1769]
 [ 0.9275  0.6456 -1.4087  1.8046 -1.9691]]
dW_O [[-0.4252 -0.8849 -1.9468 2.4633 0.7935] [0.2237 -0.0568 -1.4293 1.9934 -0.7310]]
d_merged [[0.8486 -4.0732] [-0.2621 0.4087] [-0.0014 -0.1944] [3.2385 4.0966]]
dZ_1 [[0 0 0 0] [-0.0013 0.0013 0 0] [0.0001 4.8e-05 -0.0002 0] [-2.0843 -0.1199 1.6579 0.5463]]
dZ_2 [[0 0 0 0] [0.0878 -0.0878 0 0] [0.1293 0.0100 -0.1393 0] [-0.1187 -3.9402 0.3511 3.7078]]
dB [[0 0 0 0] [0.0865 -0.0865 0 0] [0.1294 0.0100 -0.1394 0] [-2.2030 -4.0601 2.0090 4.2540]]
dK_1 4 x 3
[[-1.8046 -1.2050  1.8048]
 [-0.1042 -0.0677  0.1043]
 [ 1.4357  0.9574 -1.4360]
 [ 0.4731  0.3154 -0.4731]]
dK_2 4 x 3
[[ 0.0537 -0.2398  0.0073]
 [-1.1852 -7.9621  2.2155]
 [ 0.0612  0.7095 -0.0821]
 [ 1.0703  7.4924 -2.1407]]
dK 4 x 3
[[-1.7508 -1.4448  1.8120]
 [-1.2894 -8.0298  2.3198]
 [ 1.4968  1.6669 -1.5181]
 [ 1.5434  7.8078 -2.6138]]
dV_1 [[3.5434] [-0.1931] [0.2280] [0.2453]]
dV_2 [[-3.9594] [2.5104] [0.0293] [1.6574]]
dV [[-0.4160] [2.3173] [0.2573] [1.9027]]
through_attention 4 x 5
[[-1.2608  -0.6129 -2.6875 -1.1384  1.4396]
 [ 2.2527 -12.7638 -3.0949 -1.6362  9.9659]
 [ 0.9876   0.9026  2.2810  0.9830 -1.2190]
 [ 6.4286   0.9467 -2.3349  3.2518  2.1302]]
dX 4 x 5
[[-0.6950  -2.9512 -3.1400 -1.4778  4.0042]
 [ 2.8842 -12.0612 -2.6354 -2.5043  9.0404]
 [ 0.9224   0.8157  2.2302  1.0089 -1.0421]
 [ 7.3562   1.5923 -3.7436  5.0565  0.1611]]
"""

from typing import NamedTuple

import numpy

from attention_docs.arrays import Array
from attention_docs.backward import attention_backward
from attention_docs.dot_product import attention_steps
from attention_docs.multi_head import merge_heads, split_heads
from attention_docs.transformer_block import Norm, norm, norm_backward

TITLE = "The backward pass of a layer"
SOURCE = "our own example"

HEADS = 2
HIDDEN = -numpy.inf

X = [[1, 0, 2, -1, 0], [0, 2, -1, 0, 1], [2, -1, 0, 1, 1], [-1, 1, 1, 0, 2]]
W_Q = [
    [0.5, 0, 1, 0, -0.5, 0],
    [0, 1, 0, 0.5, 0, 1],
    [1, 0, -0.5, 0, 1, 0],
    [0, -1, 0, 1, 0, 0.5],
    [0.5, 0, 0, 0, 1, -1],
]
W_K = [[1, 0, 0.5], [0, 1, 0], [0.5, 0, -1], [0, 0.5, 0], [-0.5, 0, 1]]
W_V = [[1], [-2], [0], [1], [3]]
W_O = [[1, 0, -1, 0.5, 0], [0, 0.5, 0, 1, -1]]
B = [
    [0, HIDDEN, HIDDEN, HIDDEN],
    [-0.5, 0, HIDDEN, HIDDEN],
    [-1, -0.5, 0, HIDDEN],
    [-1.5, -1, -0.5, 0],
]
GAIN = [1, 2, 0.5, 1, 1.5]
SHIFT = [0, 0, 1, 0, -1]
D_Y = [[1, -1, 0, 0, 2], [0, 1, 1, -2, 0], [-1, 0, 2, 0, 1], [2, 0, 0, 1, -1]]


class Layer(NamedTuple):
    """The arrays that the forward pass computes: the backward pass needs them again."""

    query: Array  # (2, 4, 3)
    key: Array  # (1, 4, 3)
    value: Array  # (1, 4, 1)
    weights: Array  # (2, 4, 4)
    merged: Array  # (4, 2)
    summed: Array  # (4, 5)
    normed: Norm  # (4, 5) rows


def steps(xp=numpy):
    """Return the steps of the layer forward, and gradients backward, from dY to dX."""
    arrays = given_arrays(xp)
    layer = forward(arrays)
    return {
        **arrays,
        "weights_1": layer.weights[0, :, :],
        "weights_2": layer.weights[1, :, :],
        "merged": layer.merged,
        "summed": layer.summed,
        "std": layer.normed.std[:, 0],
        "normed": layer.normed.rows,
        **backward(xp, arrays, layer),
    }


def forward(arrays):
    """Attend from two heads to one head of keys, add the input, and normalise the sums."""
    x = arrays["X"]
    query = split_heads(x @ arrays["W_Q"], HEADS)
    key = split_heads(x @ arrays["W_K"], 1)
    value = split_heads(x @ arrays["W_V"], 1)
    attention = attention_steps(query, key, value, arrays["B"], enable_gqa=True)
    merged = merge_heads(attention.output)
    summed = x + merged @ arrays["W_O"]
    return Layer(query, key, value, attention.weights, merged, summed, norm(summed))


def backward(xp, arrays, layer):
    """Return the gradients from dY back to dX; those of W_Q, W_K and W_V are products like dW_O.

    `dK` and `dV` are sums over the two heads, which share keys and values.
    """
    transpose = xp.matrix_transpose
    mask, d_y = arrays["B"], arrays["dY"]
    query, key, value = layer.query, layer.key, layer.value
    d_normed = d_y * arrays["gain"]
    d_summed = norm_backward(d_normed, layer.normed)
    d_merged = d_summed @ transpose(arrays["W_O"])
    d_heads = split_heads(d_merged, HEADS)  # (2, 4, 1)
    gradients = attention_backward(d_heads, query, key, value, mask, enable_gqa=True)
    # The same for each head alone, because `gradients` has only the sums of dK and of dV.
    head_1, head_2 = (
        attention_backward(d_heads[i, :, :], query[i, :, :], key[0, :, :], value[0, :, :], mask)
        for i in range(HEADS)
    )
    d_q = merge_heads(gradients.query)  # (4, 6)
    d_k = merge_heads(gradients.key)  # (4, 3)
    d_v = merge_heads(gradients.value)  # (4, 1)
    through_attention = (
        d_q @ transpose(arrays["W_Q"])
        + d_k @ transpose(arrays["W_K"])
        + d_v @ transpose(arrays["W_V"])
    )
    return {
        "d_gain": xp.sum(d_y * layer.normed.rows, axis=0),
        "d_shift": xp.sum(d_y, axis=0),
        "d_normed": d_normed,
        "d_summed": d_summed,
        "dW_O": transpose(layer.merged) @ d_summed,
        "d_merged": d_merged,
        "dZ_1": gradients.scaled[0, :, :],
        "dZ_2": gradients.scaled[1, :, :],
        "dB": gradients.attn_mask,
        "dK_1": head_1.key,
        "dK_2": head_2.key,
        "dK": gradients.key[0, :, :],
        "dV_1": head_1.value,
        "dV_2": head_2.value,
        "dV": gradients.value[0, :, :],
        "through_attention": through_attention,
        "dX": d_summed + through_attention,
    }


def given_arrays(xp):
    """Return the input, the weights, the mask and the gradient dY as arrays, by name."""
    literals = {
        "X": X,
        "W_Q": W_Q,
        "W_K": W_K,
        "W_V": W_V,
        "W_O": W_O,
        "B": B,
        "gain": GAIN,
        "shift": SHIFT,
        "dY": D_Y,
    }
    return {name: xp.asarray(literal, dtype=xp.float64) for name, literal in literals.items()}
