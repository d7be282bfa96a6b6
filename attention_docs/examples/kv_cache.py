"""Generating with a cache of keys and values: a prompt of two tokens, then three one by one.

All sizes differ: 5 tokens of 6 features, keys of 4, values of 3, a prompt of 2. Queries and keys
are rotated by their positions. A mistake changes the last output: in `from_position_0` every new
token is rotated as if at position 0.

>>> show(computed(steps))
Q 5 x 4
[[      2  0.5000  1.5000 -0.5000]
 [ 1.1116  2.5873 -0.1196 -0.7454]
 [-0.8323 -1.8674  1.8186  1.6621]
 [-1.2017  1.5808 -1.3439 -0.0344]
 [-0.1032 -1.2394  1.4104  1.6474]]
K 5 x 4
[[      1       3       2 -0.5000]
 [ 1.9221 -0.3977  1.1426 -1.0449]
 [-0.0385  2.5429 -1.1174  2.5561]
 [-1.3428  0.4433 -2.3339 -1.4330]
 [-1.4620 -0.2472  0.6021  3.1526]]
V [[-1 1 4] [0 4 0] [2 -2 2] [-1 3 3] [1 -3 1]]
weights 5 x 5
[[     1      0      0      0      0]
 [0.9741 0.0259      0      0      0]
 [0.1333 0.6322 0.2344      0      0]
 [0.0471 0.0033 0.4724 0.4772      0]
 [0.0143 0.0390 0.0275 0.0017 0.9174]]
output 5 x 3
[[     -1       1      4]
 [-0.9741  1.0776 3.8965]
 [ 0.3355  2.1933 1.0023]
 [ 0.4204  0.5473 2.5648]
 [ 0.9565 -2.6319 1.0348]]
first_weights [[0.1333 0.6322 0.2344]]
first_output [[0.3355 2.1933 1.0023]]
last_output [[0.9565 -2.6319 1.0348]]
prefill [160]
recomputed [261 376 505]
cached [87 94 101]
from_position_0 [[1.1376 -2.8175 1.1532]]
"""

import numpy

from attention_docs.dot_product import attention_steps
from attention_docs.positions import rotary

TITLE = "A cache of keys and values"
SOURCE = "our own example"

X = [
    [1, 0, 2, -1, 0, 1],
    [0, 2, -1, 0, 1, 0],
    [2, -1, 0, 1, 0, 1],
    [-1, 1, 2, 0, 1, 0],
    [0, 1, 0, 2, -1, 1],
]
W_Q = [
    [1, 0, 0.5, 0],
    [0, 1, 0, -0.5],
    [0.5, 0, 1, 0],
    [0, -0.5, 0, 1],
    [1, 0.5, 0, 0],
    [0, 0, -1, 0.5],
]
W_K = [
    [0, 1, 0, 0.5],
    [1, 0, -0.5, 0],
    [0, 0.5, 1, 0],
    [-0.5, 0, 0, 1],
    [0, 0, 1, -1],
    [0.5, 1, 0, 0],
]
W_V = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, -1, 0], [0, 2, 1], [-1, 0, 2]]
BASE, PROMPT = 100, 2

WORDS = ["birds", "pass", "boats", "because", "they"]
LABELS = {
    "X Q K V output": (WORDS, []),
    "weights": (WORDS, WORDS),
    "first_weights": (["boats"], WORDS[:3]),
    "first_output": (["boats"], []),
    "last_output": (["they"], []),
}


def steps(xp=numpy):
    """Attend to all tokens at once, and from each new token to a cache.

    Steps that start with `first` and `last` belong to the first and the last new token, and
    `from_position_0` is the output of the last one after a mistake.
    """
    x = xp.asarray(X, dtype=xp.float64)
    w_q, w_k, w_v = (xp.asarray(matrix, dtype=xp.float64) for matrix in (W_Q, W_K, W_V))
    n = x.shape[0]
    positions = xp.arange(n, dtype=xp.float64)
    q, k, v = rotary(x @ w_q, positions, BASE), rotary(x @ w_k, positions, BASE), x @ w_v
    at_once = attention_steps(q, k, v, is_causal=True)

    cached_keys, cached_values = k[:PROMPT, :], v[:PROMPT, :]
    decoded = []
    for t in range(PROMPT, n):
        token, position = x[t : t + 1, :], positions[t]
        cached_keys = xp.concat([cached_keys, rotary(token @ w_k, position, BASE)])
        cached_values = xp.concat([cached_values, token @ w_v])
        query = rotary(token @ w_q, position, BASE)
        decoded.append(attention_steps(query, cached_keys, cached_values))

    # A rotation at position 0 changes nothing, so new keys and the query are not rotated at all.
    keys_at_0 = xp.concat([k[:PROMPT, :], x[PROMPT:, :] @ w_k])
    at_position_0 = attention_steps(x[-1:, :] @ w_q, keys_at_0, v)
    return {
        "X": x,
        "W_Q": w_q,
        "W_K": w_k,
        "W_V": w_v,
        "Q": q,
        "K": k,
        "V": v,
        "weights": at_once.weights,
        "output": at_once.output,
        "first_weights": decoded[0].weights,
        "first_output": decoded[0].output,
        "last_output": decoded[-1].output,
        **multiplications(xp, n, x.shape[1], w_k.shape[1], w_v.shape[1]),
        "from_position_0": at_position_0.output,
    }


def multiplications(xp, n, d_model, d_k, d_v):
    """Count the multiplications for the prompt, `prefill`, and for each new token up to the n-th.

    `recomputed` projects all tokens again for each new token, and `cached` only that token.
    """
    per_token = d_model * (2 * d_k + d_v)  # the projections to query, key and value
    per_pair = d_k + d_v  # Q K^T and A V, for one query and one key
    lengths = xp.arange(PROMPT + 1, n + 1)
    return {
        "prefill": xp.asarray([PROMPT * per_token + PROMPT**2 * per_pair]),
        "recomputed": lengths * per_token + lengths**2 * per_pair,
        "cached": per_token + lengths * per_pair,
    }
