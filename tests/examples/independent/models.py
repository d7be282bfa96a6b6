"""Rotary positions, biases, caches, latents, induction and tiles, by complex numbers and loops."""

import cmath
import math
from itertools import product

import numpy as np

from tests import loops
from tests.examples.comparison import independent
from tests.examples.independent.one_head import is_causal
from tests.loops import rotate_pairs


@independent("rotary", "complex numbers, by the distance of query and key")
def rotary(literals):
    q, k, base = literals["Q"], literals["K"], literals["BASE"]
    frequencies = [base ** (-i / 3) for i in range(3)]

    def score(pairs, distance):
        total = 0
        for (a, b), frequency in zip(pairs, frequencies, strict=True):
            query, key = complex(q[a], q[b]), complex(k[a], k[b])
            total += query * key.conjugate() * cmath.exp(1j * distance * frequency)
        return total.real

    def scores(pairs):
        return [[score(pairs, m - n) for n in range(5)] for m in range(4)]

    halves = [0, 2, 4, 1, 3, 5]
    q_rotated = [rotate_pairs(q, m, base, interleaved=True) for m in range(4)]
    # NTK-aware scaling leaves the fastest pair as it is and divides the slowest by the factor 4.
    ntk_frequencies = np.multiply(frequencies, [1, 1 / 2, 1 / 4])
    return {
        "frequencies": frequencies,
        "wavelengths": np.divide(math.tau, frequencies),
        "Q_rotated": q_rotated,
        "K_rotated": [rotate_pairs(k, n, base, interleaved=True) for n in range(5)],
        "scores": scores([(0, 1), (2, 3), (4, 5)]),
        "order": halves,
        "scores_of_halves": scores([(0, 3), (1, 4), (2, 5)]),
        "ntk_base": 64 * 4**1.5,
        "last_angles": np.multiply(15, frequencies),
        "longer_angles": np.multiply(63, frequencies),
        "interpolated_angles": np.multiply(63 / 4, frequencies),
        "ntk_angles": 63 * ntk_frequencies,
    }


@independent("rotary_positions", "complex numbers")
def rotary_positions(literals):
    def pairs(row, position):
        """Return the rotated pairs, one in each row."""
        rotated = rotate_pairs(row, position, literals["BASE"], interleaved=True)
        return np.reshape(rotated, (3, 2))

    (query_position,), (key_position,) = literals["QUERY_POSITION"], literals["KEY_POSITION"]
    query_pairs = pairs(literals["Q"], query_position)
    key_pairs = pairs(literals["K"], key_position)
    products = list(map(loops.dot, query_pairs, key_pairs))
    return {
        "q_turned": query_pairs,
        "k_turned": key_pairs,
        "products": products,
        "score": sum(products),
    }


@independent("position_biases", "slow loops over pairs, buckets by logarithms", fixed=["DISTANCES"])
def position_biases(literals):
    causal = loops.every_step(*(literals[letter] for letter in "QKV"), is_causal)
    ratio = 2 ** (-8 / 4)  # the slopes are a geometric sequence that starts at this ratio
    alibi = [
        loops.softmax_row([z - ratio * (i - j) for j, z in enumerate(row)])
        for i, row in enumerate(causal["masked"])
    ]

    def bucket(distance):
        """Return the bucket of a distance: one for each up to 3, and then four wider ones."""
        if distance < 4:
            return distance
        return min(4 + math.floor(math.log(distance / 4) / math.log(32 / 4) * 4), 7)

    return {
        "slopes": [ratio**head for head in (1, 2, 3, 4)],
        "bias": [[-ratio * (i - j) if j <= i else -math.inf for j in range(5)] for i in range(5)],
        **{name: causal[name] for name in ("masked", "weights")},
        "weights_alibi": alibi,
        "buckets": [bucket(distance) for distance in literals["DISTANCES"]],
    }


@independent("position_biases", "slow loops over rows")
def sink_and_cap(literals):
    q, k, v = (literals[letter] for letter in "QKV")
    causal = loops.every_step(q, k, v, is_causal)

    def with_sink(row):
        """Return the weights of a row of scores if the sink has a score of 3."""
        exponentials = [math.exp(z) for z in row]
        total = math.exp(3) + math.fsum(exponentials)
        return [exponential / total for exponential in exponentials]

    def capped(rows):
        return [[2 * math.tanh(z / 2) for z in row] for row in rows]

    sink = [with_sink(row) for row in causal["masked"]]
    visible = [row[: i + 1] for i, row in enumerate(capped(causal["scaled"]))]
    return {
        "weights_sink": sink,
        "sum_sink": [math.fsum(row) for row in sink],
        "capped": capped(causal["scaled"]),
        "weights_capped": [loops.softmax_row(row) + [0] * (5 - len(row)) for row in visible],
        "weights_capped_late": [loops.softmax_row(row) for row in capped(causal["masked"])],
    }


@independent("position_biases", "a walk through the layers, at most two positions back in each")
def reach(literals):
    n, computed = 10, {"reach": []}
    visible = [{i} for i in range(n)]  # the positions that each position sees
    for layers in (1, 2, 3):
        for i in range(n):
            visible[i] |= {j - back for j in visible[i] for back in (1, 2) if j >= back}
        computed[f"reach_{layers}"] = [[j in visible[i] for j in range(n)] for i in range(n)]
        computed["reach"].append(len(visible[-1]))
    return computed


@independent(
    "kv_cache", "one pass of a slow loop, with queries and keys rotated as complex numbers"
)
def kv_cache(literals):
    unrotated_q, unrotated_k, v = (
        loops.matmul(literals["X"], literals[f"W_{letter}"]) for letter in "QKV"
    )
    q, k = (
        [rotate_pairs(row, i, base=100) for i, row in enumerate(rows)]
        for rows in (unrotated_q, unrotated_k)
    )
    # Only the two tokens of the prompt are rotated.
    _, output_at_0 = loops.attention(unrotated_q[-1:], k[:2] + unrotated_k[2:], v)
    steps = loops.every_step(q, k, v, is_causal)
    return {
        "Q": q,
        "K": k,
        "V": v,
        "weights": steps["weights"],
        "output": steps["output"],
        "first_weights": [steps["weights"][2][:3]],
        "first_output": steps["output"][2:3],
        "last_output": steps["output"][4:],
        "from_position_0": output_at_0,
    }


@independent("kv_cache", "counting the iterations of loops")
def multiplications(literals):
    d_model, d_k, d_v = 6, 4, 3

    def count(projected_tokens, pairs):
        """Count the multiplications of projections and of pairs of a query and a key."""
        projections = product(range(projected_tokens), range(d_model), range(d_k + d_k + d_v))
        return sum(1 for _ in projections) + sum(d_k + d_v for _ in range(pairs))

    lengths = (3, 4, 5)
    return {
        "prefill": [count(2, 2 * 2)],
        "recomputed": [count(n, n * n) for n in lengths],
        "cached": [count(1, n) for n in lengths],
    }


@independent("model_memory", "counting in loops", fixed=["HEADS", "KEY_HEADS"])
def model_memory(literals):
    layers, heads, key_heads, features, n, size = (
        literals[name][0]
        for name in ("LAYERS", "HEADS", "KEY_HEADS", "FEATURES", "LENGTH", "NUMBER_BYTES")
    )
    numbers_of_a_token = layers * (key_heads * features + key_heads * features)
    products = layers * heads * (features + features)  # of one query and one key
    return {
        "token_kibibytes": [numbers_of_a_token * size / 1024],
        "cache_gibibytes": [numbers_of_a_token * size / 1024**3 * n],
        "token": [products * n / 10**9],
    }


@independent("cache_sizes", "the bytes of the arrays of a token", fixed=["LAYERS", "NUMBERS"])
def cache_sizes(literals):
    layers = [32, 32, 32, 27, 27]
    # The arrays that one layer of each model keeps for a token: keys and values, or a latent and a
    # rotary key.
    shapes = [
        [(32, 128), (32, 128)],
        [(8, 128), (8, 128)],
        [(1, 64), (1, 64)],
        [(512,), (64,)],
        [(16, 192), (16, 128)],
    ]
    bytes_per_layer = [
        sum(np.zeros(shape, "float16").nbytes for shape in arrays) for arrays in shapes
    ]
    sizes = np.multiply(layers, bytes_per_layer)
    return {
        "layers": layers,
        "numbers": [sum(math.prod(shape) for shape in arrays) for arrays in shapes],
        "bytes": sizes,
    }


@independent("latent_attention", "slow loops over up-projected keys, rotated as complex numbers")
def latent_attention(literals):
    x = literals["X"]
    latents = loops.matmul(x, literals["W_DOWN"])
    unrotated = loops.matmul(x, literals["W_K_ROTARY"])
    keys_rotary = [rotate_pairs(row, i, base=100) for i, row in enumerate(unrotated)]
    first = latent_head(literals, latents, keys_rotary, suffix="")
    second = latent_head(literals, latents, keys_rotary, suffix="_2")
    # The right divisor is the root of 6 + 2 features, the default one that of 3 + 2.
    default_scaled = [z * math.sqrt(8 / 5) for z in first["scaled"][0]]
    turned_query, keys = rotate_pairs(first["query"][0], 4, base=100), first["keys"][:-1]
    turned_keys = [rotate_pairs(key, position, base=100) for position, key in enumerate(keys)]
    return {
        "latents": latents,
        "keys_unrotated": unrotated,
        "keys_rotary": keys_rotary,
        **first,
        **{f"{name}_2": step for name, step in second.items()},
        "default_scale": loops.matmul([loops.softmax_row(default_scaled)], first["values"]),
        "turned_query": [turned_query],
        "turned_key": turned_keys[1:2],
        "turned_scores": [[loops.dot(turned_query, key) for key in turned_keys]],
        "turned_absorbed": [[loops.dot(turned_query, key) for key in keys]],
    }


def latent_head(literals, latents, keys_rotary, suffix):
    """Return the steps of a head; absorbing its matrices must not change scores and output."""
    token, up_k = literals["X"][-1:], literals[f"W_UP_K{suffix}"]
    keys = loops.matmul(latents, up_k)
    values = loops.matmul(latents, literals[f"W_UP_V{suffix}"])
    query = loops.matmul(token, literals[f"W_Q{suffix}"])
    unrotated_query = loops.matmul(token, literals[f"W_Q_ROTARY{suffix}"])
    query_rotary = [rotate_pairs(unrotated_query[0], 4, base=100)]
    steps = loops.every_step(
        np.hstack([query, query_rotary]), np.hstack([keys, keys_rotary]), values
    )
    return {
        "query": query,
        "query_unrotated": unrotated_query,
        "query_rotary": query_rotary,
        "keys": keys,
        "values": values,
        "content_scores": [[loops.dot(query[0], key) for key in keys]],
        "scaled": steps["scaled"],
        "weights": steps["weights"],
        "output": steps["output"],
        "query_absorbed": [[loops.dot(query[0], row) for row in up_k]],
        "scaled_absorbed": steps["scaled"],
        "blended_latents": loops.matmul(steps["weights"], latents),
    }


@independent("tiles", "slow loops over all keys up to each tile")
def tiles(literals):
    q, k, v = (literals[letter] for letter in "QKV")
    full = loops.every_step(q, k, v)
    z = full["scaled"][0]

    def state(first, last):
        """Return the maximum, the total and the weighted sum of a range of keys."""
        maximum = max(z[first:last])
        exponentials = [math.exp(score - maximum) for score in z[first:last]]
        weighted_sum = loops.matmul([exponentials], v[first:last])[0]
        return maximum, math.fsum(exponentials), weighted_sum

    ends = (2, 4, 6, 8)
    tile_maxima, tile_totals, tile_sums = zip(*(state(end - 2, end) for end in ends), strict=True)
    running_maxima, running_totals, running_sums = zip(
        *(state(0, end) for end in ends), strict=True
    )
    maxima, sums, _ = zip(*(state(0, j + 1) for j in range(8)), strict=True)

    def rescaling_factors(maxima):
        previous_maxima = [-math.inf, *maxima[:-1]]
        return [math.exp(old - new) for old, new in zip(previous_maxima, maxima, strict=True)]

    # Without rescaling, the sums of a tile stay relative to the running maximum at its merge.
    factors = np.exp(np.subtract(tile_maxima, running_maxima))
    not_rescaled = np.dot(factors, tile_sums) / np.dot(factors, tile_totals)
    return {
        "z": z,
        "maxima": maxima,
        "rescale": rescaling_factors(maxima),
        "sums": sums,
        "plain_sum": sums[-1],
        "weights": full["weights"],
        "output": full["output"],
        "tile_maxima": tile_maxima,
        "tile_totals": tile_totals,
        "tile_sums": tile_sums,
        "running_maxima": running_maxima,
        "running_rescale": rescaling_factors(running_maxima),
        "running_totals": running_totals,
        "running_sums": running_sums,
        "running_outputs": np.array(running_sums) / np.array(running_totals)[:, None],
        "in_order": full["output"],
        "tree": full["output"],
        "ring": full["output"][2],
        "all_agree": True,
        "hidden_factor_naive": [math.nan] * 4,
        "not_rescaled": not_rescaled,
    }


@independent("induction_by_hand", "slow loops without a scale", atol=0)
def induction_by_hand(literals):
    def head(rows, layer):
        q, k = (loops.matmul(rows, literals[f"W_{letter}{layer}"]) for letter in "QK")
        v = loops.matmul(rows, literals["W_V1"])
        steps = loops.every_step(q, k, v, is_causal, divisor=1)
        return {"Q": q, "K": k, **steps, "scores": steps["masked"]}

    first = head(literals["X"], 1)
    between = np.add(literals["X"], loops.matmul(first["output"], literals["W_O1"]))
    second, without_first = head(between, 2), head(literals["X"], 2)
    names = ("Q", "K", "scores", "weights")
    return {
        **{f"{name}1": first[name] for name in names},
        **{f"{name}2": second[name] for name in names},
        "between": between,
        "output": second["output"],
        "output_without_first": without_first["output"],
    }


@independent("real_head", "slow loops over the features")
def real_head(literals):
    steps = loops.every_step(literals["Q"], literals["K"], literals["K"])
    return {name: steps[name] for name in ("scores", "weights")}
