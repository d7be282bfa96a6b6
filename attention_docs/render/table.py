"""Format matrices as HTML tables within formulas.

A table has one element per number, where KaTeX has fifteen; its columns align at the decimal
point, a screen reader reads it as a table, and a selection copies as rows.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from attention_docs.arrays import Array, to_numpy
from attention_docs.render.numbers import ARE_SHORT, html_number

# Larger matrices are abridged to some of their rows and columns.
MAX_NUMBERS = 40
# The most rows and columns of an abridged matrix, including the row and column of dots.
EXCERPT_SHAPE = (4, 6)
# Widths in KaTeX's main font, in em.
CHARACTER_WIDTHS = {".": 0.278, "−": 0.778, "×": 0.778, " ": 0.25}
DIGIT_WIDTH = 0.5
SUPERSCRIPT_SCALE = 0.7
# A letter over a column, in em of the numbers.
LETTER_WIDTH = 0.32
# More labels over columns are vertical on phones, unless they are about as narrow as the numbers.
MAX_HORIZONTAL_LABELS = 4
ABOUT_AS_NARROW = 2  # characters


class Labels(NamedTuple):
    """The words at the rows and over the columns of a matrix; empty where there are none."""

    rows: Sequence[str] = ()
    columns: Sequence[str] = ()


UNLABELLED = Labels()


def labels_of(words: Sequence[Sequence[str]]) -> Labels:
    """Return the labels of a matrix, or of a vector as a row, from the words along its axes."""
    match words:
        case [rows, columns]:
            return Labels(rows, columns)
        case [columns]:
            return Labels(columns=columns)
        case _:
            return UNLABELLED


def table(array: Array, reference: str, labels: Labels = UNLABELLED) -> str:
    r"""Return a matrix as a table, or a vector as a row, with the same digits as `show`.

    Args:
        array: of shape (n,) or (m, n).
        reference: the reference of the array, like `multi_head.Q`.

    >>> a = np.array([[2.0, 0.25], [0.0, -1.0]])
    >>> print(table(a, "a.Q"))
    <table class="matrix" data-val="a.Q"><tr><td>2<td>0.2500<tr><td>0<td class="whole">−1</table>
    >>> print(table(a[0], "a.Q[0]", Labels(columns=["air", "water"])).replace("<t", "\n<t"))
    <BLANKLINE>
    <table class="matrix labelled" data-val="a.Q[0]">
    <thead>
    <tr>
    <th scope="col">air
    <th scope="col">water
    <tbody>
    <tr>
    <td>2
    <td>0.2500</table>
    """
    return _html_table(_format_cells(array), reference, labels)


def is_large(array: Array) -> bool:
    return to_numpy(array).size > MAX_NUMBERS


def excerpt(array: Array, reference: str, labels: Labels = UNLABELLED) -> str:
    r"""Return the first rows and columns of a matrix and the last of each, with dots between.

    >>> rows = excerpt(np.arange(60).reshape(6, 10), "a.Q").replace(' class="centred"', "")
    >>> print(rows.replace("<tr>", "\n"))
    <table class="matrix integers" data-val="a.Q">
    <td>0<td>1<td>2<td>3<td>⋯<td>9
    <td>10<td>11<td>12<td>13<td>⋯<td>19
    <td>⋮<td>⋮<td>⋮<td>⋮<td>⋱<td>⋮
    <td>50<td>51<td>52<td>53<td>⋯<td>59</table>
    """
    cells = _format_cells(array)
    for axis, max_length in enumerate(EXCERPT_SHAPE):
        cells = _abridge(cells, axis, max_length)
    max_rows, max_columns = EXCERPT_SHAPE
    rows = _abridge_labels(labels.rows, max_rows, "⋮")
    columns = _abridge_labels(labels.columns, max_columns, "⋯")
    return _html_table(cells, reference, Labels(rows, columns))


def _format_cells(array: Array) -> np.ndarray:
    """Return the HTML of each number of a matrix, or of a vector as a matrix of one row."""
    matrix = np.atleast_2d(to_numpy(array))
    cells: np.ndarray = np.vectorize(html_number, otypes=[object])(matrix)
    return cells


def _abridge(cells: np.ndarray, axis: int, max_length: int) -> np.ndarray:
    """Return cells with at most `max_length` rows or columns, and dots before the last."""
    length = cells.shape[axis]
    if length <= max_length:
        return cells
    first = np.take(cells, range(max_length - 2), axis)
    last = np.take(cells, [length - 1], axis)
    # In the cell where the row of dots and the column of dots cross, they are diagonal.
    dots = np.full_like(last, "⋮") if axis == 0 else np.where(last == "⋮", "⋱", "⋯")
    return np.concatenate([first, dots, last], axis)


def _abridge_labels(labels: Sequence[str], max_length: int, dots: str) -> Sequence[str]:
    if len(labels) <= max_length:
        return labels
    return [*labels[: max_length - 2], dots, labels[-1]]


def _html_table(cells: np.ndarray, reference: str, labels: Labels) -> str:
    for axis, words in enumerate(labels):
        if words and len(words) != cells.shape[axis]:
            raise ValueError(
                f"{reference} has the labels {', '.join(words)}; "
                f"expected {cells.shape[axis]} along axis {axis}"
            )
    has_infinity = any("∞" in cell for cell in cells.flat)
    columns = [_align_column(column, at_point=not has_infinity) for column in cells.T]
    rows = ["".join(row) for row in zip(*columns, strict=True)]
    headers = [f'<th scope="row">{word}' for word in labels.rows] or [""] * len(rows)
    body = "".join(f"<tr>{header}{row}" for header, row in zip(headers, rows, strict=True))
    style = ""
    # Columns of integers are as wide as the longest word.
    if labels.columns and not _has_decimals(cells):
        style = f' style="--width:{LETTER_WIDTH * max(map(len, labels.columns)):.3g}em"'
    style += " data-short" if ARE_SHORT.get() else ""
    opening = f'<table class="{_classes(cells, labels)}" data-val="{reference}"{style}>'
    return f"{opening}{_column_header(labels)}{body}</table>"


def _has_decimals(cells: np.ndarray) -> bool:
    return any("." in cell for cell in cells.flat)


def _classes(cells: np.ndarray, labels: Labels) -> str:
    """Return the CSS classes of a table; many wide column labels are vertical on phones."""
    widest_number = max(len(cell) for cell in cells.flat)
    widest_label = max(map(len, labels.columns), default=0)
    are_wide = widest_label > widest_number + ABOUT_AS_NARROW
    are_vertical = len(labels.columns) > MAX_HORIZONTAL_LABELS and are_wide
    classes = {
        "matrix": True,
        "labelled": any(labels),
        "vertical-words": are_vertical,
        "integers": not _has_decimals(cells),
    }
    return " ".join(name for name, applies in classes.items() if applies)


def _column_header(labels: Labels) -> str:
    if not labels.columns:
        return ""
    corner = "<td>" if labels.rows else ""
    words = "".join(f'<th scope="col">{word}' for word in labels.columns)
    return f"<thead><tr>{corner}{words}<tbody>"


def _align_column(cells: Sequence[str], at_point: bool) -> list[str]:
    """Return the HTML of the cells of a column, aligned at the decimal point or the right edge."""
    widths = [_fraction_width(cell) if at_point else 0.0 for cell in cells]
    return [
        f"<td{_alignment_attribute(cell, max(widths) - width)}>{cell}"
        for cell, width in zip(cells, widths, strict=True)
    ]


def _alignment_attribute(cell: str, padding: float) -> str:
    """Return the attribute that pads a number on the right (in em), or centres any other cell."""
    if not any(character.isdigit() or character == "∞" for character in cell):
        return ' class="centred"'
    if math.isclose(padding, _fraction_width(".0000")):
        return ' class="whole"'
    return f' style="padding-right:{padding:.4g}em"' if padding else ""


def _fraction_width(cell: str) -> float:
    """Return the width of the decimal point and what follows it, in em.

    >>> _fraction_width("2"), _fraction_width("0.2500")
    (0.0, 2.278)
    """
    _, point, fraction = cell.partition(".")
    mantissa, _, exponent = (point + fraction).removesuffix("</sup>").partition("<sup>")
    return round(_text_width(mantissa) + SUPERSCRIPT_SCALE * _text_width(exponent), 4)


def _text_width(text: str) -> float:
    return sum(CHARACTER_WIDTHS.get(character, DIGIT_WIDTH) for character in text)
