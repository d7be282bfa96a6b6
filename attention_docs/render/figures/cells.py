"""Draw the cells of a matrix, with colours, numbers, labels and marks.

Nothing is shown by colour alone. A cell shows its number; where the number does not fit, it is a
tooltip, and the cell shows only a minus sign if it is negative. A cell with minus infinity is
crossed out, because a colour scale that reached it would leave no colours for the others.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from attention_docs.render.figures import svg
from attention_docs.render.figures.scales import Scale
from attention_docs.render.numbers import ARE_SHORT, format_name, number, with_plural
from attention_docs.render.references import index_in_step, step_name

# The width and height of a cell without a number, and of one with a number.
MIN_CELL = (22, 22)
MIN_NUMBER_WIDTH, NUMBER_HEIGHT = 26, 24
# In a cell: the room on both sides of its number together, and on each side of its cross. A compact
# cell has less room, so that nine columns fit on a phone.
NUMBER_PADDING, COMPACT_PADDING = 8, 4.5
CROSS_MARGIN = 4
# The room between a label and the matrix, and between the labels of two columns.
LABEL_GAP = 6
# The room for labels beside a matrix is wider than the widest of them by this.
LABEL_MARGIN = 8
# `text_width` is the width of digits, and words of as many letters are narrower.
WIDTH_OF_WORDS = 0.9
# Numbers are printed only in a matrix that is no wider than this with them.
MAX_WIDTH = 560
# The description of a larger matrix has its largest and smallest number only.
MAX_DESCRIBED_NUMBERS = 36

# What to mark: a row (2, None), a column (None, 5) or a cell (2, 5).
Mark = tuple[int | None, int | None]


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

    @property
    def right(self) -> float:
        return self.x + self.width

    @property
    def bottom(self) -> float:
        return self.y + self.height

    @property
    def middle_x(self) -> float:
        return self.x + self.width / 2

    @property
    def middle_y(self) -> float:
        return self.y + self.height / 2

    def row_middle(self, row: float) -> float:
        """Return the y of the middle of a row; 0.5 is the line between rows 0 and 1."""
        return self.y + (row + 0.5) * self.cell[1]

    def column_middle(self, column: float) -> float:
        """Return the x of the middle of a column; 0.5 is the line between columns 0 and 1."""
        return self.x + (column + 0.5) * self.cell[0]

    def box(self, row: int, column: int) -> dict[str, float]:
        x, y = self.x + column * self.cell[0], self.y + row * self.cell[1]
        return {"x": x, "y": y, "width": self.cell[0], "height": self.cell[1]}

    def centre(self, row: float, column: float) -> tuple[float, float]:
        return self.column_middle(column), self.row_middle(row)


def cell_text(value: float) -> str:
    """Return a number as text; a cell with minus infinity has none, because it is crossed out."""
    return "" if value == -np.inf else number(value)


def width_for_numbers(matrix: np.ndarray, padding: float = NUMBER_PADDING) -> float:
    """Return the width of a cell in which every number of the matrix fits, or a tick of a mask."""
    if matrix.dtype == bool:
        return MIN_CELL[0]
    return max(MIN_NUMBER_WIDTH, padding + max(map(svg.text_width, map(cell_text, matrix.flat))))


def cell_size(*matrices: np.ndarray, columns: int) -> tuple[float, float]:
    """Return the size of cells for all numbers, or `MIN_CELL` if a row would be too wide."""
    width = max(map(width_for_numbers, matrices))
    return MIN_CELL if width * columns > MAX_WIDTH else (width, NUMBER_HEIGHT)


def widen_to_labels(size: tuple[float, float], labels: Sequence[str]) -> tuple[float, float]:
    """Return cells as wide as the labels of their columns, unless the matrix were too wide."""
    width = max(size[0], LABEL_GAP + WIDTH_OF_WORDS * max(map(svg.text_width, labels)))
    return (width, size[1]) if width * len(labels) <= MAX_WIDTH else size


def draw_cells(
    grid: Grid,
    matrix: np.ndarray,
    scale: Scale,
    hidden: np.ndarray | None = None,
    has_numbers: bool = True,
) -> str:
    """Draw the cells of a matrix; -inf, False and what is `hidden` are crossed out.

    Numbers that are not printed are tooltips.
    """
    values = np.asarray(matrix)
    is_masked = ~values if values.dtype == bool else values == -np.inf
    is_crossed = is_masked if hidden is None else is_masked | np.asarray(hidden)
    body = []
    for index, value in np.ndenumerate(values):
        box = grid.box(*index)
        if is_crossed[index]:
            # An invisible box, so that a click on the cell reaches the page's script.
            cell = svg.element("rect", **box, fill="none", pointer_events="all")
        else:
            cell = draw_coloured_box(index, value, box, scale, has_numbers)
            if values.dtype == bool:
                text = "✓"
            elif has_numbers:
                text = cell_text(value)
            else:
                text = "−" if value < 0 else ""
            if text:
                cell += svg.label(*grid.centre(*index), text, fill=svg.colour(None))
        body.append(tag_index(cell, matrix, index))
    group = {"data_val": step_name(matrix), **scale.group}
    if step_name(matrix) and values.dtype != bool:
        printed = f"text {format_name()}"
        rules = [printed] if has_numbers else ["text sign", f"title {format_name()}"]
        group |= scale.rules(*rules, has_text=has_numbers)
    return svg.element("g", *body, **group) + draw_crosses(grid, is_crossed) + draw_grid_lines(grid)


def draw_coloured_box(
    index: Sequence[int], value: float, box: Mapping[str, float], scale: Scale, has_numbers: bool
) -> str:
    """Draw a coloured cell, with its number as a tooltip if the number is not printed."""
    children = []
    if not has_numbers and not isinstance(value, np.bool_):
        tooltip = f"row {index[0] + 1}, column {index[1] + 1}: {number(value)}"
        children.append(svg.element("title", svg.text_node(tooltip)))
    return svg.element("rect", *children, **box, **scale.paint(value, has_text=has_numbers))


def tag_index(drawing: str, matrix: np.ndarray, index: tuple[int, ...]) -> str:
    """Wrap a drawing of a number in a group with its index in the step, if the matrix has one."""
    if not step_name(matrix):
        return drawing
    return svg.element("g", drawing, data_at=index_in_step(matrix, index))


def inline_number(matrix: np.ndarray, index: tuple[int, ...]) -> str:
    """Return a number of a matrix as SVG for use within a text element."""
    text = svg.text_node(number(matrix[index]))
    step = step_name(matrix)
    if not step:
        return text
    is_short = "" if ARE_SHORT.get() else None
    reference = f"{step}[{index_in_step(matrix, index)}]"
    return svg.element("tspan", text, data_val=reference, data_short=is_short)


def draw_crosses(grid: Grid, is_crossed: np.ndarray) -> str:
    """Cross out the cells at which a boolean matrix is True, with a single path for all of them."""
    side = min(grid.cell) - 2 * CROSS_MARGIN
    cross = f"l{side:g} {side:g}m0 {-side:g}l{-side:g} {side:g}"
    path = ""
    for row, column in np.argwhere(is_crossed):
        x, y = grid.centre(row, column)
        path += f"M{x - side / 2:g} {y - side / 2:g}{cross}"
    if not path:
        return ""
    return svg.element("path", d=path, fill="none", stroke="currentColor", stroke_opacity=0.45)


def draw_grid_lines(grid: Grid, role: str | None = None, opacity: float = 0.3) -> str:
    cell_width, cell_height = grid.cell
    path = ""
    for column in range(grid.columns + 1):
        path += f"M{grid.x + column * cell_width:g} {grid.y:g}v{grid.height:g}"
    for row in range(grid.rows + 1):
        path += f"M{grid.x:g} {grid.y + row * cell_height:g}h{grid.width:g}"
    return svg.element("path", d=path, fill="none", stroke=svg.colour(role), stroke_opacity=opacity)


def draw_mark(grid: Grid, mark: Mark, role: str | None) -> str:
    """Draw a box around the marked row, column, cell or, with `(None, None)`, matrix."""
    row, column = mark
    return svg.element(
        "rect",
        x=grid.x + (column or 0) * grid.cell[0],
        y=grid.y + (row or 0) * grid.cell[1],
        width=grid.width if column is None else grid.cell[0],
        height=grid.height if row is None else grid.cell[1],
        fill="none",
        stroke=svg.colour(role),
        stroke_width=2.5,
    )


def room_for_labels(labels: Sequence[str]) -> float:
    """Return the width of row labels, or the height of labels that read upwards, with a margin."""
    return max(map(svg.text_width, labels)) + LABEL_MARGIN


def draw_row_labels(grid: Grid, labels: Sequence[str]) -> str:
    return "".join(
        svg.label(grid.x - LABEL_GAP, grid.row_middle(row), text, "end")
        for row, text in enumerate(labels)
    )


def draw_column_labels(grid: Grid, labels: Sequence[str]) -> str:
    return "".join(
        svg.label(grid.column_middle(column), grid.y - svg.LINE_HEIGHT / 2, text)
        for column, text in enumerate(labels)
    )


def draw_upward_labels(grid: Grid, labels: Sequence[str]) -> str:
    """Write labels that read upwards above the columns, where a level one would be too wide."""
    return "".join(
        svg.vertical_label(grid.column_middle(column), grid.y - LABEL_GAP, text, "start")
        for column, text in enumerate(labels)
    )


def describe(name: str, matrix: np.ndarray) -> str:
    """Describe a matrix in words: its size, and its rows, or the extremes of many numbers."""
    rows, columns = matrix.shape
    size = f"{name}: {with_plural(rows, 'row')}, {with_plural(columns, 'column')}."
    if matrix.size > MAX_DESCRIBED_NUMBERS and matrix.dtype != bool:
        return f"{size} {_describe_extremes(matrix)}"
    sentences = [
        f"Row {i}: {', '.join(map(number_in_words, row))}." for i, row in enumerate(matrix, 1)
    ]
    return " ".join([size, *sentences])


def _describe_extremes(matrix: np.ndarray) -> str:
    """Return a sentence with the largest and the smallest number, apart from minus infinity."""
    is_unmasked = matrix > -np.inf
    if not is_unmasked.any():
        return "No cell takes part."
    low = np.unravel_index(np.where(is_unmasked, matrix, np.inf).argmin(), matrix.shape)
    high = np.unravel_index(matrix.argmax(), matrix.shape)
    return (
        f"The largest is {number(matrix[high])} in row {high[0] + 1}, column {high[1] + 1}; "
        f"the smallest {number(matrix[low])} in row {low[0] + 1}, column {low[1] + 1}."
    )


def number_in_words(value: float) -> str:
    if isinstance(value, np.bool_):
        return "yes" if value else "no"
    return "takes no part" if value == -np.inf else number(value)
