from attention_docs.arrays import Array
from attention_docs.examples.course_sentence import BIRDS, FEATURES, THEY, WORDS
from attention_docs.figures.registry import claim, labels_of_largest, site_figure
from attention_docs.figures.steps_of_attention import word_cells, words_panel
from attention_docs.lookup import Steps, StepsOf, words_of
from attention_docs.render.figures import Html, Panel, beside, cells, figure, svg

# The figure of two heads, in pixels: the size of a cell, the upper side of the first matrix, the
# room between the heads and between the weights and the output of a head, and that at the left.
HEAD_CELL, HEADS_TOP, HEADS_GAP = (18, 20), 80, 18
OUTPUT_GAP = 36
WORDS_X, THEY_X = 76, 36


@site_figure
def heads_of_a_sentence(steps_of: StepsOf) -> Html:
    r"""Two heads read one sentence. In head 1, *they* looks at *birds*, the noun that it stands
    for. In head 2, each word looks at the word before it, and the first at itself. Under the causal
    mask no word looks ahead. The outputs are put side by side, and $W_O$ mixes them: *they* gets
    *air* from head 1 and most of its *reason* from head 2. A strong colour is a number far from
    zero."""
    steps = steps_of("course_heads")
    claim(steps["weights_1"][THEY].argmax() == BIRDS, "*they* looks at *birds*")
    seen_in_head_2 = labels_of_largest(steps["weights_2"], WORDS)
    claim(seen_in_head_2 == [WORDS[0], *WORDS[:-1]], "each word looks at the word before it")
    added_1 = dict(zip(FEATURES, steps["added_1"][THEY], strict=True))
    added_2 = dict(zip(FEATURES, steps["added_2"][THEY], strict=True))
    claim(added_1["air"] > added_2["air"] == 0, "*air* from head 1")
    claim(added_2["reason"] > added_1["reason"], "most of its *reason* from head 2")
    panels = [
        _heads_attend(steps),
        _outputs_of_heads("Side by side", steps["side_by_side"]),
        _outputs_of_heads("Mixed by W_O", steps["output"]),
    ]
    return beside(panels, "Two heads, side by side and mixed")


def _outputs_of_heads(name: str, matrix: Array) -> Panel:
    """Draw a matrix with the features over its columns, and at its rows only the word "they"."""
    _, features = words_of(matrix)
    grid = cells.Grid(THEY_X, HEADS_TOP, HEAD_CELL, *matrix.shape)
    body = [
        svg.heading(grid.x, name, "start"),
        word_cells(grid, matrix, "output", features),
        cells.draw_row_labels(grid, [""] * THEY + ["they"]),
    ]
    description = cells.describe(name, matrix)
    return Panel(grid.right + 2, grid.bottom, "".join(body), description, name=name)


def _heads_attend(steps: Steps) -> Panel:
    """Draw the weights of two heads, one below the other, each with its output beside it."""
    name = "Each head attends"
    words, features = words_of(steps["head_1"])
    body = [svg.heading(WORDS_X, name, "start")]
    descriptions = []
    y: float = HEADS_TOP
    for head in (1, 2):
        weights, output = steps[f"weights_{head}"], steps[f"head_{head}"]
        weights_grid = cells.Grid(WORDS_X, y, HEAD_CELL, *weights.shape)
        output_grid = cells.Grid(weights_grid.right + OUTPUT_GAP, y, HEAD_CELL, *output.shape)
        is_first = head == 1  # The columns have their labels once, at the top.
        body += [
            svg.vertical_label(8, weights_grid.middle_y, f"head {head}"),
            cells.draw_row_labels(weights_grid, words),
            word_cells(weights_grid, weights, "weights", words if is_first else []),
            svg.label(output_grid.x - OUTPUT_GAP / 2, output_grid.middle_y, "V ="),
            word_cells(output_grid, output, "output", features if is_first else []),
        ]
        descriptions.append(cells.describe(f"Weights of head {head}", weights))
        descriptions.append(cells.describe(f"Output of head {head}", output))
        y = weights_grid.bottom + HEADS_GAP
    return Panel(
        output_grid.right + 2, output_grid.bottom, "".join(body), " ".join(descriptions), name=name
    )


@site_figure
def output_matrix(steps_of: StepsOf) -> Html:
    r"""The output matrix $W_O$ of the sentence, with the features of both heads at the rows and
    those of the output at the columns. The first four rows are the block $W_O^{(1)}$, and the
    others are $W_O^{(2)}$. The rows *air 2* and *water 2* are zero, so these two are dropped."""
    matrix = steps_of("course_heads")["W_O"]
    rows, _ = words_of(matrix)
    dropped = [row for row, numbers in zip(rows, matrix, strict=True) if not numbers.any()]
    claim(dropped == ["air 2", "water 2"], "The rows *air 2* and *water 2* are zero")
    claim(rows[4] == "air 2", "The first four rows are the block")
    return figure(words_panel("W_O", matrix, width=28), "The output matrix")
