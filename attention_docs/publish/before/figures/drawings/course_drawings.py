"""Draw boxed words, arrows in a plane, steps and products of one row, for the course."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from attention_docs.publish.before.figures.drawings.arrows import (
    Point,
    arrowhead,
    vector_arrow,
    vector_tip,
)
from attention_docs.publish.before.figures.drawings.boxes import box, box_width
from attention_docs.publish.before.figures.drawings.steps_of_attention import draw_numbers
from attention_docs.render.figures import Panel, cells
from attention_docs.render.figures.scales import scale_of
from attention_docs.render.figures.svg import (
    LINE_HEIGHT,
    colour,
    element,
    heading,
    label,
    text_width,
    title,
    vertical_label,
)
from attention_docs.render.numbers import number

WORD_HEIGHT, WORD_RADIUS, WORD_GAP = 28, 8, 8
WORDS_MARGIN = 2.0  # beside a row of words
WORDS_GAP = 2.5 * LINE_HEIGHT  # between two rows, with room for an arc
ARC_TOP = 2.0 * LINE_HEIGHT  # the room for the first arc
# Before a word to be predicted: the room for an arrow, and the arrow's middle in it.
PREDICTION_WIDTH, PREDICTION_X = 28, 10
# An arc from word to word rises above the boxes, from which its ends keep a distance.
ARC_HEIGHT, ARC_GAP = 30, 2
ARC_HEAD_LENGTH, ARC_HEAD_HALF_WIDTH = 8, 4
# The length of the axes of a plane, of 1 on paper, and of an arrowhead, with half of its width.
AXIS_LENGTH, UNIT, PLANE_HEAD = 2, 90, (9, 4)
ARROW_NAME_GAP = 6  # from the tip of an arrow to its name, to the right and up
ROW_HEIGHT = 24
SPACE_ABOVE_ROW = 3 * LINE_HEIGHT  # for the labels of its columns
NAME_MARGIN, NAME_GAP = 4, 8  # before the name of a labelled row, and after it
# The widths of the numbers of a row and of a matrix, and the room for the labels of the row.
ROW_CELL_WIDTH, MATRIX_CELL_WIDTH, ROW_LABELS_WIDTH = 50, 56, 76
MATRIX_GAP, PRODUCT_GAP = 30, 12  # beside the matrix and below it


def boxed_words_panel(sentences: Sequence[Sequence[str]], pronoun: int, noun: int) -> Panel:
    """Draw sentences as words in boxes, with an arc from the pronoun to its noun, by index."""
    body = []
    right_ends = []
    y = ARC_TOP
    for words in sentences:
        starts = _word_starts(words, pronoun)
        middles = [start + box_width(word) / 2 for start, word in zip(starts, words, strict=True)]
        body += _draw_words(words, starts, y, pronoun, noun)
        body.append(_draw_arc((middles[pronoun], y), (middles[noun], y)))
        right_ends.append(starts[-1] + box_width(words[-1]))
        y += WORD_HEIGHT + WORDS_GAP
    texts = (f"“{' '.join(words[:-1])}” goes on with “{words[-1]}”" for words in sentences)
    description = "; ".join(texts) + ". An arc leads from the pronoun to its noun."
    height = y - WORDS_GAP + 0.2 * LINE_HEIGHT
    return Panel(max(right_ends) + WORDS_MARGIN, height, "".join(body), description)


def _word_starts(words: Sequence[str], pronoun: int) -> list[float]:
    """Return the left side of the box of each word, with room for arrows after the pronoun."""
    starts = []
    x = WORDS_MARGIN
    for i, word in enumerate(words):
        if i > pronoun:
            x += PREDICTION_WIDTH
        starts.append(x)
        x += box_width(word) + WORD_GAP
    return starts


def _draw_words(
    words: Sequence[str], starts: Sequence[float], y: float, pronoun: int, noun: int
) -> list[str]:
    """Draw words in boxes: bold from the pronoun on, dashed after it; the noun is bold, too."""
    body = []
    for i, (word, x) in enumerate(zip(words, starts, strict=True)):
        is_predicted = i > pronoun
        if is_predicted:
            arrow_x = x - PREDICTION_WIDTH + PREDICTION_X
            body.append(label(arrow_x, y + WORD_HEIGHT / 2, "→"))
        body.append(
            box(
                x,
                y,
                box_width(word),
                word,
                height=WORD_HEIGHT,
                corner_radius=WORD_RADIUS,
                dashed=is_predicted,
                bold=i >= pronoun or i == noun,
            )
        )
    return body


def _draw_arc(start: Point, end: Point) -> str:
    """Draw an arc from the top of one box to the top of another, with an arrowhead at its end."""
    (start_x, start_y), (end_x, end_y) = start, end
    path = (
        f"M{start_x:g} {start_y - ARC_GAP:g}C{start_x:g} {start_y - ARC_HEIGHT:g} "
        f"{end_x:g} {end_y - ARC_HEIGHT:g} {end_x:g} {end_y - ARC_GAP:g}"
    )
    arc = element("path", d=path, fill="none", stroke=colour("weights"), stroke_width=2)
    tip = (end_x, end_y - ARC_GAP / 2)
    base = (end_x, tip[1] - ARC_HEAD_LENGTH)
    return arc + arrowhead(base, tip, ARC_HEAD_HALF_WIDTH, fill=colour("weights"))


class Arrow(NamedTuple):
    """A vector of two features, (2,), drawn from zero."""

    name: str
    vector: np.ndarray
    role: str
    dashed: bool = False


def arrows_panel(name: str, features: Sequence[str], arrows: Sequence[Arrow]) -> Panel:
    """Draw arrows from zero in a plane of two features, whose axes end at `AXIS_LENGTH`."""
    left = top = 2 * LINE_HEIGHT
    right, bottom = left + AXIS_LENGTH * UNIT, top + AXIS_LENGTH * UNIT
    grid_lines = ""
    ticks = []
    for tick in range(AXIS_LENGTH + 1):
        x, y = left + tick * UNIT, bottom - tick * UNIT
        grid_lines += f"M{x:g} {top:g}V{bottom:g}M{left:g} {y:g}H{right:g}"
        ticks.append(label(x, bottom + LINE_HEIGHT / 2 + 2, number(tick)))
        ticks.append(label(left - LINE_HEIGHT / 2, y, number(tick)))
    body = [
        heading((left + right) / 2, name),
        element("path", d=grid_lines, fill="none", stroke="currentColor", stroke_opacity=0.2),
        *ticks,
        label((left + right) / 2, bottom + 1.7 * LINE_HEIGHT, features[0]),
        vertical_label(LINE_HEIGHT / 2, (top + bottom) / 2, features[1]),
        *(_draw_arrow(arrow, zero=(left, bottom)) for arrow in arrows),
    ]
    vectors = (
        f"{arrow.name} ({', '.join(map(number, arrow.vector))})" for arrow in arrows if arrow.name
    )
    description = f"{name}, by {features[0]} and {features[1]}: {'; '.join(vectors)}."
    width, height = right + 3 * LINE_HEIGHT, bottom + 2.3 * LINE_HEIGHT
    return Panel(width, height, "".join(body), description, name=name)


def _draw_arrow(arrow: Arrow, zero: Point) -> str:
    """Draw an arrow from zero, with its name at the upper right of its tip."""
    svg = vector_arrow(arrow.vector, zero, UNIT, arrow.role, head=PLANE_HEAD, dashed=arrow.dashed)
    if not arrow.name:
        return svg
    x, y = vector_tip(arrow.vector, zero, UNIT)
    return svg + label(
        x + ARROW_NAME_GAP, y - ARROW_NAME_GAP, arrow.name, "start", fill=colour(arrow.role)
    )


class LabelledRow(NamedTuple):
    """One row of numbers, (1, n), with n labels, and what is done to it to get the next row."""

    name: str
    role: str
    numbers: np.ndarray
    labels: list[str]
    operation: str


def labelled_rows_panel(name: str, rows: Sequence[LabelledRow]) -> Panel:
    """Draw rows of numbers, one above the other, each with the labels of its columns."""
    left = NAME_MARGIN + max(text_width(row.name) for row in rows) + NAME_GAP
    widest_label = max(text_width(text) for row in rows for text in row.labels)
    widest_number = max(cells.width_for_numbers(row.numbers) for row in rows)
    cell = (max(widest_label + cells.LABEL_GAP, widest_number), ROW_HEIGHT)
    body = []
    descriptions = []
    right_ends = []
    y = SPACE_ABOVE_ROW
    for row in rows:
        grid = cells.Grid(left, y, cell, *row.numbers.shape)
        body.append(_draw_labelled_row(row, grid))
        right_ends.append(grid.right)
        pairs = zip(row.labels, row.numbers[0].tolist(), strict=True)
        in_words = ", ".join(f"{text} {number(value)}" for text, value in pairs)
        descriptions.append(f"{row.name}: {in_words}.")
        y += ROW_HEIGHT + SPACE_ABOVE_ROW
    width, height = max(right_ends), y - SPACE_ABOVE_ROW
    body.append(heading(width / 2, name))
    return Panel(width, height, "".join(body), " ".join(descriptions), name=name)


def _draw_labelled_row(row: LabelledRow, grid: cells.Grid) -> str:
    """Draw a row with its name on its left, and the operation that follows below it."""
    kind = "sequential" if row.role == "weights" else "diverging"
    scale = scale_of(kind, row.name, row.numbers, row.role)
    name_style = {"fill": colour(row.role), "font_weight": "bold"}
    drawing = (
        label(grid.x - NAME_GAP, grid.middle_y, row.name, "end", **name_style)
        + cells.draw_column_labels(grid, row.labels)
        + cells.draw_cells(grid, row.numbers, scale)
    )
    if not row.operation:
        return drawing
    return drawing + label(grid.x, grid.bottom + 0.8 * LINE_HEIGHT, f"↓ {row.operation}", "start")


def output_projection_panel(
    word: str,
    head_outputs: np.ndarray,
    w_o: np.ndarray,
    output: np.ndarray,
    features: Sequence[str],
) -> Panel:
    """Draw the product of the outputs of two heads and W_O, with the row turned into a column.

    Args:
        head_outputs: (1, 2 d_v) the outputs of both heads for the word, side by side.
        w_o: (2 d_v, d_model).
        output: (1, d_model) what the heads add to the word.
        features: the names of the d_model features, of which each head returns the first d_v.
    """
    top = 3 * LINE_HEIGHT
    head_size = len(w_o) // 2
    cell = (MATRIX_CELL_WIDTH, ROW_HEIGHT)
    column_grid = cells.Grid(ROW_LABELS_WIDTH, top, (ROW_CELL_WIDTH, ROW_HEIGHT), len(w_o), 1)
    w_o_grid = cells.Grid(column_grid.right + MATRIX_GAP, top, cell, *w_o.shape)
    output_grid = cells.Grid(w_o_grid.x, w_o_grid.bottom + PRODUCT_GAP, cell, *output.shape)
    line_between_heads = element(
        "line",
        x1=0,
        x2=w_o_grid.right,
        y1=w_o_grid.middle_y,
        y2=w_o_grid.middle_y,
        stroke="currentColor",
        stroke_width=2,
        stroke_opacity=0.6,
    )
    output_name = f"output of {word}"
    body = [
        title(column_grid.middle_x, top - LINE_HEIGHT / 2, word, "output"),
        title(w_o_grid.middle_x, LINE_HEIGHT / 2, "W_O", None),
        title(output_grid.x - cells.LABEL_GAP, output_grid.middle_y, output_name, "output", "end"),
        vertical_label(LINE_HEIGHT / 2, top + w_o_grid.height / 4, "head 1"),
        vertical_label(LINE_HEIGHT / 2, top + w_o_grid.height * 3 / 4, "head 2"),
        cells.draw_row_labels(column_grid, 2 * list(features[:head_size])),
        cells.draw_column_labels(w_o_grid, features),
        draw_numbers(column_grid, head_outputs.T, "output"),
        draw_numbers(w_o_grid, w_o, None),
        draw_numbers(output_grid, output, "output"),
        line_between_heads,
    ]
    matrices = {word: head_outputs, "W_O": w_o, output_name: output}
    description = " ".join(cells.describe(name, matrix) for name, matrix in matrices.items())
    return Panel(w_o_grid.right, output_grid.bottom, "".join(body), description)
