"""Draw a matrix product: A on the left, B above, AB where they meet."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from attention_docs.arrays import Array
from attention_docs.render.figures import arguments, cells
from attention_docs.render.figures.scales import (
    OPACITY,
    OPACITY_UNDER_TEXT,
    Scale,
    scale_of,
)
from attention_docs.render.figures.svg import (
    LINE_HEIGHT,
    Html,
    Panel,
    figure,
    label,
    text_width,
    title,
    translated,
)
from attention_docs.render.numbers import number

GAP = 30
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
        arguments.check_three(argument, entries)
    marks = _marks(row, column, a, b)
    rows = arguments.labels("row_labels", row_labels, a.shape[0])
    columns = arguments.labels("column_labels", column_labels, b.shape[1])
    matrices = (a, b, arguments.product(a, b, product))
    colours = [scale_of(kind, *pair) for kind, *pair in zip(scales, names, matrices, strict=True)]
    margin = max(scale.legend(0).width for scale in colours[:2])
    grids = _grids(*matrices, max(map(text_width, rows)) + 8, margin)
    fields = zip(names, matrices, colours, roles, grids, marks, strict=True)
    drawings = [MatrixDrawing(*values) for values in fields]
    left, above, corner = grids
    pair = f"row {marks[2][0] + 1} · column {marks[2][1] + 1} = "
    equation = pair + number(matrices[2][marks[2]])
    marked_number = cells.inline_number(matrices[2], marks[2])
    below, centre = left.y + left.height + LINE_HEIGHT / 2, corner.x + corner.width / 2
    body = [
        *(drawing.body() for drawing in drawings),
        cells.row_names(left, rows),
        cells.column_names(above, columns),
        title(centre, LINE_HEIGHT / 2, names[1], roles[1]),
        title(left.x + left.width / 2, left.y - LINE_HEIGHT / 2 - 2, names[0], roles[0]),
        title(centre, below + LINE_HEIGHT / 2, names[2], roles[2]),
        label(centre, below + 1.5 * LINE_HEIGHT, pair, "middle", marked_number),
        drawings[0].legend(left.x, below),
        _legend_of_b(drawings[1], left),
        drawings[2].legend(corner.x, below + 2 * LINE_HEIGHT + 4),
    ]
    width = max(corner.x + corner.width, centre + text_width(equation) / 2)
    descriptions = [cells.describe(drawing.name, drawing.values) for drawing in drawings]
    description = " ".join([*descriptions, f"Marked: {equation}."])
    panel = Panel(width, below + 4 * LINE_HEIGHT, "".join(body), description)
    return figure(panel, f"{names[0]} times {names[1]} gives {names[2]}")


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
        table = cells.cells(self.grid, self.values, self.scale, None, self.has_numbers)
        return table + cells.mark(self.grid, self.mark, self.role)

    def legend(self, x: float, y: float, width: float | None = None) -> str:
        """Draw the scale, centred in a width that begins at x."""
        width = self.grid.width if width is None else width
        panel = self.scale.legend(width, OPACITY_UNDER_TEXT if self.has_numbers else OPACITY)
        return translated(
            x - (panel.width - width) / 2, y, cells.tag_step(panel.body, self.values, "data_scale")
        )


def _legend_of_b(b: MatrixDrawing, left: cells.Grid) -> str:
    """Draw the scale of B, with its name, in the empty corner."""
    legend_width = b.scale.legend(0).width
    middle = b.grid.y + b.grid.height / 2
    x = left.x + left.width - legend_width / 2
    return label(x, middle - 1.2 * LINE_HEIGHT, b.name) + b.legend(x, middle - LINE_HEIGHT / 2, 0)


def _marks(
    row: int, column: int, a: np.ndarray, b: np.ndarray
) -> tuple[cells.Mark, cells.Mark, tuple[int, int]]:
    row = arguments.index("row", row, a.shape[0])
    column = arguments.index("column", column, b.shape[1])
    return (row, None), (None, column), (row, column)


def _grids(
    a: np.ndarray, b: np.ndarray, ab: np.ndarray, names_width: float, margin: float
) -> list[cells.Grid]:
    """Lay out the three matrices: A and AB share their rows, B and AB their columns.

    Args:
        names_width: the width of the row labels.
        margin: the width that the scales need on the left.
    """
    size = cells.cell_size(a, b, ab, columns=a.shape[1] + b.shape[1])
    width = a.shape[1] * size[0]
    x, y = names_width + max(0, margin - width), 2 * LINE_HEIGHT + 4
    corner = (x + width + GAP, y + b.shape[0] * size[1] + GAP)
    return [
        cells.Grid(x, corner[1], size, *a.shape),
        cells.Grid(corner[0], y, size, *b.shape),
        cells.Grid(*corner, size, a.shape[0], b.shape[1]),
    ]
