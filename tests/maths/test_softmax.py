"""Softmax: properties, edge cases and errors."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from attention_docs import softmax
from tests.conftest import to_numpy
from tests.loops import softmax_row

counts = st.integers(1, 7)


@given(arrays(float, st.tuples(counts, counts), elements=st.floats(-1e6, 1e6)))
def test_softmax_over_first_axis_equals_transposed(scores):
    np.testing.assert_array_equal(softmax(scores, axis=0), softmax(scores.T).T)


@given(arrays(float, st.tuples(counts, counts), elements=st.floats(-700, 700)))
def test_softmax_equals_slow_loop(scores):
    expected = [softmax_row(row) for row in scores]
    np.testing.assert_allclose(softmax(scores), expected, rtol=1e-13)


def test_softmax_runs_on_every_library(xp):
    scores = xp.asarray([[0.0, math.log(3)], [1e308, -1e308]], dtype=xp.float64)
    weights = softmax(scores)
    assert type(weights) is type(scores)
    np.testing.assert_allclose(to_numpy(weights), [[0.25, 0.75], [1, 0]], rtol=1e-15)


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
