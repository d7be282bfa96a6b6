"""Today's models, by complex numbers, loops and counting."""

import cmath
import math

import numpy as np

from tests import reference
from tests.examples.comparison import independent


def earlier(i, j):
    return j <= i


def rotated(row, position, base, interleaved=False):
    """Rotate the pairs of a row, each as a complex number."""
    half = len(row) // 2
    pairs = [(2 * i, 2 * i + 1) if interleaved else (i, i + half) for i in range(half)]
    computed = list(row)
    for i, (a, b) in enumerate(pairs):
        z = complex(row[a], row[b]) * cmath.exp(1j * position * base ** (-i / half))
        computed[a], computed[b] = z.real, z.imag
    return computed


@independent("rotary", "complex numbers, by the distance of query and key")
def rotary(literals):
    q, k, base = literals["Q"], literals["K"], literals["BASE"]
    frequencies = [base ** (-i / 3) for i in range(3)]

    def scores(pairs):
        return [
            [
                sum(
                    (
                        complex(q[a], q[b])
                        * complex(k[a], k[b]).conjugate()
                        * cmath.exp(1j * (m - n) * rate)
                    ).real
                    for (a, b), rate in zip(pairs, frequencies, strict=True)
                )
                for n in range(5)
            ]
            for m in range(4)
        ]

    halves = [0, 2, 4, 1, 3, 5]
    rows = [rotated(q, m, base, interleaved=True) for m in range(4)]
    ntk = [
        1,
        1 / 2,
        1 / 4,
    ]  # the fastest pair is unchanged, the slowest slowed by the factor
    return {
        "q": q,
        "k": k,
        "frequencies": frequencies,
        "wavelengths": [math.tau / rate for rate in frequencies],
        "angles": np.outer(range(5), frequencies),
        "Q_rotated": rows,
        "K_rotated": [rotated(k, n, base, interleaved=True) for n in range(5)],
        "scores": scores([(0, 1), (2, 3), (4, 5)]),
        "distance_alone": True,
        "order": halves,
        "Q_reordered": np.array(rows)[:, halves],
        "reordered_is_the_same": True,
        "scores_of_halves": scores([(0, 3), (1, 4), (2, 5)]),
        "ntk_base": 64 * 4**1.5,
        "last_angles": [15 * rate for rate in frequencies],
        "longer_angles": [60 * rate for rate in frequencies],
        "interpolated_angles": [15 * rate for rate in frequencies],
        "ntk_angles": [60 * rate * slower for rate, slower in zip(frequencies, ntk, strict=True)],
    }


@independent("position_biases", "slow loops over pairs, buckets by logarithms", fixed=["DISTANCES"])
def position_biases(literals):
    q, k, v = (literals[letter] for letter in "QKV")
    ratio = 2 ** (-8 / 4)  # the slopes are a geometric sequence that starts at this ratio
    causal = reference.every_step(q, k, v, earlier)

    def weights(score):
        return [
            reference.softmax_row([score(z, i, j) for j, z in enumerate(row)])
            for i, row in enumerate(causal["masked"])
        ]

    def bucket(distance):
        if distance < 4:
            return distance
        return min(4 + math.floor(math.log(distance / 4) / math.log(32 / 4) * 4), 7)

    def capped(z):
        return 2 * math.tanh(z / 2)

    def with_sink(row):
        powers = [math.exp(z) for z in row]
        return [power / (math.exp(3) + math.fsum(powers)) for power in powers]

    alibi = weights(lambda z, i, j: z - ratio * (i - j))
    sink = [with_sink(row) for row in causal["masked"]]
    return {
        "slopes": [ratio**head for head in (1, 2, 3, 4)],
        "bias": [[-ratio * (i - j) if j <= i else -math.inf for j in range(5)] for i in range(5)],
        **{name: causal[name] for name in ("masked", "weights", "output")},
        "weights_alibi": alibi,
        "output_alibi": reference.matmul(alibi, v),
        "distances": literals["DISTANCES"],
        "buckets": [bucket(distance) for distance in literals["DISTANCES"]],
        "weights_sink": sink,
        "sum_sink": [math.fsum(row) for row in sink],
        "output_sink": reference.matmul(sink, v),
        "capped": [[capped(z) for z in row] for row in causal["scaled"]],
        "weights_capped": weights(lambda z, i, j: capped(z) if j <= i else -math.inf),
        "weights_capped_late": weights(lambda z, i, j: capped(z)),
    }


@independent("position_biases", "a walk through the layers, at most two positions back in each")
def reach(literals):
    reached, computed = [{i} for i in range(10)], {"reach": []}
    for layers in (1, 2, 3):
        reached = [{i - back for i in seen for back in (0, 1, 2) if i >= back} for seen in reached]
        computed[f"reach_{layers}"] = [[j in seen for j in range(10)] for seen in reached]
        computed["reach"].append(len(reached[-1]))
    return computed


@independent(
    "kv_cache", "one pass of a slow loop, with queries and keys rotated as complex numbers"
)
def kv_cache(literals):
    q, k, v = (reference.matmul(literals["X"], literals[f"W_{letter}"]) for letter in "QKV")
    unrotated = reference.attention(
        q[-1:], [*(rotated(row, i, 100) for i, row in enumerate(k[:2])), *k[2:]], v
    )
    q, k = ([rotated(row, i, 100) for i, row in enumerate(rows)] for rows in (q, k))
    steps = reference.every_step(q, k, v, earlier)
    output = steps["output"]
    return {
        "Q": q,
        "K": k,
        "V": v,
        "weights": steps["weights"],
        "output": output,
        "prompt_output": output[:2],
        "first_weights": [steps["weights"][2][:3]],
        "first_output": output[2:3],
        "last_weights": steps["weights"][4:],
        "last_output": output[4:],
        "decoded": output[2:],
        "same_digits": True,
        "from_position_0": unrotated[1],
        "on_another_axis": v[-1:],  # each query sees only its own key
    }


@independent("kv_cache", "counting the iterations of loops")
def multiplications(literals):
    def loops(projected, pairs):
        inner = [1 for _ in range(projected) for _ in range(6) for _ in range(4 + 4 + 3)]
        return len(inner) + sum(4 + 3 for _ in range(pairs))

    lengths = (3, 4, 5)
    visible = [loops(n, n * (n + 1) // 2) for n in lengths]
    cached = [loops(1, n) for n in lengths]
    return {
        "recomputed": [loops(n, n * n) for n in lengths],
        "cached": cached,
        "saved_of_visible": [
            all_rows / new_row for all_rows, new_row in zip(visible, cached, strict=True)
        ],
    }


@independent(
    "cache_sizes",
    "the bytes of the arrays of a token",
    fixed=["LAYERS", "NUMBERS"],
)
def cache_sizes(literals):
    arrays = [
        (32, [(32, 128), (32, 128)]),
        (32, [(8, 128), (8, 128)]),
        (32, [(1, 64), (1, 64)]),
        (27, [(512,), (64,)]),
        (27, [(16, 192), (16, 128)]),
    ]
    sizes = [
        layers * sum(np.zeros(shape, "float16").nbytes for shape in shapes)
        for layers, shapes in arrays
    ]
    return {
        "layers": [layers for layers, _ in arrays],
        "numbers": [sum(np.zeros(shape).size for shape in shapes) for _, shapes in arrays],
        "bytes": sizes,
        "mebibytes": [4096 * size / 1024**2 for size in sizes],
        "heads_over_latent": 16 * (128 + 64 + 128) / (512 + 64),
        "heads_and_one_rotary_key_over_latent": (16 * (128 + 128) + 64) / (512 + 64),
    }


@independent("latent_attention", "slow loops over up-projected keys, rotated as complex numbers")
def latent_attention(literals):
    x = literals["X"]
    latents = reference.matmul(x, literals["W_DOWN"])
    keys, values = (reference.matmul(latents, literals[name]) for name in ("W_UP_K", "W_UP_V"))
    unrotated = reference.matmul(x, literals["W_K_ROTARY"])
    keys_rotary = [rotated(row, i, 100) for i, row in enumerate(unrotated)]
    query = reference.matmul(x[-1:], literals["W_Q"])
    query_rotary = [rotated(reference.matmul(x[-1:], literals["W_Q_ROTARY"])[0], 4, 100)]
    wide = [[*key, *rotary] for key, rotary in zip(keys, keys_rotary, strict=True)]
    steps = reference.every_step([[*query[0], *query_rotary[0]]], wide, values)
    absorbed = [[reference.dot(query[0], row) for row in literals["W_UP_K"]]]
    scores = [z * math.sqrt(8 / 5) for z in steps["scaled"][0]]
    rotated_query = rotated(query[0], 4, 100)
    return {
        "latents": latents,
        "keys_rotary": keys_rotary,
        "query": query,
        "query_rotary": query_rotary,
        "keys": keys,
        "values": values,
        "scaled": steps["scaled"],
        "weights": steps["weights"],
        "output": steps["output"],
        "query_absorbed": absorbed,
        "scaled_absorbed": steps["scaled"],
        "blended_latents": reference.matmul(steps["weights"], latents),
        "output_absorbed": steps["output"],
        "default_scale": reference.matmul([reference.softmax_row(scores)], values),
        "turned_scores": [
            [reference.dot(rotated_query, rotated(key, j, 100)) for j, key in enumerate(keys)]
        ],
        "turned_absorbed": [[reference.dot(rotated_query, key) for key in keys]],
    }


@independent("tiles", "slow loops over all keys up to each tile")
def tiles(literals):
    q, k, v = (literals[letter] for letter in "QKV")
    full = reference.every_step(q, k, v)
    z = full["scaled"][0]

    def state(first, last):
        """Return the maximum, the total and the weighted sum of some keys."""
        peak = max(z[first:last])
        powers = [math.exp(score - peak) for score in z[first:last]]
        return peak, math.fsum(powers), reference.matmul([powers], v[first:last])[0]

    alone, running = ([state(2 * i * start, 2 * i + 2) for i in range(4)] for start in (1, 0))
    maxima, sums, _ = zip(*(state(0, j + 1) for j in range(8)), strict=True)
    # Without rescaling, the sums of a tile stay relative to the running maximum at its merge.
    shares = [math.exp(tile[0] - so_far[0]) for tile, so_far in zip(alone, running, strict=True)]
    total = math.fsum(share * tile[1] for share, tile in zip(shares, alone, strict=True))
    not_rescaled = np.dot(shares, [tile[2] for tile in alone]) / total
    earlier = [max(z[:j], default=-math.inf) for j in range(8)]
    return {
        "z": z,
        "maxima": maxima,
        "rescale": [math.exp(old - new) for old, new in zip(earlier, maxima, strict=True)],
        "sums": sums,
        "plain_sum": sums[-1],
        "weights": full["weights"],
        "output": full["output"],
        **{
            f"tile_{name}": part
            for name, part in zip(
                ("maxima", "totals", "sums"), zip(*alone, strict=True), strict=True
            )
        },
        **{
            f"running_{name}": part
            for name, part in zip(
                ("maxima", "totals", "sums"), zip(*running, strict=True), strict=True
            )
        },
        "running_outputs": [np.divide(sums, total) for _, total, sums in running],
        "in_order": full["output"],
        "tree": full["output"],
        "ring": full["output"][2],
        "all_agree": True,
        "hidden_maximum": [-math.inf] * 4,
        "hidden_factor_naive": [math.nan] * 4,
        "hidden_changes_nothing": True,
        "hidden_output": [[0] * 5] * 4,
        "not_rescaled": not_rescaled,
    }


@independent("tiles", "counting the numbers that go through memory")
def traffic(literals):
    arrays, table = 4 * 4096 * 64, 4096 * 4096
    blocks = [(128 * 64, 2 * 4096 * 64, 128 * 64) for _ in range(0, 4096, 128)]  # Q, K and V, O
    return {
        "plain_traffic": arrays + sum(table for _ in ("S out", "S in", "A out", "A in")),
        "tiled_traffic": sum(map(sum, blocks)),
    }


@independent("induction_by_hand", "slow loops without a scale", atol=0)
def induction_by_hand(literals):
    def head(rows, layer):
        q, k = (reference.matmul(rows, literals[f"W_{letter}{layer}"]) for letter in "QK")
        v = reference.matmul(rows, literals["W_V1"])
        steps = reference.every_step(q, k, v, earlier, divisor=1)
        return {"Q": q, "K": k, **steps, "scores": steps["masked"]}

    first = head(literals["X"], 1)
    between = np.add(literals["X"], reference.matmul(first["output"], literals["W_O1"]))
    second, alone = head(between, 2), head(literals["X"], 2)
    return {
        **{
            f"{name}{i}": steps[name]
            for i, steps in ((1, first), (2, second))
            for name in ("Q", "K", "scores", "weights")
        },
        "between": between,
        "output": second["output"],
        "weights_without_first": alone["weights"],
        "output_without_first": alone["output"],
    }
