"""Attention in tiles: the merge, its identity, and the same output as attention."""

import functools
import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_docs import TileState, attend_tile, merge, scaled_dot_product_attention
from tests import loops
from tests.conftest import assert_raises, peak_memory, random_arrays

EMPTY = TileState(np.full(2, -np.inf), np.zeros(2), np.zeros((2, 3)))


def test_merge_of_empty_states_has_zero_output():
    merged = merge(EMPTY, EMPTY)
    for field in TileState._fields:
        np.testing.assert_array_equal(getattr(merged, field), getattr(EMPTY, field))
    np.testing.assert_array_equal(merged.output, np.zeros((2, 3)))


KEYS = 12
QUERY, KEY, VALUE = random_arrays((5, 3), (KEYS, 3), (KEYS, 4))


def slow_output(query):
    return np.array(loops.attention(query, KEY, VALUE)[1])


@given(st.lists(st.integers(0, KEYS), max_size=5), st.sampled_from([1.0, 30.0, 1000.0]))
def test_tiles_of_any_width_equal_slow_loop(cuts, size):
    query = size * QUERY
    tiles = [
        attend_tile(query, KEY[start:stop], VALUE[start:stop])
        for start, stop in itertools.pairwise([0, *sorted(cuts), KEYS])
    ]
    output = functools.reduce(merge, tiles).output
    np.testing.assert_allclose(output, slow_output(query), rtol=1e-9, atol=1e-12)


def test_tile_accepts_attention_options():
    options = {"attn_mask": KEY[:, 0] > 0, "scale": 0.3, "softcap": 2.0}
    output = attend_tile(QUERY, KEY, VALUE, **options).output
    expected = scaled_dot_product_attention(QUERY, KEY, VALUE, **options)
    np.testing.assert_allclose(output, expected, atol=1e-12)


def test_values_with_extra_axes_can_be_merged():
    values = np.stack([VALUE, 2 * VALUE])
    first = attend_tile(QUERY, KEY[:7], values[:, :7])
    last = attend_tile(QUERY, KEY[7:], values[:, 7:])
    output = slow_output(QUERY)
    np.testing.assert_allclose(merge(first, last).output, [output, 2 * output], rtol=1e-9)


VALID = TileState(np.zeros(2), np.ones(2), np.ones((2, 3)))


@pytest.mark.parametrize(
    ("other", "error", "message"),
    [
        ((1, 2, 3), TypeError, "other is a tuple; expected a TileState"),
        (VALID._replace(total=np.ones(3)), ValueError, "other.total has shape (3,); expected (2,) to match one.maximum (2,)"),
        (VALID._replace(sums=np.ones((2, 4))), ValueError, "other.sums has shape (2, 4); expected (2, 3) to match one.maximum (2,)"),
        (VALID._replace(maximum=np.array([0, math.inf])), ValueError, "other.maximum holds inf at [1]; expected finite numbers or -inf"),
    ],
)  # fmt: skip
def test_merge_error_states_argument_expectation_and_value(other, error, message):
    assert_raises(lambda: merge(VALID, other), error, message)


def test_states_without_axes_are_refused():
    state = TileState(np.asarray(0.0), np.asarray(1.0), np.asarray(1.0))
    with pytest.raises(ValueError, match=r"^one.maximum has shape \(\); expected \(\.\.\., m\)$"):
        merge(state, state)


def test_tile_names_a_value_that_is_not_real():
    with pytest.raises(TypeError, match=r"^value has dtype complex128; expected real numbers$"):
        attend_tile(np.ones((2, 3)), np.ones((4, 3)), np.ones((4, 2), complex))


def test_merge_overflow_raises():
    large = VALID._replace(total=np.full(2, 1.5e308))
    with pytest.raises(ValueError, match="the merged totals of one and other hold inf at"):
        merge(large, large)


def test_tile_memory_is_about_five_times_its_scores():
    length, float32_bytes = 512, 4
    ones = np.ones((length, 16), dtype="float32")
    peak = peak_memory(lambda: attend_tile(ones, ones, ones))
    assert 4.5 < peak / (float32_bytes * length**2) < 5.5
