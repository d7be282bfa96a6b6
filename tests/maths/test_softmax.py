"""Softmax: properties, edge cases and errors."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from attention_docs import softmax
from tests.conftest import to_numpy
from tests.loops import softmax_row

finite = st.floats(-1e6, 1e6)
matrices = arrays(float, array_shapes(min_dims=2, max_dims=3, max_side=5), elements=finite)


@given(matrices)
def test_weights_are_nonnegative_and_sum_to_one(scores):
    weights = softmax(scores)
    assert np.all(weights >= 0)
    np.testing.assert_allclose(weights.sum(-1), 1, rtol=1e-15, atol=1e-15)


@given(matrices, st.floats(-1e3, 1e3))
def test_softmax_is_invariant_to_shift(scores, shift):
    np.testing.assert_allclose(softmax(scores + shift), softmax(scores), rtol=1e-6, atol=1e-9)


@given(matrices)
def test_softmax_over_first_axis_equals_transposed(scores):
    np.testing.assert_array_equal(softmax(scores, axis=0), softmax(scores.T).T)


@given(arrays(float, 7, elements=st.floats(-700, 700)))
def test_softmax_equals_slow_loop(scores):
    np.testing.assert_allclose(softmax(scores), softmax_row(scores), rtol=1e-13)


def test_softmax_runs_on_every_library(xp):
    scores = xp.asarray([[0.0, math.log(3)], [1e308, -1e308]], dtype=xp.float64)
    weights = softmax(scores)
    assert type(weights) is type(scores)
    np.testing.assert_allclose(to_numpy(weights), [[0.25, 0.75], [1, 0]], rtol=1e-15)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_softmax_keeps_dtype(dtype):
    assert softmax(np.ones(3, dtype=dtype)).dtype == dtype


def test_float16_is_summed_in_float32():
    # Each exponential is 1, and the sum of 65536 overflows float16, whose largest number is 65504.
    assert softmax(np.zeros(65536, dtype=np.float16))[0] == np.float16(1 / 65536)


def test_fully_masked_row_has_zero_weights(xp):
    weights = softmax(xp.asarray([[-xp.inf, -xp.inf], [-xp.inf, 5.0]]))
    assert to_numpy(weights).tolist() == [[0, 0], [0, 1]]


def test_empty_axis_stays_empty(xp):
    assert softmax(xp.zeros((2, 0))).shape == (2, 0)
    assert softmax(xp.zeros((0, 2))).shape == (0, 2)


@pytest.mark.parametrize("invalid", [math.nan, math.inf])
def test_error_locates_nan_or_inf_score(xp, invalid):
    with pytest.raises(ValueError, match=rf"scores holds {invalid} at \[1, 0\]; expected finite"):
        softmax(xp.asarray([[1.0, 2.0], [invalid, 3.0]]))


def test_axis_out_of_range_raises():
    with pytest.raises(ValueError, match=r"axis is 1; expected an axis of scores \(3,\)"):
        softmax(np.ones(3), axis=1)
