"""Gradients by finite differences of slow loops."""

import math
import statistics

import numpy as np

from tests import reference
from tests.examples.comparison import independent

STEP = 1e-5  # of the central differences
NORM_EPSILON = 1e-5


def matmul(left, right):
    return np.array(reference.matmul(left, right))


def gradient(loss, arrays, name):
    """Return the gradient of a loss with respect to one of its arrays, by central differences."""
    array = np.array(arrays[name], dtype=float)
    derivatives = np.zeros(array.shape)
    for index in np.ndindex(array.shape):
        if math.isfinite(array[index]):
            change = np.zeros(array.shape)
            change[index] = STEP
            loss_above = loss({**arrays, name: array + change})
            loss_below = loss({**arrays, name: array - change})
            derivatives[index] = (loss_above - loss_below) / (2 * STEP)
    return derivatives


def loss_of_output(output, target):
    """Return half the sum of squared differences."""
    pairs = zip(np.ravel(output), np.ravel(target), strict=True)
    return math.fsum((o - t) ** 2 for o, t in pairs) / 2


def forward(literals):
    """Return the literals of the example, the projections and the steps of attention."""
    names = ("X_q", "X_kv", "T", "W_Q", "W_K", "W_V")
    arrays = {name: np.array(literals[name], dtype=float) for name in names}
    arrays["Q"] = matmul(arrays["X_q"], arrays["W_Q"])
    arrays["K"] = matmul(arrays["X_kv"], arrays["W_K"])
    arrays["V"] = matmul(arrays["X_kv"], arrays["W_V"])
    steps = reference.every_step(arrays["Q"], arrays["K"], arrays["V"])
    return arrays | {name: np.array(step) for name, step in steps.items()}


def loss_of_attention(arrays):
    """Return the loss as a function of the inputs and the weight matrices."""
    return loss_from_queries({**arrays, **forward(arrays)})


def loss_from_queries(arrays):
    """Return the loss as a function of Q, K and V."""
    scores = matmul(arrays["Q"], np.transpose(arrays["K"]))
    return loss_from_scores({**arrays, "scores": scores})


def loss_from_scores(arrays):
    """Return the loss as a function of the scores and V."""
    return loss_from_scaled({**arrays, "scaled": arrays["scores"] / math.sqrt(2)})


def loss_from_scaled(arrays):
    """Return the loss as a function of the scaled scores and V."""
    weights = [reference.softmax_row(row) for row in arrays["scaled"]]
    return loss_from_weights({**arrays, "weights": weights})


def loss_from_weights(arrays):
    """Return the loss as a function of the attention weights and V."""
    return loss_of_output(matmul(arrays["weights"], arrays["V"]), arrays["T"])


@independent("backward", "differences of slow loops", rtol=1e-7, atol=1e-8)
def gradients(literals):
    arrays = forward(literals)
    computed = {
        f"d{name}": gradient(loss_of_attention, arrays, name)
        for name in ("X_q", "X_kv", "W_Q", "W_K", "W_V")
    }
    for step, loss, variable in (
        ("dV", loss_from_weights, "V"),
        ("dA", loss_from_weights, "weights"),
        ("dZ", loss_from_scaled, "scaled"),
        ("dS", loss_from_scores, "scores"),
        ("dQ", loss_from_queries, "Q"),
        ("dK", loss_from_queries, "K"),
    ):
        computed[step] = gradient(loss, arrays, variable)
    weights = ("W_Q", "W_K", "W_V")
    for step, rate in (("loss_after", 1 / 500), ("loss_after_large", 1 / 100)):
        updated = {name: arrays[name] - rate * computed[f"d{name}"] for name in weights}
        computed[step] = loss_of_attention({**arrays, **updated})
    squared_norm = math.fsum(np.sum(computed[f"d{name}"] ** 2) for name in weights)
    return {**computed, "expected": -squared_norm / 500}


@independent("backward", "Jacobians of the softmax, row by row", fixed=["FACTORS"])
def saturated_queries(literals):
    arrays = forward(literals)
    d_weights = matmul(arrays["output"] - arrays["T"], arrays["V"].T)
    largest_weights, largest_gradients = [], []
    for factor in literals["FACTORS"]:
        scaled = factor * arrays["scaled"]
        d_scaled = [
            matmul([d_row], reference.softmax_slopes(row))[0]
            for d_row, row in zip(d_weights, scaled, strict=True)
        ]
        d_query = matmul(d_scaled, arrays["K"]) * factor / math.sqrt(2)
        largest_gradients.append(np.abs(d_query).max(axis=1))
        largest_weights.append([max(reference.softmax_row(row)) for row in scaled])
    return {"largest_weights": largest_weights, "largest_dQ": largest_gradients}


@independent("backward", "slow loops, and the slopes of tanh by cosh")
def sums_and_cap(literals):
    arrays = forward(literals)
    d_output = arrays["output"] - arrays["T"]
    d_weights = matmul(d_output, arrays["V"].T)
    row_sums = [
        reference.dot(d_row, row) for d_row, row in zip(d_weights, arrays["weights"], strict=True)
    ]
    cap = 4
    return {
        "loss": loss_of_output(arrays["output"], arrays["T"]),
        "dO": d_output,
        "row_sums": row_sums,
        "row_sums_by_output": row_sums,
        "capped": [[cap * math.tanh(z / cap) for z in row] for row in arrays["scaled"]],
        "cap_slopes": [[math.cosh(z / cap) ** -2 for z in row] for row in arrays["scaled"]],
    }


def head_of_layer(arrays, columns):
    """Return the weights and output of the head whose queries are some of W_Q's columns."""
    query = matmul(arrays["X"], arrays["W_Q"][:, columns])
    key, value = matmul(arrays["X"], arrays["W_K"]), matmul(arrays["X"], arrays["W_V"])
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
        **layer_norm(summed),
    }


def layer_norm(summed):
    """Return normalised rows, and the standard deviations under the step's name, std."""
    means = [statistics.fmean(row) for row in summed]
    std = [math.sqrt(statistics.pvariance(row) + NORM_EPSILON) for row in summed]
    return {"std": std, "normed": (summed - np.c_[means]) / np.c_[std]}


def loss_from_normed(arrays):
    """Return the loss of the layer as a function of the normalised rows."""
    output = arrays["normed"] * arrays["gain"] + arrays["shift"]
    return math.fsum(np.ravel(output * arrays["dY"]))


def loss_from_summed(arrays):
    """Return the loss of the layer as a function of the residual sum."""
    return loss_from_normed({**arrays, **layer_norm(arrays["summed"])})


def loss_from_merged(arrays):
    """Return the loss of the layer as a function of the merged heads."""
    return loss_from_summed(
        {**arrays, "summed": arrays["X"] + matmul(arrays["merged"], arrays["W_O"])}
    )


def loss_of_layer(arrays):
    """Return the loss of the layer as a function of its inputs and weights."""
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
    """Return the loss of the layer as a function of the queries, keys and values of each head."""
    scaled = {
        f"scaled_{i}": matmul(arrays[f"query_{i}"], arrays[f"key_{i}"].T) / math.sqrt(3)
        + arrays["B"]
        for i in (1, 2)
    }
    return loss_from_heads({**arrays, **scaled})


@independent("backward_layer", "differences of slow loops", rtol=1e-7, atol=1e-8)
def gradients_of_layer(literals):
    arrays = arrays_of_layer(literals)
    arrays |= layer(arrays) | {"attended": arrays["X"]}
    queries = np.split(matmul(arrays["X"], arrays["W_Q"]), 2, axis=1)
    for i, query in enumerate(queries, start=1):
        key, value = (matmul(arrays["X"], arrays[name]) for name in ("W_K", "W_V"))
        scaled = matmul(query, key.T) / math.sqrt(3) + arrays["B"]
        head = {"query": query, "key": key, "value": value, "scaled": scaled}
        arrays |= {f"{name}_{i}": array for name, array in head.items()}
    computed = {
        f"d{name}": gradient(loss_of_layer, arrays, name)
        for name in ("X", "W_Q", "W_K", "W_V", "W_O")
    }
    for step, loss, variable in (
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
        computed[step] = gradient(loss, arrays, variable)
    # The heads share keys and values, so their gradients add up.
    computed["dK"] = computed["dK_1"] + computed["dK_2"]
    computed["dV"] = computed["dV_1"] + computed["dV_2"]
    return computed


def arrays_of_layer(literals):
    """Return the literals of the layer as arrays, under the names of their steps."""
    literal_names = {name: name for name in ("X", "W_Q", "W_K", "W_V", "W_O", "B")}
    literal_names |= {"gain": "GAIN", "shift": "SHIFT", "dY": "D_Y"}
    return {
        step: np.array(literals[literal], dtype=float) for step, literal in literal_names.items()
    }


@independent("backward_layer", "slow loops")
def forward_of_layer(literals):
    arrays = arrays_of_layer(literals)
    computed = layer(arrays)
    return {**computed, "Y": computed["normed"] * arrays["gain"] + arrays["shift"]}
