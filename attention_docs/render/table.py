"""Format matrices as HTML tables within formulas.

A table has one element per number, where KaTeX has fifteen; its columns align at the decimal
point, a screen reader reads it as a table, and a selection copies as rows.
"""

from collections.abc import Sequence

import numpy as np

from attention_docs.arrays import Array, to_numpy
from attention_docs.render.numbers import html_number

# Larger matrices are abridged to some of their rows and columns.
MAX_NUMBERS = 40
# The most rows and columns of such an excerpt, its dots included.
EXCERPT = (4, 6)
# Widths in KaTeX's main font, in em.
WIDTHS = {".": 0.278, "−": 0.778, "×": 0.778, " ": 0.25}
DIGIT = 0.5
SUPERSCRIPT = 0.7


def table(array: Array, reference: str) -> str:
    """Return a matrix as a table, or a vector as a row, with the same digits as `show`.

    Args:
        array: of shape (n,) or (m, n).
        reference: the step that it is taken from, like `multi_head.Q`.

    >>> print(table(np.array([[2.0, 0.25], [0.0, -1.0]]), "a.Q"))
    <table class="matrix" data-val="a.Q"><tr><td>2<td>0.2500<tr><td>0<td class="whole">−1</table>
    """
    return _html_table(_cells(array), reference)


def is_large(array: Array) -> bool:
    """Return whether a matrix has too many numbers to be shown in full."""
    return to_numpy(array).size > MAX_NUMBERS


def excerpt(array: Array, reference: str) -> str:
    r"""Return the first and last rows and columns of a matrix, with dots between.

    >>> rows = excerpt(np.arange(60).reshape(6, 10), "a.Q").replace(' class="centred"', "")
    >>> print(rows.replace("<tr>", "\n"))
    <table class="matrix" data-val="a.Q">
    <td>0<td>1<td>2<td>3<td>⋯<td>9
    <td>10<td>11<td>12<td>13<td>⋯<td>19
    <td>⋮<td>⋮<td>⋮<td>⋮<td>⋱<td>⋮
    <td>50<td>51<td>52<td>53<td>⋯<td>59</table>
    """
    cells = _cells(array)
    for axis, limit in enumerate(EXCERPT):
        cells = _abridged(cells, axis, limit)
    return _html_table(cells, reference)


def _cells(array: Array) -> np.ndarray:
    matrix = np.atleast_2d(to_numpy(array))
    cells: np.ndarray = np.vectorize(html_number, otypes=[object])(matrix)
    return cells


def _abridged(cells: np.ndarray, axis: int, limit: int) -> np.ndarray:
    """Replace surplus rows or columns by dots, before the last one."""
    length = cells.shape[axis]
    if length <= limit:
        return cells
    first, last = (np.take(cells, indices, axis) for indices in (range(limit - 2), [length - 1]))
    dots = np.full_like(last, "⋮") if axis == 0 else np.where(last == "⋮", "⋱", "⋯")
    return np.concatenate([first, dots, last], axis)


def _html_table(cells: np.ndarray, reference: str) -> str:
    columns = [_aligned(column) for column in cells.T]
    rows = "".join("<tr>" + "".join(row) for row in zip(*columns, strict=True))
    return f'<table class="matrix" data-val="{reference}">{rows}</table>'


def _aligned(column: Sequence[str]) -> list[str]:
    """Return the cells of a column, aligned at the decimal point."""
    fractions = [_fraction_width(cell) for cell in column]
    widest = max(fractions)
    return [
        f"<td{_alignment(cell, widest - fraction)}>{cell}"
        for cell, fraction in zip(column, fractions, strict=True)
    ]


def _alignment(cell: str, width: float) -> str:
    """Return the attribute that pads a number on the right, or centres any other cell.

    An integer among decimals, the most frequent case, has a class of its own.
    """
    if not any(map(str.isdigit, cell)):
        return ' class="centred"'
    if abs(width - _fraction_width(".0000")) < 1e-9:
        return ' class="whole"'
    return f' style="padding-right:{width:.4g}em"' if width else ""


def _fraction_width(cell: str) -> float:
    """Return the width of a number after its integer part, in em.

    >>> _fraction_width("2"), _fraction_width("0.2500")
    (0.0, 2.278)
    """
    _, point, fraction = cell.partition(".")
    mantissa, _, exponent = (point + fraction).removesuffix("</sup>").partition("<sup>")
    return round(_width(mantissa) + SUPERSCRIPT * _width(exponent), 4)


def _width(text: str) -> float:
    return sum(WIDTHS.get(character, DIGIT) for character in text)
