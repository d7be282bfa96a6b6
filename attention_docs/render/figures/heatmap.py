"""Draw one matrix as a table of coloured cells."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from attention_docs.arrays import Array
from attention_docs.render.figures import arguments, cells, svg
from attention_docs.render.figures.scales import Scale, scale_of
from attention_docs.render.numbers import ARE_SHORT, short_numbers
from attention_docs.render.references import step_name

LEGEND_GAP, BOTTOM_MARGIN = 10, 2  # below the cells, with a legend and without


def heatmap(matrix: Array, name: str = "Matrix", **options: Any) -> svg.Html:
    """Draw a matrix: colours, and numbers where they fit, or else a labelled scale.

    Args:
        matrix: (m, n) real numbers of any array library. -inf is crossed out. Booleans make a
            mask: ticked where True, crossed out where False.
        name: its name, the title of the figure.
        options: the options of [`matrix_panel`][attention_docs.render.figures.matrix_panel].

    Returns:
        The figure as SVG text; a notebook shows the picture.

    Raises:
        TypeError: if the matrix does not hold real numbers or booleans, or a name is no text.
        ValueError: if it does not have two axes, is empty or holds NaN, or an option does not fit.

    >>> picture = heatmap(np.array([[0.25, 0.75], [1.0, 0.0]]), "A", scale="sequential")
    >>> picture.startswith("<svg"), "0.7500" in picture
    (True, True)
    """
    return svg.figure(matrix_panel(matrix, name, **options), name)


def matrix_panel(
    matrix: Array,
    name: str = "Matrix",
    *,
    rows: str = "rows",
    columns: str = "columns",
    row_labels: Sequence[str] | None = None,
    column_labels: Sequence[str] | None = None,
    scale: str = "diverging",
    hidden: Array | None = None,
    mark: cells.Mark | None = None,
    role: str | None = None,
    numbers: bool = True,
    compact: bool = False,
) -> svg.Panel:
    """Draw a matrix as a panel, alone or beside others.

    Args:
        matrix: (m, n) real numbers or booleans.
        name: its name.
        rows: what a row is, for example `queries`; if empty, no room is left for it.
        columns: what a column is, for example `keys`.
        row_labels: m labels; by default the positions, counted from 1.
        column_labels: n labels; by default the positions, counted from 1.
        scale: `diverging` around zero, for scores; `sequential` from zero, for weights.
        hidden: (m, n) booleans, True where a cell is crossed out although it has a number.
        mark: a row `(2, None)`, a column `(None, 5)` or a cell `(2, 5)`, counted from 0.
        role: input, query, key, value, scores, weights or output; it colours the name and
            the cells.
        numbers: whether to print the numbers where they fit.
        compact: whether to print two decimals only, and the labels of columns upwards where they
            are wider than the numbers, so that a matrix of many columns fits on a phone.
    """
    values = arguments.matrix("matrix", matrix)
    for argument, value in (("name", name), ("rows", rows), ("columns", columns)):
        arguments.text(argument, value)
    row_labels = arguments.labels("row_labels", row_labels, values.shape[0])
    column_labels = arguments.labels("column_labels", column_labels, values.shape[1])
    crossed_out = _checked_hidden(hidden, values.shape)
    cell, has_numbers = _cell_size(values, column_labels, numbers, compact)
    are_upward = compact and max(map(svg.text_width, column_labels)) > cell[0]
    colour_scale = scale_of(scale, "matrix", values, role)
    width = cell[0] * values.shape[1]
    legend = _legend(colour_scale, values, width, has_numbers)
    # The centred titles and the legend may be wider than the cells.
    overhang = max(0, max(legend.width, svg.text_width(name), svg.text_width(columns)) - width) / 2
    row_labels_width = cells.room_for_labels(row_labels)
    left = max(row_labels_width + (svg.LINE_HEIGHT if rows else 0), overhang)
    column_labels_height = cells.room_for_labels(column_labels) if are_upward else svg.LINE_HEIGHT
    grid = cells.Grid(left, 2 * svg.LINE_HEIGHT + column_labels_height, cell, *values.shape)
    rows_x = grid.x - row_labels_width - svg.LINE_HEIGHT / 2
    draw_column_labels = cells.draw_upward_labels if are_upward else cells.draw_column_labels
    legend_top = grid.bottom + (LEGEND_GAP if legend.height else BOTTOM_MARGIN)
    with short_numbers(compact or ARE_SHORT.get()):
        drawn_cells = cells.draw_cells(grid, values, colour_scale, crossed_out, has_numbers)
    body = [
        svg.title(grid.middle_x, svg.LINE_HEIGHT / 2, name, role),
        svg.label(grid.middle_x, 1.5 * svg.LINE_HEIGHT, columns),
        svg.vertical_label(rows_x, grid.middle_y, rows) if rows else "",
        draw_column_labels(grid, column_labels),
        cells.draw_row_labels(grid, row_labels),
        drawn_cells,
        cells.draw_mark(grid, _checked_mark(mark, values.shape), role) if mark is not None else "",
        svg.translated(grid.middle_x - legend.width / 2, legend_top, legend.body),
    ]
    # The vertical label may be longer than the cells are high.
    height = max(legend_top + legend.height, grid.middle_y + svg.text_width(rows) / 2)
    description = cells.describe(name, values)
    return svg.Panel(grid.right + overhang, height, "".join(body), description, name=name)


def _cell_size(
    values: np.ndarray, column_labels: Sequence[str], numbers: bool, compact: bool
) -> tuple[tuple[float, float], bool]:
    """Return the size of a cell, and whether it has room for a number."""
    if compact:
        with short_numbers():
            width = cells.width_for_numbers(values, padding=cells.COMPACT_PADDING)
        cell: tuple[float, float] = (width, cells.NUMBER_HEIGHT)
        if max(map(svg.text_width, column_labels)) > cell[0]:
            return cell, True
    elif numbers:
        cell = cells.cell_size(values, columns=values.shape[1])
    else:
        cell = cells.MIN_CELL
    return cells.widen_to_labels(cell, column_labels), cell != cells.MIN_CELL


def _legend(scale: Scale, values: np.ndarray, width: float, has_numbers: bool) -> svg.Panel:
    """Explain the symbols of a mask, or colours without numbers; printed numbers need nothing."""
    if values.dtype == bool:
        text = "✓ takes part, × does not"
        width = max(width, svg.text_width(text))
        return svg.Panel(
            width, svg.LINE_HEIGHT, svg.label(width / 2, svg.LINE_HEIGHT / 2, text), ""
        )
    if has_numbers:
        return svg.Panel(0, 0, "", "")
    legend = scale.legend(width)
    step = step_name(values)
    if step is None:
        return legend
    # The page's script repaints the legend that has the name of an edited step.
    rules = scale.rules("text exact", has_text=False)
    return legend._replace(body=svg.element("g", legend.body, data_scale=step, **rules))


def _checked_hidden(hidden: Array | None, shape: tuple[int, ...]) -> np.ndarray | None:
    """Return the boolean mask of hidden cells, or None if no cell is hidden."""
    if hidden is None:
        return None
    mask = arguments.matrix("hidden", hidden, f"{shape} to match matrix")
    if mask.shape != shape or mask.dtype != bool:
        raise ValueError(
            f"hidden has shape {mask.shape} and dtype {mask.dtype}; "
            f"expected {shape} to match matrix, and bool"
        )
    return mask


def _checked_mark(mark: cells.Mark, shape: tuple[int, ...]) -> cells.Mark:
    """Return the marked row and column, counted from the start, where None means all of them."""
    if not isinstance(mark, Sequence) or len(mark) != 2:
        raise ValueError(f"mark is {mark!r}; expected a pair (row, column)")
    row, column = mark
    return (
        None if row is None else arguments.index("mark[0]", row, shape[0]),
        None if column is None else arguments.index("mark[1]", column, shape[1]),
    )
