"""The backward passes of the examples: finite differences of slow loops, and PyTorch's autograd."""

import math
import statistics

import numpy as np
import pytest

from attention_docs import examples
from tests import reference

STEP = 1e-6


def matmul(*matrices):
    product, *rest = matrices
    for matrix in rest:
        product = reference.matmul(product, matrix)
    return product


def slopes(loss, given, name):
    """Return the central differences of L by each entry of one of its arrays."""
    found = np.zeros(given[name].shape)
    for place in np.ndindex(found.shape):
        if not math.isfinite(given[name][place]):
            continue
        moved = []
        for step in (STEP, -STEP):
            changed = given[name].copy()
            changed[place] += step
            moved.append(loss({**given, name: changed}))
        found[place] = (moved[0] - moved[1]) / (2 * STEP)
    return found


def assert_gradient(gradient, loss, given, name):
    np.testing.assert_allclose(gradient, slopes(loss, given, name), atol=2e-7, err_msg=name)


def loss_of_output(output, target):
    pairs = zip(np.ravel(output), np.ravel(target), strict=True)
    return math.fsum((o - t) ** 2 for o, t in pairs) / 2


def loss_of_attention(given):
    q = matmul(given["X_q"], given["W_Q"])
    k, v = (matmul(given["X_kv"], given[name]) for name in ("W_K", "W_V"))
    return loss_of_output(reference.attention(q, k, v)[1], given["T"])


def test_gradients_of_inputs_and_matrices_equal_differences_of_slow_loops():
    steps = examples.steps("backward")
    given = {**examples.steps("distinct_sizes"), "T": steps["T"]}
    assert steps["loss"] == pytest.approx(loss_of_attention(given), rel=1e-13)
    for name in ("X_q", "X_kv", "W_Q", "W_K", "W_V"):
        assert_gradient(steps[f"d{name}"], loss_of_attention, given, name)


def test_gradient_at_each_step_equals_differences_from_there_on():
    steps, given = examples.steps("backward"), dict(examples.steps("distinct_sizes"))
    given |= {"T": steps["T"]}

    def from_weights(given):
        return loss_of_output(matmul(given["weights"], given["V"]), given["T"])

    def from_scaled(given):
        weights = [reference.softmax_row(row) for row in given["scaled"]]
        return from_weights({**given, "weights": weights})

    def from_scores(given):
        return from_scaled({**given, "scaled": given["scores"] / math.sqrt(2)})

    def from_queries(given):
        scores = np.array(matmul(given["Q"], given["K"].T))
        return from_scores({**given, "scores": scores})

    for gradient, loss, name in (
        ("dV", from_weights, "V"),
        ("dA", from_weights, "weights"),
        ("dZ", from_scaled, "scaled"),
        ("dS", from_scores, "scores"),
        ("dQ", from_queries, "Q"),
        ("dK", from_queries, "K"),
    ):
        assert_gradient(steps[gradient], loss, given, name)
    np.testing.assert_allclose(steps["dO"], given["output"] - given["T"])


def test_one_step_lowers_the_loss_by_less_than_the_gradient_promises():
    steps = examples.steps("backward")
    given = {**examples.steps("distinct_sizes"), "T": steps["T"]}
    rate = examples.load("backward").RATE
    names = ("W_Q", "W_K", "W_V")
    changed = {name: given[name] - rate * steps[f"d{name}"] for name in names}
    assert steps["loss_after"] == pytest.approx(loss_of_attention({**given, **changed}), rel=1e-12)
    squares = [x**2 for name in names for x in steps[f"d{name}"].flat]
    assert steps["expected"] == pytest.approx(-rate * math.fsum(squares), rel=1e-12)
    assert steps["expected"] < steps["loss_after"] - steps["loss"] < 0


def test_row_sums_agree_and_the_cap_has_the_slopes_of_a_difference():
    steps, given = examples.steps("backward"), examples.steps("distinct_sizes")
    row_sums = [reference.dot(*rows) for rows in zip(steps["dA"], given["weights"], strict=True)]
    np.testing.assert_allclose(steps["row_sums"], row_sums, rtol=1e-12)
    np.testing.assert_allclose(steps["row_sums_by_output"], row_sums, rtol=1e-11)
    for capped, slope, score in zip(
        *(a.flat for a in (steps["capped"], steps["cap_slopes"], given["scaled"])), strict=True
    ):
        assert capped == pytest.approx(4 * math.tanh(score / 4), rel=1e-13)
        above, below = (4 * math.tanh((score + h) / 4) for h in (STEP, -STEP))
        assert slope == pytest.approx((above - below) / (2 * STEP), abs=1e-8)


def test_saturated_queries_equal_differences_of_slow_loops():
    steps, given = examples.steps("backward"), examples.steps("distinct_sizes")
    for row, factor in enumerate(steps["factors"].tolist()):

        def loss(given, factor=factor):
            """L is linear in the output, with dO as its factors."""
            _, output = reference.attention(given["Q"] * factor, given["K"], given["V"])
            return reference.dot(np.ravel(output), np.ravel(steps["dO"]))

        weights, _ = reference.attention(given["Q"] * factor, given["K"], given["V"])
        np.testing.assert_allclose(steps["largest_weights"][row], np.max(weights, axis=1))
        by_query = np.abs(slopes(loss, given, "Q")).max(axis=1)
        np.testing.assert_allclose(steps["largest_dQ"][row], by_query, rtol=1e-5, atol=1e-8)


def slow_layer(given):
    """Return L of the layer from Python's loops; the two heads are blocks of columns of W_Q."""
    x, n = given["X"], len(given["X"])
    key, value = (matmul(x, given[name]) for name in ("W_K", "W_V"))
    heads = []
    for columns in (slice(0, 3), slice(3, 6)):
        query = matmul(x, given["W_Q"][:, columns])
        weights = [
            reference.softmax_row(
                [
                    reference.dot(query[i], key[j]) / math.sqrt(3) + given["B"][i][j]
                    for j in range(n)
                ]
            )
            for i in range(n)
        ]
        heads.append(matmul(weights, value))
    attended = matmul(np.hstack(heads), given["W_O"])
    total = []
    for i in range(n):
        row = [a + b for a, b in zip(x[i], attended[i], strict=True)]
        mean, spread = statistics.fmean(row), math.sqrt(statistics.pvariance(row) + 1e-5)
        places = zip(row, given["gain"], given["shift"], given["dY"][i], strict=True)
        total += [((u - mean) / spread * gain + shift) * d for u, gain, shift, d in places]
    return math.fsum(total)


def test_gradients_of_the_layer_equal_differences_of_slow_loops():
    steps = examples.steps("backward_layer")
    assert slow_layer(steps) == pytest.approx(np.sum(steps["Y"] * steps["dY"]), rel=1e-12)
    for name in ("X", "W_Q", "W_K", "W_V", "W_O", "B"):
        assert_gradient(steps[f"d{name}"], slow_layer, steps, name)
    for name in ("gain", "shift"):
        assert_gradient(steps[f"d_{name}"], slow_layer, steps, name)
    for name in ("dK", "dV"):
        np.testing.assert_allclose(steps[f"{name}_1"] + steps[f"{name}_2"], steps[name])
    np.testing.assert_allclose(steps["dZ_1"] + steps["dZ_2"], steps["dB"])


def test_gradients_of_the_layer_equal_the_autograd_of_pytorch(torch):
    steps = examples.steps("backward_layer")
    names = ("X", "W_Q", "W_K", "W_V", "W_O", "B", "gain", "shift")
    x, w_q, w_k, w_v, w_o, mask, gain, shift = tensors = [
        torch.from_numpy(steps[name].copy()).requires_grad_() for name in names
    ]
    query = (x @ w_q).reshape(4, 2, 3).transpose(0, 1)
    key, value = ((x @ w)[None].expand(2, -1, -1) for w in (w_k, w_v))
    weights = torch.softmax(query @ key.transpose(1, 2) / 3**0.5 + mask, dim=-1)
    summed = x + (weights @ value).transpose(0, 1).reshape(4, 2) @ w_o
    summed.retain_grad()
    output = torch.nn.functional.layer_norm(summed, (5,), gain, shift)
    output.backward(torch.from_numpy(steps["dY"]))
    np.testing.assert_allclose(steps["d_summed"], summed.grad, rtol=0, atol=1e-12)
    for name, tensor in zip(names, tensors, strict=True):
        gradient = steps[f"d_{name}" if name in ("gain", "shift") else f"d{name}"]
        np.testing.assert_allclose(gradient, tensor.grad, rtol=0, atol=1e-12, err_msg=name)


def test_gradients_of_attention_equal_the_autograd_of_pytorch(torch):
    steps, given = examples.steps("backward"), examples.steps("distinct_sizes")
    names = ("X_q", "X_kv", "W_Q", "W_K", "W_V")
    x_q, x_kv, w_q, w_k, w_v = tensors = [
        torch.from_numpy(given[name].copy()).requires_grad_() for name in names
    ]
    weights = torch.softmax(x_q @ w_q @ (x_kv @ w_k).T / 2**0.5, dim=-1)
    loss = ((weights @ (x_kv @ w_v) - torch.from_numpy(steps["T"])) ** 2).sum() / 2
    loss.backward()
    for name, tensor in zip(names, tensors, strict=True):
        np.testing.assert_allclose(steps[f"d{name}"], tensor.grad, rtol=0, atol=1e-12, err_msg=name)
