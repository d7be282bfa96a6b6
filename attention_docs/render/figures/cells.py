"""Draw the cells of a matrix, with colours, numbers, labels and marks.

Nothing is shown by colour alone. A cell shows its number, or, where the number does not fit, a
tooltip and the minus sign. A masked cell is crossed out, because minus infinity on the colour scale
would leave no colours for the others.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from attention_docs.render.figures.scales import OPACITY, OPACITY_UNDER_TEXT, Scale
from attention_docs.render.figures.svg import (
    LINE_HEIGHT,
    colour,
    element,
    escape_text,
    label,
    text_width,
)
from attention_docs.render.numbers import number
from attention_docs.render.references import index_in_step, step_name

# The size of a cell without a number.
MIN_CELL = (22, 22)
# Numbers are printed if the matrix is then no wider than this.
MAX_WIDTH = 560
# Descriptions of larger matrices name their largest and smallest number only.
MAX_SPOKEN_NUMBERS = 36

Mark = tuple[int | None, int | None]  # a row, a column or a cell; None means all


class Grid(NamedTuple):
    """The geometry of a matrix: its upper left corner, and the size and number of its cells."""

    x: float
    y: float
    cell: tuple[float, float]
    rows: int
    columns: int

    @property
    def width(self) -> float:
        return self.columns * self.cell[0]

    @property
    def height(self) -> float:
        return self.rows * self.cell[1]

    def box(self, row: int, column: int) -> dict[str, float]:
        x, y = self.x + column * self.cell[0], self.y + row * self.cell[1]
        return {"x": x, "y": y, "width": self.cell[0], "height": self.cell[1]}

    def centre(self, row: float, column: float) -> tuple[float, float]:
        return self.x + (column + 0.5) * self.cell[0], self.y + (row + 0.5) * self.cell[1]


def cell_text(value: float) -> str:
    """Return the text of a cell, which is empty if the cell is crossed out."""
    return "" if value == -np.inf else number(value)


def width_for_numbers(matrix: np.ndarray) -> float:
    """Return the width of a cell in which every number of the matrix fits."""
    if matrix.dtype == bool:
        return MIN_CELL[0]
    return max(26, 8 + max(text_width(cell_text(value)) for value in matrix.flat))


def cell_size(*matrices: np.ndarray, columns: int) -> tuple[float, float]:
    """Return one size for all cells: large enough for the numbers, if the columns then fit."""
    width = max(map(width_for_numbers, matrices))
    return MIN_CELL if width * columns > MAX_WIDTH else (width, 24)


def widened(size: tuple[float, float], names: Sequence[str]) -> tuple[float, float]:
    """Widen cells to the names of their columns, unless the matrix gets too wide."""
    width = max(size[0], 6 + max(map(text_width, names)))
    return (width, size[1]) if width * len(names) <= MAX_WIDTH else size


def cells(
    grid: Grid, matrix: np.ndarray, scale: Scale, hidden: np.ndarray | None, has_numbers: bool
) -> str:
    """Draw the cells of a matrix."""
    values = np.asarray(matrix)
    masked = ~values if values.dtype == bool else values == -np.inf
    crossed = masked if hidden is None else masked | np.asarray(hidden)
    body = []
    for index, value in np.ndenumerate(values):
        box = grid.box(*index)
        if crossed[index]:
            # Invisible, but it answers the pointer.
            cell = element("rect", **box, fill="none", pointer_events="all")
        else:
            cell = coloured_box(index, value, box, scale, has_numbers)
            cell += cell_label(grid.centre(*index), value, has_numbers)
        body.append(tag_index(cell, matrix, index))
    group = element("g", *body, data_val=step_name(matrix), fill=scale.colour)
    return group + crosses(grid, crossed) + frame(grid)


def coloured_box(
    index: Sequence[int], value: float, box: Mapping[str, float], scale: Scale, has_numbers: bool
) -> str:
    """Draw a coloured cell, with its number as a tooltip if the number is not printed."""
    has_label = has_numbers or isinstance(value, np.bool_)
    tip = f"row {index[0] + 1}, column {index[1] + 1}: {number(value)}"
    tooltip = () if has_label else (element("title", escape_text(tip)),)
    fill = scale.paint(value, OPACITY_UNDER_TEXT if has_numbers else OPACITY)
    return element("rect", *tooltip, **box, **fill)


def tag_step(svg: str, matrix: np.ndarray, attribute: str = "data_val") -> str:
    """Attach the step that a drawing shows, if the matrix has one."""
    step = step_name(matrix)
    return element("g", svg, **{attribute: step}) if step else svg


def tag_index(svg: str, matrix: np.ndarray, index: tuple[int, ...]) -> str:
    """Attach the index of the number that a drawing shows, if the matrix has a step."""
    return element("g", svg, data_at=index_in_step(matrix, index)) if step_name(matrix) else svg


def inline_number(matrix: np.ndarray, index: tuple[int, ...]) -> str:
    """Return a number of a matrix for use within text."""
    text, step = escape_text(number(matrix[index])), step_name(matrix)
    if not step:
        return text
    return element("tspan", text, data_val=f"{step}[{index_in_step(matrix, index)}]")


def cell_label(centre: tuple[float, float], value: float, has_numbers: bool) -> str:
    """Write the number, or a tick for True; where the number does not fit, its minus sign."""
    if isinstance(value, np.bool_):
        text = "✓"
    elif has_numbers:
        text = number(value)
    else:
        text = "−" if value < 0 else ""
    return label(*centre, text, fill=colour(None)) if text else ""


def crosses(grid: Grid, crossed: np.ndarray) -> str:
    """Cross out cells, in a single path."""
    width, height = (side - 8 for side in grid.cell)
    lines = []
    for row, column in np.argwhere(crossed):
        x, y = grid.centre(row, column)
        left, top = x - width / 2, y - height / 2
        lines.append(f"M{left:g} {top:g}l{width:g} {height:g}m0 {-height:g}l{-width:g} {height:g}")
    if not lines:
        return ""
    return element(
        "path", d="".join(lines), fill="none", stroke="currentColor", stroke_opacity=0.45
    )


def frame(grid: Grid) -> str:
    """Draw thin lines around all the cells."""
    down = "".join(
        f"M{grid.x + i * grid.cell[0]:g} {grid.y:g}v{grid.height:g}"
        for i in range(grid.columns + 1)
    )
    across = "".join(
        f"M{grid.x:g} {grid.y + i * grid.cell[1]:g}h{grid.width:g}" for i in range(grid.rows + 1)
    )
    return element("path", d=down + across, fill="none", stroke="currentColor", stroke_opacity=0.3)


def mark(grid: Grid, marked: Mark, role: str | None) -> str:
    """Draw a box around a row, (2, None), a column, (None, 5), or one cell, (2, 5)."""
    row, column = marked
    return element(
        "rect",
        x=grid.x + (column or 0) * grid.cell[0],
        y=grid.y + (row or 0) * grid.cell[1],
        width=grid.width if column is None else grid.cell[0],
        height=grid.height if row is None else grid.cell[1],
        fill="none",
        stroke=colour(role),
        stroke_width=2.5,
    )


def row_names(grid: Grid, names: Sequence[str]) -> str:
    """Write a name to the left of each row."""
    return "".join(
        label(grid.x - 6, grid.centre(row, 0)[1], name, "end") for row, name in enumerate(names)
    )


def column_names(grid: Grid, names: Sequence[str]) -> str:
    """Write a name above each column."""
    return "".join(
        label(grid.centre(0, column)[0], grid.y - LINE_HEIGHT / 2, name)
        for column, name in enumerate(names)
    )


def describe(name: str, matrix: np.ndarray) -> str:
    """Describe a matrix in words: all rows of a small one, the extremes of a large one."""
    height, width = matrix.shape
    size = f"{name}: {_count(height, 'row')}, {_count(width, 'column')}."
    if matrix.size <= MAX_SPOKEN_NUMBERS or matrix.dtype == bool:
        rows = (", ".join(map(spoken, row)) for row in matrix)
        return " ".join([size, *(f"Row {i + 1}: {row}." for i, row in enumerate(rows))])
    unmasked = matrix > -np.inf
    if not unmasked.any():
        return f"{size} No cell takes part."
    low = np.unravel_index(np.where(unmasked, matrix, np.inf).argmin(), matrix.shape)
    high = np.unravel_index(matrix.argmax(), matrix.shape)
    return (
        f"{size} The largest is {number(matrix[high])} in row {high[0] + 1}, column {high[1] + 1}; "
        f"the smallest {number(matrix[low])} in row {low[0] + 1}, column {low[1] + 1}."
    )


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def spoken(value: float) -> str:
    if isinstance(value, np.bool_):
        return "yes" if value else "no"
    return "takes no part" if value == -np.inf else number(value)
