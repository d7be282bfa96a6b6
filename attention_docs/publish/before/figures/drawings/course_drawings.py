"""Draw boxed words, arrows in a plane, steps and products of one row, for the course."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from attention_docs.render.figures import Panel, cells
from attention_docs.render.figures.scales import scale_of
from attention_docs.render.figures.svg import (
    LINE_HEIGHT,
    colour,
    element,
    label,
    text_width,
    title,
    vertical_label,
)
from attention_docs.render.numbers import number
from attention_docs.render.references import row_reference

NamedMatrix = tuple[str, np.ndarray]


def boxed_words_panel(sentences: Sequence[Sequence[str]], pronoun: int, noun: int) -> Panel:
    """Draw each sentence as a row of words in boxes, with an arc from the pronoun to its noun.

    The last word is the one to be predicted; its box is dashed.
    """
    height, gap = 28, 8
    body, width, y = [], 0.0, 2.0 * LINE_HEIGHT
    for words in sentences:
        x, centres = 2.0, []
        for i, word in enumerate(words):
            if i > pronoun:
                body.append(label(x + 10, y + height / 2, "→"))
                x += 28
            size = {"width": text_width(word) + 18, "height": height}
            dashes = "4 3" if i > pronoun else None
            outline = {"fill": "none", "stroke": "currentColor", "stroke_opacity": 0.5}
            box = {"x": x, "y": y, **size, "rx": 8, **outline, "stroke_dasharray": dashes}
            centres.append(x + size["width"] / 2)
            weight = "bold" if i >= pronoun or i == noun else None
            body += [
                element("rect", **box),
                label(centres[-1], y + height / 2, word, font_weight=weight),
            ]
            x += size["width"] + gap
        start, end = centres[pronoun], centres[noun]
        arc = f"M{start:g} {y - 2:g}C{start:g} {y - 30:g} {end:g} {y - 30:g} {end:g} {y - 2:g}"
        arrowhead = f"M{end:g} {y - 1:g}l-4 -8h8z"
        body.append(element("path", d=arc, fill="none", stroke=colour("weights"), stroke_width=2))
        body.append(element("path", d=arrowhead, fill=colour("weights")))
        width = max(width, x - gap)
        y += height + 2.5 * LINE_HEIGHT
    texts = (f"“{' '.join(words[:-1])}” goes on with “{words[-1]}”" for words in sentences)
    description = "; ".join(texts) + ". An arc leads from the pronoun to its noun."
    return Panel(width + 2, y - 2.3 * LINE_HEIGHT, "".join(body), description)


class Arrow(NamedTuple):
    """A vector of two features, (1, 2), drawn from zero."""

    name: str
    vector: np.ndarray
    role: str
    dashed: bool = False


def plane(
    name: str, axes: Sequence[str], arrows: Sequence[Arrow], pixels_per_unit: float = 90
) -> Panel:
    """Draw arrows from zero in a plane whose axes go to two."""
    left, right = 2 * LINE_HEIGHT, 2 * LINE_HEIGHT + 2 * pixels_per_unit
    top, bottom = 2 * LINE_HEIGHT, 2 * LINE_HEIGHT + 2 * pixels_per_unit
    grid = "".join(
        f"M{left + i * pixels_per_unit:g} {top:g}V{bottom:g}"
        f"M{left:g} {bottom - i * pixels_per_unit:g}H{right:g}"
        for i in range(3)
    )
    ticks = [
        text
        for i in range(3)
        for text in (
            label(left + i * pixels_per_unit, bottom + LINE_HEIGHT / 2 + 2, number(i)),
            label(left - LINE_HEIGHT / 2, bottom - i * pixels_per_unit, number(i)),
        )
    ]
    body = [
        label((left + right) / 2, LINE_HEIGHT / 2, name, font_weight="bold"),
        element("path", d=grid, fill="none", stroke="currentColor", stroke_opacity=0.2),
        *ticks,
        label((left + right) / 2, bottom + 1.7 * LINE_HEIGHT, axes[0]),
        vertical_label(LINE_HEIGHT / 2, (top + bottom) / 2, axes[1]),
        *(draw_arrow(arrow, left, bottom, pixels_per_unit) for arrow in arrows),
    ]
    vectors = (f"{arrow.name} {vector_in_words(arrow)}" for arrow in arrows if arrow.name)
    description = f"{name}, by {axes[0]} and {axes[1]}: {'; '.join(vectors)}."
    width, height = right + 3 * LINE_HEIGHT, bottom + 2.3 * LINE_HEIGHT
    return Panel(width, height, "".join(body), description, name=name)


def vector_in_words(arrow: Arrow) -> str:
    return f"({', '.join(map(number, arrow.vector[0]))})"


def draw_arrow(arrow: Arrow, x: float, y: float, pixels_per_unit: float) -> str:
    """Draw an arrow from (x, y) on paper, with its name beside its tip."""
    air, water = arrow.vector[0].tolist()
    tip = np.array([x + pixels_per_unit * air, y - pixels_per_unit * water])
    along = np.array([air, -water]) / np.hypot(air, water)
    across = np.array([along[1], -along[0]])
    back = tip - 9 * along
    corners = [tip, back + 4 * across, back - 4 * across]
    arrowhead = "M" + "L".join("{:.1f} {:.1f}".format(*corner) for corner in corners) + "z"
    paint = colour(arrow.role)
    line = element(
        "line",
        x1=x,
        y1=y,
        x2=float(back[0]),
        y2=float(back[1]),
        stroke=paint,
        stroke_width=2,
        stroke_dasharray="4 3" if arrow.dashed else None,
        data_val=row_reference(arrow.vector, 0),
    )
    name = label(tip[0] + 6, tip[1] - 6, arrow.name, "start", fill=paint) if arrow.name else ""
    return line + element("path", d=arrowhead, fill=paint) + name


class LabelledRow(NamedTuple):
    """One row of numbers, and what is done to it to get the next."""

    name: str
    role: str
    numbers: np.ndarray
    labels: list[str]
    operation: str


def labelled_rows_panel(name: str, rows: Sequence[LabelledRow]) -> Panel:
    """Draw rows of numbers, one above the other, each with the labels of its columns."""
    x = max(text_width(row.name) for row in rows) + 12
    width = max(6 + text_width(text) for row in rows for text in row.labels)
    width = max(width, *(cells.width_for_numbers(row.numbers) for row in rows))
    y, body, descriptions = 3 * LINE_HEIGHT, [], []
    for row in rows:
        kind = "sequential" if row.role == "weights" else "diverging"
        scale = scale_of(kind, row.name, row.numbers, row.role)
        grid = cells.Grid(x, y, (width, 24), *row.numbers.shape)
        middle = grid.row_middle(0)
        body += [
            label(x - 8, middle, row.name, "end", fill=colour(row.role), font_weight="bold"),
            cells.draw_column_labels(grid, row.labels),
            cells.draw_cells(grid, row.numbers, scale, None, True),
        ]
        if row.operation:
            body.append(label(x, y + 24 + 0.8 * LINE_HEIGHT, f"↓ {row.operation}", "start"))
        pairs = zip(row.labels, row.numbers[0].tolist(), strict=True)
        spoken = ", ".join(f"{text} {number(value)}" for text, value in pairs)
        descriptions.append(f"{row.name}: {spoken}.")
        y += 24 + 3 * LINE_HEIGHT
    columns = max(len(row.labels) for row in rows)
    total = x + columns * width
    body.append(label(total / 2, LINE_HEIGHT / 2, name, font_weight="bold"))
    height = y - 3 * LINE_HEIGHT
    return Panel(total, height, "".join(body), " ".join(descriptions), name=name)


def row_times_matrix(
    row: NamedMatrix, matrix: NamedMatrix, product: NamedMatrix, features: Sequence[str]
) -> Panel:
    """Draw the product of a row and a matrix, with the row as a column beside that matrix.

    Each number of the row multiplies the matrix row beside it, and the sum is drawn below.

    Args:
        row: (1, 2 d_v) the outputs of both heads for one word, side by side.
        matrix: (2 d_v, d_model) W_O.
        product: (1, d_model) what the heads add to the word.
        features: the names of the d_model features, of which each head returns the first d_v.
    """
    size, wide = (50, 24), (56, 24)
    top = 3 * LINE_HEIGHT
    column = cells.Grid(76, top, size, len(matrix[1]), 1)
    right = cells.Grid(column.right + 30, top, wide, *matrix[1].shape)
    below = cells.Grid(right.x, top + right.height + 12, wide, *product[1].shape)
    half = top + right.height / 2
    ends = {"x1": 0, "x2": right.right, "y1": half, "y2": half}
    drawings = [
        (column, row[1].T, "output"),
        (right, matrix[1], None),
        (below, product[1], "output"),
    ]
    body = [
        title(column.middle_x, top - LINE_HEIGHT / 2, row[0], "output"),
        title(right.middle_x, LINE_HEIGHT / 2, matrix[0], None),
        title(below.x - 6, below.row_middle(0), product[0], "output", "end"),
        vertical_label(LINE_HEIGHT / 2, top + right.height / 4, "head 1"),
        vertical_label(LINE_HEIGHT / 2, top + right.height * 3 / 4, "head 2"),
        cells.draw_row_labels(column, 2 * list(features[: len(matrix[1]) // 2])),
        cells.draw_column_labels(right, features),
        *(
            cells.draw_cells(
                grid, values, scale_of("diverging", "matrix", values, role), None, True
            )
            for grid, values, role in drawings
        ),
        element("line", **ends, stroke="currentColor", stroke_width=2, stroke_opacity=0.6),
    ]
    description = " ".join(cells.describe(*named) for named in (row, matrix, product))
    return Panel(right.right, below.bottom, "".join(body), description)
