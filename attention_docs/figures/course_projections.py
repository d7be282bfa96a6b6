from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from attention_docs.examples.course_sentence import (
    BIRDS,
    BOATS,
    FEATURES,
    KEY_FEATURES,
    THEY,
    VALUE_FEATURES,
    WORDS,
)
from attention_docs.figures.course_sentence import WORD_FEATURES
from attention_docs.figures.registry import claim, site_figure
from attention_docs.lookup import StepsOf
from attention_docs.render.figures import Html, Panel, cells, lines_panel, scales, svg
from attention_docs.render.numbers import number

# Titles for the ends of lines on pages that have not introduced queries and keys.
SIDES = ("asks", "is asked")
ROW_HEIGHT = 24
SPACE_ABOVE_ROW = 3 * svg.LINE_HEIGHT  # for the labels of its columns
NAME_MARGIN, NAME_GAP = 4, 8  # before the name of a labelled row, and after it


@site_figure
def course_query(steps_of: StepsOf) -> Html:
    r"""Where *they* looks, first by similarity alone, then with the query and the keys that this
    page introduces. The thicker a line, the larger the weight: *they* turns from itself to the two
    nouns."""
    steps = steps_of("course_projections")
    by_similarity, by_query = steps["weights_alike"], steps["weights"]
    saw_itself = by_similarity[THEY].argmax() == THEY
    sees_nouns = by_query[THEY, [BIRDS, BOATS]].min() > 0.4
    claim(saw_itself and sees_nouns, "*they* turns from itself to the two nouns")
    panels = [
        lines_panel(by_similarity, WORDS, query=THEY, heading="From similarity", sides=SIDES),
        lines_panel(by_query, WORDS, query=THEY, heading="With query and key"),
    ]
    return svg.beside(panels, "Where the pronoun looks")


@site_figure
def course_one_row(steps_of: StepsOf) -> Html:
    r"""One row from top to bottom: the word *they*, its query, its scores, its weights and its
    output. The number in each step belongs to the feature or the word above it."""
    steps = steps_of("course_projections")
    they = slice(THEY, THEY + 1)
    word, word_features = steps["X"][they, WORD_FEATURES], FEATURES[WORD_FEATURES]
    rows = [
        LabelledRow("word x", "input", word, word_features, "times W_Q"),
        LabelledRow("query q", "query", steps["Q"][they], KEY_FEATURES, "times each word's key"),
        LabelledRow("scores s", "scores", steps["scores"][they], WORDS, "softmax"),
        LabelledRow("weights a", "weights", steps["weights"][they], WORDS, "average the values"),
        LabelledRow("output o", "output", steps["output"][they], VALUE_FEATURES, ""),
    ]
    return svg.figure(
        labelled_rows_panel("From the word “they” to its output", rows), "One row of attention"
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
    left = NAME_MARGIN + max(svg.text_width(row.name) for row in rows) + NAME_GAP
    widest_label = max(svg.text_width(text) for row in rows for text in row.labels)
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
    body.append(svg.heading(width / 2, name))
    return Panel(width, height, "".join(body), " ".join(descriptions), name=name)


def _draw_labelled_row(row: LabelledRow, grid: cells.Grid) -> str:
    """Draw a row with its name on its left, and the operation that follows below it."""
    kind = "sequential" if row.role == "weights" else "diverging"
    scale = scales.scale_of(kind, row.name, row.numbers, row.role)
    name_style = {"fill": svg.colour(row.role), "font_weight": "bold"}
    drawing = (
        svg.label(grid.x - NAME_GAP, grid.middle_y, row.name, "end", **name_style)
        + cells.draw_column_labels(grid, row.labels)
        + cells.draw_cells(grid, row.numbers, scale)
    )
    if not row.operation:
        return drawing
    return drawing + svg.label(
        grid.x, grid.bottom + 0.8 * svg.LINE_HEIGHT, f"↓ {row.operation}", "start"
    )
