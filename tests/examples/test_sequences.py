"""Columns, additive scores and convolution: statements of the pages about them."""

from fractions import Fraction

import numpy as np

from attention_docs import examples
from tests import loops


def test_column_vectors_match_the_published_numbers():
    steps = examples.steps("column_vectors")
    np.testing.assert_array_equal(steps["alpha_1"], [16, 20, 41, 37])
    np.testing.assert_array_equal(steps["q_1"], [3, 3, 2])


def test_values_of_column_vectors_differ():
    columns = examples.steps("column_vectors")["V"].T
    assert len(np.unique(columns, axis=0)) == len(columns)


def test_scaling_moves_weight_to_second_largest_score():
    steps = examples.steps("column_vectors")
    *_, second_largest, largest = steps["alpha_1"].argsort()  # the same keys for all queries
    assert np.all(steps["weights_scaled"][largest] < steps["weights"][largest])
    assert np.all(steps["weights_scaled"][second_largest] > steps["weights"][second_largest])


def test_additive_example_shares_rows_with_column_vectors():
    columns, rows = examples.steps("column_vectors"), examples.steps("additive_attention")
    np.testing.assert_array_equal(rows["Q"], columns["Q"].T[:2])
    np.testing.assert_array_equal(rows["K"], columns["K"].T)
    np.testing.assert_array_equal(rows["V"], columns["V"].T)


def test_sum_of_heads_depends_on_its_order():
    assert examples.steps("convolution")["order_matters"] > 0


def test_sum_of_sevenths_times_thirds_is_rounded():
    steps = examples.steps("convolution")
    copies, kernel = steps["merged"] / 7, steps["W_O"][:, 0] / 3
    exact_sums = [sum(map(Fraction, products)) for products in (copies * kernel).tolist()]
    sums = map(Fraction, steps["first_to_last"].ravel().tolist())
    errors = [abs(rounded - exact) for rounded, exact in zip(sums, exact_sums, strict=True)]
    assert 0 < max(errors) < 1e-15


def test_outputs_of_convolution_example_are_exact():
    steps = examples.steps("convolution")
    kernel = steps["W_O"][:, 0].tolist()
    for pixels, output in zip(steps["merged"].tolist(), steps["output"].ravel(), strict=True):
        products = zip(map(Fraction, pixels), map(Fraction, kernel), strict=True)
        assert Fraction(float(output)) == sum(pixel * weight for pixel, weight in products)


def test_query_scores_fall_with_distance_from_its_tap():
    steps, sharpness = examples.steps("convolution"), examples.load("convolution").SHARPNESS
    keys = steps["K"]
    for (row, column, _), query in zip(steps["places"], steps["Q_1"], strict=True):
        neighbour = [row - 1, column - 1]  # the first tap is up and to the left
        squared_distances = np.sum((keys[:, :2] - neighbour) ** 2, axis=1)
        scores = np.array([loops.dot(query, key) for key in keys])
        np.testing.assert_array_equal(scores.max() - scores, sharpness * squared_distances)


def test_convolution_exceeds_the_range_of_a_single_head():
    steps = examples.steps("convolution")
    assert steps["output"].min() < steps["smallest_pixel"]
    assert np.all(steps["merged"] >= steps["smallest_pixel"])
    assert np.all(steps["merged"] <= steps["largest_pixel"])


def test_weights_of_a_tap_ignore_pixels(monkeypatch):
    example = examples.load("convolution")
    before = example.steps()
    monkeypatch.setattr(example, "IMAGE", np.asarray(example.IMAGE)[::-1, ::-1].tolist())
    after = example.steps()
    np.testing.assert_array_equal(after["weights_1"], before["weights_1"])
    assert np.any(after["output"] != before["output"])
