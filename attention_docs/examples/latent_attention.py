"""Latent attention (MLA): two heads, computed from keys and values, and from the latents alone.

All sizes differ: 5 tokens of 4 features, latents of 3, keys of 6 projected from them, rotary keys
of 2, values of 7. The query is that of the last token. Steps of head 2 end in `_2`. Both heads read
the same latents and rotary keys. The inputs are small whole numbers, so all products up to the
`content_scores` can be computed by hand. `default_scale` takes the scale from the width of the
absorbed query. The last two steps also rotate the query and the keys that are
projected from latents: `turned_scores` are right, and `turned_absorbed` shows that no single
absorbed query gives them.

>>> show(steps())
X 5 x 4
[[ 0  1  1 1]
 [ 0  0  1 1]
 [ 1  1  2 1]
 [ 1 -1 -1 0]
 [-1  0  1 0]]
W_down 4 x 3
[[1  1 0]
 [1  1 1]
 [0 -1 0]
 [0 -1 0]]
latents 5 x 3
[[ 1 -1  1]
 [ 0 -2  0]
 [ 2 -1  1]
 [ 0  1 -1]
 [-1 -2  0]]
W_R 4 x 2
[[ 0 1]
 [ 0 1]
 [-1 0]
 [ 0 1]]
keys_rotary 5 x 2
[[     -1       2]
 [-1.3818 -0.3012]
 [-1.8956 -3.0670]
 [-0.9900  0.1411]
 [-0.1032  1.4104]]
W_Q 4 x 6
[[ 0 1 -1  1 0 -1]
 [-1 0  0  0 2  0]
 [-1 0  0 -1 1  0]
 [ 0 1  0  0 0  2]]
W_up_K 3 x 6
[[1 -1 0  1 1  0]
 [1 -1 0 -1 0  0]
 [0 -1 1  0 1 -1]]
W_up_V 3 x 7
[[-1  1  0 0  1 0 1]
 [ 0  1 -1 1  0 0 1]
 [ 0 -1  0 2 -1 1 0]]
W_Q_rotary 4 x 2
[[ 1  0]
 [-1 -1]
 [ 0 -1]
 [ 1  0]]
query 1 x 6
[[-1 -1 1 -2 1 1]]
query_rotary 1 x 2
[[-0.1032 1.4104]]
keys 5 x 6
[[ 0 -1  1  2  2 -1]
 [-2  2  0  2  0  0]
 [ 1 -2  1  3  3 -1]
 [ 1  0 -1 -1 -1  1]
 [-3  3  0  1 -1  0]]
values 5 x 7
[[-1 -1  1  1  0  1  0]
 [ 0 -2  2 -2  0  0 -2]
 [-2  0  1  1  1  1  1]
 [ 0  2 -1 -1  1 -1  1]
 [ 1 -3  2 -2 -1  0 -3]]
content_scores 1 x 5
[[-1 -4 -2 0 -3]]
scaled 1 x 5
[[0.6803 -1.5140 -2.1674 0.1065 -0.3536]]
weights 1 x 5
[[0.4788 0.0534 0.0278 0.2698 0.1703]]
output 1 x 7
[[-0.3641 -0.5569 0.6841 -0.2105 0.1272 0.2368 -0.3201]]
query_absorbed 1 x 3
[[-1 2 2]]
scaled_absorbed 1 x 5
[[0.6803 -1.5140 -2.1674 0.1065 -0.3536]]
blended_latents 1 x 3
[[0.3641 -0.6841 0.2368]]
output_absorbed 1 x 7
[[-0.3641 -0.5569 0.6841 -0.2105 0.1272 0.2368 -0.3201]]
W_Q_2 4 x 6
[[1  0 0 -1 0 0]
 [2  0 1  2 1 0]
 [0 -1 0  0 2 0]
 [0  0 1 -1 0 1]]
W_up_K_2 3 x 6
[[ 1 1 0 -1 1 0]
 [ 0 0 1  1 0 1]
 [-1 0 1  1 0 1]]
W_up_V_2 3 x 7
[[1 -1 -1  0 1 1  0]
 [0  0  0 -1 1 1 -1]
 [0 -1  2  0 0 1 -1]]
W_Q_rotary_2 4 x 2
[[-1 0]
 [ 1 0]
 [ 1 1]
 [ 0 1]]
query_2 1 x 6
[[-1 -1 0 1 2 0]]
query_rotary_2 1 x 2
[[-0.5505 -2.1672]]
keys_2 5 x 6
[[ 0  1  0 -1  1  0]
 [ 0  0 -2 -2  0 -2]
 [ 1  2  0 -2  2  0]
 [ 1  0  0  0  0  0]
 [-1 -1 -2 -1 -1 -2]]
values_2 5 x 7
[[ 1 -2  1  1  0  1 0]
 [ 0  0  0  2 -2 -2 2]
 [ 2 -3  0  1  1  2 0]
 [ 0  1 -2 -1  1  0 0]
 [-1  1  1  2 -3 -3 2]]
content_scores_2 1 x 5
[[0 -2 -1 -1 -1]]
scaled_2 1 x 5
[[-1.3379 -0.2074 2.3655 -0.2690 -1.4142]]
weights_2 1 x 5
[[0.0206 0.0638 0.8364 0.0600 0.0191]]
output_2 1 x 7
[[1.6744 -2.4714 -0.0803 0.9629 0.7115 1.5085 0.1659]]
query_absorbed_2 1 x 3
[[-1 1 2]]
scaled_absorbed_2 1 x 5
[[-1.3379 -0.2074 2.3655 -0.2690 -1.4142]]
blended_latents_2 1 x 3
[[1.6744 -0.9629 0.7970]]
output_absorbed_2 1 x 7
[[1.6744 -2.4714 -0.0803 0.9629 0.7115 1.5085 0.1659]]
default_scale 1 x 7
[[-0.4252 -0.5250 0.6556 -0.0663 0.1306 0.2946 -0.2303]]
turned_scores 1 x 5
[[4.9533 -1.6679 5.9436 2.3944 -3]]
turned_absorbed 1 x 5
[[4.9533 3.0279 7.4596 -2.4469 0.5216]]
"""

from types import ModuleType

import numpy

from attention_docs.arrays import Array
from attention_docs.dot_product import attention_steps
from attention_docs.positions import rotary

TITLE = "Latent attention, plain and absorbed"
SOURCE = "our own example"

X = [[0, 1, 1, 1], [0, 0, 1, 1], [1, 1, 2, 1], [1, -1, -1, 0], [-1, 0, 1, 0]]
W_DOWN = [[1, 1, 0], [1, 1, 1], [0, -1, 0], [0, -1, 0]]
W_UP_K = [[1, -1, 0, 1, 1, 0], [1, -1, 0, -1, 0, 0], [0, -1, 1, 0, 1, -1]]
W_UP_V = [[-1, 1, 0, 0, 1, 0, 1], [0, 1, -1, 1, 0, 0, 1], [0, -1, 0, 2, -1, 1, 0]]
W_Q = [[0, 1, -1, 1, 0, -1], [-1, 0, 0, 0, 2, 0], [-1, 0, 0, -1, 1, 0], [0, 1, 0, 0, 0, 2]]
W_Q_ROTARY = [[1, 0], [-1, -1], [0, -1], [1, 0]]
W_K_ROTARY = [[0, 1], [0, 1], [-1, 0], [0, 1]]
W_UP_K_2 = [[1, 1, 0, -1, 1, 0], [0, 0, 1, 1, 0, 1], [-1, 0, 1, 1, 0, 1]]
W_UP_V_2 = [[1, -1, -1, 0, 1, 1, 0], [0, 0, 0, -1, 1, 1, -1], [0, -1, 2, 0, 0, 1, -1]]
W_Q_2 = [[1, 0, 0, -1, 0, 0], [2, 0, 1, 2, 1, 0], [0, -1, 0, 0, 2, 0], [0, 0, 1, -1, 0, 1]]
W_Q_ROTARY_2 = [[-1, 0], [1, 0], [1, 1], [0, 1]]
BASE = 100

WORDS = ["birds", "pass", "boats", "because", "they"]
LABELS = {
    "X": (WORDS, []),
    "latents": (WORDS, []),
    "keys_rotary": (WORDS, []),
    "keys": (WORDS, []),
    "values": (WORDS, []),
    "content_scores": (["they"], WORDS),
    "content_scores_2": (["they"], WORDS),
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
        "W_Q": w_q,
        "W_up_K": up_k,
        "W_up_V": up_v,
        "W_Q_rotary": w_q_rotary,
        "query": query,
        "query_rotary": query_rotary,
        "keys": keys,
        "values": values,
        "content_scores": query @ keys.T,
        "scaled": over_keys.scaled,
        "weights": over_keys.weights,
        "output": over_keys.output,
        "query_absorbed": absorbed,
        "scaled_absorbed": over_latents.scaled,
        "blended_latents": over_latents.output,
        "output_absorbed": over_latents.output @ up_v,
    }
