"""Check the arguments of figures: arrays of any library, with shapes that fit."""

from collections.abc import Sequence

import numpy as np

from attention_docs.arrays import (
    Array,
    check_finite,
    check_no_overflow,
    describe_first,
    ignoring_overflow,
    to_displayable,
)
from attention_docs.render.references import StepArray, as_step_array
from attention_docs.scalars import whole_number


def matrix(name: str, array: Array, expected: str = "two axes, none of them empty") -> np.ndarray:
    """Return a matrix as NumPy booleans or float64, whose arithmetic does not overflow."""
    values = to_displayable(name, array)
    if values.ndim != 2 or not values.size:
        raise ValueError(f"{name} has shape {values.shape}; expected {expected}")
    if np.isnan(values).any():
        raise ValueError(f"{name} holds nan; expected numbers, or -inf where nothing takes part")
    numbers = values if values.dtype == bool else values.astype(float, copy=False)
    # Keep the step, because the figure marks up each number with its index in it.
    if isinstance(array, StepArray) and array.step:
        return as_step_array(numbers, array.step, array.indices)
    return numbers


def text(name: str, value: str) -> None:
    """Raise an error if an argument is no text."""
    if not isinstance(value, str):
        raise TypeError(f"{name} is {value!r}; expected a text")


def labels(name: str, names: Sequence[str] | None, count: int) -> list[str]:
    """Return the labels of rows or columns, by default their positions, counted from 1."""
    if names is None:
        return [str(position + 1) for position in range(count)]
    if isinstance(names, str) or not hasattr(names, "__len__") or len(names) != count:
        raise ValueError(f"{name} is {names!r}; expected {count} labels")
    return [str(label) for label in names]


def index(name: str, value: int, count: int) -> int:
    """Return an index counted from the start, where negative ones count from the end."""
    value = whole_number(name, value)
    if not -count <= value < count:
        raise ValueError(f"{name} is {value}; expected an index below {count}")
    return value % count


def factors(a: Array, b: Array) -> tuple[np.ndarray, np.ndarray]:
    """Return two matrices that can be multiplied."""
    a, b = _checked_factor("a", a), _checked_factor("b", b)
    if a.shape[1] != b.shape[0]:
        raise ValueError(f"b has shape {b.shape}; expected ({a.shape[1]}, n) to match a {a.shape}")
    return a, b


def _checked_factor(name: str, array: Array) -> np.ndarray:
    values = matrix(name, array)
    if values.dtype == bool:
        raise TypeError(f"{name} has dtype bool; expected real numbers")
    check_finite(np, name, values)
    return values


def product(a: np.ndarray, b: np.ndarray, argument: Array | None) -> np.ndarray:
    """Return the argument of a caller for the product of a and b, or the product if it has none."""
    with ignoring_overflow():
        expected: np.ndarray = a @ b
    check_no_overflow(np, "the products of a and b hold", expected)
    if argument is None:
        return expected
    actual = matrix("product", argument)
    if actual.shape != expected.shape:
        raise ValueError(
            f"product has shape {actual.shape}; expected {expected.shape}, that of a b"
        )
    is_wrong = ~np.isclose(actual, expected)
    if is_wrong.any():
        first_wrong = describe_first(np, is_wrong, np.asarray(actual))
        raise ValueError(f"product holds {first_wrong}; expected the product of a and b")
    return actual
