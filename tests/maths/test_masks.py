"""Masks: compared with their definitions, and their errors."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from attention_docs import causal_mask, create_mask, padding_mask, window_mask
from tests.conftest import assert_raises, to_numpy

counts = st.integers(0, 7)
sides = st.none() | counts


@given(counts, counts, sides, sides)
def test_window_mask_equals_definition(queries, keys, left, right):
    mask = window_mask(queries, keys, left=left, right=right)
    assert mask.shape == (queries, keys)
    for i in range(queries):
        for j in range(keys):
            is_after_left = left is None or j >= i - left
            is_before_right = right is None or j <= i + right
            assert mask[i, j] == (is_after_left and is_before_right)


@given(counts, counts)
def test_causal_mask_is_lower_triangle(queries, keys):
    np.testing.assert_array_equal(causal_mask(queries, keys), np.tri(queries, keys, dtype=bool))


@given(arrays(bool, st.tuples(counts, counts)))
def test_create_mask_applies_function_to_every_pair_of_positions(visible):
    mask = create_mask(lambda q, kv: visible[q, kv], *visible.shape)
    assert mask.dtype == bool
    np.testing.assert_array_equal(mask, visible)


def test_create_mask_broadcasts_and_keeps_leading_axes(xp):
    lengths = xp.asarray([2, 3])
    mask = create_mask(lambda q, kv: kv < lengths[:, None, None], 4, 3, xp=xp)
    assert to_numpy(mask).tolist() == [[[True, True, False]] * 4, [[True, True, True]] * 4]


def test_masks_use_requested_device(strict):
    device = strict.Device("device1")
    assert causal_mask(2, xp=strict, device=device).device == device
    assert window_mask(2, left=1, xp=strict, device=device).device == device
    assert create_mask(lambda q, kv: q == kv, 2, xp=strict, device=device).device == device
    assert padding_mask(strict.asarray([1, 2], device=device), 3).device == device


@pytest.mark.parametrize(
    ("dtype", "length", "keys"),
    [("int8", 100, 200), ("uint8", 200, 300), ("int8", 127, 128), ("uint64", 3, 300)],
)
def test_keys_may_exceed_dtype_of_lengths(dtype, length, keys):
    assert padding_mask(np.array([length], dtype=dtype), keys).sum() == length


def test_sum_of_queries_and_window_may_exceed_their_dtype():
    mask = window_mask(np.int8(100), 200, left=np.int8(100))
    np.testing.assert_array_equal(mask, np.ones((100, 200)))


def test_lengths_accept_unsigned_integers(strict):
    mask = padding_mask(strict.asarray([1], dtype=strict.uint64), 2)
    assert to_numpy(mask).tolist() == [[[True, False]]]


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: create_mask(2, 2), TypeError, "mask is an int; expected a function of two arrays"),
        (lambda: create_mask(lambda q, kv: True, 2), TypeError, "mask returned a bool; expected an array of dtype bool"),
        (lambda: create_mask(lambda q, kv: q - kv, 2), TypeError, "mask returned int64; expected an array of dtype bool"),
        (lambda: create_mask(lambda q, kv: np.ones((3, 3), dtype=bool), 2), ValueError, "mask returned shape (3, 3); expected one that broadcasts to (..., 2, 2)"),
        (lambda: create_mask(lambda q, kv: np.ones((3, 2), dtype=bool), 1, 2), ValueError, "mask returned shape (3, 2); expected one that broadcasts to (..., 1, 2)"),
        (lambda: causal_mask(-1), ValueError, "queries is -1; expected 0 or more"),
        (lambda: window_mask(2, right=-1), ValueError, "right is -1; expected 0 or more"),
        (lambda: padding_mask(np.array([2]), 2**63), ValueError, f"keys is {2**63}; expected fewer than 2**60"),
        (lambda: padding_mask(np.array([1], ml_dtypes.bfloat16), 2), TypeError, "lengths has dtype bfloat16; expected integers"),
        (lambda: padding_mask(np.array([2**64 - 1], "uint64"), 2), ValueError, f"lengths holds {2**64 - 1} at [0]; expected 0 to 2"),
        (lambda: padding_mask(np.array([3]), 2), ValueError, "lengths holds 3 at [0]; expected 0 to 2"),
        (lambda: padding_mask(np.array([0, -1]), 2), ValueError, "lengths holds -1 at [1]; expected 0 to 2"),
    ],
)  # fmt: skip
def test_error_states_argument_expectation_and_value(make, error, message):
    assert_raises(make, error, message)
