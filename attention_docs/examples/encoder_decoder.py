"""The forward pass of a tiny transformer: an encoder layer and a decoder layer, three attentions.

n = 3 source tokens, m = 2 target tokens so far, d_model = 4, two heads of two, a hidden layer of 6,
a vocabulary of 5. Every sublayer is LayerNorm(x + sublayer(x)), as in the paper; the norms have no
learned gain or shift, and nothing has a bias. The three attentions take their inputs from:

- encoder self-attention: Q, K and V from the source;
- decoder self-attention: Q, K and V from the target, with the causal mask;
- cross-attention: Q from the target, K and V from the encoder's output, `memory`.

`X` and `Y` are embeddings plus sinusoidal positions. The weights of the two heads of each attention
are `..._1` and `..._2`. Mean and variance, the hidden layer and its output are listed for the
encoder only. The last row of `probabilities` predicts the next token.

>>> show(steps())
source 3 x 4
[[ 1      0  0.5000 -1]
 [ 0      2 -0.5000  0]
 [-1 0.5000       1  1]]
X 3 x 4
[[      1      1  0.5000      0]
 [ 0.8415 2.5403 -0.4002 0.9950]
 [-0.0907 0.0839  1.1987 1.9801]]
encoder_W_Q 4 x 4
[[     1  0      0 1]
 [     0  1 0.5000 0]
 [0.5000  0      1 0]
 [     0 -1      0 1]]
encoder_W_K 4 x 4
[[1 0.5000 0      0]
 [0      1 0     -1]
 [0      0 1 0.5000]
 [1      0 0      1]]
encoder_W_V 4 x 4
[[0.5000 0       1 0]
 [     0 1       0 0]
 [     1 0 -0.5000 0]
 [     0 0       0 1]]
encoder_W_O 4 x 4
[[      1      0      0 0.5000]
 [      0 0.5000      1      0]
 [      0      1 0.5000      0]
 [-0.5000      0      0      1]]
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
encoder_sum 3 x 4
[[0.3375  1.4626 2.2982 1.9842]
 [0.0375  3.0026 1.5349 3.0427]
 [0.0463 -0.4895 1.0696 4.5052]]
encoder_mean 3
[1.5206 1.9044 1.2829]
encoder_variance 3
[0.5556 1.5309 3.7749]
encoder_normed 3 x 4
[[-1.5871 -0.0779  1.0431 0.6219]
 [-1.5089  0.8875 -0.2986 0.9200]
 [-0.6365 -0.9123 -0.1098 1.6585]]
W_1 4 x 6
[[      1      0 0.5000       0     -1  0]
 [      0      1      0 -0.5000      0  1]
 [-0.5000      0      1       0 0.5000  0]
 [      0 0.5000      0       1      0 -1]]
W_2 6 x 4
[[0.5000  0       0       1]
 [     0  1       0 -0.5000]
 [     0  0       1       0]
 [     1  0 -0.5000       0]
 [     0 -1  0.5000       0]
 [0.5000  0       0       1]]
encoder_hidden 3 x 6
[[0 0.2331 0.2495 0.6609 2.1087 0]
 [0 1.3475      0 0.4762 1.3596 0]
 [0      0      0 2.1146 0.5816 0]]
encoder_fed 3 x 4
[[0.6609 -1.8756  0.9734 -0.1165]
 [0.4762 -0.0121  0.4417 -0.6738]
 [2.1146 -0.5816 -0.7665       0]]
memory 3 x 4
[[-0.5590 -1.2452  1.4068 0.3974]
 [-1.5823  1.1859  0.1234 0.2730]
 [ 0.9220 -1.2079 -0.7654 1.0512]]
target 2 x 4
[[0.5000 -1       0 1]
 [     1  1 -0.5000 0]]
Y 2 x 4
[[0.5000      0       0      2]
 [1.8415 1.5403 -0.4002 0.9950]]
decoder_W_Q 4 x 4
[[0      1  0 0.5000]
 [1      0  0      0]
 [0 0.5000  1      0]
 [0      0 -1      1]]
decoder_W_K 4 x 4
[[ 1      0 0.5000 0]
 [ 0 0.5000      0 1]
 [-1      0      1 0]
 [ 0      1      0 0]]
decoder_W_V 4 x 4
[[     1 0      0 -0.5000]
 [0.5000 1      0       0]
 [     0 0 0.5000       1]
 [     0 0      1       0]]
decoder_W_O 4 x 4
[[0.5000       0      1      0]
 [     0       1      0 0.5000]
 [     1       0 0.5000      0]
 [     0 -0.5000      0      1]]
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
cross_W_Q 4 x 4
[[     1       0 1      0]
 [     0       1 0 0.5000]
 [0.5000       0 0      1]
 [     0 -0.5000 1      0]]
cross_W_K 4 x 4
[[     0       1      0 1]
 [     1       0 0.5000 0]
 [     0 -0.5000      1 0]
 [0.5000       0      0 1]]
cross_W_V 4 x 4
[[     1      0 0  0]
 [     0 0.5000 0  1]
 [     0      1 1  0]
 [0.5000      0 0 -1]]
cross_W_O 4 x 4
[[     1 0.5000 0       0]
 [     0      1 0 -0.5000]
 [0.5000      0 1       0]
 [     0      0 0       1]]
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
W_vocabulary 4 x 5
[[     1       0     -1 0.5000  0]
 [     0       1 0.5000     -1  0]
 [0.5000       0      1      0 -1]
 [     0 -0.5000      0      1  1]]
logits 2 x 5
[[1.2669 -1.4283 -0.5483 1.7021 -1.2156]
 [1.1511 -1.1792 -2.7707 2.0685  0.9926]]
probabilities 2 x 5
[[0.3498 0.0236 0.0569 0.5405 0.0292]
 [0.2236 0.0217 0.0044 0.5595 0.1908]]
next_token number
3
"""

from collections.abc import Sequence
from types import ModuleType

import numpy

from attention_docs.arrays import Array
from attention_docs.multi_head import MultiHeadAttention, MultiHeadSteps
from attention_docs.positions import sinusoidal_positions
from attention_docs.softmax import softmax

TITLE = "Encoder and decoder, one forward pass"
SOURCE = "002_d7461449c953e4ff.txt, “Encoder and Decoder”, an empty heading; Vaswani et al. 2017"

SOURCE_TOKENS = [[1, 0, 0.5, -1], [0, 2, -0.5, 0], [-1, 0.5, 1, 1]]
TARGET_TOKENS = [[0.5, -1, 0, 1], [1, 1, -0.5, 0]]
BASE = 100
EPSILON = 1e-5  # keeps the norm of a constant row finite

ENCODER = (
    [[1, 0, 0, 1], [0, 1, 0.5, 0], [0.5, 0, 1, 0], [0, -1, 0, 1]],
    [[1, 0.5, 0, 0], [0, 1, 0, -1], [0, 0, 1, 0.5], [1, 0, 0, 1]],
    [[0.5, 0, 1, 0], [0, 1, 0, 0], [1, 0, -0.5, 0], [0, 0, 0, 1]],
    [[1, 0, 0, 0.5], [0, 0.5, 1, 0], [0, 1, 0.5, 0], [-0.5, 0, 0, 1]],
)
DECODER = (
    [[0, 1, 0, 0.5], [1, 0, 0, 0], [0, 0.5, 1, 0], [0, 0, -1, 1]],
    [[1, 0, 0.5, 0], [0, 0.5, 0, 1], [-1, 0, 1, 0], [0, 1, 0, 0]],
    [[1, 0, 0, -0.5], [0.5, 1, 0, 0], [0, 0, 0.5, 1], [0, 0, 1, 0]],
    [[0.5, 0, 1, 0], [0, 1, 0, 0.5], [1, 0, 0.5, 0], [0, -0.5, 0, 1]],
)
CROSS = (
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
W_VOCABULARY = [[1, 0, -1, 0.5, 0], [0, 1, 0.5, -1, 0], [0.5, 0, 1, 0, -1], [0, -0.5, 0, 1, 1]]


def steps(xp: ModuleType = numpy) -> dict[str, Array]:
    source, target, w_1, w_2, w_vocabulary = (
        xp.asarray(matrix, dtype=xp.float64)
        for matrix in (SOURCE_TOKENS, TARGET_TOKENS, W_1, W_2, W_VOCABULARY)
    )
    encoder, decoder, cross = (attention(xp, weights) for weights in (ENCODER, DECODER, CROSS))
    x, y = with_positions(xp, source), with_positions(xp, target)

    encoded = encoder.steps(x, x, x)
    encoder_sum = x + encoded.output
    encoder_normed = layer_norm(xp, encoder_sum)
    encoder_hidden = relu(xp, encoder_normed @ w_1)
    memory = layer_norm(xp, encoder_normed + encoder_hidden @ w_2)

    decoded = decoder.steps(y, y, y, is_causal=True)
    decoder_normed = layer_norm(xp, y + decoded.output)
    crossed = cross.steps(decoder_normed, memory, memory)
    cross_normed = layer_norm(xp, decoder_normed + crossed.output)
    output = layer_norm(xp, cross_normed + relu(xp, cross_normed @ w_1) @ w_2)

    logits = output @ w_vocabulary
    return {
        "source": source,
        "X": x,
        **matrix_steps("encoder", encoder),
        **weight_steps("encoder", encoded),
        "encoder_attended": encoded.output,
        "encoder_sum": encoder_sum,
        "encoder_mean": mean(xp, encoder_sum)[:, 0],
        "encoder_variance": variance(xp, encoder_sum)[:, 0],
        "encoder_normed": encoder_normed,
        "W_1": w_1,
        "W_2": w_2,
        "encoder_hidden": encoder_hidden,
        "encoder_fed": encoder_hidden @ w_2,
        "memory": memory,
        "target": target,
        "Y": y,
        **matrix_steps("decoder", decoder),
        **weight_steps("decoder", decoded),
        "decoder_attended": decoded.output,
        "decoder_normed": decoder_normed,
        **matrix_steps("cross", cross),
        **weight_steps("cross", crossed),
        "cross_attended": crossed.output,
        "cross_normed": cross_normed,
        "output": output,
        "W_vocabulary": w_vocabulary,
        "logits": logits,
        "probabilities": softmax(logits),
        "next_token": xp.argmax(logits[-1, :]),
    }


def with_positions(xp: ModuleType, tokens: Array) -> Array:
    """Add sinusoidal positions to token embeddings, (n, d_model)."""
    length, d_model = tokens.shape
    return tokens + sinusoidal_positions(length, d_model, BASE, xp=xp)


def attention(xp: ModuleType, weights: Sequence[Array]) -> MultiHeadAttention:
    """Return a layer of two heads with the weights W_Q, W_K, W_V and W_O."""
    w_q, w_k, w_v, w_o = (xp.asarray(matrix, dtype=xp.float64) for matrix in weights)
    return MultiHeadAttention(w_q, w_k, w_v, w_o, num_heads=2)


def layer_norm(xp: ModuleType, rows: Array) -> Array:
    """Shift and scale every row to mean 0 and variance 1."""
    return (rows - mean(xp, rows)) / xp.sqrt(variance(xp, rows) + EPSILON)


def mean(xp: ModuleType, rows: Array) -> Array:
    """Return the mean of each row, (n, 1)."""
    return xp.mean(rows, axis=-1, keepdims=True)


def variance(xp: ModuleType, rows: Array) -> Array:
    """Return the variance of each row, (n, 1)."""
    return xp.mean((rows - mean(xp, rows)) ** 2, axis=-1, keepdims=True)


def relu(xp: ModuleType, rows: Array) -> Array:
    return xp.where(rows > 0, rows, xp.zeros_like(rows))


def matrix_steps(name: str, layer: MultiHeadAttention) -> dict[str, Array]:
    """Return the weight matrices of a layer as steps named after it."""
    return {f"{name}_W_{letter}": getattr(layer, f"W_{letter}") for letter in "QKVO"}


def weight_steps(name: str, attended: MultiHeadSteps) -> dict[str, Array]:
    """Return the attention weights of both heads as steps named after their layer."""
    weights = attended.attention.weights
    return {f"{name}_weights_1": weights[0, :, :], f"{name}_weights_2": weights[1, :, :]}
