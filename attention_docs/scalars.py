"""Validation of scalar arguments: counts, sizes, real numbers and flags."""

import math
import operator
from numbers import Real
from typing import Any

import numpy
from array_api_compat import is_array_api_obj

from attention_docs.arrays import dtype_kind, namespace


def whole_number(name: str, value: Any) -> int:
    """Return a whole number as a Python int, which cannot overflow as NumPy's integers can.

    >>> whole_number("num_heads", 2.5)
    Traceback (most recent call last):
    TypeError: num_heads is 2.5; expected a whole number
    """
    try:
        if not isinstance(value, bool | numpy.bool):
            return operator.index(value)
    except TypeError:
        pass
    raise TypeError(f"{name} is {value!r}; expected a whole number")


def count(name: str, value: Any, minimum: int = 0) -> int:
    """Return a whole number of at least `minimum`."""
    number = whole_number(name, value)
    if number < minimum:
        raise ValueError(f"{name} is {number}; expected {minimum} or more")
    return number


def size(name: str, value: Any, minimum: int = 0) -> int:
    """Return a whole number that can be the length of an axis."""
    number = count(name, value, minimum)
    # No address space holds 2**60 numbers of 64 bits. NumPy's errors for such sizes do not name the
    # argument, and `arange(2**63)` of int64 is even empty.
    if number >= 2**60:
        raise ValueError(f"{name} is {number}; expected fewer than 2**60")
    return number


def real_number(name: str, value: Any) -> float:
    """Return a real number as a Python float: NumPy's float64 would promote float32 arrays.

    >>> real_number("scale", numpy.ones(2))
    Traceback (most recent call last):
    TypeError: scale is array([1., 1.]); expected a real number
    """
    if not _is_real(value):
        raise TypeError(f"{name} is {value!r}; expected a real number")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{name} is {value}; expected a number that fits float64") from None


def finite_number(name: str, value: Any) -> float:
    """Return a real number that is neither NaN nor infinite."""
    number = real_number(name, value)
    if not math.isfinite(number):
        raise ValueError(f"{name} is {value}; expected a finite number")
    return number


def flag(name: str, value: Any) -> bool:
    """Return a boolean; arrays of booleans are refused, as their truth value is ambiguous."""
    if not isinstance(value, bool | numpy.bool):
        raise TypeError(f"{name} is {value!r}; expected True or False")
    return bool(value)


def _is_real(value: Any) -> bool:
    """Whether a value is one real number, perhaps in an array without axes, and no boolean."""
    if isinstance(value, Real):
        return not isinstance(value, bool)
    if not is_array_api_obj(value) or value.ndim > 0:
        return False
    return dtype_kind(namespace(value=value), value.dtype) in ("integral", "real floating")
