"""The trainable block: its gradients, its norm and its uniform variant."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.random import RandomState

from attention_docs.tasks import reverse
from attention_docs.transformer_block import Block, norm
from tests.conftest import to_numpy
from tests.maths.gradients import (
    assert_gradients_equal_finite_differences,
    loss_and_gradients,
)

SMALL = Block(vocabulary=5, length=4, d_model=6, d_k=3, d_v=2, d_ff=7)
BLOCKS = {
    "two heads": SMALL,
    "three heads": replace(SMALL, heads=3),
    "uniform weights": replace(SMALL, scale=0.0),
}
BATCH = reverse(RandomState(3), batch_size=3, length=4, vocabulary=5)
each_block = pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)


@each_block
def test_gradients_equal_finite_differences(block):
    weights = block.initial_weights(seed=1, deviation=0.7)
    assert_gradients_equal_finite_differences(block, weights, BATCH, stride=3, rel=1e-6)


def test_block_runs_on_every_library(xp):
    weights = SMALL.initial_weights(seed=1, deviation=0.7)
    xp_weights = {name: xp.asarray(matrix) for name, matrix in weights.items()}
    batch = BATCH._replace(tokens=xp.asarray(BATCH.tokens), targets=xp.asarray(BATCH.targets))
    _, expected = loss_and_gradients(SMALL, weights, BATCH)
    _, gradients = loss_and_gradients(SMALL, xp_weights, batch)
    for name, gradient in gradients.items():
        np.testing.assert_allclose(to_numpy(gradient), expected[name], rtol=1e-9, atol=1e-12)


def test_attention_weights_are_uniform_at_scale_zero():
    block = BLOCKS["uniform weights"]
    run = block.run(block.initial_weights(seed=1, deviation=0.7), BATCH.tokens)
    mean_of_visible = np.tri(4) / [[1], [2], [3], [4]]
    for head in run.steps:
        for sequence_weights in head.weights:
            np.testing.assert_allclose(sequence_weights, mean_of_visible)


def test_initial_weights_have_the_standard_deviation():
    weights = replace(SMALL, vocabulary=4000).initial_weights(seed=0, deviation=0.25)
    assert weights["X"].std() == pytest.approx(0.25, rel=0.02)
    assert weights["W_vocabulary"].std() == pytest.approx(0.25, rel=0.02)


ROWS = np.array([[1.0, 2.0, 6.0], [0.0, -3.0, 5.0]])


def test_norm_ignores_shift_and_scale_of_a_row():
    np.testing.assert_allclose(norm(100 * ROWS + 7).rows, norm(ROWS).rows, atol=1e-5)
