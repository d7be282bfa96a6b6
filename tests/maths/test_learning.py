"""Trainable models: gradients, loss, Adam and tasks, compared with independent computations."""

import math
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from numpy.random import RandomState

from attention_docs.learning import Adam, Model, cross_entropy, evaluate, train
from attention_docs.tasks import Batch, induction, one_hot, reverse, walk
from tests.conftest import to_numpy
from tests.maths.gradients import assert_gradients_equal_finite_differences, loss_and_gradients

SMALL = Model(vocabulary=5, length=4, width=6, d_k=3, layers=2, is_causal=True)
MODELS = {
    "two layers": SMALL,
    "one layer without a mask": replace(SMALL, layers=1, is_causal=False),
    "no residual": replace(SMALL, has_residual=False),
    "no positions": replace(SMALL, has_positions=False),
    "another scale": replace(SMALL, scale=1.3),
}
BATCH = reverse(RandomState(3), batch_size=3, length=4, vocabulary=5)


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_gradients_equal_finite_differences(model):
    weights = model.initial_weights(seed=1, embedding_scale=2)
    assert_gradients_equal_finite_differences(model, weights, BATCH, stride=5, rel=1e-7)


def torch_loss(torch, model, weights, batch):
    """Return the loss of the same model in PyTorch."""
    tokens, targets = (torch.from_numpy(np.ascontiguousarray(array)) for array in batch)
    x = tokens @ weights["W_E"]
    if model.has_positions:
        x = x + weights["W_P"]
    for layer in range(1, model.layers + 1):
        q, k, v = (x @ weights[f"W_{role}{layer}"] for role in "QKV")
        scores = q @ k.mT * (model.d_k**-0.5 if model.scale is None else model.scale)
        if model.is_causal:
            later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
            scores = scores.masked_fill(later, -math.inf)
        output = torch.softmax(scores, dim=-1) @ v
        x = x + output if model.has_residual else output
    has_target = targets.sum(-1) > 0
    logits = (x @ weights["W_vocabulary"])[has_target]
    return torch.nn.functional.cross_entropy(logits, targets[has_target].argmax(-1))


def train_with_pytorch(torch, model, task, steps):
    """Return the weights after training steps with PyTorch's gradients and Adam."""
    parameters = {
        name: torch.tensor(array, requires_grad=True)
        for name, array in model.initial_weights(seed=0).items()
    }
    adam = torch.optim.Adam(parameters.values(), lr=1 / 100, betas=(0.9, 0.98))
    random_state = RandomState(1)
    for _ in range(steps):
        adam.zero_grad()
        torch_loss(torch, model, parameters, task(random_state)).backward()
        adam.step()
    return {name: parameter.detach().numpy() for name, parameter in parameters.items()}


@pytest.mark.parametrize(
    ("model", "task"),
    [
        (replace(SMALL, vocabulary=9, length=8), induction),
        (replace(SMALL, vocabulary=6, length=8, has_residual=False), walk),
    ],
)
def test_training_equals_pytorch(torch, model, task):
    steps = 20
    training = train(model, model.initial_weights(seed=0), task, rate=1 / 100, seed=1)
    ours = next(islice(training, steps, None))
    theirs = train_with_pytorch(torch, model, task, steps)
    for name, weights in ours.items():
        np.testing.assert_allclose(weights, theirs[name], rtol=0, atol=1e-10, err_msg=name)


# Two sequences of two positions; the last position of each has no target.
LOGITS = np.array([[[1.0, 2.0, 0.5], [0.0, 0.0, 0.0]], [[3.0, -1.0, 700.0], [1.0, 1.0, 2.0]]])
TARGETS = np.array([[[0, 0, 1], [0, 0, 0]], [[1, 0, 0], [0, 0, 0]]])


def test_cross_entropy_is_mean_over_targets():
    loss, _ = cross_entropy(LOGITS, TARGETS)
    first_loss = math.log(math.exp(1) + math.exp(2) + math.exp(0.5)) - 0.5
    second_loss = 700 - 3  # the other exponentials are negligible next to e^700
    assert loss == pytest.approx((first_loss + second_loss) / 2, rel=1e-14)


def test_adam_keeps_a_weight_without_gradient():
    weights = {"b": np.array([0.5])}
    assert Adam(0.1).step(weights, gradients={})["b"] is weights["b"]


def test_adam_equals_scalar_loop():
    adam, weight = Adam(0.05), {"W": np.array([0.3])}
    mean, square, expected = 0.0, 0.0, 0.3
    for count, gradient in enumerate([2.0, -0.5, 0.1, 0.0, 3.0], start=1):
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.98 * square + 0.02 * gradient**2
        unbiased_mean, unbiased_square = mean / (1 - 0.9**count), square / (1 - 0.98**count)
        expected -= 0.05 * unbiased_mean / (math.sqrt(unbiased_square) + 1e-8)
        weight = adam.step(weight, {"W": np.array([gradient])})
        assert weight["W"][0] == pytest.approx(expected, rel=1e-13)


def tokens_of(batch):
    """Return the indices of the tokens and of the targets."""
    return batch.tokens.argmax(-1), batch.targets.argmax(-1)


def test_reverse_targets_are_mirrored_tokens():
    tokens, answers = tokens_of(reverse(RandomState(0)))
    assert tokens.shape == (32, 6)
    np.testing.assert_array_equal(answers, tokens[:, ::-1])


def test_induction_asks_for_the_token_after_the_first_occurrence_of_the_last():
    batch = induction(RandomState(0), batch_size=300)
    tokens, answers = tokens_of(batch)
    first_occurrences = set()
    for sequence, answer in zip(tokens.tolist(), answers[:, -1], strict=True):
        first_occurrence = sequence.index(sequence[-1])
        first_occurrences.add(first_occurrence)
        assert sequence[first_occurrence + 1] == answer
        assert len(set(sequence)) == len(sequence) - 1
    assert first_occurrences == {0, 1, 2, 3, 4, 5}  # one position could be learned by heart
    assert np.all(batch.targets[:, :-1] == 0)


def test_walk_targets_are_the_next_tokens_one_or_two_ahead():
    vocabulary = 6
    tokens, answers = tokens_of(walk(RandomState(0)))
    np.testing.assert_array_equal(tokens[:, 1:], answers[:, :-1])
    assert set(np.unique((answers - tokens) % vocabulary)) == {1, 2}


def test_walk_without_shift_asks_for_the_token_itself():
    batch = walk(RandomState(0), shift=0)
    np.testing.assert_array_equal(batch.tokens, batch.targets)


def test_accuracy_and_loss_count_targets_only():
    # The model predicts the token at each position: its logit is 50, and all other logits are 0.
    model = replace(SMALL, layers=1)
    weights = {name: 0 * weight for name, weight in model.initial_weights(seed=0).items()}
    weights["W_E"] = 50 * np.eye(model.vocabulary, model.width)
    weights["W_vocabulary"] = np.eye(model.width, model.vocabulary)
    tokens = one_hot(np.array([[1, 2, 3, 4], [0, 1, 2, 3]]), model.vocabulary)
    targets = tokens.copy()
    targets[0, 0] = targets[1, 1] = 0  # no targets, so six of eight are left
    targets[0, 1] = targets[0, 3]  # one of the six is not the predicted token
    loss, accuracy = evaluate(model, weights, Batch(tokens, targets))
    assert accuracy == round(100 * 5 / 6)
    assert loss == pytest.approx(50 / 6)


def test_model_runs_on_every_library(xp):
    batch = Batch(*map(xp.asarray, BATCH))
    weights = SMALL.initial_weights(seed=1)
    xp_weights = {name: xp.asarray(weight) for name, weight in weights.items()}
    loss, gradients = loss_and_gradients(SMALL, xp_weights, batch)
    expected_loss, expected = loss_and_gradients(SMALL, weights, BATCH)
    assert float(loss) == pytest.approx(float(expected_loss), rel=1e-13)
    for name, gradient in gradients.items():
        np.testing.assert_allclose(to_numpy(gradient), expected[name], rtol=0, atol=1e-13)
