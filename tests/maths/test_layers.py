"""RMS norm and SwiGLU: compared with PyTorch and between libraries, and their errors."""

import numpy as np
import pytest

from attention_docs import rms_norm, swiglu
from tests.conftest import random_arrays, to_numpy


def test_swiglu_equals_torch(torch):
    x, W_gate, W_up, W_down = random_arrays((5, 3), (3, 4), (3, 4), (4, 2))
    ours = swiglu(x, W_gate, W_up, W_down)
    x, W_gate, W_up, W_down = map(torch.asarray, (x, W_gate, W_up, W_down))
    theirs = (torch.nn.functional.silu(x @ W_gate) * (x @ W_up)) @ W_down
    np.testing.assert_allclose(ours, theirs.numpy(), rtol=1e-12)


def test_rms_norm_equals_numpy_in_every_library(xp):
    x, weight = random_arrays((2, 5, 3), (3,))
    normed = rms_norm(xp.asarray(x), xp.asarray(weight))
    np.testing.assert_allclose(to_numpy(normed), rms_norm(x, weight), rtol=1e-12)


def test_swiglu_equals_numpy_in_every_library(xp):
    arrays = random_arrays((2, 5, 3), (3, 4), (3, 4), (4, 2))
    output = swiglu(*map(xp.asarray, arrays))
    np.testing.assert_allclose(to_numpy(output), swiglu(*arrays), rtol=1e-12)


def test_swiglu_gate_is_zero_for_large_negative_input():
    one = np.ones((1, 1))
    assert swiglu(one, -1000 * one, one, one) == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"W_gate": np.ones((4, 5))}, r"W_gate has shape \(4, 5\); expected \(3, d_ff\)"),
        ({"W_up": np.ones((3, 6))}, r"W_up has shape \(3, 6\); expected \(3, 5\)"),
        ({"W_down": np.ones((3, 2))}, r"W_down has shape \(3, 2\); expected \(5, d_out\)"),
        ({"x": np.ones(3)}, r"x has shape \(3,\); expected \(..., n, d\)"),
    ],
)
def test_swiglu_refuses_shapes_that_do_not_fit(change, message):
    arrays = {"x": np.ones((2, 3)), "W_gate": np.ones((3, 5)), "W_up": np.ones((3, 5))}
    with pytest.raises(ValueError, match=message):
        swiglu(**{**arrays, "W_down": np.ones((5, 2)), **change})
