"""Gradients by finite differences of slow loops."""

import math
import statistics

import numpy as np

from tests import reference
from tests.examples.comparison import independent

EPSILON = 1e-5


def matmul(*matrices):
    product, *rest = matrices
    for matrix in rest:
        product = reference.matmul(product, matrix)
    return np.array(product)


def gradient(loss, arrays, name):
    """Return the central differences of a loss with respect to one of its arrays."""
    array = np.array(arrays[name], dtype=float)
    differences = np.zeros(array.shape)
    for index in np.ndindex(array.shape):
        if math.isfinite(array[index]):
            for change in (EPSILON, -EPSILON):
                moved = array.copy()
                moved[index] += change
                differences[index] += loss({**arrays, name: moved}) / (2 * change)
    return differences


def loss_of_output(output, target):
    pairs = zip(np.ravel(output), np.ravel(target), strict=True)
    return math.fsum((o - t) ** 2 for o, t in pairs) / 2


def forward(literals):
    computed = {name: np.array(literals[name], dtype=float) for name in ("X_q", "X_kv", "T")}
    for letter, rows in zip("QKV", ("X_q", "X_kv", "X_kv"), strict=True):
        computed[f"W_{letter}"] = np.array(literals[f"W_{letter}"], dtype=float)
        computed[letter] = matmul(computed[rows], computed[f"W_{letter}"])
    steps = reference.every_step(*(computed[letter] for letter in "QKV"))
    return computed | {name: np.array(step) for name, step in steps.items()}


def loss_of_attention(arrays):
    return loss_from_queries({**arrays, **forward(arrays)})


def loss_from_queries(arrays):
    scores = matmul(arrays["Q"], np.transpose(arrays["K"]))
    return loss_from_scores({**arrays, "scores": scores})


def loss_from_scores(arrays):
    return loss_from_scaled({**arrays, "scaled": arrays["scores"] / math.sqrt(2)})


def loss_from_scaled(arrays):
    weights = [reference.softmax_row(row) for row in arrays["scaled"]]
    return loss_from_weights({**arrays, "weights": weights})


def loss_from_weights(arrays):
    return loss_of_output(matmul(arrays["weights"], arrays["V"]), arrays["T"])


@independent("backward", "differences of slow loops", rtol=1e-7, atol=1e-8)
def gradients(literals):
    arrays = forward(literals)
    computed = {
        f"d{name}": gradient(loss_of_attention, arrays, name)
        for name in ("X_q", "X_kv", "W_Q", "W_K", "W_V")
    }
    for step, loss, name in (
        ("dV", loss_from_weights, "V"),
        ("dA", loss_from_weights, "weights"),
        ("dZ", loss_from_scaled, "scaled"),
        ("dS", loss_from_scores, "scores"),
        ("dQ", loss_from_queries, "Q"),
        ("dK", loss_from_queries, "K"),
    ):
        computed[step] = gradient(loss, arrays, name)
    squares = [x**2 for name in ("dW_Q", "dW_K", "dW_V") for x in computed[name].flat]
    after = {}
    for step, rate in (("loss_after", 1 / 500), ("loss_after_large", 1 / 100)):
        updated = {
            name: arrays[name] - rate * computed[f"d{name}"] for name in ("W_Q", "W_K", "W_V")
        }
        after[step] = loss_of_attention({**arrays, **updated})
    return {**computed, **after, "expected": -math.fsum(squares) / 500}


@independent("backward", "Jacobians of the softmax, row by row", fixed=["FACTORS"])
def saturated_queries(literals):
    factors, arrays = literals["FACTORS"], forward(literals)
    largest, by_query = [], []
    for factor in factors:
        rows = [reference.softmax_slopes(factor * row) for row in arrays["scaled"]]
        d_weights = matmul(arrays["output"] - arrays["T"], arrays["V"].T)
        d_scaled = [matmul([d], slopes)[0] for d, slopes in zip(d_weights, rows, strict=True)]
        by_query.append(np.abs(matmul(d_scaled, arrays["K"]) * factor / math.sqrt(2)).max(axis=1))
        largest.append([max(reference.softmax_row(factor * row)) for row in arrays["scaled"]])
    return {"largest_weights": largest, "largest_dQ": by_query}


@independent("backward", "slow loops, and the slopes of tanh by cosh")
def sums_and_cap(literals):
    arrays = forward(literals)
    d_output = arrays["output"] - arrays["T"]
    d_weights = matmul(d_output, arrays["V"].T)
    row_sums = [reference.dot(*rows) for rows in zip(d_weights, arrays["weights"], strict=True)]
    return {
        "loss": loss_of_output(arrays["output"], arrays["T"]),
        "dO": d_output,
        "row_sums": row_sums,
        "row_sums_by_output": row_sums,
        "capped": [[4 * math.tanh(z / 4) for z in row] for row in arrays["scaled"]],
        "cap_slopes": [[math.cosh(z / 4) ** -2 for z in row] for row in arrays["scaled"]],
    }


def head_of_layer(arrays, columns):
    """Return the weights and output of the head whose queries are some of W_Q's columns."""
    query = matmul(arrays["X"], arrays["W_Q"][:, columns])
    return head_from_parts(arrays, query, *(matmul(arrays["X"], arrays[w]) for w in ("W_K", "W_V")))


def head_from_parts(arrays, query, key, value):
    scaled = matmul(query, np.transpose(key)) / math.sqrt(3) + arrays["B"]
    weights = [reference.softmax_row(row) for row in scaled]
    return weights, matmul(weights, value)


def layer(arrays):
    """Return the steps of the layer; each of its two heads has a block of columns of W_Q."""
    heads = [head_of_layer(arrays, columns) for columns in (slice(0, 3), slice(3, 6))]
    merged = np.hstack([output for _, output in heads])
    summed = arrays["X"] + matmul(merged, arrays["W_O"])
    return {
        "weights_1": heads[0][0],
        "weights_2": heads[1][0],
        "merged": merged,
        "summed": summed,
        **normed(summed),
    }


def normed(summed):
    means = [statistics.fmean(row) for row in summed]
    spread = [math.sqrt(statistics.pvariance(row) + 1e-5) for row in summed]
    return {"spread": spread, "normed": (summed - np.c_[means]) / np.c_[spread]}


def loss_from_normed(arrays):
    output = arrays["normed"] * arrays["gain"] + arrays["shift"]
    return math.fsum(np.ravel(output * arrays["dY"]))


def loss_from_summed(arrays):
    return loss_from_normed({**arrays, **normed(arrays["summed"])})


def loss_from_merged(arrays):
    return loss_from_summed(
        {**arrays, "summed": arrays["X"] + matmul(arrays["merged"], arrays["W_O"])}
    )


def loss_of_layer(arrays):
    return loss_from_merged({**arrays, **layer(arrays)})


def loss_through_attention(arrays):
    """Return the loss of the layer; attention takes `attended`, the residual sum takes X."""
    merged = layer({**arrays, "X": arrays["attended"]})["merged"]
    return loss_from_merged({**arrays, "merged": merged})


def loss_from_heads(arrays):
    """Return the loss of the layer from the scores and values of each head."""
    heads = [
        matmul([reference.softmax_row(row) for row in arrays[f"scaled_{i}"]], arrays[f"value_{i}"])
        for i in (1, 2)
    ]
    return loss_from_merged({**arrays, "merged": np.hstack(heads)})


def loss_from_keys(arrays):
    scaled = {
        f"scaled_{i}": matmul(arrays[f"query_{i}"], arrays[f"key_{i}"].T) / math.sqrt(3)
        + arrays["B"]
        for i in (1, 2)
    }
    return loss_from_heads({**arrays, **scaled})


@independent("backward_layer", "differences of slow loops", rtol=1e-7, atol=1e-8)
def gradients_of_layer(literals):
    names = {"gain": "GAIN", "shift": "SHIFT", "dY": "D_Y"}
    names |= {name: name for name in ("X", "W_Q", "W_K", "W_V", "W_O", "B")}
    arrays = {name: np.array(literals[x], dtype=float) for name, x in names.items()}
    arrays |= layer(arrays) | {"attended": arrays["X"]}
    queries = np.split(matmul(arrays["X"], arrays["W_Q"]), 2, axis=1)
    for i, query in enumerate(queries, start=1):
        key, value = (matmul(arrays["X"], arrays[name]) for name in ("W_K", "W_V"))
        scaled = matmul(query, key.T) / math.sqrt(3) + arrays["B"]
        head = {"query": query, "key": key, "value": value, "scaled": scaled}
        arrays |= {f"{name}_{i}": array for name, array in head.items()}
    computed = {
        f"d{x}": gradient(loss_of_layer, arrays, x) for x in ("X", "W_Q", "W_K", "W_V", "W_O")
    }
    for step, loss, name in (
        ("dB", loss_of_layer, "B"),
        ("d_gain", loss_from_normed, "gain"),
        ("d_shift", loss_from_normed, "shift"),
        ("d_normed", loss_from_normed, "normed"),
        ("d_summed", loss_from_summed, "summed"),
        ("d_merged", loss_from_merged, "merged"),
        ("through_attention", loss_through_attention, "attended"),
        ("dK_1", loss_from_keys, "key_1"),
        ("dK_2", loss_from_keys, "key_2"),
        ("dV_1", loss_from_keys, "value_1"),
        ("dV_2", loss_from_keys, "value_2"),
        ("dZ_1", loss_from_heads, "scaled_1"),
        ("dZ_2", loss_from_heads, "scaled_2"),
    ):
        computed[step] = gradient(loss, arrays, name)
    over_heads = {
        f"d{letter}": computed[f"d{letter}_1"] + computed[f"d{letter}_2"] for letter in "KV"
    }
    return computed | over_heads


@independent("backward_layer", "slow loops")
def forward_of_layer(literals):
    arrays = {
        name: np.array(literals[name], dtype=float)
        for name in ("X", "W_Q", "W_K", "W_V", "W_O", "B")
    }
    computed = layer(arrays)
    output = computed["normed"] * np.array(literals["GAIN"]) + np.array(literals["SHIFT"])
    return {**computed, "Y": output}
