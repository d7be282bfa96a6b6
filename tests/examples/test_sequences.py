"""Columns, additive scores and the convolution: what they are to show."""

from fractions import Fraction

import numpy as np

from attention_docs import examples
from tests import reference


def test_columns_give_what_the_source_prints_and_the_values_are_distinct():
    steps = examples.steps("column_vectors")
    np.testing.assert_array_equal(steps["alpha_1"], [16, 20, 41, 37])
    np.testing.assert_array_equal(steps["q_1"], [3, 3, 2])
    assert len(np.unique(steps["V"], axis=1).T) == 4


def test_dividing_moves_weight_from_the_largest_score_to_the_next():
    steps = examples.steps("column_vectors")
    assert np.all(steps["weights_scaled"][2] < steps["weights"][2])
    assert np.all(steps["weights_scaled"][3] > steps["weights"][3])


def test_no_additive_score_reaches_the_sum_of_its_weights():
    steps = examples.steps("additive_attention")
    assert np.all(np.abs(steps["additive_scores"]) < steps["largest_possible_score"])


def test_the_two_numbers_of_one_key_are_those_of_the_column_example():
    columns, rows = examples.steps("column_vectors"), examples.steps("additive_attention")
    np.testing.assert_array_equal(rows["Q"], columns["Q"].T[:2])
    np.testing.assert_array_equal(rows["K"], columns["K"].T)
    np.testing.assert_array_equal(rows["V"], columns["V"].T)


def test_nine_heads_are_the_convolution_exactly():
    steps = examples.steps("convolution")
    np.testing.assert_array_equal(steps["output"], steps["convolution"])


def test_nine_heads_copy_exactly_and_their_sum_is_rounded():
    steps = examples.steps("convolution")
    assert steps["order_matters"] > 0
    pixels, taps = steps["merged"] / 7, steps["W_O"][:, 0] / 3
    exact = [sum(map(Fraction, row)) for row in (pixels * taps).tolist()]
    sums = steps["first_to_last"].ravel().tolist()
    assert 0 < max(abs(Fraction(s) - e) for s, e in zip(sums, exact, strict=True)) < 1e-15


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
