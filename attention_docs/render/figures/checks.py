"""What a figure can be drawn of: arrays of any library, with shapes that fit."""

from collections.abc import Sequence

import numpy as np

from attention_docs.arrays import Array, to_numpy


def matrix(name: str, array: Array, expected: str = "two axes, none of them empty") -> np.ndarray:
    """Return a matrix on the host.

    Raises:
        TypeError: if it does not hold real numbers or booleans.
        ValueError: if it has not two axes, is empty, or holds NaN.
    """
    found = np.asarray(to_numpy(array))
    if found.dtype.kind not in "biuf":
        raise TypeError(f"{name} has dtype {found.dtype}; expected real numbers or booleans")
    if found.ndim != 2 or not found.size:
        raise ValueError(f"{name} has shape {found.shape}; expected {expected}")
    if np.isnan(found).any():
        raise ValueError(f"{name} holds nan; expected numbers, or -inf where nothing takes part")
    return found


def labels(name: str, given: Sequence[str] | None, count: int) -> list[str]:
    """Return as many labels as there are rows or columns; their positions if none are given.

    Raises:
        ValueError: if there are too many or too few.
    """
    if given is None:
        return [str(position + 1) for position in range(count)]
    if isinstance(given, str) or len(given) != count:
        raise ValueError(f"{name} is {given!r}; expected {count} labels")
    return [str(text) for text in given]


def position(name: str, index: int, count: int) -> int:
    """Return an index counted from 0.

    Raises:
        ValueError: if it is outside.
    """
    if not -count <= index < count:
        raise ValueError(f"{name} is {index}; expected an index below {count}")
    return index % count


def factors(a: Array, b: Array) -> tuple[np.ndarray, np.ndarray]:
    """Return two matrices that can be multiplied.

    Raises:
        TypeError: if one does not hold real numbers.
        ValueError: if the rows of `b` are not as many as the columns of `a`.
    """
    a, b = matrix("a", a), matrix("b", b)
    if a.shape[1] != b.shape[0]:
        raise ValueError(f"b has shape {b.shape}; expected ({a.shape[1]}, n) to match a {a.shape}")
    return a, b


def three(name: str, given: Sequence[str | None]) -> None:
    """Refuse what is not said of each: of A, of B and of AB.

    Raises:
        ValueError: if there are not three.
    """
    if isinstance(given, str) or len(given) != 3:
        raise ValueError(f"{name} is {given!r}; expected three, for a, b and their product")
