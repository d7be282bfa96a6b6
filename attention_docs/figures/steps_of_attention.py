"""Draw the steps of attention, for the figures of several sections."""

from collections.abc import Mapping, Sequence
from typing import Any

from attention_docs.arrays import Array
from attention_docs.lookup import Steps, words_of
from attention_docs.render import figures as draw
from attention_docs.render.figures import cells, scales, svg

SCORES: dict[str, Any] = {"rows": "queries", "columns": "keys", "role": "scores"}
WEIGHTS: dict[str, Any] = {**SCORES, "role": "weights", "scale": "sequential"}


def step_panel(step: Array, name: str, **options: Any) -> draw.Panel:
    """Draw a step as `matrix_panel` does, with its words at the rows and columns."""
    rows, columns = words_of(step)
    return draw.matrix_panel(step, name, row_labels=rows, column_labels=columns, **options)


def scores_figure(steps: Steps, row: int, column: int) -> draw.Html:
    """Draw the product of queries and keys; the score in a row and a column is marked."""
    queries, keys = words_of(steps["scores"]) or (None, None)
    return draw.product_figure(
        steps["Q"],
        steps["K"].T,
        row_labels=queries,
        column_labels=keys,
        row=row,
        column=column,
        names=("Q", "Kᵀ", "S"),
        roles=("query", "key", "scores"),
        product=steps["scores"],
    )


def matrices_figure(name: str, matrices: Mapping[str, Array], **options: Any) -> draw.Html:
    """Draw matrices side by side, each under its heading, all with options of `matrix_panel`."""
    panels = [draw.matrix_panel(matrix, heading, **options) for heading, matrix in matrices.items()]
    return draw.beside(panels, name)


def softmax_figure(name: str, scores: Array, weights: Array, hidden: Array = None) -> draw.Html:
    """Draw scores and weights, crossed out where `hidden`, with the third row marked."""
    options: dict[str, Any] = {"numbers": False, "mark": (2, None)}
    scores_panel = draw.matrix_panel(scores, "Scaled scores", **SCORES, **options)
    weights_name = "Weights: the softmax of each row"
    weights_panel = draw.matrix_panel(weights, weights_name, **WEIGHTS, **options, hidden=hidden)
    return draw.beside([scores_panel, weights_panel], name)


def draw_numbers(
    grid: cells.Grid, matrix: Array, role: str | None, step: Array | None = None
) -> str:
    """Draw numbers, the more coloured the further from zero, on the scale of the whole `step`."""
    scale = scales.scale_of("diverging", "matrix", matrix if step is None else step, role)
    return cells.draw_cells(grid, matrix, scale)


def word_cells(grid: cells.Grid, matrix: Array, role: str, columns: Sequence[str]) -> str:
    """Draw a matrix without numbers, with upward words over it and weights of zero crossed out."""
    hidden = matrix == 0 if role == "weights" else None
    scale = scales.scale_of("sequential", role, matrix, role)
    words = cells.draw_upward_labels(grid, columns)
    return words + cells.draw_cells(grid, matrix, scale, hidden, has_numbers=False)


def words_panel(
    name: str,
    step: Array,
    width: float,
    role: str | None = None,
    *,
    scale: str = "diverging",
    numbers: bool = True,
    marks: Sequence[cells.Mark] = (),
    top: float = 0,
) -> draw.Panel:
    """Draw a matrix in cells of a width, with words at its rows and, upwards, over its columns.

    Weights of zero are crossed out. With the same `top`, panels side by side begin at the same y.
    """
    rows, columns = words_of(step)
    rows = rows or columns  # for a padding mask, which is the same for every query
    left = cells.room_for_labels(rows)
    top = top or 1.5 * svg.LINE_HEIGHT + cells.room_for_labels(columns)
    grid = cells.Grid(left, top, (width, cells.MIN_CELL[1]), *step.shape)
    hidden = step == 0 if role == "weights" else None
    colours = scales.scale_of(scale, name, step, role)
    body = [
        svg.title(grid.middle_x, svg.LINE_HEIGHT / 2, name, role),
        cells.draw_row_labels(grid, rows),
        cells.draw_upward_labels(grid, columns),
        cells.draw_cells(grid, step, colours, hidden, has_numbers=numbers),
        *(cells.draw_mark(grid, mark, role) for mark in marks),
    ]
    width = max(grid.right, grid.middle_x + svg.text_width(name) / 2)
    return draw.Panel(width, grid.bottom, "".join(body), cells.describe(name, step), name=name)


def scores_of_positions(name: str, scores: Array) -> draw.Html:
    """Draw scores whose rows and columns are positions, counted from 0."""
    queries, keys = scores.shape
    return draw.heatmap(
        scores,
        name,
        rows="position of the query",
        columns="position of the key",
        row_labels=[str(position) for position in range(queries)],
        column_labels=[str(position) for position in range(keys)],
        role="scores",
    )


def output_figure(steps: Steps, row: int, column: int) -> draw.Html:
    """Draw the product of weights and values; the output in a row and a column is marked."""
    queries, keys = words_of(steps["weights"]) or (None, None)
    _, features = words_of(steps["V"]) or (None, None)
    return draw.product_figure(
        steps["weights"],
        steps["V"],
        row_labels=queries,
        column_labels=features,
        inner_labels=keys,
        row=row,
        column=column,
        names=("A", "V", "O"),
        roles=("weights", "value", "output"),
        scales=("sequential", "diverging", "diverging"),
        product=steps["output"],
    )
