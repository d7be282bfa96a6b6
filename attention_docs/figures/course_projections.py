from collections.abc import Sequence

from attention_docs.arrays import Array
from attention_docs.examples.course_sentence import BIRDS, BOATS, THEY, WORDS
from attention_docs.figures.course_sentence import WORD_FEATURES
from attention_docs.figures.registry import claim, site_figure
from attention_docs.lookup import StepsOf, words_of
from attention_docs.render.figures import Html, Panel, cells, lines_panel, scales, svg
from attention_docs.render.numbers import number

# Titles for the ends of lines on pages that have not introduced queries and keys.
SIDES = ("asks", "is asked")
ROW_HEIGHT = 24
SPACE_ABOVE_ROW = 3 * svg.LINE_HEIGHT  # for the labels of its columns
NAME_MARGIN, NAME_GAP = 4, 8  # before the name of a labelled row, and after it


@site_figure
def course_query(steps_of: StepsOf) -> Html:
    r"""Where the word *they* looks: by similarity at itself, with a query and keys at both nouns.
    The thicker a line, the larger the weight."""
    steps = steps_of("course_projections")
    by_similarity, by_query = steps["weights_alike"], steps["weights"]
    saw_itself = by_similarity[THEY].argmax() == THEY
    sees_nouns = by_query[THEY, [BIRDS, BOATS]].min() > 0.4
    claim(saw_itself and sees_nouns, "by similarity at itself, with a query and keys at both nouns")
    panels = [
        lines_panel(by_similarity, WORDS, query=THEY, heading="From similarity", sides=SIDES),
        lines_panel(by_query, WORDS, query=THEY, heading="With query and key"),
    ]
    return svg.beside(panels, "Where the pronoun looks")


@site_figure
def course_one_row(steps_of: StepsOf) -> Html:
    r"""The row of the word *they*, step by step. Each number belongs to the feature or the word
    above it."""
    steps = steps_of("course_projections")
    rows = (
        ("word x", "input", steps["X"][:, WORD_FEATURES], "↓ times W_Q"),
        ("query q", "query", steps["Q"], "↓ times each word's key"),
        ("scores s", "scores", steps["scores"], "↓ softmax"),
        ("weights a", "weights", steps["weights"], "↓ average the values"),
        ("output o", "output", steps["output"], ""),
    )
    panel = _rows_of_they("From the word “they” to its output", rows)
    return svg.figure(panel, "One row of attention")


def _rows_of_they(name: str, rows: Sequence[tuple[str, str, Array, str]]) -> Panel:
    """Draw the row of "they" in each step, one above the other, with the labels of its columns.

    Args:
        rows: the name, the role, the step, and what is done to the row to get the next one.
    """
    labels = [words_of(step)[1][: step.shape[1]] for *_, step, _ in rows]
    left = NAME_MARGIN + max(svg.text_width(row_name) for row_name, *_ in rows) + NAME_GAP
    widest_label = max(svg.text_width(text) for texts in labels for text in texts)
    widest_number = max(cells.width_for_numbers(step[THEY]) for *_, step, _ in rows)
    cell = (max(widest_label + cells.LABEL_GAP, widest_number), ROW_HEIGHT)
    body, descriptions, right_ends = [], [], []
    y = SPACE_ABOVE_ROW
    for (row_name, role, step, operation), texts in zip(rows, labels, strict=True):
        numbers = step[THEY : THEY + 1]
        grid = cells.Grid(left, y, cell, *numbers.shape)
        kind = "sequential" if role == "weights" else "diverging"
        scale = scales.scale_of(kind, row_name, numbers, role)
        name_style = {"fill": svg.colour(role), "font_weight": "bold"}
        body += [
            svg.label(left - NAME_GAP, grid.middle_y, row_name, "end", **name_style),
            cells.draw_column_labels(grid, texts),
            cells.draw_cells(grid, numbers, scale),
        ]
        if operation:
            body.append(svg.label(left, grid.bottom + 0.8 * svg.LINE_HEIGHT, operation, "start"))
        right_ends.append(grid.right)
        pairs = zip(texts, numbers[0].tolist(), strict=True)
        in_words = ", ".join(f"{text} {number(value)}" for text, value in pairs)
        descriptions.append(f"{row_name}: {in_words}.")
        y += ROW_HEIGHT + SPACE_ABOVE_ROW
    width, height = max(right_ends), y - SPACE_ABOVE_ROW
    body.append(svg.heading(width / 2, name))
    return Panel(width, height, "".join(body), " ".join(descriptions), name=name)
