"""Draw the cells of a matrix in the colour of its role."""

from attention_docs.arrays import Array
from attention_docs.render.figures import cells
from attention_docs.render.figures.scales import scale_of


def draw_numbers(grid: cells.Grid, matrix: Array, role: str) -> str:
    """Draw a matrix with its numbers; cells below zero have the colour of negative numbers."""
    return cells.draw_cells(grid, matrix, scale_of("diverging", role, matrix, role), None, True)
