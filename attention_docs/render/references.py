"""References to numbers, like `multi_head.Q[0,1]`: an example, a step and an index.

The HTML of each number on a page carries one, so that the page's script can find the number.
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
    step, _, slice_index = reference.rstrip("]").partition("[")
    axes = slice_index.split(",") if slice_index else []
    # Each position replaces the first colon that is left, or follows an index without one.
    for position in index:
        if ":" in axes:
            axes[axes.index(":")] = str(position)
        else:
            axes.append(str(position))
    return f"{step}[{','.join(axes)}]" if axes else step


class StepArray(np.ndarray):
    """A step of an example that keeps its reference when it is indexed or transposed.

    Attributes:
        step: the name of the step, like `multi_head.Q`; None after any other operation.
        indices: an array of the same shape, with the index of each number in the step, like `0,1`.
    """

    step: str | None
    indices: np.ndarray

    def __array_finalize__(self, base: object) -> None:
        # NumPy calls this for the result of every operation, and the sum of two steps is no step.
        self.step = None

    def __getitem__(self, key: Any) -> Any:
        """Return numbers of the step: an array keeps their indices, a single number does not."""
        item = super().__getitem__(key)
        if self.step and isinstance(item, StepArray):
            item.step, item.indices = self.step, self.indices[key]
        return item

    @property
    def T(self) -> "StepArray":  # noqa: N802, NumPy's name
        """The transpose, which keeps the reference if the array has one.

        >>> permutation = with_step(np.eye(3), "permutation.P")
        >>> step_name(permutation.T), step_name(np.diff(permutation).T)
        ('permutation.P', None)
        """
        transposed = super().T
        if self.step:
            transposed.step, transposed.indices = self.step, self.indices.T
        return transposed


def with_step(array: Array, step: str) -> StepArray:
    """Return an array as a `StepArray` of the given step.

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
    """Return the name of the step that an array comes from, or None if it comes from none."""
    return array.step if isinstance(array, StepArray) else None


def index_in_step(array: np.ndarray, index: tuple[int, ...]) -> str:
    """Return the index that a number of a `StepArray` has in its step, like `2,1`."""
    assert isinstance(array, StepArray)
    return str(array.indices[index])


def row_reference(row: np.ndarray) -> str | None:
    """Return the reference to a row of a step, or None if it comes from no step of an example.

    If it is a part of a row, the reference names only the columns of this part.

    >>> row_reference(with_step(np.eye(3), "permutation.P")[2, :2])
    'permutation.P[2,0:2]'
    """
    step = step_name(row)
    if step is None:
        return None
    first = index_in_step(row, (0,))
    last_column = index_in_step(row, (-1,)).rpartition(",")[2]
    return f"{step}[{first}:{int(last_column) + 1}]"


def as_step_array(array: np.ndarray, step: str, indices: np.ndarray) -> StepArray:
    """Return an array as a `StepArray` with these attributes."""
    view = array.view(StepArray)
    view.step, view.indices = step, indices
    return view
