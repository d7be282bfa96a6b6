"""A matrix as cells: coloured, with their numbers where those fit, and marked.

Nothing is shown by colour alone. A cell holds its number; one too small for it shows the number as
a tooltip, and a minus sign if it is negative. A masked cell is crossed out: on the colour scale,
minus infinity would leave no colours for the others.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from attention_docs.render.figures.scales import ALONE, UNDER_TEXT, Scale
from attention_docs.render.figures.svg import LINE, colour, element, label, text_width, words
from attention_docs.render.numbers import number
from attention_docs.render.references import place_of, step_of

# The size of a cell without its number.
SMALLEST = (22, 22)
# Numbers are printed as long as the whole matrix stays narrower than this.
WIDEST = 560
# The most numbers that a screen reader is given; of more, only the largest and the smallest.
MOST_READ_OUT = 36

Mark = tuple[int | None, int | None]


class Grid(NamedTuple):
    """The cells of a matrix: the upper left corner of the first, their size, and how many."""

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


def shown(value: float) -> str:
    """Return the text of a cell; nothing if the cell is crossed out anyway."""
    return "" if value == -np.inf else number(value)


def printed_width(matrix: np.ndarray) -> float:
    """Return the width of a cell in which every number of the matrix fits."""
    if matrix.dtype == bool:
        return SMALLEST[0]
    return max(26, 8 + max(text_width(shown(value)) for value in matrix.flat))


def cell_size(*matrices: np.ndarray, columns: int) -> tuple[float, float]:
    """Choose one size for all cells: large enough for the numbers, if so many columns then fit."""
    width = max(map(printed_width, matrices))
    return SMALLEST if width * columns > WIDEST else (width, 24)


def fitting(size: tuple[float, float], names: Sequence[str]) -> tuple[float, float]:
    """Widen cells until the names of the columns fit, if the matrix then stays narrow."""
    width = max(size[0], 6 + max(map(text_width, names)))
    return (width, size[1]) if width * len(names) <= WIDEST else size


def cells(
    grid: Grid, matrix: np.ndarray, scale: Scale, hidden: np.ndarray | None, printed: bool
) -> str:
    """Draw the cells of a matrix."""
    values = np.asarray(matrix)
    absent = ~values if values.dtype == bool else values == -np.inf
    crossed = absent if hidden is None else absent | np.asarray(hidden)
    body = []
    for place, value in np.ndenumerate(values):
        box = grid.box(*place)
        if crossed[place]:
            # Nothing to see, but something to point at.
            cell = element("rect", **box, fill="none", pointer_events="all")
        else:
            cell = painted(place, value, box, scale, printed)
            cell += content(grid.centre(*place), value, printed)
        body.append(of_place(cell, matrix, place))
    drawn = element("g", *body, data_val=step_of(matrix), fill=scale.colour)
    return drawn + crosses(grid, crossed) + frame(grid)


def painted(
    place: Sequence[int], value: float, box: Mapping[str, float], scale: Scale, printed: bool
) -> str:
    """Colour a cell; it says its number as a tooltip if the number is not printed."""
    shows = printed or isinstance(value, np.bool_)
    tip = f"row {place[0] + 1}, column {place[1] + 1}: {number(value)}"
    tooltip = () if shows else (element("title", words(tip)),)
    return element("rect", *tooltip, **box, **scale.paint(value, UNDER_TEXT if printed else ALONE))


def of_step(drawn: str, matrix: np.ndarray, attribute: str = "data_val") -> str:
    """Say which step of an example is drawn, if that is known."""
    step = step_of(matrix)
    return element("g", drawn, **{attribute: step}) if step else drawn


def of_place(drawn: str, matrix: np.ndarray, index: tuple[int, ...]) -> str:
    """Say which number of its step is drawn."""
    return element("g", drawn, data_at=place_of(matrix, index)) if step_of(matrix) else drawn


def said(matrix: np.ndarray, index: tuple[int, ...]) -> str:
    """Write a number of a matrix within text."""
    shown, step = words(number(matrix[index])), step_of(matrix)
    if not step:
        return shown
    return element("tspan", shown, data_val=f"{step}[{place_of(matrix, index)}]")


def content(centre: tuple[float, float], value: float, printed: bool) -> str:
    """Write the number, or a tick for True; if it does not fit, at least its minus sign."""
    if isinstance(value, np.bool_):
        text = "✓"
    elif printed:
        text = number(value)
    else:
        text = "−" if value < 0 else ""
    return label(*centre, text, fill=colour(None)) if text else ""


def crosses(grid: Grid, crossed: np.ndarray) -> str:
    """Cross out cells, all in one path."""
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


def mark(grid: Grid, place: Mark, role: str | None) -> str:
    """Draw a box around a row, (2, None), a column, (None, 5), or one cell, (2, 5)."""
    row, column = place
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
        label(grid.centre(0, column)[0], grid.y - LINE / 2, name)
        for column, name in enumerate(names)
    )


def described(name: str, matrix: np.ndarray) -> str:
    """Describe a matrix in words: all its rows if it is small, else its extremes."""
    height, width = matrix.shape
    size = f"{name}: {_counted(height, 'row')}, {_counted(width, 'column')}."
    if matrix.size <= MOST_READ_OUT or matrix.dtype == bool:
        rows = (", ".join(map(spoken, row)) for row in matrix)
        return " ".join([size, *(f"Row {i + 1}: {row}." for i, row in enumerate(rows))])
    present = matrix > -np.inf
    if not present.any():
        return f"{size} No cell takes part."
    low = np.unravel_index(np.where(present, matrix, np.inf).argmin(), matrix.shape)
    high = np.unravel_index(matrix.argmax(), matrix.shape)
    return (
        f"{size} The largest is {number(matrix[high])} in row {high[0] + 1}, column {high[1] + 1}; "
        f"the smallest {number(matrix[low])} in row {low[0] + 1}, column {low[1] + 1}."
    )


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def spoken(value: float) -> str:
    if isinstance(value, np.bool_):
        return "yes" if value else "no"
    return "takes no part" if value == -np.inf else number(value)
