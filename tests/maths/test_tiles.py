"""Attention in tiles: the merge, its identity, and the same output as attention."""

import functools
import itertools
import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from attention_docs import TileState, attend_tile, merge, scaled_dot_product_attention
from tests import reference
from tests.conftest import random_array, random_arrays, to_numpy

numbers = st.floats(-50, 50)
totals = st.floats(0, 50)


@st.composite
def states(draw, queries=2, features=3):
    """Draw a state of random numbers."""
    return TileState(
        maximum=draw(arrays(float, queries, elements=numbers)),
        total=draw(arrays(float, queries, elements=totals)),
        sums=draw(arrays(float, (queries, features), elements=numbers)),
    )


EMPTY = TileState(np.full(2, -np.inf), np.zeros(2), np.zeros((2, 3)))


def assert_close(state, expected):
    for field in TileState._fields:
        actual, desired = getattr(state, field), getattr(expected, field)
        np.testing.assert_allclose(actual, desired, rtol=1e-12, atol=1e-12, err_msg=field)


def assert_equal(state, expected):
    for field in TileState._fields:
        np.testing.assert_array_equal(getattr(state, field), getattr(expected, field))


@given(states(), states(), states())
def test_merge_is_associative_and_commutative(a, b, c):
    assert_close(merge(merge(a, b), c), merge(a, merge(b, c)))
    assert_close(merge(a, b), merge(b, a))


@given(states())
def test_merge_with_empty_state_is_identity(state):
    for merged in (merge(EMPTY, state), merge(state, EMPTY)):
        assert_equal(merged, state)


def test_merge_of_empty_states_has_zero_output():
    merged = merge(EMPTY, EMPTY)
    assert_equal(merged, EMPTY)
    np.testing.assert_array_equal(merged.output, np.zeros((2, 3)))


def sample_qkv(m=5, n=12, d_k=3, d_v=4, size=1.0):
    """Return query, key and value with a product of any size."""
    q, k, v = random_arrays((m, d_k), (n, d_k), (n, d_v))
    return size * q, k, v


def slow_output(q, k, v):
    return reference.attention(q, k, v)[1]


@given(st.lists(st.integers(0, 12), max_size=5), st.sampled_from([1.0, 30.0, 1000.0]))
def test_tiles_of_any_width_equal_attention(cuts, size):
    q, k, v = sample_qkv(size=size)
    cuts = [0, *sorted(cuts), 12]
    tiles = [attend_tile(q, k[i:j], v[i:j]) for i, j in itertools.pairwise(cuts)]
    output = functools.reduce(merge, tiles).output
    np.testing.assert_allclose(output, slow_output(q, k, v), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(output, scaled_dot_product_attention(q, k, v), atol=1e-12)


def test_tiles_of_long_sequence_equal_blockwise_attention():
    q, k, v = sample_qkv(m=300, n=3000, size=20.0)
    mask = random_array((300, 3000), seed=1) > -0.5
    slices = [slice(start, start + 500) for start in range(0, 3000, 500)]
    tiles = [attend_tile(q, k[keys], v[keys], attn_mask=mask[:, keys]) for keys in slices]
    output = functools.reduce(merge, tiles).output
    expected = scaled_dot_product_attention(q, k, v, attn_mask=mask)
    np.testing.assert_allclose(output, expected, rtol=1e-9, atol=1e-12)


def test_tile_accepts_attention_options():
    q, k, v = sample_qkv()
    options = {"attn_mask": k[:, 0] > 0, "scale": 0.3, "softcap": 2.0}
    expected = scaled_dot_product_attention(q, k, v, **options)
    np.testing.assert_allclose(attend_tile(q, k, v, **options).output, expected, atol=1e-12)


def test_values_with_extra_axes_can_be_merged():
    q, k, v = sample_qkv()
    values = np.stack([v, 2 * v])
    tiles = [attend_tile(q, k[keys], values[:, keys]) for keys in (slice(0, 7), slice(7, 12))]
    expected = np.stack([slow_output(q, k, v), np.multiply(2, slow_output(q, k, v))])
    np.testing.assert_allclose(merge(*tiles).output, expected, rtol=1e-9)


def test_merged_tiles_equal_slow_loop_in_every_library(xp):
    q, k, v = sample_qkv()
    query, key, value = xp.asarray(q), xp.asarray(k), xp.asarray(v)
    state = merge(
        attend_tile(query, key[:5, :], value[:5, :]),
        attend_tile(query, key[5:, :], value[5:, :]),
    )
    assert type(state.output) is type(xp.asarray([1.0]))
    np.testing.assert_allclose(to_numpy(state.output), slow_output(q, k, v), rtol=1e-9)


VALID = TileState(np.zeros(2), np.ones(2), np.ones((2, 3)))


@pytest.mark.parametrize(
    ("other", "error", "message"),
    [
        ((1, 2, 3), TypeError, "other is a tuple; expected a TileState"),
        (VALID._replace(total=np.ones(3)), ValueError, "other.total has shape (3,); expected (2,) to match one.maximum (2,)"),
        (VALID._replace(sums=np.ones((2, 4))), ValueError, "other.sums has shape (2, 4); expected (2, 3) to match one.maximum (2,)"),
        (VALID._replace(total=np.ones(2, "float32")), TypeError, "other.total has dtype float32; expected float64 to match one.maximum"),
        (VALID._replace(maximum=np.array([0, math.inf])), ValueError, "other.maximum holds inf at [1]; expected finite numbers or -inf"),
        (VALID._replace(total=np.array([math.nan, 1])), ValueError, "other.total holds nan at [0]; expected finite numbers only"),
    ],
)  # fmt: skip
def test_merge_error_states_argument_expectation_and_value(other, error, message):
    with pytest.raises(error) as caught:
        merge(VALID, other)
    assert str(caught.value) == message


def test_merge_overflow_raises():
    large = VALID._replace(total=np.full(2, 1.5e308))
    with pytest.raises(ValueError, match="the merged totals of one and other hold inf at"):
        merge(large, large)


def test_tile_memory_is_five_times_its_scores():
    qkv = (np.ones((512, 16), dtype="float32") for _ in "qkv")
    tracemalloc.start()
    attend_tile(*qkv)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert 4.5 < peak / (4 * 512**2) < 5.5
