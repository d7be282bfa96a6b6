"""Latent attention (MLA): two heads, computed from keys and values, and from the latents alone.

All sizes differ: 5 tokens of 4 features, latents of 3, keys of 6 projected from them, rotary keys
of 2, values of 7. The query is that of the last token. Steps of head 2 end in `_2`. Both heads read
the same latents and rotary keys. `default_scale` takes the scale from the
width of the absorbed query. The last two steps also rotate the query and the keys that are
projected from latents: `turned_scores` are right, and `turned_absorbed` shows that no single
absorbed query gives them.

>>> show(steps())
X 5 x 4
[[ 1  0  2 -1]
 [ 0  2 -1  1]
 [ 2 -1  0  1]
 [-1  1  2  0]
 [ 1  2  0 -2]]
W_down 4 x 3
[[     1      0 0.5000]
 [     0      1      0]
 [0.5000     -1      0]
 [     0 0.5000      1]]
latents 5 x 3
[[      2 -2.5000 -0.5000]
 [-0.5000  3.5000       1]
 [      2 -0.5000       2]
 [      0      -1 -0.5000]
 [      1       1 -1.5000]]
W_R 4 x 2
[[     0      1]
 [     1      0]
 [    -1 0.5000]
 [0.5000      1]]
keys_rotary 5 x 2
[[-2.5000       1]
 [ 1.4703  3.2153]
 [-2.5198 -1.7031]
 [ 0.9900 -0.1411]
 [-1.4104 -0.1032]]
W_up_K 3 x 6
[[      1 0      0 0.5000       0 -1]
 [      0 1 0.5000      0 -0.5000  0]
 [-0.5000 0      1      0       1  0]]
W_up_V 3 x 7
[[1 0  2  0     -1 0 0.5000]
 [0 1  0 -1 0.5000 2      0]
 [2 0 -1  1      0 0      1]]
query 1 x 6
[[0.5000 3 1 1 -4 -1]]
query_rotary 1 x 2
[[-3.0272 2.6146]]
keys 5 x 6
[[2.2500 -2.5000 -1.7500       1  0.7500     -2]
 [    -1  3.5000  2.7500 -0.2500 -0.7500 0.5000]
 [     1 -0.5000  1.7500       1  2.2500     -2]
 [0.2500      -1      -1       0       0      0]
 [1.7500       1      -1  0.5000      -2     -1]]
values 5 x 7
[[     1 -2.5000 4.5000       2 -3.2500 -5  0.5000]
 [1.5000  3.5000     -2 -2.5000  2.2500  7  0.7500]
 [     6 -0.5000      2  2.5000 -2.2500 -1       3]
 [    -1      -1 0.5000  0.5000 -0.5000 -2 -0.5000]
 [    -2       1 3.5000 -2.5000 -0.5000  2      -1]]
scaled 1 x 5
[[0.7275 6.7018 -0.7336 -2.5600 5.7894]]
weights 1 x 5
[[0.0018 0.7119 0.0004 0.0001 0.2859]]
output 1 x 7
[[0.5003 2.7725 -0.4142 -2.4896 1.4519 5.5451 0.2502]]
query_absorbed 1 x 3
[[2 5.5000 -3.2500]]
scaled_absorbed 1 x 5
[[0.7275 6.7018 -0.7336 -2.5600 5.7894]]
blended_latents 1 x 3
[[-0.0656 2.7725 0.2830]]
output_absorbed 1 x 7
[[0.5003 2.7725 -0.4142 -2.4896 1.4519 5.5451 0.2502]]
W_up_K_2 3 x 6
[[0      1 0       0 1      0]
 [1      0 0 -0.5000 0 0.5000]
 [0 0.5000 1       0 0     -1]]
W_up_V_2 3 x 7
[[0 2      0 1 0      0 -1]
 [1 0 0.5000 0 0     -1  0]
 [0 0      1 0 2 0.5000  0]]
query_2 1 x 6
[[2 0 1 -1 -2 0]]
query_rotary_2 1 x 2
[[-1.3073 -1.5136]]
keys_2 5 x 6
[[-2.5000  1.7500 -0.5000  1.2500       2 -0.7500]
 [ 3.5000       0       1 -1.7500 -0.5000  0.7500]
 [-0.5000       3       2  0.2500       2 -2.2500]
 [     -1 -0.2500 -0.5000  0.5000       0       0]
 [      1  0.2500 -1.5000 -0.5000       1       2]]
values_2 5 x 7
[[-2.5000  4 -1.7500       2 -1  2.2500     -2]
 [ 3.5000 -1  2.7500 -0.5000  2      -3 0.5000]
 [-0.5000  4  1.7500       2  4  1.5000     -2]
 [     -1  0      -1       0 -1  0.7500      0]
 [      1  2      -1       1 -3 -1.7500     -1]]
scaled_2 1 x 5
[[-3.1803 1.4005 0.9270 -1.4427 0.3536]]
weights_2 1 x 5
[[0.0050 0.4896 0.3050 0.0285 0.1719]]
output_2 1 x 7
[[1.6921 1.0940 1.6710 0.5470 1.6500 -1.2796 -0.5470]]
query_absorbed_2 1 x 3
[[-2 2.5000 1]]
scaled_absorbed_2 1 x 5
[[-3.1803 1.4005 0.9270 -1.4427 0.3536]]
blended_latents_2 1 x 3
[[0.5470 1.6921 0.8250]]
output_absorbed_2 1 x 7
[[1.6921 1.0940 1.6710 0.5470 1.6500 -1.2796 -0.5470]]
default_scale 1 x 7
[[0.6614 2.8983 -0.6792 -2.4979 1.5885 5.7965 0.3307]]
turned_scores 1 x 5
[[-13.2298 21.3989 -4.9245 -4.9739 12.3750]]
turned_absorbed 1 x 5
[[-13.2298 20.3473 -0.1939 -6.0492 5.5113]]
"""

from types import ModuleType

import numpy

from attention_docs.arrays import Array
from attention_docs.dot_product import attention_steps
from attention_docs.positions import rotary

TITLE = "Latent attention, plain and absorbed"
SOURCE = "our own example"

X = [[1, 0, 2, -1], [0, 2, -1, 1], [2, -1, 0, 1], [-1, 1, 2, 0], [1, 2, 0, -2]]
W_DOWN = [[1, 0, 0.5], [0, 1, 0], [0.5, -1, 0], [0, 0.5, 1]]
W_UP_K = [[1, 0, 0, 0.5, 0, -1], [0, 1, 0.5, 0, -0.5, 0], [-0.5, 0, 1, 0, 1, 0]]
W_UP_V = [[1, 0, 2, 0, -1, 0, 0.5], [0, 1, 0, -1, 0.5, 2, 0], [2, 0, -1, 1, 0, 0, 1]]
W_Q = [[0.5, 0, 1, 0, 0, -1], [0, 1, 0, 0.5, -1, 0], [1, 0, 0, 1, 0, 0.5], [0, -0.5, 0, 0, 1, 0]]
W_Q_ROTARY = [[1, 0], [0.5, -1], [0, 1], [1, 1]]
W_K_ROTARY = [[0, 1], [1, 0], [-1, 0.5], [0.5, 1]]
W_UP_K_2 = [[0, 1, 0, 0, 1, 0], [1, 0, 0, -0.5, 0, 0.5], [0, 0.5, 1, 0, 0, -1]]
W_UP_V_2 = [[0, 2, 0, 1, 0, 0, -1], [1, 0, 0.5, 0, 0, -1, 0], [0, 0, 1, 0, 2, 0.5, 0]]
W_Q_2 = [[0, 1, 0, -1, 0, 0], [1, 0, 0.5, 0, 0, 0], [0, 0, 1, 0, -0.5, 1], [0, 0.5, 0, 0, 1, 0]]
W_Q_ROTARY_2 = [[0, 1], [1, 0], [-1, 0], [0, 0.5]]
BASE = 100

WORDS = ["birds", "pass", "boats", "because", "they"]
LABELS = {
    "X": (WORDS, []),
    "latents": (WORDS, []),
    "keys_rotary": (WORDS, []),
    "keys": (WORDS, []),
    "values": (WORDS, []),
    "scaled": (["they"], WORDS),
    "scaled_2": (["they"], WORDS),
    "weights": (["they"], WORDS),
    "weights_2": (["they"], WORDS),
    "scaled_absorbed": (["they"], WORDS),
    "scaled_absorbed_2": (["they"], WORDS),
    "turned_scores": (["they"], WORDS),
    "turned_absorbed": (["they"], WORDS),
}


def steps(xp: ModuleType = numpy) -> dict[str, Array]:
    x, down, w_k_rotary = (xp.asarray(rows, dtype=xp.float64) for rows in (X, W_DOWN, W_K_ROTARY))
    positions, last_position = xp.arange(5, dtype=xp.float64), xp.asarray([4.0])
    latents, keys_rotary = x @ down, rotary(x @ w_k_rotary, positions, BASE)
    cache = xp.concat([latents, keys_rotary], axis=1)
    first = head(xp, x[-1:, :], cache, (W_UP_K, W_UP_V, W_Q, W_Q_ROTARY))
    second = head(xp, x[-1:, :], cache, (W_UP_K_2, W_UP_V_2, W_Q_2, W_Q_ROTARY_2))
    full_absorbed = xp.concat([first["query_absorbed"], first["query_rotary"]], axis=1)
    default_scale = attention_steps(full_absorbed, cache, latents).output @ first["W_up_V"]
    rotated_query = rotary(first["query"], last_position, BASE)
    return {
        "X": x,
        "W_down": down,
        "latents": latents,
        "W_R": w_k_rotary,
        "keys_rotary": keys_rotary,
        **first,
        **{f"{name}_2": step for name, step in second.items()},
        "default_scale": default_scale,
        "turned_scores": rotated_query @ rotary(first["keys"], positions, BASE).T,
        "turned_absorbed": (rotated_query @ first["W_up_K"].T) @ latents.T,
    }


def head(
    xp: ModuleType, token: Array, cache: Array, literals: tuple[object, ...]
) -> dict[str, Array]:
    """Return the steps of a head for the last token: from keys and values, then from the cache."""
    up_k, up_v, w_q, w_q_rotary = (xp.asarray(rows, dtype=xp.float64) for rows in literals)
    latents, keys_rotary = cache[:, : up_k.shape[0]], cache[:, up_k.shape[0] :]
    query = token @ w_q
    query_rotary = rotary(token @ w_q_rotary, xp.asarray([4.0]), BASE)
    keys, values = latents @ up_k, latents @ up_v
    full_query = xp.concat([query, query_rotary], axis=1)
    full_keys = xp.concat([keys, keys_rotary], axis=1)
    over_keys = attention_steps(full_query, full_keys, values)
    absorbed = query @ up_k.T
    full_absorbed = xp.concat([absorbed, query_rotary], axis=1)
    scale = full_query.shape[1] ** -0.5
    over_latents = attention_steps(full_absorbed, cache, latents, scale=scale)
    return {
        "W_up_K": up_k,
        "W_up_V": up_v,
        "query": query,
        "query_rotary": query_rotary,
        "keys": keys,
        "values": values,
        "scaled": over_keys.scaled,
        "weights": over_keys.weights,
        "output": over_keys.output,
        "query_absorbed": absorbed,
        "scaled_absorbed": over_latents.scaled,
        "blended_latents": over_latents.output,
        "output_absorbed": over_latents.output @ up_v,
    }
