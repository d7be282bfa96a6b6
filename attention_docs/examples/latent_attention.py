"""Latent attention (MLA): two heads, computed from keys and values, and from the latents alone.

All sizes differ: 5 tokens of 4 features, latents of 3, keys of 6 projected from them, rotary keys
of 2, values of 7. The query belongs to the last token. Steps of head 2 end in `_2`. Both heads read
the same latents and rotary keys. The inputs are small whole numbers, so all products up to the
`content_scores` can be computed by hand. The latents have one feature less than the tokens, so
action and link share one, with opposite signs.

The steps named `absorbed` are computed from the latents alone. `default_scale` shows a mistake: the
output if the scale comes from the width of the absorbed query.

The last four steps also rotate the query and the keys that head 1 projects from the latents.
`turned_key` is the rotated key of the second word. `turned_scores` are the right scores, and
`turned_absorbed` shows that they cannot be computed from the latents with one absorbed query.

>>> show(computed(steps))
latents [[2 -1 0] [0 0 2] [-1 2 0] [0 0 -2] [1 1 -1]]
keys_unrotated [[2 -1] [-2 0] [-1 2] [0 2] [1 2]]
keys_rotary [[2 -1] [-1.0806 -1.6829] [-1.4024 -1.7416] [-0.2822 -1.9800] [0.8600 -2.0641]]
query [[1 1 1 2 0 -1]]
query_unrotated [[1 1]]
query_rotary [[0.1032 -1.4104]]
keys [[1 -1 0 3 2 0] [0 -2 2 0 2 -2] [1 -1 0 -3 -1 0] [0 2 -2 0 -2 2] [2 -1 -1 0 0 1]]
values [[-2 1 1 -1 2 0 1] [0 -2 0 4 -2 2 0] [1 1 -2 2 -1 0 1] [0 2 0 -4 2 -2 0] [-1 3 -1 -1 2 -1 2]]
content_scores [[6 2 -6 -2 -1]]
scaled [[2.6929 1.5069 -1.3040 0.2700 0.7071]]
weights [[0.6453 0.1971 0.0119 0.0572 0.0886]]
output [[-1.3673 0.6431 0.5330 -0.1506 1.1761 0.1912 0.8343]]
query_absorbed [[2 -2 1]]
scaled_absorbed [[2.6929 1.5069 -1.3040 0.2700 0.7071]]
blended_latents [[1.3673 -0.5330 0.1912]]
query_2 [[2 -1 1 1 -1 0]]
query_unrotated_2 [[0 -1]]
query_rotary_2 [[-0.7568 0.6536]]
keys_2 [[2 2 -1 -3 2 -1] [-2 0 2 2 0 2] [-1 -1 2 3 -1 2] [2 0 -2 -2 0 -2] [2 1 0 -1 1 0]]
values_2 5 x 7
[[ 2 -2 -2  1 1  1  1]
 [ 0 -2  4  0 0  2 -2]
 [-1  1  1 -2 1  1 -2]
 [ 0  2 -4  0 0 -2  2]
 [ 1  0 -3 -1 2  1  0]]
content_scores_2 [[-4 0 5 0 1]]
scaled_2 [[-2.1805 -0.0998 1.7405 -0.3821 -0.3536]]
weights_2 [[0.0139 0.1117 0.7035 0.0842 0.0867]]
output_2 [[-0.5889 0.6207 0.5255 -1.4797 0.8907 0.8590 -1.4480]]
query_absorbed_2 [[-1 2 0]]
scaled_absorbed_2 [[-2.1805 -0.0998 1.7405 -0.3821 -0.3536]]
blended_latents_2 [[-0.5889 1.4797 -0.0317]]
default_scale [[-1.5287 0.6608 0.6676 -0.2672 1.3284 0.2002 0.8610]]
turned_query [[0.8600 0.6511 1.1674 -2.0641 0.7590 -0.7982]]
turned_key [[0 -2.3813 2.0906 0 1.5262 -1.9050]]
turned_scores [[-4.4654 3.5692 -3.7920 -2.4695]]
turned_absorbed [[-4.4654 4.1471 5.6421 -4.1471]]
"""

import numpy

from attention_docs.dot_product import attention_steps
from attention_docs.positions import rotary

TITLE = "Latent attention, plain and absorbed"
SOURCE = "our own example"

X = [[2, -1, 0, 0], [0, 0, 2, 0], [-1, 2, 0, 0], [0, 0, 0, 2], [1, 1, 0, 1]]
W_DOWN = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, -1]]
W_UP_K = [[1, -1, 0, 1, 1, 0], [1, -1, 0, -1, 0, 0], [0, -1, 1, 0, 1, -1]]
W_UP_V = [[-1, 1, 0, 0, 1, 0, 1], [0, 1, -1, 1, 0, 0, 1], [0, -1, 0, 2, -1, 1, 0]]
W_Q = [[0, 1, -1, 1, 0, -1], [-1, 0, 1, 0, 0, 0], [-1, 0, 0, -1, 1, 0], [2, 0, 1, 1, 0, 0]]
W_Q_ROTARY = [[1, 0], [-1, -1], [0, -1], [1, 2]]
W_K_ROTARY = [[1, 0], [0, 1], [-1, 0], [0, 1]]
W_UP_K_2 = [[1, 1, 0, -1, 1, 0], [0, 0, 1, 1, 0, 1], [-1, 0, 1, 1, 0, 1]]
W_UP_V_2 = [[1, -1, -1, 0, 1, 1, 0], [0, 0, 0, -1, 1, 1, -1], [0, -1, 2, 0, 0, 1, -1]]
W_Q_2 = [[1, 0, 0, -1, 0, 0], [1, 0, 1, 2, 0, 0], [0, -1, 0, 0, 2, 0], [0, -1, 0, 0, -1, 0]]
W_Q_ROTARY_2 = [[-1, 0], [1, 0], [1, 1], [0, -1]]
BASE = 100
LAST = 4.0  # the position of the last token

WORDS = ["birds", "pass", "boats", "because", "they"]
FEATURES, LATENT_FEATURES = ["air", "water", "action", "link"], ["air", "water", "action"]
LABELS = {
    "X": (WORDS, FEATURES),
    "W_down": (FEATURES, LATENT_FEATURES),
    "latents": (WORDS, LATENT_FEATURES),
    "W_R W_Q W_Q_rotary W_Q_2 W_Q_rotary_2": (FEATURES, []),
    "W_up_K W_up_V W_up_K_2 W_up_V_2": (LATENT_FEATURES, []),
    "keys values keys_2 values_2 keys_unrotated keys_rotary": (WORDS, []),
    "content_scores content_scores_2 scaled scaled_2 weights weights_2": (["they"], WORDS),
    "scaled_absorbed scaled_absorbed_2": (["they"], WORDS),
    "turned_scores turned_absorbed": (["they"], WORDS[:-1]),
    "query_absorbed query_absorbed_2 blended_latents": (["they"], LATENT_FEATURES),
    "blended_latents_2": (["they"], LATENT_FEATURES),
}


def steps(xp=numpy):
    """Attend with both heads, over keys and values and over the latents alone."""
    x, w_down = xp.asarray(X, dtype=xp.float64), xp.asarray(W_DOWN, dtype=xp.float64)
    w_k_rotary = xp.asarray(W_K_ROTARY, dtype=xp.float64)
    positions, last_position = xp.arange(len(X), dtype=xp.float64), xp.asarray([LAST])
    latents, keys_unrotated = x @ w_down, x @ w_k_rotary
    keys_rotary = rotary(keys_unrotated, positions, BASE)
    cache = xp.concat([latents, keys_rotary], axis=1)  # (5, 3 + 2)
    head_1 = head_steps(xp, x[-1:, :], cache, (W_UP_K, W_UP_V, W_Q, W_Q_ROTARY))
    head_2 = head_steps(xp, x[-1:, :], cache, (W_UP_K_2, W_UP_V_2, W_Q_2, W_Q_ROTARY_2))
    absorbed_query = xp.concat([head_1["query_absorbed"], head_1["query_rotary"]], axis=1)
    default_scale = attention_steps(absorbed_query, cache, latents).output @ head_1["W_up_V"]
    turned_query = rotary(head_1["query"], last_position, BASE)
    turned_keys = rotary(head_1["keys"][:-1, :], positions[:-1], BASE)
    return {
        "X": x,
        "W_down": w_down,
        "latents": latents,
        "W_R": w_k_rotary,
        "keys_unrotated": keys_unrotated,
        "keys_rotary": keys_rotary,
        **head_1,
        **{f"{name}_2": step for name, step in head_2.items()},
        "default_scale": default_scale,
        "turned_query": turned_query,
        "turned_key": turned_keys[1:2, :],
        "turned_scores": turned_query @ turned_keys.T,
        "turned_absorbed": (turned_query @ head_1["W_up_K"].T) @ latents[:-1, :].T,
    }


def head_steps(xp, last_token, cache, matrices):
    """Let the last token attend with one head, over keys and values and over the latents alone."""
    w_up_k, w_up_v, w_q, w_q_rotary = (xp.asarray(rows, dtype=xp.float64) for rows in matrices)
    latent_features = w_up_k.shape[0]
    latents, keys_rotary = cache[:, :latent_features], cache[:, latent_features:]
    query, query_unrotated = last_token @ w_q, last_token @ w_q_rotary  # (1, 6), (1, 2)
    query_rotary = rotary(query_unrotated, xp.asarray([LAST]), BASE)

    keys, values = latents @ w_up_k, latents @ w_up_v  # (5, 6), (5, 7)
    query_with_rotary = xp.concat([query, query_rotary], axis=1)  # (1, 8)
    keys_with_rotary = xp.concat([keys, keys_rotary], axis=1)  # (5, 8)
    over_keys = attention_steps(query_with_rotary, keys_with_rotary, values)

    # W_up_K and W_up_V move from the keys and values to the query and the output.
    query_absorbed = query @ w_up_k.T  # (1, 3)
    absorbed_with_rotary = xp.concat([query_absorbed, query_rotary], axis=1)  # (1, 5)
    # The scores are the same, so the scale comes from the query that is not absorbed.
    scale = query_with_rotary.shape[1] ** -0.5
    over_latents = attention_steps(absorbed_with_rotary, cache, latents, scale=scale)
    return {
        "W_Q": w_q,
        "W_up_K": w_up_k,
        "W_up_V": w_up_v,
        "W_Q_rotary": w_q_rotary,
        "query": query,
        "query_unrotated": query_unrotated,
        "query_rotary": query_rotary,
        "keys": keys,
        "values": values,
        "content_scores": query @ keys.T,
        "scaled": over_keys.scaled,
        "weights": over_keys.weights,
        "output": over_keys.output,
        "query_absorbed": query_absorbed,
        "scaled_absorbed": over_latents.scaled,
        "blended_latents": over_latents.output,
    }
