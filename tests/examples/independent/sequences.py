"""Columns, additive scores, positions, permutation, convolution and cost."""

import cmath
import math
from itertools import product

import numpy as np

from tests import loops
from tests.examples.comparison import independent


@independent("column_vectors", "slow loops over rows, transposed at the end", atol=0)
def column_vectors(literals):
    tokens = np.transpose(literals["I"])
    q, k, v = (loops.matmul(tokens, np.transpose(literals[f"W_{letter}"])) for letter in "QKV")
    unscaled = {"Q": q, "K": k, "V": v, **loops.every_step(q, k, v, divisor=1)}
    scaled = loops.every_step(q, k, v)
    row_steps = ("Q", "K", "V", "scores", "weights", "output")
    columns = {
        **{name: unscaled[name] for name in ("Q", "K", "V", "weights")},
        "A": unscaled["scores"],
        "B": unscaled["output"],
        "A_scaled": scaled["scaled"],
        "weights_scaled": scaled["weights"],
        "B_scaled": scaled["output"],
    }
    return {
        **{f"{name}_rows": unscaled[name] for name in row_steps},
        **{name: np.transpose(step) for name, step in columns.items()},
        "q_1": q[0],
        "alpha_1": unscaled["scores"][0],
        "alpha_1_weights": unscaled["weights"][0],
        "b_1": unscaled["output"][0],
        "alpha_1_scaled": scaled["scaled"][0],
        "alpha_1_weights_scaled": scaled["weights"][0],
        "b_1_scaled": scaled["output"][0],
    }


@independent("additive_attention", "slow loops over pairs")
def additive_attention(literals):
    q, k, v = (literals[letter] for letter in "QKV")
    dots = loops.every_step(q, k, v)
    projected_q = loops.matmul(q, literals["W_1"])
    projected_k = loops.matmul(k, literals["W_2"])

    def hidden_units(query, key):
        return [math.tanh(a + b) for a, b in zip(query, key, strict=True)]

    hidden = [[hidden_units(query, key) for key in projected_k] for query in projected_q]
    scores = [[loops.dot(literals["w"], features) for features in row] for row in hidden]
    weights = [loops.softmax_row(row) for row in scores]
    return {
        **{f"dot_{name}": dots[name] for name in ("scores", "scaled", "weights", "output")},
        "projected_queries": projected_q,
        "projected_keys": projected_k,
        "hidden_1": hidden[0],
        "additive_scores": scores,
        "largest_possible_score": math.fsum(map(abs, literals["w"])),
        "additive_weights": weights,
        "additive_output": loops.matmul(weights, v),
    }


@independent("positional_encoding", "complex numbers on the unit circle")
def positional_encoding(literals):
    frequencies = [1, 1 / math.sqrt(literals["BASE"])]

    def row(position):
        fast, slow = (cmath.exp(1j * position * frequency) for frequency in frequencies)
        return [fast.imag, fast.real, slow.imag, slow.real]

    c, s = math.cos(2 * frequencies[0]), math.sin(2 * frequencies[0])
    c_2, s_2 = math.cos(2 * frequencies[1]), math.sin(2 * frequencies[1])
    return {
        "frequencies": frequencies,
        "E": [row(position) for position in range(6)],
        "R": [[c, s, 0, 0], [-s, c, 0, 0], [0, 0, c_2, s_2], [0, 0, -s_2, c_2]],
        "shifted": [row(position) for position in range(2, 6)],
        "shifted_scores": [
            [sum(math.cos(frequency * (t + 2 - u)) for frequency in frequencies) for u in range(6)]
            for t in range(6)
        ],
        "products": [
            sum(math.cos(frequency * distance) for frequency in frequencies)
            for distance in range(6)
        ],
    }


@independent("permutation", "slow loops over tokens put in another order", fixed=["P"])
def permutation(literals):
    x = literals["X"]
    clocks = [(math.sin, 1), (math.cos, 1), (math.sin, 0.1), (math.cos, 0.1)]
    e = [[function(frequency * t) for function, frequency in clocks] for t in range(3)]
    permuted = [x[2], x[0], x[1]]
    with_positions, with_positions_permuted = np.add(x, e), np.add(permuted, e)
    computed = {}
    for ending, tokens in (
        ("", x),
        ("_permuted", permuted),
        ("_with_positions", with_positions),
        ("_with_positions_permuted", with_positions_permuted),
    ):
        q, k, v = (loops.matmul(tokens, literals[f"W_{letter}"]) for letter in "QKV")
        weights, computed[f"output{ending}"] = loops.attention(q, k, v)
        if ending != "_with_positions_permuted":
            computed[f"weights{ending}"] = weights

    def parts(query, keys):
        """Return the scores of a row of inputs with other rows, before the division."""
        queries, projected = (
            loops.matmul(rows, literals[name]) for rows, name in (([query], "W_Q"), (keys, "W_K"))
        )
        return [loops.dot(queries[0], key) for key in projected]

    return {
        **computed,
        "E": e,
        "G": [[loops.dot(q, k) for k in literals["W_K"]] for q in literals["W_Q"]],
        "score_parts": [parts(query, keys) for query in (x[1], e[1]) for keys in (x, e)],
        "scores_of_boat": parts(with_positions[1], with_positions),
        "X_permuted": permuted,
        "with_positions": with_positions,
        "with_positions_permuted": with_positions_permuted,
    }


@independent(
    "convolution", "sliding the kernel in loops, and picking pixels", atol=0, fixed=["TAPS"]
)
def convolution(literals):
    image, kernel = literals["IMAGE"], literals["KERNEL"]
    interior, pixels = list(product(range(1, 4), range(1, 3))), list(product(range(5), range(4)))
    neighbours = [
        [image[r + down][c + right] for down, right in literals["TAPS"]] for r, c in interior
    ]
    weights = [weight for row in kernel for weight in row]
    convolved = [
        [
            math.fsum(kernel[i][j] * image[r + i][c + j] for i in range(3) for j in range(3))
            for c in range(2)
        ]
        for r in range(3)
    ]

    def add_in_order(numbers):
        total = 0.0  # in a loop, because Python's sum compensates rounding
        for number in numbers:
            total += number
        return total

    products = [
        [pixel / 7 * (weight / 3) for pixel, weight in zip(row, weights, strict=True)]
        for row in neighbours
    ]
    forward = [add_in_order(row) for row in products]
    backward = [add_in_order(reversed(row)) for row in products]
    return {
        "places": [[r, c, 1] for r, c in interior],
        "W_Q_1": [[2000, 0, 0], [0, 2000, 0], [-2000, -2000, -1000]],
        # The query (2000 p, -1000) of a place p has its largest score on the key (p, |p|^2) there.
        "Q_1": [[2000 * (r - 1), 2000 * (c - 1), -1000] for r, c in interior],
        "K": [[r, c, r * r + c * c] for r, c in pixels],
        "V": [[image[r][c]] for r, c in pixels],
        "weights_1": [[float((r - 1, c - 1) == pixel) for pixel in pixels] for r, c in interior],
        "head_1": [row[:1] for row in neighbours],
        "merged": neighbours,
        "W_O": [[weight] for weight in weights],
        "output": convolved,
        "convolution": convolved,
        "smallest_pixel": min(map(min, image)),
        "largest_pixel": max(map(max, image)),
        "sevenths_are_copied": True,
        "first_to_last": np.reshape(forward, (3, 2)),
        "order_matters": max(abs(a - b) for a, b in zip(forward, backward, strict=True)),
    }


@independent("cost", "counting the iterations of loops", fixed=["N"])
def cost(literals):
    d, taps, shortest = 64, 5, 16
    pairs = sum(1 for _ in product(range(shortest), range(shortest)))
    per_token = sum(1 for _ in product(range(d), range(d)))

    def path_length(n, reach):
        """Count the layers until the first of n tokens reaches the last, `reach` tokens in each."""
        position = layers = 0
        while position < n - 1:
            position += reach
            layers += 1
        return layers

    lengths = literals["N"]
    return {
        "d": d,
        "taps": taps,
        # Each of the two products of attention takes d multiplications per pair.
        "attention": [2 * pairs * (n // shortest) ** 2 * d for n in lengths],
        "projections": [4 * n * per_token for n in lengths],
        "convolution": [taps * n * per_token for n in lengths],
        "recurrence": [2 * n * per_token for n in lengths],
        "attention_over_recurrence": [n / d for n in lengths],
        "attention_path": [path_length(n, n) for n in lengths],
        "convolution_path": [path_length(n, taps // 2) for n in lengths],
        "recurrence_path": [path_length(n, 1) for n in lengths],
    }
