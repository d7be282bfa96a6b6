"""Draw one matrix as a table of coloured cells."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from attention_docs.arrays import Array
from attention_docs.render.figures import arguments, cells
from attention_docs.render.figures.scales import OPACITY, Scale, scale_of
from attention_docs.render.figures.svg import (
    LINE_HEIGHT,
    Html,
    Panel,
    figure,
    label,
    text_width,
    title,
    translated,
    vertical_label,
)


def heatmap(matrix: Array, name: str = "Matrix", **options: Any) -> Html:
    """Draw a matrix: colours, and numbers where they fit, or else a labelled scale.

    Args:
        matrix: (m, n) real numbers of any array library. -inf is crossed out. Booleans make a
            mask: ticked where True, crossed out where False.
        name: its name, the title of the figure.
        options: the options of [`matrix_panel`][attention_docs.render.figures.matrix_panel].

    Returns:
        The figure as SVG text; a notebook shows the picture.

    Raises:
        TypeError: if the matrix does not hold real numbers or booleans.
        ValueError: if it does not have two axes, is empty or holds NaN, or an option does not fit.

    >>> picture = heatmap(np.array([[0.25, 0.75], [1.0, 0.0]]), "A", scale="sequential")
    >>> picture.startswith("<svg"), "0.7500" in picture
    (True, True)
    """
    return figure(matrix_panel(matrix, name, **options), name)


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
) -> Panel:
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
    row_labels = arguments.labels("row_labels", row_labels, values.shape[0])
    column_labels = arguments.labels("column_labels", column_labels, values.shape[1])
    crossed_out = _checked_hidden(hidden, values.shape)
    if compact:
        cell: tuple[float, float] = (cells.compact_width(values), cells.NUMBER_HEIGHT)
    elif numbers:
        cell = cells.cell_size(values, columns=values.shape[1])
    else:
        cell = cells.MIN_CELL
    has_numbers = cell != cells.MIN_CELL
    widest_label = max(map(text_width, column_labels))
    are_upward = compact and widest_label > cell[0]
    if not are_upward:
        cell = cells.widen_to_labels(cell, column_labels)
    labels_height = widest_label + 8 if are_upward else LINE_HEIGHT
    draw_column_labels = cells.draw_upward_labels if are_upward else cells.draw_column_labels
    colour_scale = scale_of(scale, "matrix", values, role)
    width = cell[0] * values.shape[1]
    legend = _legend(colour_scale, values.dtype == bool, width, has_numbers)
    # The centred titles and the legend may be wider than the cells.
    overhang = max(0, max(legend.width, text_width(name), text_width(columns)) - width) / 2
    margin = max(map(text_width, row_labels)) + 8
    top = 2 * LINE_HEIGHT + labels_height
    left = margin + (LINE_HEIGHT if rows else 0)
    grid = cells.Grid(max(left, overhang), top, cell, *values.shape)
    centre = grid.x + width / 2
    below = grid.bottom + (10 if legend.height else 2)
    tagged_legend = cells.tag_step(legend.body, values, "data_scale") if legend.body else ""
    middle = grid.middle_y
    body = [
        title(centre, LINE_HEIGHT / 2, name, role),
        label(centre, 1.5 * LINE_HEIGHT, columns),
        vertical_label(grid.x - margin - LINE_HEIGHT / 2, middle, rows) if rows else "",
        draw_column_labels(grid, column_labels),
        cells.draw_row_labels(grid, row_labels),
        cells.draw_cells(grid, values, colour_scale, crossed_out, has_numbers, compact),
        cells.draw_mark(grid, _checked_mark(mark, values.shape), role) if mark is not None else "",
        translated(centre - legend.width / 2, below, tagged_legend),
    ]
    # The vertical label may be longer than the cells are high.
    height = max(below + legend.height, middle + text_width(rows) / 2)
    return Panel(
        grid.x + width + overhang, height, "".join(body), cells.describe(name, values), name=name
    )


def _legend(scale: Scale, is_mask: bool, width: float, has_numbers: bool) -> Panel:
    """Explain the symbols of a mask, or colours without numbers, centred in a width."""
    if has_numbers and not is_mask:
        return Panel(0, 0, "", "")
    if not is_mask:
        return scale.legend(width, OPACITY)
    text = "✓ takes part, × does not"
    width = max(width, text_width(text))
    return Panel(width, LINE_HEIGHT, label(width / 2, LINE_HEIGHT / 2, text), "")


def _checked_hidden(hidden: Array | None, shape: tuple[int, ...]) -> np.ndarray | None:
    """Return the boolean mask of hidden cells, or None."""
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
    """Return the marked row and column, counted from the start."""
    if not isinstance(mark, Sequence) or len(mark) != 2:
        raise ValueError(f"mark is {mark!r}; expected a pair (row, column)")
    row, column = mark
    return (
        None if row is None else arguments.index("mark[0]", row, shape[0]),
        None if column is None else arguments.index("mark[1]", column, shape[1]),
    )
