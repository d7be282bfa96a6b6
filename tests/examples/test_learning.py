"""Gradients and trained models: what the chapters say about them."""

import math

import numpy as np
import pytest

from attention_docs import examples


def test_first_step_lowers_loss():
    steps = examples.steps("first_step")
    assert steps["loss_after"] < steps["loss"]


def test_step_lowers_loss_less_than_linear_prediction():
    steps = examples.steps("backward")
    assert steps["expected"] < steps["loss_after"] - steps["loss"] < 0


@pytest.mark.parametrize("sequence", ["CABA", "BCAC", "ABCB", "CBAB", "BACA"])
def test_induction_by_hand_continues_other_sequences(sequence, monkeypatch):
    example = examples.load("induction_by_hand")
    rows = [[*(float(letter == a) for a in "ABC"), *row[3:]] for letter, row in zip(sequence, example.X, strict=True)]  # fmt: skip
    monkeypatch.setattr(example, "X", rows)
    answer = sequence[sequence.index(sequence[-1]) + 1]
    assert example.steps()["output"][3].tolist() == [float(answer == a) for a in "ABC"]


def test_weights_of_reverse_become_anti_diagonal():
    steps = examples.steps("learning_reverse")
    mirrored = np.arange(6)[::-1]
    np.testing.assert_array_equal(steps["weights_after"].argmax(axis=1), mirrored)
    assert np.all(steps["weights_after"][np.arange(6), mirrored] > 0.9)
    assert np.all(steps["weights_before"] < 0.25)
    assert np.all(steps["position_scores"].argmax(axis=1)[[0, 1, 3, 4, 5]] == mirrored[[0, 1, 3, 4, 5]])  # fmt: skip
    assert steps["right"][-1] == 100


def test_trained_induction_heads_match_those_by_hand():
    steps = examples.steps("learning_induction")
    positions = np.arange(7)
    assert np.all(steps["weights1"][positions[1:], positions[:-1]] > 0.85)
    tokens = steps["tokens"].tolist()
    following = tokens.index(tokens[-1]) + 1
    assert tokens[following] == steps["answer"]
    assert steps["weights2"][-1].argmax() == following
    np.testing.assert_array_equal(steps["match_scores"].argmax(axis=1), np.arange(9))
    assert steps["right_two"][-1] == 100
    # One layer does little better than guessing among the six tokens that could follow.
    assert np.all(steps["right_one"] < 30)
    assert steps["right_without_1"] < 30
    assert steps["right_without_2"] < 30


def test_mistakes_have_the_effects_that_the_chapter_says():
    steps = examples.steps("learning_mistakes")
    assert steps["no_positions_right"][-1] < 50
    assert steps["no_residual_right"][-1] == 100  # one layer needs no residual sum
    assert steps["induction_no_residual_right"][-1] < 25
    assert 50 < steps["induction_no_positions_right"][-1] < 90
    assert steps["wide_right"][-1] == steps["wide_unscaled_right"][-1] == 100
    assert np.all(steps["wide_unscaled_right"][3:6] < steps["wide_right"][3:6])
    assert np.all(steps["wide_unscaled_right_of_starts"] < steps["wide_right_of_starts"])
    assert abs(steps["walk"][-1] - math.log(2)) < 0.03
    assert steps["unmasked"][-1] < math.log(2) / 2
    assert steps["unmasked_used"][-1] > 2
    assert steps["unshifted"][-1] < 0.001
    assert steps["unshifted_used_right"][-1] == 0
