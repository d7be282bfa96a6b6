"""Gradients and trained models: statements of the pages about them."""

import math

import numpy as np
import pytest

from attention_docs import examples


@pytest.fixture(scope="module")
def induction():
    return examples.steps("learning_induction")


@pytest.fixture(scope="module")
def mistakes():
    return examples.steps("learning_mistakes")


def test_first_step_lowers_loss():
    steps = examples.steps("first_step")
    assert steps["loss_after"] < steps["loss"]


@pytest.mark.parametrize("name", ["backward", "course_step"])
def test_step_lowers_loss_less_than_linear_prediction(name):
    steps = examples.steps(name)
    assert steps["expected"] < steps["loss_after"] - steps["loss"] < 0


def one_hot(token):
    return [float(token == letter) for letter in "ABC"]


@pytest.mark.parametrize("sequence", ["CABA", "BCAC", "ABCB", "CBAB", "BACA"])
def test_induction_by_hand_continues_other_sequences(sequence, monkeypatch):
    example = examples.load("induction_by_hand")
    positions = [row[len("ABC") :] for row in example.X]  # the features after those of the token
    rows = [one_hot(token) + row for token, row in zip(sequence, positions, strict=True)]
    monkeypatch.setattr(example, "X", rows)
    first_occurrence = sequence.index(sequence[-1])
    expected = one_hot(sequence[first_occurrence + 1])
    assert example.steps()["output"][-1].tolist() == expected


def test_weights_of_reverse_become_anti_diagonal():
    steps = examples.steps("learning_reverse")
    before_training, trained = steps["weights_0"], steps["weights_100"]
    assert np.all(before_training < 0.25)
    anti_diagonal = np.diagonal(np.fliplr(trained))
    assert np.all(anti_diagonal > 0.9)


def test_model_learns_to_reverse_every_sequence():
    assert examples.steps("learning_reverse")["accuracy"][-1] == 100


def test_trained_first_layer_attends_to_the_previous_token(induction):
    *weights_of_previous_token, _ = np.diagonal(induction["weights1"], offset=-1)
    assert min(weights_of_previous_token) > 0.85, "of every token but the last"


def test_trained_second_layer_matches_equal_tokens(induction):
    scores = induction["match_scores"]
    np.testing.assert_array_equal(scores.argmax(axis=1), np.arange(len(scores)))


def test_two_layers_learn_induction(induction):
    assert induction["accuracy_two"][-1] == 100


def test_one_layer_does_little_better_than_guessing_among_six_tokens(induction):
    assert np.all(induction["accuracy_one"] < 30)


def test_models_without_positions_learn_only_partly(mistakes):
    assert mistakes["no_positions_accuracy"][-1] < 50
    assert 50 < mistakes["induction_no_positions_accuracy"][-1] < 90


def test_two_layers_need_the_residual_sum_and_one_does_not(mistakes):
    assert mistakes["no_residual_accuracy"][-1] == 100
    assert mistakes["induction_no_residual_accuracy"][-1] < 25


def test_model_without_scale_learns_more_slowly(mistakes):
    scaled, unscaled = mistakes["wide_accuracy"], mistakes["wide_unscaled_accuracy"]
    is_learning = np.isin(mistakes["step"], [30, 40, 50])
    assert np.all(unscaled[is_learning] < scaled[is_learning])
    assert scaled[-1] == unscaled[-1] == 100


def test_model_without_scale_learns_more_slowly_from_every_seed(mistakes):
    assert np.all(mistakes["wide_unscaled_accuracy_by_seed"] < mistakes["wide_accuracy_by_seed"])


SMALLEST_LOSS_WITH_MASK = math.log(2)  # each token is followed by one of two


def test_masked_model_reaches_the_smallest_possible_loss(mistakes):
    assert abs(mistakes["walk"][-1] - SMALLEST_LOSS_WITH_MASK) < 0.03


def test_model_trained_unmasked_fails_when_masked(mistakes):
    assert mistakes["unmasked"][-1] < SMALLEST_LOSS_WITH_MASK / 2
    assert mistakes["unmasked_used"][-1] > 2


def test_model_trained_on_unshifted_targets_never_predicts_next_token(mistakes):
    assert mistakes["unshifted"][-1] < 0.001
    assert mistakes["unshifted_used_accuracy"][-1] == 0
