"""Draw a matrix product: A on the left, B above, AB where they meet."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from attention_docs.arrays import Array
from attention_docs.render.figures import arguments, cells
from attention_docs.render.figures.scales import Scale, scale_of
from attention_docs.render.figures.svg import (
    LINE_HEIGHT,
    Html,
    Panel,
    figure,
    label,
    text_width,
    title,
)
from attention_docs.render.numbers import number

GAP = 30  # between A or B and their product
Triple = Sequence[str]


def product_figure(
    a: Array,
    b: Array,
    *,
    row: int = 0,
    column: int = 0,
    names: Triple = ("A", "B", "AB"),
    roles: Sequence[str | None] = (None, None, None),
    scales: Triple = ("diverging", "diverging", "diverging"),
    row_labels: Sequence[str] | None = None,
    column_labels: Sequence[str] | None = None,
    inner_labels: Sequence[str] | None = None,
    product: Array | None = None,
) -> Html:
    r"""Draw a matrix product, and how one row and one column make one of its numbers.

    $$(AB)_{ij} = \sum_k A_{ik} B_{kj}$$

    Args:
        a: (m, k) real numbers of any array library.
        b: (k, n) real numbers.
        row: the row of `a` to mark, counted from 0.
        column: the column of `b` to mark, counted from 0.
        names: the names of `a`, `b` and their product.
        roles: their roles: input, query, key, value, scores, weights, output or None.
        scales: the kind of each colour scale, `diverging` or `sequential`.
        row_labels: m names of the rows; the positions from 1 if left out.
        column_labels: n names of the columns; the positions from 1 if left out.
        inner_labels: k names for the columns of `a` and the rows of `b`; none if left out.
        product: (m, n) the product, if it was computed before.

    Returns:
        The figure as SVG text; a notebook shows the picture.

    Raises:
        TypeError: if an argument does not hold real numbers.
        ValueError: if the shapes do not fit, a number is not finite, or a row or column is outside.

    >>> picture = product_figure(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]]))
    >>> "row 1 · column 1 = 11" in picture
    True
    """
    a, b = arguments.factors(a, b)
    for argument, entries in (("names", names), ("roles", roles), ("scales", scales)):
        arguments.check_triple(argument, entries)
    row = arguments.index("row", row, a.shape[0])
    column = arguments.index("column", column, b.shape[1])
    row_labels = arguments.labels("row_labels", row_labels, a.shape[0])
    column_labels = arguments.labels("column_labels", column_labels, b.shape[1])
    inner = (
        [] if inner_labels is None else arguments.labels("inner_labels", inner_labels, a.shape[1])
    )
    matrices = (a, b, arguments.product(a, b, product))
    colour_scales = [
        scale_of(kind, name, matrix, role)
        for kind, name, matrix, role in zip(scales, names, matrices, roles, strict=True)
    ]
    grids = _lay_out(*matrices, row_labels, column_labels, inner)
    marks = ((row, None), (None, column), (row, column))
    drawings = [
        MatrixDrawing(*attributes)
        for attributes in zip(names, matrices, colour_scales, roles, grids, marks, strict=True)
    ]
    grid_a, grid_b, grid_ab = grids
    marked_pair = f"row {row + 1} · column {column + 1} = "
    marked_number = cells.inline_number(matrices[2], (row, column))
    equation = marked_pair + number(matrices[2][row, column])
    below, centre = grid_a.bottom + LINE_HEIGHT / 2, grid_ab.middle_x
    body = [
        *(drawing.body() for drawing in drawings),
        cells.draw_row_labels(grid_a, row_labels),
        cells.draw_column_labels(grid_b, column_labels),
        cells.draw_column_labels(grid_a, inner),
        cells.draw_row_labels(grid_b, inner),
        *_titles(names, roles, grids, has_inner_labels=bool(inner)),
        label(centre, below + LINE_HEIGHT / 2, marked_pair, "middle", marked_number),
    ]
    width = max(grid_ab.right, centre + text_width(equation) / 2)
    descriptions = [cells.describe(drawing.name, drawing.values) for drawing in drawings]
    description = " ".join([*descriptions, f"Marked: {equation}."])
    panel = Panel(width, below + LINE_HEIGHT, "".join(body), description)
    return figure(panel, f"{names[0]} times {names[1]} gives {names[2]}")


def _titles(
    names: Triple, roles: Sequence[str | None], grids: Sequence[cells.Grid], has_inner_labels: bool
) -> list[str]:
    """Draw the names of B at the top, of A above its labels, and of AB between B and AB."""
    grid_a, _, grid_ab = grids
    centre_of_a, centre = (grid.middle_x for grid in (grid_a, grid_ab))
    title_of_a = grid_a.y - LINE_HEIGHT / 2 - (LINE_HEIGHT if has_inner_labels else 2)
    return [
        title(centre, LINE_HEIGHT / 2, names[1], roles[1]),
        title(centre_of_a, title_of_a, names[0], roles[0]),
        title(centre, grid_ab.y - LINE_HEIGHT / 2 - 2, names[2], roles[2]),
    ]


class MatrixDrawing(NamedTuple):
    """One of the three matrices: its numbers, look and position."""

    name: str
    values: np.ndarray
    scale: Scale
    role: str | None
    grid: cells.Grid
    mark: cells.Mark

    @property
    def has_numbers(self) -> bool:
        return self.grid.cell != cells.MIN_CELL

    def body(self) -> str:
        table = cells.draw_cells(self.grid, self.values, self.scale, None, self.has_numbers)
        return table + cells.draw_mark(self.grid, self.mark, self.role)


def _lay_out(
    a: np.ndarray,
    b: np.ndarray,
    ab: np.ndarray,
    row_labels: Sequence[str],
    column_labels: Sequence[str],
    inner_labels: Sequence[str],
) -> list[cells.Grid]:
    """Place the three matrices: A and AB share their rows, B and AB their columns.

    Args:
        row_labels: the labels of the rows of A, for which there is room on the left.
        column_labels: the labels of the columns of B, to which the cells are widened if they fit.
        inner_labels: the labels of the columns of A, to which the cells are widened as well.
    """
    columns = a.shape[1] + b.shape[1]
    size = cells.cell_size(a, b, ab, columns=columns)
    size = cells.widen_to_labels(size, [*(inner_labels or [""] * a.shape[1]), *column_labels])
    width = a.shape[1] * size[0]
    left = max(map(text_width, row_labels)) + 8
    top = 2 * LINE_HEIGHT + 4
    right, bottom = left + width + GAP, top + b.shape[0] * size[1] + GAP
    return [
        cells.Grid(left, bottom, size, *a.shape),
        cells.Grid(right, top, size, *b.shape),
        cells.Grid(right, bottom, size, *ab.shape),
    ]
