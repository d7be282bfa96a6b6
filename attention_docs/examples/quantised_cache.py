"""A cache of four keys and values in a few bits, with one scale for each channel or each token.

`levels` is the largest signed integer of `bits` bits. `scales` has one scale for each channel of K,
and `codes` the stored integers. `K_by_channel` and `K_by_token` are the keys restored with one
scale for each channel or for each token. `V_by_token` are the restored values.

`weights` and `outputs` have a row for each of three caches: exact, keys by channel, and keys by
token, the last two with `V_by_token`.

`score_error` and `score_error_by_token` are the largest errors of a scaled score in these two
caches, and `epsilon` and `epsilon_by_token` bound them. `output_error` is the error of both
features of the output with keys by channel, and `output_bound` bounds it.

>>> show(computed(steps))
levels [7]
scales [0.4286 0.7143 0.4286 3.1429]
codes [[2 -3 0 6] [7 1 -2 7] [-2 7 2 6] [5 0 7 7]]
K_by_channel 4 x 4
[[ 0.8571 -2.1429       0 18.8571]
 [      3  0.7143 -0.8571      22]
 [-0.8571       5  0.8571 18.8571]
 [ 2.1429       0       3      22]]
K_by_token [[0 -2.8571 0 20] [3 0 0 21] [0 5.1429 0 18] [3.1429 0 3.1429 22]]
V_by_token [[3 -0.8571] [0.7143 5] [6 1.7143] [-4 2.8571]]
weights [[0.0162 0.3261 0.1200 0.5377] [0.0123 0.2849 0.1209 0.5819] [0.0017 0.1386 0.0903 0.7695]]
outputs [[-1.0560 3.4673] [-1.3620 3.2838] [-2.4324 3.0448]]
epsilon 0.5000
score_error 0.2143
epsilon_by_token 3.1429
score_error_by_token 1.4286
output_error [0.3059 0.1836]
output_bound [6.0050 6.4422]
"""

import math

import numpy

from attention_docs.dot_product import attention_steps
from attention_docs.examples.split_sums import nearest

TITLE = "A cache in few bits"
SOURCE = "our own example"

BITS = [4]
Q = [[2, 1, 1, 0]]
K = [[1, -2, 0, 20], [3, 1, -1, 21], [-1, 5, 1, 18], [2, 0, 3, 22]]
V = [[3, -1], [1, 5], [6, 2], [-4, 3]]

TOKENS = ["birds", "pass", "boats", "because"]
CACHES = ["exact", "by channel", "by token"]
CHANNELS = [f"channel {i}" for i in range(1, 5)]
LABELS = {
    "K codes K_by_channel K_by_token": (TOKENS, CHANNELS),
    "V V_by_token": (TOKENS, []),
    "scales": (CHANNELS,),
    "weights": (CACHES, TOKENS),
    "outputs": (CACHES, []),
}


def scale_of(x, levels, axis, xp):
    """Return the scale of each column (axis 0) or row (axis 1): the difference of two levels."""
    return xp.max(xp.abs(x), axis=axis, keepdims=True) / levels


def steps(xp=numpy):
    """Attend with the exact cache and with two quantised ones, and bound the errors."""
    bits = xp.asarray(BITS, dtype=xp.float64)
    q, k, v = (xp.asarray(rows, dtype=xp.float64) for rows in (Q, K, V))
    levels = 2 ** (bits - 1) - 1
    root_d_k = math.sqrt(len(K[0]))

    def quantise(x, scale):
        """Round to integer multiples of a scale."""
        return nearest(x / scale, xp) * scale

    scale_by_channel = scale_of(k, levels, 0, xp)
    scale_by_token = scale_of(k, levels, 1, xp)
    value_scale = scale_of(v, levels, 1, xp)
    k_by_channel = quantise(k, scale_by_channel)
    k_by_token = quantise(k, scale_by_token)
    v_by_token = quantise(v, value_scale)
    exact = attention_steps(q, k, v)
    by_channel = attention_steps(q, k_by_channel, v_by_token)
    by_token = attention_steps(q, k_by_token, v_by_token)
    caches = [exact, by_channel, by_token]
    # Rounding moves each number by at most half of its scale.
    epsilon = xp.sum(xp.abs(q) * scale_by_channel) / (2 * root_d_k)
    epsilon_by_token = xp.sum(xp.abs(q)) * xp.max(scale_by_token) / (2 * root_d_k)
    # Scores that move by epsilon change each weight at most by the factor e^(2 epsilon).
    error_of_weights = (xp.exp(2 * epsilon) - 1) * (exact.weights @ xp.abs(v))[0, :]
    error_of_values = xp.max(value_scale) / 2
    return {
        "bits": bits,
        "levels": levels,
        "Q": q,
        "K": k,
        "V": v,
        "scales": scale_by_channel[0, :],
        "codes": nearest(k / scale_by_channel, xp),
        "K_by_channel": k_by_channel,
        "K_by_token": k_by_token,
        "V_by_token": v_by_token,
        "weights": xp.concat([cache.weights for cache in caches]),
        "outputs": xp.concat([cache.output for cache in caches]),
        "epsilon": epsilon,
        "score_error": xp.max(xp.abs(by_channel.scaled - exact.scaled)),
        "epsilon_by_token": epsilon_by_token,
        "score_error_by_token": xp.max(xp.abs(by_token.scaled - exact.scaled)),
        "output_error": xp.abs(by_channel.output - exact.output)[0, :],
        "output_bound": error_of_weights + error_of_values,
    }
