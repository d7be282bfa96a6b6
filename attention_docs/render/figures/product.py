"""Draw a matrix product: A on the left, B above, AB where they meet."""

from collections.abc import Sequence

import numpy as np

from attention_docs.arrays import Array
from attention_docs.render.figures import arguments, cells, svg
from attention_docs.render.figures.scales import scale_of
from attention_docs.render.numbers import number

GAP = 30  # between A or B and their product
TITLE_GAP, TITLE_MARGIN = 2, 4  # below the title of a matrix, and below that of B with its labels
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
) -> svg.Html:
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
    >>> "column 1 = 11" in picture
    True
    """
    a, b = arguments.factors(a, b)
    for argument, entries in (("names", names), ("roles", roles), ("scales", scales)):
        if isinstance(entries, str) or not hasattr(entries, "__len__") or len(entries) != 3:
            raise ValueError(
                f"{argument} is {entries!r}; expected three, for a, b and their product"
            )
    row = arguments.index("row", row, a.shape[0])
    column = arguments.index("column", column, b.shape[1])
    row_labels = arguments.labels("row_labels", row_labels, a.shape[0])
    column_labels = arguments.labels("column_labels", column_labels, b.shape[1])
    if inner_labels is not None:
        inner_labels = arguments.labels("inner_labels", inner_labels, a.shape[1])
    ab = arguments.product(a, b, product)
    labels_above = [*(inner_labels or [""] * a.shape[1]), *column_labels]
    cell = cells.cell_size(a, b, ab, columns=len(labels_above))
    has_numbers = cell != cells.MIN_CELL
    cell = cells.widen_to_labels(cell, labels_above)
    grids = grid_a, grid_b, grid_ab = _lay_out(a, b, cell, row_labels)
    title_a_y = grid_a.y - svg.LINE_HEIGHT / 2 - (svg.LINE_HEIGHT if inner_labels else TITLE_GAP)
    title_ys = title_a_y, svg.LINE_HEIGHT / 2, grid_ab.y - svg.LINE_HEIGHT / 2 - TITLE_GAP
    marks: tuple[cells.Mark, ...] = (row, None), (None, column), (row, column)
    body, descriptions = [], []
    for i, matrix in enumerate((a, b, ab)):
        scale = scale_of(scales[i], names[i], matrix, roles[i])
        body.append(cells.draw_cells(grids[i], matrix, scale, has_numbers=has_numbers))
        body.append(cells.draw_mark(grids[i], marks[i], roles[i]))
        body.append(svg.title(grids[i].middle_x, title_ys[i], names[i], roles[i]))
        descriptions.append(cells.describe(names[i], matrix))
    marked_row = f"row {row + 1} · " if len(a) > 1 else ""
    marked_pair = f"{marked_row}column {column + 1} = "
    marked_number = cells.inline_number(ab, (row, column))
    equation = marked_pair + number(ab[row, column])
    equation_y = grid_ab.bottom + svg.LINE_HEIGHT
    body += [
        cells.draw_row_labels(grid_a, row_labels),
        cells.draw_column_labels(grid_b, column_labels),
        cells.draw_column_labels(grid_a, inner_labels or []),
        cells.draw_row_labels(grid_b, inner_labels or []),
        svg.label(grid_ab.middle_x, equation_y, marked_pair, "middle", marked_number),
    ]
    width = max(grid_ab.right, grid_ab.middle_x + svg.text_width(equation) / 2)
    description = " ".join([*descriptions, f"Marked: {equation}."])
    panel = svg.Panel(width, equation_y + svg.LINE_HEIGHT / 2, "".join(body), description)
    return svg.figure(panel, f"{names[0]} times {names[1]} gives {names[2]}")


def _lay_out(
    a: np.ndarray, b: np.ndarray, cell: tuple[float, float], row_labels: Sequence[str]
) -> tuple[cells.Grid, cells.Grid, cells.Grid]:
    """Place A, B and their product: A and AB share their rows, B and AB their columns."""
    left = cells.room_for_labels(row_labels)
    top = 2 * svg.LINE_HEIGHT + TITLE_MARGIN
    right = left + a.shape[1] * cell[0] + GAP
    bottom = top + b.shape[0] * cell[1] + GAP
    return (
        cells.Grid(left, bottom, cell, *a.shape),
        cells.Grid(right, top, cell, *b.shape),
        cells.Grid(right, bottom, cell, a.shape[0], b.shape[1]),
    )
