"""Say which result a number is, like `multi_head.Q[0,1]`: an example, a step, and an index.

A page writes it beside each number that it shows, so that a script can find the number again.
"""

from typing import Any

import numpy as np

from attention_docs.arrays import Array


def of_element(reference: str, index: tuple[int, ...]) -> str:
    """Name one number of what a reference names.

    >>> of_element("multi_head.Q", (0, 1)), of_element("multi_head.Q[:,1]", (2,))
    ('multi_head.Q[0,1]', 'multi_head.Q[2,1]')
    >>> of_element("multi_head.Q[0]", (1,)), of_element("multi_head.Q[0,1]", ())
    ('multi_head.Q[0,1]', 'multi_head.Q[0,1]')
    """
    step, _, given = reference.rstrip("]").partition("[")
    rest = iter(index)
    filled = [str(next(rest)) if part == ":" else part for part in given.split(",") if part]
    position = ",".join([*filled, *map(str, rest)])
    return f"{step}[{position}]" if position else step


class NamedArray(np.ndarray):
    """A step of an example that still knows which step it is after it was indexed or transposed.

    Attributes:
        step: its name, like `multi_head.Q`; None after any other operation.
        places: of the same shape; where each number stands in the step, like `0,1`.
    """

    step: str | None
    places: np.ndarray

    def __array_finalize__(self, base: object) -> None:
        self.step = None

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        if self.step and isinstance(found, NamedArray):
            found.step, found.places = self.step, self.places[key]
        return found

    @property
    def T(self) -> "NamedArray":  # noqa: N802, as NumPy calls it
        return renamed(super().T, self.step, self.places.T)


def named(array: Array, step: str) -> NamedArray:
    """Name an array.

    >>> turned = named(np.eye(3), "permutation.P").T[1:]
    >>> step_of(turned), place_of(turned, (0, 2))
    ('permutation.P', '2,1')
    """
    found = np.asarray(array)
    places = np.empty(found.shape, dtype=object)
    for index in np.ndindex(found.shape):
        places[index] = ",".join(map(str, index))
    return renamed(found, step, places)


def step_of(array: np.ndarray) -> str | None:
    """Return the step that an array is taken from, if that is known."""
    return array.step if isinstance(array, NamedArray) else None


def place_of(array: np.ndarray, index: tuple[int, ...]) -> str:
    """Return where in its step a number of a named array stands, like `2,1`."""
    assert isinstance(array, NamedArray)
    return str(array.places[index])


def of_row(array: np.ndarray, row: int) -> str | None:
    """Name a row of a named array, or the part of a row that is left of it.

    >>> of_row(named(np.eye(3), "permutation.P")[1:, :2], 1)
    'permutation.P[2,0:2]'
    """
    step = step_of(array)
    if step is None:
        return None
    first, last = place_of(array, (row, 0)), place_of(array, (row, -1))
    return f"{step}[{first}:{int(last.rpartition(',')[2]) + 1}]"


def renamed(array: np.ndarray, step: str | None, places: np.ndarray) -> NamedArray:
    found = array.view(NamedArray)
    found.step, found.places = step, places
    return found
