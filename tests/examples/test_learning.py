"""Gradients and trained models: statements of the pages about them."""

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


def one_hot(token):
    return [float(token == letter) for letter in "ABC"]


@pytest.mark.parametrize("sequence", ["CABA", "BCAC", "ABCB", "CBAB", "BACA"])
def test_induction_by_hand_continues_other_sequences(sequence, monkeypatch):
    example = examples.load("induction_by_hand")
    rows = zip(sequence, example.X, strict=True)
    monkeypatch.setattr(example, "X", [[*one_hot(token), *row[3:]] for token, row in rows])
    answer = sequence[sequence.index(sequence[-1]) + 1]
    assert example.steps()["output"][-1].tolist() == one_hot(answer)


def test_weights_of_reverse_become_anti_diagonal():
    steps = examples.steps("learning_reverse")
    positions = np.arange(6)
    mirrored = positions[::-1]
    assert np.all(steps["weights_0"] < 0.25)
    assert np.all(steps["weights_100"][positions, mirrored] > 0.9)
    np.testing.assert_array_equal(steps["position_scores"].argmax(axis=1), mirrored)
    assert steps["accuracy"][-1] == 100


def test_trained_induction_heads_match_those_by_hand():
    steps = examples.steps("learning_induction")
    positions = np.arange(7)
    assert np.all(steps["weights1"][positions[1:], positions[:-1]] > 0.85)
    tokens = steps["tokens"].tolist()
    after_first_occurrence = tokens.index(tokens[-1]) + 1
    assert tokens[after_first_occurrence] == steps["answer"]
    assert steps["weights2"][-1].argmax() == after_first_occurrence
    np.testing.assert_array_equal(steps["match_scores"].argmax(axis=1), np.arange(9))


def test_induction_needs_both_layers():
    steps = examples.steps("learning_induction")
    assert steps["accuracy_two"][-1] == 100
    # One layer does little better than guessing among the six tokens that could follow.
    assert np.all(steps["accuracy_one"] < 30)
    assert steps["accuracy_without_1"] < 30
    assert steps["accuracy_without_2"] < 30


@pytest.fixture(scope="module")
def mistakes():
    return examples.steps("learning_mistakes")


def test_models_without_positions_learn_only_partly(mistakes):
    assert mistakes["no_positions_accuracy"][-1] < 50
    assert 50 < mistakes["induction_no_positions_accuracy"][-1] < 90


def test_two_layers_need_the_residual_sum_and_one_does_not(mistakes):
    assert mistakes["no_residual_accuracy"][-1] == 100
    assert mistakes["induction_no_residual_accuracy"][-1] < 25


def test_model_without_scale_learns_more_slowly(mistakes):
    wide, unscaled = mistakes["wide_accuracy"], mistakes["wide_unscaled_accuracy"]
    assert wide[-1] == unscaled[-1] == 100
    assert np.all(unscaled[3:6] < wide[3:6])  # after 30, 40 and 50 steps
    assert np.all(mistakes["wide_unscaled_accuracy_by_seed"] < mistakes["wide_accuracy_by_seed"])


def test_model_trained_unmasked_fails_when_masked(mistakes):
    smallest_loss_with_mask = math.log(2)
    assert abs(mistakes["walk"][-1] - smallest_loss_with_mask) < 0.03
    assert mistakes["unmasked"][-1] < smallest_loss_with_mask / 2
    assert mistakes["unmasked_used"][-1] > 2


def test_model_trained_on_unshifted_targets_never_predicts_next_token(mistakes):
    assert mistakes["unshifted"][-1] < 0.001
    assert mistakes["unshifted_used_accuracy"][-1] == 0
