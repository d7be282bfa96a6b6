"""The trainable block: its gradients, its norm and its uniform variant."""

from dataclasses import replace

import pytest
from numpy.random import RandomState

from attention_docs.tasks import reverse
from attention_docs.transformer_block import Block
from tests.maths.gradients import assert_gradients_equal_finite_differences

SMALL = Block(vocabulary=5, length=4, d_model=6, d_k=3, d_v=2, d_ff=7)
BLOCKS = {
    "two heads": SMALL,
    "three heads": replace(SMALL, heads=3),
    "uniform weights": replace(SMALL, scale=0.0),
}
BATCH = reverse(RandomState(3), batch_size=3, length=4, vocabulary=5)


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
def test_gradients_equal_finite_differences(block):
    weights = block.initial_weights(seed=1, deviation=0.7)
    assert_gradients_equal_finite_differences(block, weights, BATCH, stride=3, rel=1e-6)
