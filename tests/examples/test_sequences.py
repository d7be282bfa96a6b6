"""Columns, additive scores, positions, permutation, convolution: each against another way."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from attention_docs import examples
from tests import reference


def test_columns_equal_a_slow_loop_over_rows():
    steps = examples.steps("column_vectors")
    tokens = steps["I"].T
    q, k, v = (reference.matmul(tokens, steps[f"W_{letter}"].T) for letter in "QKV")
    weights, output = reference.attention(q, k, v)
    np.testing.assert_allclose(steps["weights_scaled"], np.transpose(weights), rtol=1e-12)
    np.testing.assert_allclose(steps["B_scaled"], np.transpose(output), rtol=1e-12)
    unscaled = [reference.softmax_row([reference.dot(a, b) for b in k]) for a in q]
    np.testing.assert_allclose(steps["weights_rows"], unscaled, rtol=1e-12)
    np.testing.assert_allclose(steps["weights"], np.transpose(unscaled), rtol=1e-12)
    np.testing.assert_allclose(steps["output_rows"], reference.matmul(unscaled, v), rtol=1e-12)


def test_columns_give_what_the_source_prints_and_the_values_are_distinct():
    steps = examples.steps("column_vectors")
    np.testing.assert_array_equal(steps["alpha_1"], [16, 20, 41, 37])
    np.testing.assert_array_equal(steps["q_1"], [3, 3, 2])
    assert len(np.unique(steps["V"], axis=1).T) == 4
    assert steps["rows_are_the_transpose"]


def test_dividing_moves_weight_from_the_largest_score_to_the_next():
    steps = examples.steps("column_vectors")
    assert np.all(steps["weights_scaled"][2] < steps["weights"][2])
    assert np.all(steps["weights_scaled"][3] > steps["weights"][3])


def test_both_scores_equal_slow_loops():
    steps = examples.steps("additive_attention")
    weights, output = reference.attention(steps["Q"], steps["K"], steps["V"])
    np.testing.assert_allclose(steps["dot_weights"], weights, rtol=1e-12)
    np.testing.assert_allclose(steps["dot_output"], output, rtol=1e-12)
    from_q = reference.matmul(steps["Q"], steps["W_1"])
    from_k = reference.matmul(steps["K"], steps["W_2"])
    for i, j in product(range(2), range(4)):
        hidden = [math.tanh(a + b) for a, b in zip(from_q[i], from_k[j], strict=True)]
        score = reference.dot(steps["w"], hidden)
        assert steps["additive_scores"][i, j] == pytest.approx(score, rel=1e-13)
        assert abs(score) < steps["largest_possible_score"]
    rows = [reference.softmax_row(row) for row in steps["additive_scores"]]
    np.testing.assert_allclose(steps["additive_output"], reference.matmul(rows, steps["V"]))


def test_the_two_numbers_of_one_key_are_those_of_the_column_example():
    columns, rows = examples.steps("column_vectors"), examples.steps("additive_attention")
    np.testing.assert_array_equal(rows["Q"], columns["Q"].T[:2])
    np.testing.assert_array_equal(rows["K"], columns["K"].T)
    np.testing.assert_array_equal(rows["V"], columns["V"].T)


def test_positions_equal_complex_numbers_on_the_unit_circle():
    steps = examples.steps("positional_encoding")
    turns = np.exp(1j * np.outer(np.arange(6), steps["frequencies"]))
    pairs = steps["E"][:, 1::2] + 1j * steps["E"][:, ::2]
    np.testing.assert_allclose(pairs, turns, atol=1e-15)
    shifted = turns[:4] * np.exp(2j * steps["frequencies"])
    np.testing.assert_allclose(steps["shifted"][:, ::2], shifted.imag, atol=1e-15)
    distances = np.outer(np.arange(6), steps["frequencies"])
    np.testing.assert_allclose(steps["products"], np.cos(distances).sum(1), atol=1e-15)
    assert steps["shifted_is_later_rows"]
    assert steps["products_depend_on_distance_alone"]


def test_only_positions_tell_an_order_from_another():
    steps = examples.steps("permutation")
    for x, output in (("X", "output"), ("placed", "output_placed")):
        for order in ("", "_permuted"):
            tokens = steps[x + order]
            w_q, w_k, w_v = (examples.steps("self_attention")[f"W_{letter}"] for letter in "QKV")
            q, k, v = (reference.matmul(tokens, matrix) for matrix in (w_q, w_k, w_v))
            np.testing.assert_allclose(steps[output + order], reference.attention(q, k, v)[1])
    order = [2, 0, 1]
    np.testing.assert_array_equal(steps["X_permuted"], steps["X"][order])
    moved = steps["weights"][order][:, order]
    np.testing.assert_allclose(steps["weights_permuted"], moved, rtol=1e-12)
    np.testing.assert_allclose(steps["output_permuted"], steps["output"][order], rtol=1e-12)
    assert steps["equivariant"]
    assert not steps["equivariant_placed"]


def test_nine_heads_are_the_convolution_exactly(torch):
    steps = examples.steps("convolution")
    image, kernel = (torch.from_numpy(steps[name]) for name in ("image", "kernel"))
    expected = torch.nn.functional.conv2d(image[None, None], kernel[None, None])[0, 0]
    np.testing.assert_array_equal(steps["output"], expected.numpy())
    np.testing.assert_array_equal(steps["convolution"], expected.numpy())
    np.testing.assert_array_equal(steps["weights_1"].sum(1), np.ones(6))


def test_nine_heads_copy_exactly_and_their_sum_is_rounded():
    steps = examples.steps("convolution")
    assert steps["sevenths_are_copied"]
    pixels, taps = steps["merged"] / 7, steps["W_O"][:, 0] / 3
    sums = {"forward": [], "backward": [], "exact": []}
    for row in pixels.tolist():
        products = [pixel * tap for pixel, tap in zip(row, taps.tolist(), strict=True)]
        forward = backward = 0.0
        for product_ in products:
            forward += product_
        for product_ in reversed(products):
            backward += product_
        sums["forward"].append(forward)
        sums["backward"].append(backward)
        sums["exact"].append(sum(map(Fraction, products)))
    np.testing.assert_array_equal(steps["first_to_last"].ravel(), sums["forward"])
    gaps = [abs(a - b) for a, b in zip(sums["forward"], sums["backward"], strict=True)]
    assert steps["order_matters"] == max(gaps) > 0
    rounded = [abs(Fraction(s) - e) for s, e in zip(sums["forward"], sums["exact"], strict=True)]
    assert 0 < max(rounded) < 1e-15


def test_the_sums_of_the_example_itself_are_not_rounded():
    steps = examples.steps("convolution")
    for row, output in zip(steps["merged"].tolist(), steps["output"].ravel(), strict=True):
        taps = steps["W_O"][:, 0].tolist()
        exact = sum(Fraction(pixel) * Fraction(tap) for pixel, tap in zip(row, taps, strict=True))
        assert Fraction(float(output)) == exact


def test_a_query_points_at_the_place_of_its_tap():
    steps = examples.steps("convolution")
    for (row, column, one), query in zip(steps["places"], steps["Q_1"], strict=True):
        assert one == 1
        distances = [(r - (row - 1)) ** 2 + (c - (column - 1)) ** 2 for r, c, _ in steps["K"]]
        scores = [reference.dot(query, key) for key in steps["K"]]
        np.testing.assert_array_equal(
            np.subtract(max(scores), scores), np.multiply(1000, distances)
        )


def test_no_single_head_can_be_that_convolution():
    steps = examples.steps("convolution")
    assert steps["output"].min() < steps["smallest_pixel"]
    assert np.all(steps["merged"] >= steps["smallest_pixel"])
    assert np.all(steps["merged"] <= steps["largest_pixel"])


def test_the_weights_of_a_tap_look_at_positions_only(monkeypatch):
    example = examples.load("convolution")
    before = example.steps()
    monkeypatch.setattr(example, "IMAGE", np.asarray(example.IMAGE)[::-1, ::-1].tolist())
    after = example.steps()
    np.testing.assert_array_equal(after["weights_1"], before["weights_1"])
    assert np.any(after["output"] != before["output"])


def test_costs_are_what_counting_loops_count():
    steps = examples.steps("cost")
    n, d, taps = (int(steps[name] if name != "n" else steps["n"][0]) for name in ("n", "d", "taps"))
    scores = sum(1 for _ in product(range(n), range(n), range(d)))
    per_token = sum(1 for _ in product(range(d), range(d)))
    assert steps["attention"][0] == 2 * scores
    assert steps["projections"][0] == 4 * n * per_token
    assert steps["convolution"][0] == taps * n * per_token
    assert steps["recurrence"][0] == 2 * n * per_token
    reached = layers = 0
    while reached < n - 1:
        reached, layers = reached + taps // 2, layers + 1
    assert steps["convolution_path"][0] == layers
