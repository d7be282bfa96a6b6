"""The arguments of the figures, checked: arrays of any library, with shapes that fit."""

from collections.abc import Sequence

import numpy as np

from attention_docs.arrays import (
    Array,
    check_finite,
    check_no_overflow,
    describe_first,
    ignoring_overflow,
    readable,
)
from attention_docs.render.references import NamedArray, renamed
from attention_docs.scalars import whole_number


def matrix(name: str, array: Array, expected: str = "two axes, none of them empty") -> np.ndarray:
    """Return a matrix on the host: booleans, or float64, in which nothing wraps or is cut off.

    Raises:
        TypeError: if it does not hold real numbers or booleans.
        ValueError: if it does not have two axes, is empty, or holds NaN.
    """
    found = readable(name, array)
    if found.ndim != 2 or not found.size:
        raise ValueError(f"{name} has shape {found.shape}; expected {expected}")
    if np.isnan(found).any():
        raise ValueError(f"{name} holds nan; expected numbers, or -inf where nothing takes part")
    numbers = found if found.dtype == bool else found.astype(float, copy=False)
    # An array that has a name keeps it, so the figure can say which numbers it shows.
    is_named = isinstance(array, NamedArray) and array.step
    return renamed(numbers, array.step, array.places) if is_named else numbers


def labels(name: str, given: Sequence[str] | None, count: int) -> list[str]:
    """Return as many labels as there are rows or columns; their positions if none are given.

    Raises:
        ValueError: if there are too many or too few.
    """
    if given is None:
        return [str(position + 1) for position in range(count)]
    if isinstance(given, str) or not hasattr(given, "__len__") or len(given) != count:
        raise ValueError(f"{name} is {given!r}; expected {count} labels")
    return [str(text) for text in given]


def position(name: str, index: int, count: int) -> int:
    """Return an index counted from 0.

    Raises:
        TypeError: if it is not a whole number.
        ValueError: if it is out of range.
    """
    index = whole_number(name, index)
    if not -count <= index < count:
        raise ValueError(f"{name} is {index}; expected an index below {count}")
    return index % count


def factors(a: Array, b: Array) -> tuple[np.ndarray, np.ndarray]:
    """Return two matrices that can be multiplied.

    Raises:
        TypeError: if one does not hold real numbers; a product of booleans has no meaning here.
        ValueError: if the rows of `b` are not as many as the columns of `a`, or a number is not
            finite: infinity times zero is NaN.
    """
    a, b = _factor("a", a), _factor("b", b)
    if a.shape[1] != b.shape[0]:
        raise ValueError(f"b has shape {b.shape}; expected ({a.shape[1]}, n) to match a {a.shape}")
    return a, b


def _factor(name: str, array: Array) -> np.ndarray:
    found = matrix(name, array)
    if found.dtype == bool:
        raise TypeError(f"{name} has dtype bool; expected real numbers")
    check_finite(np, name, found)
    return found


def product(a: np.ndarray, b: np.ndarray, given: Array | None) -> np.ndarray:
    """Return the product of two factors, as it was given if it was.

    Raises:
        ValueError: if it overflows, or is not what was given.
    """
    with ignoring_overflow():
        found: np.ndarray = a @ b
    check_no_overflow(np, "the products of a and b hold", found)
    if given is None:
        return found
    known = matrix("product", given)
    if known.shape != found.shape:
        raise ValueError(f"product has shape {known.shape}; expected {found.shape}, that of a b")
    if not (close := np.isclose(known, found)).all():
        where = describe_first(np, ~close, np.asarray(known))
        raise ValueError(f"product holds {where}; expected the product of a and b")
    return known


def three(name: str, given: Sequence[str | None]) -> None:
    """Refuse a sequence without one entry each for A, B and AB.

    Raises:
        ValueError: if there are not three.
    """
    if isinstance(given, str) or not hasattr(given, "__len__") or len(given) != 3:
        raise ValueError(f"{name} is {given!r}; expected three, for a, b and their product")
