import numpy as np

from attention_docs.arrays import Array
from attention_docs.examples.course_sentence import BIRDS, FEATURES, PASS, THEY, WORDS
from attention_docs.figures.course_projections import ROW_HEIGHT
from attention_docs.figures.course_sentence import CLOCK_FEATURES, WEIGHTS_OF_WORDS
from attention_docs.figures.registry import claim, site_figure
from attention_docs.figures.steps_of_attention import draw_numbers, matrices_figure
from attention_docs.lookup import StepsOf
from attention_docs.render.figures import Html, Panel, cells, figure, svg
from attention_docs.render.figures.arrows import line, turn_arrow, vector_tip
from attention_docs.render.numbers import number
from attention_docs.render.references import row_reference

# How many times as long as a hand the keys and the query of head 2 are, and a hand in pixels there.
KEY_LENGTH, QUERY_LENGTH = 2, 5
HAND_LENGTH = 26
# The labels of the keys: how far right of the tip and below it, and which of their ends is there.
KEY_LABELS = {
    "birds": (-8, -8, "end"),
    "pass": (8, 10, "start"),
    "boats": (6, 6, "start"),
    "because": (0, 12, "middle"),
    "they": (-6, 4, "end"),
}
# The widths of the numbers of a row and of a matrix, and the room for the labels of the row.
ROW_CELL_WIDTH, MATRIX_CELL_WIDTH, ROW_LABELS_WIDTH = 50, 56, 76
MATRIX_GAP, PRODUCT_GAP = 30, 12  # beside the matrix and below it


@site_figure
def course_heads(steps_of: StepsOf) -> Html:
    r"""The weights of two attention heads. In the last row, the word *they* finds its noun in head
    1 and the previous word in head 2."""
    steps = steps_of("course_heads")
    weights_1, weights_2 = steps["weights_1"], steps["weights_2"]
    seen_by_they = [weights_1[THEY].argmax(), weights_2[THEY].argmax()]
    claim(seen_by_they == [BIRDS, THEY - 1], "finds its noun in head 1 and the previous word")
    options = {**WEIGHTS_OF_WORDS, "hidden": ~np.tri(len(WORDS), dtype=bool), "mark": (THEY, None)}
    heads = {"Head 1: what it needs": weights_1, "Head 2: the previous word": weights_2}
    return matrices_figure("Weights of two heads", heads, **options)


@site_figure
def course_output_projection(steps_of: StepsOf) -> Html:
    r"""The word *they*: each of the eight numbers that the heads have found multiplies its row of
    $W_O$, and the sum of the rows is the output."""
    steps = steps_of("course_heads")
    w_o, output = steps["W_O"], steps["output"][THEY:]
    head_outputs = steps["side_by_side"][THEY:]
    claim(head_outputs.size == 8, "each of the eight numbers")
    panel = _output_projection(head_outputs, w_o, output)
    return figure(panel, "The row of “they” times W_O")


@site_figure
def course_rotated_query(steps_of: StepsOf) -> Html:
    r"""The query of *pass* and the keys of head 2, each with its score. The query points exactly
    where the key of *birds* points, so *birds* has the largest score."""
    steps = steps_of("course_heads")
    hands = steps["with_positions"][:, CLOCK_FEATURES]
    query, scores = steps["pass_query"][:2], steps["pass_scores"]
    # *birds* is one step before *pass*.
    is_hand_of_birds = np.allclose(query, QUERY_LENGTH * hands[BIRDS])
    claim(is_hand_of_birds, "exactly where the key of *birds* points")
    claim(scores.argmax() == BIRDS, "*birds* has the largest score")
    return figure(_query_and_keys(query, hands, scores), "The query of “pass”")


def _query_and_keys(query: Array, hands: Array, scores: Array) -> Panel:
    """Draw the query of "pass", (2,), and the keys, twice as long as the hands, (5, 2)."""
    name = "The query of “pass”"
    centre = x, y = 150, 2 * svg.LINE_HEIGHT + QUERY_LENGTH * HAND_LENGTH
    hand_of_pass = vector_tip(hands[PASS], centre, QUERY_LENGTH * HAND_LENGTH)
    tip = vector_tip(query, centre, HAND_LENGTH)
    body = [
        svg.heading(x, name),
        line(centre, hand_of_pass, "query", stroke_dasharray="3 4", stroke_opacity=0.7),
        line(centre, tip, "query", stroke_width=2.5, data_val=row_reference(query)),
        svg.label(tip[0] + 8, tip[1], "query of pass", "start", fill=svg.colour("query")),
    ]
    for row, (word, (right, down, anchor)) in enumerate(KEY_LABELS.items()):
        key_x, key_y = vector_tip(hands[row], centre, KEY_LENGTH * HAND_LENGTH)
        hand = {"stroke_width": 5, "data_val": row_reference(hands[row])}
        score = cells.inline_number(scores, (row,))
        body += [
            line(centre, (key_x, key_y), "key", **hand),
            svg.label(key_x + right, key_y + down, f"{word} ", anchor, score),
        ]
    body.append(turn_arrow(centre, 4.4 * HAND_LENGTH, hands[PASS], hands[BIRDS]))
    beside_arrow = vector_tip((0.9, 0.44), centre, QUERY_LENGTH * HAND_LENGTH)
    body.append(svg.label(*beside_arrow, "one step back", "start"))
    words = ", ".join(f"{word} {number(score)}" for word, score in zip(WORDS, scores, strict=True))
    return Panel(
        2 * x + 52,
        y + KEY_LENGTH * HAND_LENGTH + 1.5 * svg.LINE_HEIGHT,
        "".join(body),
        "The hand of pass, turned back by one step, points where the hand of birds points. "
        f"Scores: {words}.",
        name=name,
    )


def _output_projection(head_outputs: Array, w_o: Array, output: Array) -> Panel:
    """Draw the outputs of both heads for "they", (1, 2 d_v), as a column, times W_O."""
    top = 3 * svg.LINE_HEIGHT
    cell = (MATRIX_CELL_WIDTH, ROW_HEIGHT)
    column_grid = cells.Grid(ROW_LABELS_WIDTH, top, (ROW_CELL_WIDTH, ROW_HEIGHT), len(w_o), 1)
    w_o_grid = cells.Grid(column_grid.right + MATRIX_GAP, top, cell, *w_o.shape)
    output_grid = cells.Grid(w_o_grid.x, w_o_grid.bottom + PRODUCT_GAP, cell, *output.shape)
    middle_y = w_o_grid.middle_y
    stroke = {"stroke": "currentColor", "stroke_width": 2, "stroke_opacity": 0.6}
    output_name = "output of they"
    body = [
        svg.title(column_grid.middle_x, top - svg.LINE_HEIGHT / 2, "they", "output"),
        svg.title(w_o_grid.middle_x, svg.LINE_HEIGHT / 2, "W_O", None),
        svg.title(
            output_grid.x - cells.LABEL_GAP, output_grid.middle_y, output_name, "output", "end"
        ),
        svg.vertical_label(svg.LINE_HEIGHT / 2, top + w_o_grid.height / 4, "head 1"),
        svg.vertical_label(svg.LINE_HEIGHT / 2, top + w_o_grid.height * 3 / 4, "head 2"),
        cells.draw_row_labels(column_grid, 2 * FEATURES[: len(w_o) // 2]),
        cells.draw_column_labels(w_o_grid, FEATURES),
        draw_numbers(column_grid, head_outputs.T, "output"),
        draw_numbers(w_o_grid, w_o, None),
        draw_numbers(output_grid, output, "output"),
        # Between the heads.
        svg.element("line", x1=0, x2=w_o_grid.right, y1=middle_y, y2=middle_y, **stroke),
    ]
    matrices = {"they": head_outputs, "W_O": w_o, output_name: output}
    description = " ".join(cells.describe(name, matrix) for name, matrix in matrices.items())
    return Panel(w_o_grid.right, output_grid.bottom, "".join(body), description)
