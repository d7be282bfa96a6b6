"""Gradients by finite differences of slow loops."""

import math
import statistics

import numpy as np

from tests import loops
from tests.examples.comparison import independent

HALF_DIFFERENCE = 1e-5  # of the central differences
NORM_EPSILON = 1e-5


def matmul(left, right):
    return np.array(loops.matmul(left, right))


def softmax(rows):
    return np.array([loops.softmax_row(row) for row in rows])


def run(steps, arrays, changed=None):
    """Return the arrays with all steps, in their order; `changed` replaces inputs or steps."""
    changed = changed or {}
    computed = {**arrays, **changed}
    for name, compute in steps.items():
        if name not in changed:
            computed[name] = compute(computed)
    return computed


def gradient(steps, arrays, name):
    """Return the gradient of the step `loss` by an input or another step, by central differences."""
    array = np.array(run(steps, arrays)[name])
    derivatives = np.zeros(array.shape)
    for index in np.ndindex(array.shape):
        if math.isfinite(array[index]):
            change = np.zeros(array.shape)
            change[index] = HALF_DIFFERENCE
            above = run(steps, arrays, {name: array + change})["loss"]
            below = run(steps, arrays, {name: array - change})["loss"]
            derivatives[index] = (above - below) / (2 * HALF_DIFFERENCE)
    return derivatives


ATTENTION = {
    "Q": lambda a: matmul(a["X_q"], a["W_Q"]),
    "K": lambda a: matmul(a["X_kv"], a["W_K"]),
    "V": lambda a: matmul(a["X_kv"], a["W_V"]),
    "scores": lambda a: matmul(a["Q"], a["K"].T),
    "scaled": lambda a: a["scores"] / math.sqrt(2),
    "weights": lambda a: softmax(a["scaled"]),
    "output": lambda a: matmul(a["weights"], a["V"]),
    "loss": lambda a: math.fsum(np.ravel((a["output"] - a["T"]) ** 2)) / 2,
}
MATRICES = ("W_Q", "W_K", "W_V")


def inputs_of_attention(literals):
    names = ("X_q", "X_kv", "T", *MATRICES)
    return {name: np.array(literals[name], dtype=float) for name in names}


@independent("backward", "differences of slow loops", rtol=1e-7, atol=1e-8)
def gradients(literals):
    arrays = inputs_of_attention(literals)
    names = {f"d{name}": name for name in (*MATRICES, "Q", "K", "V")}
    names |= {"dA": "weights", "dZ": "scaled", "dS": "scores"}
    computed = {step: gradient(ATTENTION, arrays, name) for step, name in names.items()}
    for step, rate in (("loss_after", 1 / 500), ("loss_after_large", 1 / 100)):
        updated = {name: arrays[name] - rate * computed[f"d{name}"] for name in MATRICES}
        computed[step] = run(ATTENTION, arrays, updated)["loss"]
    squared_norm = math.fsum(np.sum(computed[f"d{name}"] ** 2) for name in MATRICES)
    return {**computed, "expected": -squared_norm / 500}


@independent("backward", "Jacobians of the softmax, row by row", fixed=["FACTORS"])
def saturated_queries(literals):
    arrays = run(ATTENTION, inputs_of_attention(literals))
    d_weights = matmul(arrays["output"] - arrays["T"], arrays["V"].T)
    largest_weights, largest_gradients = [], []
    for factor in literals["FACTORS"]:
        scaled = factor * arrays["scaled"]
        d_scaled = [
            matmul([d_row], loops.softmax_slopes(row))[0]
            for d_row, row in zip(d_weights, scaled, strict=True)
        ]
        d_query = matmul(d_scaled, arrays["K"]) * factor / math.sqrt(2)
        largest_gradients.append(np.abs(d_query).max(axis=1))
        largest_weights.append(softmax(scaled).max(axis=1))
    return {"largest_weights": largest_weights, "largest_dQ": largest_gradients}


@independent("backward", "slow loops, and the slopes of tanh by cosh")
def sums_and_cap(literals):
    arrays = run(ATTENTION, inputs_of_attention(literals))
    d_output = arrays["output"] - arrays["T"]
    d_weights = matmul(d_output, arrays["V"].T)
    row_sums = list(map(loops.dot, d_weights, arrays["weights"]))
    cap = 4
    return {
        "loss": arrays["loss"],
        "dO": d_output,
        "row_sums": row_sums,
        "row_sums_by_output": row_sums,
        "capped": [[cap * math.tanh(z / cap) for z in row] for row in arrays["scaled"]],
        "cap_slopes": [[math.cosh(z / cap) ** -2 for z in row] for row in arrays["scaled"]],
    }


def standard_deviations(rows):
    return np.array([math.sqrt(statistics.pvariance(row) + NORM_EPSILON) for row in rows])


def centred(rows):
    return rows - np.c_[[statistics.fmean(row) for row in rows]]


# Each of the two heads has half of the columns of W_Q. They share keys and values, of which each
# head has a copy here, because their gradients differ.
LAYER = {
    "attended": lambda a: a["X"],  # what the attention reads; the residual sum reads X
    "query_1": lambda a: matmul(a["attended"], a["W_Q"][:, :3]),
    "query_2": lambda a: matmul(a["attended"], a["W_Q"][:, 3:]),
    "key_1": lambda a: matmul(a["attended"], a["W_K"]),
    "key_2": lambda a: matmul(a["attended"], a["W_K"]),
    "value_1": lambda a: matmul(a["attended"], a["W_V"]),
    "value_2": lambda a: matmul(a["attended"], a["W_V"]),
    "scaled_1": lambda a: matmul(a["query_1"], a["key_1"].T) / math.sqrt(3) + a["B"],
    "scaled_2": lambda a: matmul(a["query_2"], a["key_2"].T) / math.sqrt(3) + a["B"],
    "weights_1": lambda a: softmax(a["scaled_1"]),
    "weights_2": lambda a: softmax(a["scaled_2"]),
    "merged": lambda a: np.hstack(
        [matmul(a["weights_1"], a["value_1"]), matmul(a["weights_2"], a["value_2"])]
    ),
    "summed": lambda a: a["X"] + matmul(a["merged"], a["W_O"]),
    "std": lambda a: standard_deviations(a["summed"]),
    "normed": lambda a: centred(a["summed"]) / np.c_[a["std"]],
    "Y": lambda a: a["normed"] * a["gain"] + a["shift"],
    "loss": lambda a: math.fsum(np.ravel(a["Y"] * a["dY"])),
}


def inputs_of_layer(literals):
    """Return the literals of the layer as arrays, under the names of their steps."""
    names = {name: name for name in ("X", "W_Q", "W_K", "W_V", "W_O", "B")}
    names |= {"gain": "GAIN", "shift": "SHIFT", "dY": "D_Y"}
    return {step: np.array(literals[name], dtype=float) for step, name in names.items()}


@independent("backward_layer", "differences of slow loops", rtol=1e-7, atol=1e-8)
def gradients_of_layer(literals):
    arrays = inputs_of_layer(literals)
    names = {f"d{name}": name for name in ("X", "W_O", "B")}
    names |= {f"d_{name}": name for name in ("gain", "shift", "normed", "summed", "merged")}
    names |= {"through_attention": "attended"}
    for i in (1, 2):
        names |= {f"dK_{i}": f"key_{i}", f"dV_{i}": f"value_{i}", f"dZ_{i}": f"scaled_{i}"}
    computed = {step: gradient(LAYER, arrays, name) for step, name in names.items()}
    # The heads share keys and values, so their gradients add up.
    computed["dK"] = computed["dK_1"] + computed["dK_2"]
    computed["dV"] = computed["dV_1"] + computed["dV_2"]
    return computed


@independent("backward_layer", "slow loops")
def forward_of_layer(literals):
    computed = run(LAYER, inputs_of_layer(literals))
    names = ("weights_1", "weights_2", "merged", "summed", "std", "normed")
    return {name: computed[name] for name in names}
