"""Draw the cells of a matrix in the colour of its role."""

from attention_docs.arrays import Array
from attention_docs.render.figures import cells
from attention_docs.render.figures.scales import scale_of


def draw_numbers(grid: cells.Grid, matrix: Array, role: str | None) -> str:
    """Draw cells with their numbers, the more coloured the further a number is from zero."""
    scale = scale_of("diverging", "matrix", matrix, role)
    return cells.draw_cells(grid, matrix, scale)
