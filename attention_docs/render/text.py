"""Arrays as plain text, for the terminal, doctests and prose."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from attention_docs.arrays import Array, to_displayable
from attention_docs.render.numbers import number

LINE_LENGTH = 100


def show(result: Array | Mapping[str, Array]) -> None:
    """Print a number, an array, or the named steps of an example.

    Numbers are rounded as on the pages: to four decimals, but an integer has none, and a number
    that would round to zero is written with an exponent. A named array is on one line if it fits.
    Otherwise the name is followed by the shape, and each row has a line.

    Args:
        result: an array of any library, a number, or a mapping or named tuple of arrays.

    Raises:
        TypeError: if it holds anything but real numbers and booleans.

    Examples:
        >>> show(np.array([[0.5, 1.0], [1e-9, 0.0]]))
        [[ 0.5000 1]
         [1.0e-09 0]]
        >>> show({"loss": 0.25, "mask": causal_mask(2, 2), "V": np.full((2, 7), -12.5)})
        loss 0.2500
        mask [[True False] [True True]]
        V 2 x 7
        [[-12.5000 -12.5000 -12.5000 -12.5000 -12.5000 -12.5000 -12.5000]
         [-12.5000 -12.5000 -12.5000 -12.5000 -12.5000 -12.5000 -12.5000]]
    """
    print(as_text(result))


def as_text(result: Array | Mapping[str, Array]) -> str:
    if is_mapping_like(result):
        lines = []
        for name, value in flattened(result):
            array = to_displayable(f"result[{name!r}]", value)
            text = as_text(array)
            line = f"{name} {' '.join(text.split()).replace('[ ', '[')}"
            if len(line) <= LINE_LENGTH:
                lines.append(line)
            else:
                lines += [f"{name} {' x '.join(map(str, array.shape))}", text]
        return "\n".join(lines)
    return _format_array(to_displayable("result", result), indent=1)


def is_mapping_like(result: Any) -> bool:
    return isinstance(result, Mapping) or hasattr(result, "_asdict")


def flattened(result: Any) -> Iterator[tuple[str, Array]]:
    """Yield the names and arrays of a mapping or named tuple; a nested name is `outer.inner`."""
    steps = result if isinstance(result, Mapping) else result._asdict()
    for name, value in steps.items():
        if is_mapping_like(value):
            yield from ((f"{name}.{inner}", array) for inner, array in flattened(value))
        else:
            yield name, value


def _format_array(array: np.ndarray, indent: int) -> str:
    """Format an array in brackets, with the columns of its last axis right-aligned."""
    if array.ndim == 0:
        return number(array.item())
    if array.size == 0:  # only brackets, like [[]\n []]
        return str(array.tolist()).replace(", ", "\n" + " " * indent)
    cells = np.vectorize(number, otypes=[object])(array)
    widths = [max(map(len, column)) for column in cells.reshape(-1, array.shape[-1]).T]
    return _join_in_brackets(cells, widths, indent)


def _join_in_brackets(cells: np.ndarray, widths: list[int], indent: int) -> str:
    """Join formatted cells in nested brackets, one line for each row."""
    if cells.ndim == 1:
        padded = (cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
        return f"[{' '.join(padded)}]"
    rows = (_join_in_brackets(row, widths, indent + 1) for row in cells)
    separator = "\n" + " " * indent
    return f"[{separator.join(rows)}]"
