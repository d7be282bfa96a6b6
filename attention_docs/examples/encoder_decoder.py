"""A tiny transformer, forwards: an encoder layer, a decoder layer, three attentions.

n = 3 source tokens, m = 2 target tokens so far, d_model = 4, two heads of two, a hidden layer of 6,
a vocabulary of 5. Every sublayer is LayerNorm(x + sublayer(x)), as in the paper; the norms have no
learned gain or shift. What comes from where:

- encoder self-attention: Q, K and V from the source;
- decoder self-attention: Q, K and V from the target, with the causal mask;
- cross-attention: Q from the target, K and V from the encoder's output, `memory`.

`X` and `Y` are embeddings plus sinusoidal positions. The heads of each attention have their weights
in steps of their own, `..._1` and `..._2`. The last row of `probabilities` is about the next token.

>>> show(steps())
X 3 x 4
[[      1      1  0.5000      0]
 [ 0.8415 2.5403 -0.4002 0.9950]
 [-0.0907 0.0839  1.1987 1.9801]]
encoder_weights_1 3 x 3
[[0.1304 0.7677 0.1019]
 [0.1174 0.8470 0.0356]
 [0.0912 0.0174 0.8914]]
encoder_weights_2 3 x 3
[[0.0571 0.0149 0.9280]
 [0.0095 0.0015 0.9890]
 [0.0070 0.0008 0.9921]]
encoder_attended 3 x 4
[[-0.6625  0.4626  1.7982 1.9842]
 [-0.8040  0.4622  1.9351 2.0477]
 [ 0.1370 -0.5734 -0.1291 2.5251]]
encoder_normed 3 x 4
[[-1.5871 -0.0779  1.0431 0.6219]
 [-1.5089  0.8875 -0.2986 0.9200]
 [-0.6365 -0.9123 -0.1098 1.6585]]
memory 3 x 4
[[-0.5590 -1.2452  1.4068 0.3974]
 [-1.5823  1.1859  0.1234 0.2730]
 [ 0.9220 -1.2079 -0.7654 1.0512]]
Y 2 x 4
[[0.5000      0       0      2]
 [1.8415 1.5403 -0.4002 0.9950]]
decoder_weights_1 2 x 2
[[     1      0]
 [0.1646 0.8354]]
decoder_weights_2 2 x 2
[[     1      0]
 [0.1395 0.8605]]
decoder_attended 2 x 4
[[2.2500 0.1250 1.5000 -0.2500]
 [2.0950 1.8725 2.7455 -0.5282]]
decoder_normed 2 x 4
[[1.3007 -1.5008 -0.0334  0.2335]
 [1.0518  0.6573 -0.1469 -1.5621]]
cross_weights_1 2 x 3
[[0.0696 0.9253 0.0051]
 [0.0454 0.1587 0.7958]]
cross_weights_2 2 x 3
[[0.3591 0.6302 0.0106]
 [0.2107 0.1863 0.6030]]
cross_attended 2 x 4
[[-1.0680  0.0326  0.5748 -0.3938]
 [ 0.8351 -0.4873 -0.1421 -1.0680]]
cross_normed 2 x 4
[[0.5828 -1.6382  0.9859  0.0695]
 [1.3036  0.2391 -0.0455 -1.4971]]
output 2 x 4
[[0.7707 -1.5399  0.9924 -0.2232]
 [1.5163 -1.0481 -0.7304  0.2622]]
logits 2 x 5
[[1.2669 -1.4283 -0.5483 1.7021 -1.2156]
 [1.1511 -1.1792 -2.7707 2.0685  0.9926]]
probabilities 2 x 5
[[0.3498 0.0236 0.0569 0.5405 0.0292]
 [0.2236 0.0217 0.0044 0.5595 0.1908]]
next_token number
3
"""

import numpy

from attention_docs.multi_head import MultiHeadAttention
from attention_docs.positions import sinusoidal_positions
from attention_docs.softmax import softmax

TITLE = "Encoder and decoder, one forward pass"
SOURCE = "002_d7461449c953e4ff.txt, “Encoder and Decoder”, an empty heading; Vaswani et al. 2017"

source = [[1, 0, 0.5, -1], [0, 2, -0.5, 0], [-1, 0.5, 1, 1]]
target = [[0.5, -1, 0, 1], [1, 1, -0.5, 0]]
BASE = 100
EPSILON = 1e-5  # keeps the norm of a constant row finite

encoder = (
    [[1, 0, 0, 1], [0, 1, 0.5, 0], [0.5, 0, 1, 0], [0, -1, 0, 1]],
    [[1, 0.5, 0, 0], [0, 1, 0, -1], [0, 0, 1, 0.5], [1, 0, 0, 1]],
    [[0.5, 0, 1, 0], [0, 1, 0, 0], [1, 0, -0.5, 0], [0, 0, 0, 1]],
    [[1, 0, 0, 0.5], [0, 0.5, 1, 0], [0, 1, 0.5, 0], [-0.5, 0, 0, 1]],
)
decoder = (
    [[0, 1, 0, 0.5], [1, 0, 0, 0], [0, 0.5, 1, 0], [0, 0, -1, 1]],
    [[1, 0, 0.5, 0], [0, 0.5, 0, 1], [-1, 0, 1, 0], [0, 1, 0, 0]],
    [[1, 0, 0, -0.5], [0.5, 1, 0, 0], [0, 0, 0.5, 1], [0, 0, 1, 0]],
    [[0.5, 0, 1, 0], [0, 1, 0, 0.5], [1, 0, 0.5, 0], [0, -0.5, 0, 1]],
)
cross = (
    [[1, 0, 1, 0], [0, 1, 0, 0.5], [0.5, 0, 0, 1], [0, -0.5, 1, 0]],
    [[0, 1, 0, 1], [1, 0, 0.5, 0], [0, -0.5, 1, 0], [0.5, 0, 0, 1]],
    [[1, 0, 0, 0], [0, 0.5, 0, 1], [0, 1, 1, 0], [0.5, 0, 0, -1]],
    [[1, 0.5, 0, 0], [0, 1, 0, -0.5], [0.5, 0, 1, 0], [0, 0, 0, 1]],
)
W_1 = [
    [1, 0, 0.5, 0, -1, 0],
    [0, 1, 0, -0.5, 0, 1],
    [-0.5, 0, 1, 0, 0.5, 0],
    [0, 0.5, 0, 1, 0, -1],
]
W_2 = [
    [0.5, 0, 0, 1],
    [0, 1, 0, -0.5],
    [0, 0, 1, 0],
    [1, 0, -0.5, 0],
    [0, -1, 0.5, 0],
    [0.5, 0, 0, 1],
]
W_vocabulary = [[1, 0, -1, 0.5, 0], [0, 1, 0.5, -1, 0], [0.5, 0, 1, 0, -1], [0, -0.5, 0, 1, 1]]


def steps(xp=numpy):
    x, y = (with_positions(xp, tokens) for tokens in (source, target))

    encoded = layer(xp, encoder).steps(x, x, x)
    encoder_normed = layer_norm(xp, x + encoded.output)
    memory = layer_norm(xp, encoder_normed + feed_forward(xp, encoder_normed))

    decoded = layer(xp, decoder).steps(y, y, y, is_causal=True)
    decoder_normed = layer_norm(xp, y + decoded.output)
    crossed = layer(xp, cross).steps(decoder_normed, memory, memory)
    cross_normed = layer_norm(xp, decoder_normed + crossed.output)
    output = layer_norm(xp, cross_normed + feed_forward(xp, cross_normed))

    logits = output @ xp.asarray(W_vocabulary, dtype=xp.float64)
    return {
        "X": x,
        **both_heads("encoder_weights", encoded),
        "encoder_attended": encoded.output,
        "encoder_normed": encoder_normed,
        "memory": memory,
        "Y": y,
        **both_heads("decoder_weights", decoded),
        "decoder_attended": decoded.output,
        "decoder_normed": decoder_normed,
        **both_heads("cross_weights", crossed),
        "cross_attended": crossed.output,
        "cross_normed": cross_normed,
        "output": output,
        "logits": logits,
        "probabilities": softmax(logits),
        "next_token": xp.argmax(logits[-1, :]),
    }


def with_positions(xp, tokens):
    embedded = xp.asarray(tokens, dtype=xp.float64)
    length, d_model = embedded.shape
    return embedded + sinusoidal_positions(length, d_model, BASE, xp=xp)


def layer(xp, weights):
    matrices = (xp.asarray(matrix, dtype=xp.float64) for matrix in weights)
    return MultiHeadAttention(*matrices, num_heads=2)


def layer_norm(xp, rows):
    """Shift and scale every row to mean 0 and variance 1."""
    mean = xp.mean(rows, axis=-1, keepdims=True)
    variance = xp.mean((rows - mean) ** 2, axis=-1, keepdims=True)
    return (rows - mean) / xp.sqrt(variance + EPSILON)


def feed_forward(xp, rows):
    """Return max(0, x W_1) W_2, every row by itself."""
    w_1, w_2 = (xp.asarray(matrix, dtype=xp.float64) for matrix in (W_1, W_2))
    hidden = rows @ w_1
    return xp.where(hidden > 0, hidden, xp.zeros_like(hidden)) @ w_2


def both_heads(name, attended):
    weights = attended.attention.weights
    return {f"{name}_1": weights[0, :, :], f"{name}_2": weights[1, :, :]}
