"""Gradients of trainable models, compared with differences of the loss."""

import numpy as np
import pytest

from attention_docs.learning import cross_entropy


def loss_and_gradients(model, weights, batch):
    run = model.run(weights, batch.tokens)
    loss, d_logits = cross_entropy(run.logits, batch.targets)
    return loss, model.gradients(weights, batch.tokens, run, d_logits)


def assert_gradients_equal_finite_differences(model, weights, batch, stride, rel):
    """Compare every `stride`-th number of each gradient with a central difference of the loss."""
    _, gradients = loss_and_gradients(model, weights, batch)
    step = 1e-5

    def loss_after(name, index, change):
        """Return the loss after adding to one number of a weight matrix."""
        changed = weights[name].copy()
        changed[index] += change
        return loss_and_gradients(model, {**weights, name: changed}, batch)[0]

    assert gradients.keys() <= weights.keys()
    for name, weight in weights.items():
        gradient = gradients.get(name, np.zeros_like(weight))
        assert gradient.shape == weight.shape
        for index in list(np.ndindex(gradient.shape))[::stride]:
            difference = loss_after(name, index, step) - loss_after(name, index, -step)
            expected = pytest.approx(difference / (2 * step), rel=rel, abs=1e-8)
            assert gradient[index] == expected, (name, index)
