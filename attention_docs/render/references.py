"""References to numbers, like `multi_head.Q[0,1]`: an example, a step and an index.

A page writes one beside each number that it shows, so that its script can look the number up.
"""

from typing import Any

import numpy as np

from attention_docs.arrays import Array


def element_reference(reference: str, index: tuple[int, ...]) -> str:
    """Return the reference to one element of a step, or of a slice of it.

    >>> element_reference("multi_head.Q", (0, 1)), element_reference("multi_head.Q[:,1]", (2,))
    ('multi_head.Q[0,1]', 'multi_head.Q[2,1]')
    >>> element_reference("multi_head.Q[0]", (1,)), element_reference("multi_head.Q[0,1]", ())
    ('multi_head.Q[0,1]', 'multi_head.Q[0,1]')
    """
    step, _, slices = reference.rstrip("]").partition("[")
    rest = iter(index)
    filled = [str(next(rest)) if part == ":" else part for part in slices.split(",") if part]
    full_index = ",".join([*filled, *map(str, rest)])
    return f"{step}[{full_index}]" if full_index else step


class StepArray(np.ndarray):
    """A step of an example that keeps its reference when it is indexed or transposed.

    Attributes:
        step: its name, like `multi_head.Q`; None after any other operation.
        indices: of the same shape; the index of each number in the step, like `0,1`.
    """

    step: str | None
    indices: np.ndarray

    def __array_finalize__(self, base: object) -> None:
        self.step = None

    def __getitem__(self, key: Any) -> Any:
        item = super().__getitem__(key)
        if self.step and isinstance(item, StepArray):
            item.step, item.indices = self.step, self.indices[key]
        return item

    @property
    def T(self) -> "StepArray":  # noqa: N802, as NumPy calls it
        return as_step_array(super().T, self.step, self.indices.T)


def with_step(array: Array, step: str) -> StepArray:
    """Attach the name of its step to an array.

    >>> transposed = with_step(np.eye(3), "permutation.P").T[1:]
    >>> step_name(transposed), index_in_step(transposed, (0, 2))
    ('permutation.P', '2,1')
    """
    values = np.asarray(array)
    indices = np.empty(values.shape, dtype=object)
    for index in np.ndindex(values.shape):
        indices[index] = ",".join(map(str, index))
    return as_step_array(values, step, indices)


def step_name(array: np.ndarray) -> str | None:
    """Return the name of the step that an array comes from, or None if unknown."""
    return array.step if isinstance(array, StepArray) else None


def index_in_step(array: np.ndarray, index: tuple[int, ...]) -> str:
    """Return the index that a number of a `StepArray` has in its step, like `2,1`."""
    assert isinstance(array, StepArray)
    return str(array.indices[index])


def row_reference(array: np.ndarray, row: int) -> str | None:
    """Return the reference to a row of a `StepArray`, or to the columns that remain of it.

    >>> row_reference(with_step(np.eye(3), "permutation.P")[1:, :2], 1)
    'permutation.P[2,0:2]'
    """
    step = step_name(array)
    if step is None:
        return None
    first, last = index_in_step(array, (row, 0)), index_in_step(array, (row, -1))
    return f"{step}[{first}:{int(last.rpartition(',')[2]) + 1}]"


def as_step_array(array: np.ndarray, step: str | None, indices: np.ndarray) -> StepArray:
    view = array.view(StepArray)
    view.step, view.indices = step, indices
    return view
