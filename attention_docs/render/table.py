"""Matrices as HTML tables, which take a place in a formula.

A table has one element a number, where KaTeX has fifteen; its columns align at the decimal point, a
screen reader reads it as a table, and a selection copies as rows.
"""

from collections.abc import Sequence

import numpy as np

from attention_docs.arrays import Array, to_numpy
from attention_docs.render.numbers import html_number

# A larger matrix is shown by some of its rows and columns.
MOST_SHOWN = 40
# How many rows and columns such an excerpt has at most, its dots included.
EXCERPT = (4, 6)
# Widths in KaTeX's main font, in em.
WIDTHS = {".": 0.278, "−": 0.778, "×": 0.778, " ": 0.25}
DIGIT = 0.5
SMALLER = 0.7


def table(array: Array, name: str) -> str:
    """Write a matrix as a table, or a vector as a row, each number with the same digits as `show`.

    Args:
        array: of shape (n,) or (m, n).
        name: says which result it is, like `multi_head.Q`.

    >>> print(table(np.array([[2.0, 0.25], [0.0, -1.0]]), "a.Q"))
    <table class="matrix" data-val="a.Q"><tr><td>2<td>0.2500<tr><td>0<td class="whole">−1</table>
    """
    return _written(_cells(array), name)


def is_large(array: Array) -> bool:
    """Tell whether a matrix has too many numbers to be shown whole."""
    return to_numpy(array).size > MOST_SHOWN


def excerpt(array: Array, name: str) -> str:
    r"""Write the first and last rows and columns of a matrix, with dots between.

    >>> rows = excerpt(np.arange(60).reshape(6, 10), "a.Q").replace(' class="centred"', "")
    >>> print(rows.replace("<tr>", "\n"))
    <table class="matrix" data-val="a.Q">
    <td>0<td>1<td>2<td>3<td>⋯<td>9
    <td>10<td>11<td>12<td>13<td>⋯<td>19
    <td>⋮<td>⋮<td>⋮<td>⋮<td>⋱<td>⋮
    <td>50<td>51<td>52<td>53<td>⋯<td>59</table>
    """
    cells = _cells(array)
    for axis, most in enumerate(EXCERPT):
        cells = _shortened(cells, axis, most)
    return _written(cells, name)


def _cells(array: Array) -> np.ndarray:
    matrix = np.atleast_2d(to_numpy(array))
    cells: np.ndarray = np.vectorize(html_number, otypes=[object])(matrix)
    return cells


def _shortened(cells: np.ndarray, axis: int, most: int) -> np.ndarray:
    """Put dots in place of the rows or columns that are too many; the last one stays."""
    length = cells.shape[axis]
    if length <= most:
        return cells
    first, last = (np.take(cells, kept, axis) for kept in (range(most - 2), [length - 1]))
    dots = np.full_like(last, "⋮") if axis == 0 else np.where(last == "⋮", "⋱", "⋯")
    return np.concatenate([first, dots, last], axis)


def _written(cells: np.ndarray, name: str) -> str:
    columns = [_aligned(column) for column in cells.T]
    rows = "".join("<tr>" + "".join(row) for row in zip(*columns, strict=True))
    return f'<table class="matrix" data-val="{name}">{rows}</table>'


def _aligned(column: Sequence[str]) -> list[str]:
    """Write the cells of a column, with their decimal points one below the other."""
    fractions = [_fraction_width(cell) for cell in column]
    widest = max(fractions)
    return [
        f"<td{_class_or_room(cell, widest - fraction)}>{cell}"
        for cell, fraction in zip(column, fractions, strict=True)
    ]


def _class_or_room(cell: str, width: float) -> str:
    """Leave room after a number, and set what is no number in the middle of its column.

    What an integer among decimals needs has a class of its own.
    """
    if not any(map(str.isdigit, cell)):
        return ' class="centred"'
    if abs(width - _fraction_width(".0000")) < 1e-9:
        return ' class="whole"'
    return f' style="padding-right:{width:.4g}em"' if width else ""


def _fraction_width(cell: str) -> float:
    """The width of what a number has after its integer part.

    >>> _fraction_width("2"), _fraction_width("0.2500")
    (0.0, 2.278)
    """
    _, point, fraction = cell.partition(".")
    mantissa, _, exponent = (point + fraction).removesuffix("</sup>").partition("<sup>")
    return round(_width(mantissa) + SMALLER * _width(exponent), 4)


def _width(text: str) -> float:
    return sum(WIDTHS.get(character, DIGIT) for character in text)
