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


@pytest.mark.parametrize(
    "value", [None, True, np.True_, 2.5, "2", [2], np.array([2]), np.array([1, 2]), 2 + 0j]
)
def test_non_integer_raises(value):
    with pytest.raises(TypeError) as caught:
        whole_number("n", value)
    assert str(caught.value) == f"n is {value!r}; expected a whole number"


@pytest.mark.parametrize(
    "value",
    [None, True, np.True_, "2", [2], np.array([2.0]), 2 + 0j, np.complex64(2), np.str_("2")],
)
def test_non_real_number_raises(value):
    with pytest.raises(TypeError) as caught:
        real_number("x", value)
    assert str(caught.value) == f"x is {value!r}; expected a real number"


@pytest.mark.parametrize("value", [None, 1, 0.0, "yes", np.array([True]), np.array(True)])
def test_non_boolean_flag_raises(value):
    with pytest.raises(TypeError) as caught:
        flag("f", value)
    assert str(caught.value) == f"f is {value!r}; expected True or False"


def test_negative_count_raises():
    with pytest.raises(ValueError, match="n is -1; expected 0 or more"):
        count("n", -1)


def test_count_below_least_raises():
    with pytest.raises(ValueError, match="n is 0; expected 1 or more"):
        count("n", 0, minimum=1)


@pytest.mark.parametrize("number", [2**60, 10**400])
def test_size_too_large_for_an_array_raises(number):
    with pytest.raises(ValueError, match=rf"^n is {number}; expected fewer than 2\*\*60$"):
        size("n", number)


def test_largest_size_is_accepted():
    assert size("n", 2**60 - 1) == 2**60 - 1


def test_integer_beyond_float64_raises():
    with pytest.raises(ValueError, match="expected a number that fits float64"):
        real_number("x", 10**400)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_only_finite_number_refuses_nan_and_inf(value):
    assert not math.isfinite(real_number("x", value))
    with pytest.raises(ValueError, match=f"x is {value}; expected a finite number"):
        finite_number("x", value)
