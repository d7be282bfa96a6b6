"""Gradients: finite differences of slow loops."""

import math
import statistics

import numpy as np

from tests import reference
from tests.examples.comparison import way

STEP = 1e-5


def matmul(*matrices):
    product, *rest = matrices
    for matrix in rest:
        product = reference.matmul(product, matrix)
    return np.array(product)


def slopes(loss, given, name):
    """Return the central differences of a loss by each entry of one of its arrays."""
    array = np.array(given[name], dtype=float)
    computed = np.zeros(array.shape)
    for place in np.ndindex(array.shape):
        if math.isfinite(array[place]):
            for step in (STEP, -STEP):
                changed = array.copy()
                changed[place] += step
                computed[place] += loss({**given, name: changed}) / (2 * step)
    return computed


def loss_of_output(output, target):
    pairs = zip(np.ravel(output), np.ravel(target), strict=True)
    return math.fsum((o - t) ** 2 for o, t in pairs) / 2


def forward(given):
    computed = {name: np.array(given[name], dtype=float) for name in ("X_q", "X_kv", "T")}
    for letter, rows in zip("QKV", ("X_q", "X_kv", "X_kv"), strict=True):
        computed[f"W_{letter}"] = np.array(given[f"W_{letter}"], dtype=float)
        computed[letter] = matmul(computed[rows], computed[f"W_{letter}"])
    steps = reference.every_step(*(computed[letter] for letter in "QKV"))
    return computed | {name: np.array(step) for name, step in steps.items()}


def loss_of_attention(given):
    return loss_from_queries({**given, **forward(given)})


def loss_from_queries(given):
    scores = matmul(given["Q"], np.transpose(given["K"]))
    return loss_from_scores({**given, "scores": scores})


def loss_from_scores(given):
    return loss_from_scaled({**given, "scaled": given["scores"] / math.sqrt(2)})


def loss_from_scaled(given):
    weights = [reference.softmax_row(row) for row in given["scaled"]]
    return loss_from_weights({**given, "weights": weights})


def loss_from_weights(given):
    return loss_of_output(matmul(given["weights"], given["V"]), given["T"])


@way("backward", "differences of slow loops", rtol=1e-7, atol=1e-8)
def gradients(given):
    given = forward(given)
    computed = {
        f"d{name}": slopes(loss_of_attention, given, name)
        for name in ("X_q", "X_kv", "W_Q", "W_K", "W_V")
    }
    for name, loss, step in (
        ("dV", loss_from_weights, "V"),
        ("dA", loss_from_weights, "weights"),
        ("dZ", loss_from_scaled, "scaled"),
        ("dS", loss_from_scores, "scores"),
        ("dQ", loss_from_queries, "Q"),
        ("dK", loss_from_queries, "K"),
    ):
        computed[name] = slopes(loss, given, step)
    squares = [x**2 for name in ("dW_Q", "dW_K", "dW_V") for x in computed[name].flat]
    after = {}
    for step, rate in (("loss_after", 1 / 500), ("loss_after_large", 1 / 100)):
        changes = {
            name: given[name] - rate * computed[f"d{name}"] for name in ("W_Q", "W_K", "W_V")
        }
        after[step] = loss_of_attention({**given, **changes})
    return {**computed, **after, "expected": -math.fsum(squares) / 500}


@way("backward", "Jacobians of the softmax, row by row", fixed=["FACTORS"])
def saturated_queries(given):
    factors, given = given["FACTORS"], forward(given)
    largest, by_query = [], []
    for factor in factors:
        rows = [reference.softmax_slopes(factor * row) for row in given["scaled"]]
        d_weights = matmul(given["output"] - given["T"], given["V"].T)
        d_scaled = [matmul([d], slopes)[0] for d, slopes in zip(d_weights, rows, strict=True)]
        by_query.append(np.abs(matmul(d_scaled, given["K"]) * factor / math.sqrt(2)).max(axis=1))
        largest.append([max(reference.softmax_row(factor * row)) for row in given["scaled"]])
    return {"largest_weights": largest, "largest_dQ": by_query}


@way("backward", "slow loops, and the slopes of tanh by cosh")
def sums_and_cap(given):
    given = forward(given)
    d_output = given["output"] - given["T"]
    d_weights = matmul(d_output, given["V"].T)
    row_sums = [reference.dot(*rows) for rows in zip(d_weights, given["weights"], strict=True)]
    return {
        "loss": loss_of_output(given["output"], given["T"]),
        "dO": d_output,
        "row_sums": row_sums,
        "row_sums_by_output": row_sums,
        "capped": [[4 * math.tanh(z / 4) for z in row] for row in given["scaled"]],
        "cap_slopes": [[math.cosh(z / 4) ** -2 for z in row] for row in given["scaled"]],
    }


def head_of_layer(given, columns):
    """Return the weights and the output of one head; its queries are some of W_Q's columns."""
    query = matmul(given["X"], given["W_Q"][:, columns])
    return head_from_parts(given, query, *(matmul(given["X"], given[w]) for w in ("W_K", "W_V")))


def head_from_parts(given, query, key, value):
    scaled = matmul(query, np.transpose(key)) / math.sqrt(3) + given["B"]
    weights = [reference.softmax_row(row) for row in scaled]
    return weights, matmul(weights, value)


def layer(given):
    """Return the steps of the layer; the two heads are blocks of columns of W_Q."""
    heads = [head_of_layer(given, columns) for columns in (slice(0, 3), slice(3, 6))]
    merged = np.hstack([output for _, output in heads])
    summed = given["X"] + matmul(merged, given["W_O"])
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


def loss_from_normed(given):
    output = given["normed"] * given["gain"] + given["shift"]
    return math.fsum(np.ravel(output * given["dY"]))


def loss_from_summed(given):
    return loss_from_normed({**given, **normed(given["summed"])})


def loss_from_merged(given):
    return loss_from_summed({**given, "summed": given["X"] + matmul(given["merged"], given["W_O"])})


def loss_of_layer(given):
    return loss_from_merged({**given, **layer(given)})


def loss_through_attention(given):
    """The same with what goes round attention held: only the way through it changes."""
    merged = layer({**given, "X": given["attended"]})["merged"]
    return loss_from_merged({**given, "merged": merged})


def loss_by_head(given):
    """The same from each head's own scores, keys and values on."""
    heads = [
        matmul([reference.softmax_row(row) for row in given[f"scaled_{i}"]], given[f"value_{i}"])
        for i in (1, 2)
    ]
    return loss_from_merged({**given, "merged": np.hstack(heads)})


def loss_by_keys(given):
    scaled = {
        f"scaled_{i}": matmul(given[f"query_{i}"], given[f"key_{i}"].T) / math.sqrt(3) + given["B"]
        for i in (1, 2)
    }
    return loss_by_head({**given, **scaled})


@way("backward_layer", "differences of slow loops", rtol=1e-7, atol=1e-8)
def gradients_of_the_layer(given):
    names = {"gain": "GAIN", "shift": "SHIFT", "dY": "D_Y"}
    names |= {name: name for name in ("X", "W_Q", "W_K", "W_V", "W_O", "B")}
    given = {name: np.array(given[constant], dtype=float) for name, constant in names.items()}
    given |= layer(given) | {"attended": given["X"]}
    queries = np.split(matmul(given["X"], given["W_Q"]), 2, axis=1)
    for i, query in enumerate(queries, start=1):
        key, value = (matmul(given["X"], given[name]) for name in ("W_K", "W_V"))
        scaled = matmul(query, key.T) / math.sqrt(3) + given["B"]
        parts = {"query": query, "key": key, "value": value, "scaled": scaled}
        given |= {f"{name}_{i}": part for name, part in parts.items()}
    computed = {f"d{x}": slopes(loss_of_layer, given, x) for x in ("X", "W_Q", "W_K", "W_V", "W_O")}
    for step, loss, name in (
        ("dB", loss_of_layer, "B"),
        ("d_gain", loss_from_normed, "gain"),
        ("d_shift", loss_from_normed, "shift"),
        ("d_normed", loss_from_normed, "normed"),
        ("d_summed", loss_from_summed, "summed"),
        ("d_merged", loss_from_merged, "merged"),
        ("through_attention", loss_through_attention, "attended"),
        ("dK_1", loss_by_keys, "key_1"),
        ("dK_2", loss_by_keys, "key_2"),
        ("dV_1", loss_by_keys, "value_1"),
        ("dV_2", loss_by_keys, "value_2"),
        ("dZ_1", loss_by_head, "scaled_1"),
        ("dZ_2", loss_by_head, "scaled_2"),
    ):
        computed[step] = slopes(loss, given, name)
    together = {
        f"d{letter}": computed[f"d{letter}_1"] + computed[f"d{letter}_2"] for letter in "KV"
    }
    return computed | together


@way("backward_layer", "slow loops")
def forward_of_the_layer(given):
    arrays = {
        name: np.array(given[name], dtype=float) for name in ("X", "W_Q", "W_K", "W_V", "W_O", "B")
    }
    computed = layer(arrays)
    output = computed["normed"] * np.array(given["GAIN"]) + np.array(given["SHIFT"])
    return {**computed, "Y": output}
