"""Scalar arguments: accepted types, their conversion, and errors."""

import math

import ml_dtypes
import numpy as np
import pytest

from attention_docs.scalars import count, finite_number, flag, real_number, size, whole_number


@pytest.mark.parametrize("value", [3, np.int8(3), np.uint64(3), np.array(3)])
def test_whole_number_returns_int(value):
    assert whole_number("n", value) == count("n", value) == count("n", value, least=3) == 3
    assert type(whole_number("n", value)) is int


@pytest.mark.parametrize(
    "value", [2, 2.0, np.int8(2), np.float16(2), np.array(2.0), ml_dtypes.bfloat16(2)]
)
def test_real_number_returns_float(value):
    assert real_number("x", value) == finite_number("x", value) == 2
    assert type(real_number("x", value)) is float


def test_flag_accepts_numpy_bool():
    assert flag("f", np.True_) is flag("f", True) is True
    assert flag("f", np.False_) is flag("f", False) is False


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


def test_numbers_out_of_range_raise():
    with pytest.raises(ValueError, match="n is -1; expected 0 or more"):
        count("n", -1)
    with pytest.raises(ValueError, match="n is 0; expected 1 or more"):
        count("n", 0, least=1)
    assert size("n", 2**60 - 1) == 2**60 - 1
    for number in (2**60, 10**400):
        with pytest.raises(ValueError, match=rf"^n is {number}; expected fewer than 2\*\*60$"):
            size("n", number)
    with pytest.raises(ValueError, match="expected a number that fits float64"):
        real_number("x", 10**400)
    for value in (math.nan, math.inf, -math.inf):
        assert not math.isfinite(real_number("x", value))
        with pytest.raises(ValueError, match=f"x is {value}; expected a finite number"):
            finite_number("x", value)
