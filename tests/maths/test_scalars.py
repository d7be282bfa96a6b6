"""Scalar arguments: accepted types, their conversion, and errors."""

import math

import ml_dtypes
import numpy as np
import pytest

from attention_docs.scalars import count, finite_number, flag, real_number, size, whole_number


@pytest.mark.parametrize("value", [3, np.int8(3), np.uint64(3), np.array(3)])
def test_whole_number_and_count_accept_every_integer_type(value):
    for number in (whole_number("n", value), count("n", value, minimum=3)):
        assert number == 3
        assert type(number) is int


@pytest.mark.parametrize(
    "value", [2, 2.0, np.int8(2), np.float16(2), np.array(2.0), ml_dtypes.bfloat16(2)]
)
def test_real_and_finite_number_accept_every_real_type(value):
    for number in (real_number("x", value), finite_number("x", value)):
        assert number == 2
        assert type(number) is float


def test_flag_accepts_numpy_bool():
    assert flag("f", np.True_) is True
    assert flag("f", np.False_) is False


@pytest.mark.parametrize("number", [2**60, 10**400])
def test_size_too_large_for_an_array_raises(number):
    with pytest.raises(ValueError, match=rf"^n is {number}; expected fewer than 2\*\*60$"):
        size("n", number)


def test_largest_size_is_accepted():
    assert size("n", 2**60 - 1) == 2**60 - 1


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_only_finite_number_refuses_nan_and_inf(value):
    assert not math.isfinite(real_number("x", value))
    with pytest.raises(ValueError, match=f"x is {value}; expected a finite number"):
        finite_number("x", value)
