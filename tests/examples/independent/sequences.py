"""Columns, additive scores, positions, permutation, convolution and cost."""

import cmath
import math
from itertools import product

import numpy as np

from tests import reference
from tests.examples.comparison import independent


@independent("column_vectors", "slow loops over rows, transposed at the end", atol=0)
def column_vectors(literals):
    tokens = list(zip(*literals["I"], strict=True))
    q, k, v = (
        [[reference.dot(row, t) for row in literals[f"W_{x}"]] for t in tokens] for x in "QKV"
    )
    unscaled = reference.every_step(q, k, v, divisor=1)
    scaled = reference.every_step(q, k, v)
    computed = {f"{x}_rows": rows for x, rows in zip("QKV", (q, k, v), strict=True)}
    computed |= {f"{name}_rows": unscaled[name] for name in ("scores", "weights", "output")}
    columns = {"Q": q, "K": k, "V": v, "A": unscaled["scores"]}
    columns |= {
        "weights": unscaled["weights"],
        "B": unscaled["output"],
        "A_scaled": scaled["scaled"],
    }
    columns |= {"weights_scaled": scaled["weights"], "B_scaled": scaled["output"]}
    firsts = {"q_1": q, "alpha_1": unscaled["scores"], "b_1": unscaled["output"]}
    firsts |= {"alpha_1_weights": unscaled["weights"], "alpha_1_scaled": scaled["scaled"]}
    firsts |= {"alpha_1_weights_scaled": scaled["weights"], "b_1_scaled": scaled["output"]}
    return {
        **computed,
        **{name: np.transpose(rows) for name, rows in columns.items()},
        **{name: rows[0] for name, rows in firsts.items()},
        "rows_are_the_transpose": True,
    }


@independent("additive_attention", "slow loops over pairs")
def additive_attention(literals):
    q, k, v = (literals[letter] for letter in "QKV")
    dots = reference.every_step(q, k, v)
    from_q, from_k = reference.matmul(q, literals["W_1"]), reference.matmul(k, literals["W_2"])
    hidden = [
        [[math.tanh(a + b) for a, b in zip(row, key, strict=True)] for key in from_k]
        for row in from_q
    ]
    scores = [[reference.dot(literals["w"], features) for features in row] for row in hidden]
    weights = [reference.softmax_row(row) for row in scores]
    return {
        **{f"dot_{name}": dots[name] for name in ("scores", "scaled", "weights", "output")},
        "projected_queries": from_q,
        "projected_keys": from_k,
        "hidden_1": hidden[0],
        "additive_scores": scores,
        "largest_possible_score": math.fsum(map(abs, literals["w"])),
        "additive_weights": weights,
        "additive_output": reference.matmul(weights, v),
    }


@independent("positional_encoding", "complex numbers on the unit circle")
def positional_encoding(literals):
    frequencies = [1, 1 / math.sqrt(literals["BASE"])]

    def row(position):
        turns = [cmath.exp(1j * position * rate) for rate in frequencies]
        return [part for turn in turns for part in (turn.imag, turn.real)]

    (c, s), (c_2, s_2) = ((math.cos(2 * rate), math.sin(2 * rate)) for rate in frequencies)
    return {
        "frequencies": frequencies,
        "E": [row(position) for position in range(6)],
        "R": [[c, s, 0, 0], [-s, c, 0, 0], [0, 0, c_2, s_2], [0, 0, -s_2, c_2]],
        "shifted": [row(position) for position in range(2, 6)],
        "shifted_is_later_rows": True,
        "products": [
            sum(math.cos(rate * distance) for rate in frequencies) for distance in range(6)
        ],
        "products_depend_on_distance_alone": True,
    }


@independent("permutation", "slow loops over tokens put in another order", fixed=["P"])
def permutation(literals):
    computed, order = {}, [2, 0, 1]
    x, e = literals["X"], literals["E"]
    swapped = [x[i] for i in order]
    placed, placed_permuted = (np.add(rows, e) for rows in (x, swapped))
    for ending, tokens in (
        ("", x),
        ("_permuted", swapped),
        ("_placed", placed),
        ("_placed_permuted", placed_permuted),
    ):
        q, k, v = (reference.matmul(tokens, literals[f"W_{letter}"]) for letter in "QKV")
        weights, computed[f"output{ending}"] = reference.attention(q, k, v)
        if "placed" not in ending:
            computed[f"weights{ending}"] = weights
    return {
        **computed,
        "X_permuted": swapped,
        "equivariant": True,
        "placed": placed,
        "placed_permuted": placed_permuted,
        "equivariant_placed": False,
    }


@independent(
    "convolution", "sliding the kernel in loops, and picking pixels", atol=0, fixed=["TAPS"]
)
def convolution(literals):
    image, kernel = literals["IMAGE"], literals["KERNEL"]
    interior, pixels = list(product(range(1, 4), range(1, 3))), list(product(range(5), range(4)))
    picked = [[image[r + down][c + right] for down, right in literals["TAPS"]] for r, c in interior]
    taps = [tap for row in kernel for tap in row]
    slid = [
        [
            math.fsum(kernel[i][j] * image[r + i][c + j] for i in range(3) for j in range(3))
            for c in range(2)
        ]
        for r in range(3)
    ]
    products = [[x / 7 * (tap / 3) for x, tap in zip(row, taps, strict=True)] for row in picked]
    forward, backward = [], []
    for row in products:
        total = 0.0
        for summand in row:
            total += summand
        forward.append(total)
        total = 0.0
        for summand in reversed(row):
            total += summand
        backward.append(total)
    return {
        "places": [[r, c, 1] for r, c in interior],
        "W_Q_1": [[2000, 0, 0], [0, 2000, 0], [-2000, -2000, -1000]],
        # The query (2000 p, -1000) of a place p has its largest score on the key (p, |p|^2) there.
        "Q_1": [[2000 * (r - 1), 2000 * (c - 1), -1000] for r, c in interior],
        "K": [[r, c, r * r + c * c] for r, c in pixels],
        "V": [[image[r][c]] for r, c in pixels],
        "weights_1": [[float((r - 1, c - 1) == pixel) for pixel in pixels] for r, c in interior],
        "head_1": [row[:1] for row in picked],
        "merged": picked,
        "W_O": [[tap] for tap in taps],
        "output": slid,
        "convolution": slid,
        "smallest_pixel": min(map(min, image)),
        "largest_pixel": max(map(max, image)),
        "sevenths_are_copied": True,
        "first_to_last": np.reshape(forward, (3, 2)),
        "order_matters": max(abs(a - b) for a, b in zip(forward, backward, strict=True)),
    }


@independent("cost", "counting the iterations of loops", fixed=["N"])
def cost(literals):
    d, taps, short = 64, 5, 16
    pairs, per_token = (
        sum(1 for _ in product(range(a), range(b))) for a, b in ((short, short), (d, d))
    )

    def layers_until(n, reach):
        reached = layers = 0
        while reached < n - 1:
            reached, layers = reached + reach, layers + 1
        return layers

    lengths = literals["N"]
    return {
        "d": d,
        "taps": taps,
        # Each of the two products of attention takes d multiplications per pair.
        "attention": [2 * pairs * (n // short) ** 2 * d for n in lengths],
        "projections": [4 * n * per_token for n in lengths],
        "convolution": [taps * n * per_token for n in lengths],
        "recurrence": [2 * n * per_token for n in lengths],
        "attention_over_recurrence": [n / d for n in lengths],
        "attention_path": [layers_until(n, n) for n in lengths],
        "convolution_path": [layers_until(n, taps // 2) for n in lengths],
        "recurrence_path": [layers_until(n, 1) for n in lengths],
    }
