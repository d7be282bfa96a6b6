"""The figures of "The mechanism"."""

from collections.abc import Sequence

import numpy as np

from attention_docs.arrays import Array
from attention_docs.examples.course_sentence import FEATURES, WORDS
from attention_docs.publish.before.figures.claims import claim, labels_of_largest
from attention_docs.publish.before.figures.course import BIRDS, THEY
from attention_docs.publish.before.figures.drawings.steps_of_attention import (
    WEIGHTS,
    matrices_figure,
    output_figure,
    scores_figure,
    word_cells,
    words_panel,
)
from attention_docs.publish.before.figures.registry import site_figure
from attention_docs.publish.before.values import Steps, StepsOf, words_of
from attention_docs.render.figures import (
    Html,
    Panel,
    Points,
    attention_lines,
    beside,
    cells,
    figure,
    scatter_2d,
    scatter_3d,
)
from attention_docs.render.figures.scales import FILLS
from attention_docs.render.figures.svg import (
    colour,
    element,
    heading,
    label,
    player,
    vertical_label,
)
from attention_docs.render.numbers import number
from attention_docs.render.references import step_name

# The figure of two heads, in pixels: the size of a cell, the upper side of the first matrix, the
# room between the heads and between the weights and the output of a head, and that at the left.
HEAD_CELL, HEADS_TOP, HEADS_GAP = (18, 20), 80, 18
OUTPUT_GAP = 36
WORDS_X, THEY_X = 76, 36
# A number of the figure of blocks: the side of its cell, and the side of its frame.
NUMBER_SIDE, FRAME_SIDE = 28, 25
TOKENS = ["bird", "boat", "seaplane"]
BIRD, BOAT, SEAPLANE = range(3)
AFLOAT = 1  # the second feature of the values


@site_figure
def self_attention_scores(steps_of: StepsOf) -> Html:
    r"""The query of the seaplane, row 3 of $\query{Q}$, meets its key, column 3 of $\key{K}^\top$.
    Their dot product is the score in row 3, column 3 of $\scores{S}$."""
    return scores_figure(steps_of("self_attention"), row=SEAPLANE, column=SEAPLANE)


@site_figure
def self_attention_output(steps_of: StepsOf) -> Html:
    r"""The weights of the bird, row 1 of $\weights{A}$, average column 2 of $\value{V}$, which says
    how far each of the three is *afloat*. The result is in row 1, column 2 of the output
    $\output{O}$."""
    claim(len(TOKENS) == 3, "how far each of the three is *afloat*")
    return output_figure(steps_of("self_attention"), row=BIRD, column=AFLOAT)


@site_figure
def self_attention_lines(steps_of: StepsOf) -> Html:
    r"""Who looks at whom. The thicker a line, the larger the weight. Bird and boat look at each
    other and at the seaplane, which looks mostly at itself."""
    weights = steps_of("self_attention")["weights"]
    for token, others in ((BIRD, [BOAT, SEAPLANE]), (BOAT, [BIRD, SEAPLANE])):
        looks_at_others = weights[token, others].min() > weights[token, token]
        claim(looks_at_others, "Bird and boat look at each other and at the seaplane")
    claim(weights[SEAPLANE, SEAPLANE] > 3 / 4, "which looks mostly at itself")
    return attention_lines(weights, TOKENS)


@site_figure
def self_attention_plane(steps_of: StepsOf) -> Html:
    r"""The inputs have a plane of their own. Of their four features two are drawn, and the other
    two repeat them. Values and outputs share another plane: an output is an average of the values,
    so it lies in their triangle."""
    steps = steps_of("self_attention")
    claim(repeats_two_features(steps["X"]), "two repeat them")
    inputs = [Points("inputs X", steps["X"][:, :2], TOKENS, "input")]
    return plane_figure("Self-attention: points", inputs, steps)


@site_figure
def self_attention_space(steps_of: StepsOf) -> Html:
    r"""Values and outputs in the space of the values, with three features each. An output is an
    average of the values, so it lies in their triangle. The output of the seaplane lies close to
    its own value, from which it takes most. The inputs are not drawn, because they have four
    features and live in another space."""
    steps = steps_of("values_in_space")
    claim(steps["V"].shape[1] == 3, "in the space of the values, with three features each")
    claim(steps["X"].shape[1] == 4, "they have four features")
    distances = np.linalg.norm(steps["V"] - steps["output"][SEAPLANE], axis=1)
    claim(distances.argmin() == SEAPLANE, "The output of the seaplane lies close to its own value")
    claim(steps["weights"][SEAPLANE].argmax() == SEAPLANE, "from which it takes most")
    return space_figure("Self-attention: values and outputs", steps, size=(2, 2, 1))


@site_figure
def cross_attention_output(steps_of: StepsOf) -> Html:
    r"""Each row of $\weights{A}$ holds the weights of one average of the three values, so the
    output $\output{O}$ has a row for each query."""
    claim(len(steps_of("cross_attention")["V"]) == 3, "one average of the three values")
    return output_figure(steps_of("cross_attention"), row=BIRD, column=0)


@site_figure
def cross_attention_plane(steps_of: StepsOf) -> Html:
    r"""Both input sequences in a plane of their own, drawn by two of their four features, which the
    other two repeat. Each position of $\input{X_q}$ stands where one of $\input{X_{kv}}$ does,
    because their features are equal. Values and outputs share another plane, and the outputs lie
    in the triangle of the values."""
    steps = steps_of("cross_attention")
    x_q, x_kv = steps["X_q"], steps["X_kv"]
    claim(repeats_two_features(x_q), "which the other two repeat")
    claim(repeats_two_features(x_kv), "which the other two repeat")
    claim({*map(tuple, x_q)} <= {*map(tuple, x_kv)}, "their features are equal")
    queries, keys = words_of(steps["weights"])
    inputs = [
        Points("X_q", x_q[:, :2], queries, "input"),
        Points("X_kv", x_kv[:, :2], keys, "input"),
    ]
    return plane_figure("Cross-attention: points", inputs, steps)


@site_figure
def cross_attention_lines(steps_of: StepsOf) -> Html:
    r"""The alignment of the words. Each French word on the left looks at the English word that is
    to be translated next. The thickest lines cross, because *voiture* comes before the adjective
    in French and *car* after it in English."""
    weights = steps_of("two_sequences")["weights"]
    french, english = words_of(weights)
    seen = labels_of_largest(weights, english)
    claim(seen == ["car", "green"], "looks at the English word that is to be translated next")
    claim(english.index("car") > english.index("green"), "The thickest lines cross")
    return attention_lines(weights, french, english)


@site_figure
def cross_attention_space(steps_of: StepsOf) -> Html:
    r"""Four values are the corners of a tetrahedron, and the two outputs lie inside it. The output
    of *la* is drawn towards the value of *car*, and that of *voiture* towards the value of *green*,
    as their weights say. The two input sequences are not drawn: they have six features, and a query
    and a value have no space in common."""
    steps = steps_of("two_sequences")
    claim(steps["output"].shape == (2, 3), "the two outputs lie inside it")
    claim(steps["V"].shape == (4, 3), "Four values are the corners of a tetrahedron")
    claim(steps["X_q"].shape[1] == 6, "they have six features")
    _, english = words_of(steps["weights"])
    seen_by_la, seen_by_voiture = labels_of_largest(steps["weights"], english)
    claim(seen_by_la == "car", "The output of *la* is drawn towards the value of *car*")
    claim(seen_by_voiture == "green", "that of *voiture* towards the value of *green*")
    return space_figure("Cross-attention: values and outputs", steps, size=(2, 2, 2))


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
        heading(grid.x, name, "start"),
        word_cells(grid, matrix, "output", features),
        cells.draw_row_labels(grid, [""] * THEY + ["they"]),
    ]
    description = cells.describe(name, matrix)
    return Panel(grid.right + 2, grid.bottom, "".join(body), description, name=name)


def _heads_attend(steps: Steps) -> Panel:
    """Draw the weights of two heads, one below the other, each with its output beside it."""
    name = "Each head attends"
    words, features = words_of(steps["head_1"])
    body = [heading(WORDS_X, name, "start")]
    descriptions = []
    y: float = HEADS_TOP
    for head in (1, 2):
        weights, output = steps[f"weights_{head}"], steps[f"head_{head}"]
        weights_grid = cells.Grid(WORDS_X, y, HEAD_CELL, *weights.shape)
        output_grid = cells.Grid(weights_grid.right + OUTPUT_GAP, y, HEAD_CELL, *output.shape)
        is_first = head == 1  # The columns have their labels once, at the top.
        body += [
            vertical_label(8, weights_grid.middle_y, f"head {head}"),
            cells.draw_row_labels(weights_grid, words),
            word_cells(weights_grid, weights, "weights", words if is_first else []),
            label(output_grid.x - OUTPUT_GAP / 2, output_grid.middle_y, "V ="),
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


@site_figure
def heads_side_by_side(steps_of: StepsOf) -> Html:
    r"""The weights of the two heads, for the same queries and keys. Each query has its largest
    weight on one key in head 1, and on another in head 2."""
    steps = steps_of("multi_head")
    weights_1, weights_2 = steps["weights_1"], steps["weights_2"]
    differ = weights_1.argmax(axis=1) != weights_2.argmax(axis=1)
    claim(np.all(differ), "Each query has its largest weight on one key in head 1")
    heads = {"Head 1": weights_1, "Head 2": weights_2}
    return matrices_figure("Weights of two heads", heads, **WEIGHTS, numbers=False)


def outputs_and_values(steps: Steps) -> list[Points]:
    """Return the points of the outputs and, outlined, of the values in the same space."""
    queries, keys = words_of(steps["weights"])
    # The labels of the first points are left of them, and those of the others right. So the labels
    # of an output and of a value close to it do not overlap.
    return [
        Points("outputs O", steps["output"], queries, "output"),
        Points("values V", steps["V"], keys, "value", outlined=True),
    ]


def repeats_two_features(x: Array) -> bool:
    """Whether features 3 and 4 of all tokens repeat 1 and 2, so that these two show all four."""
    return np.array_equal(x[:, 2:], x[:, :2])


def plane_figure(name: str, inputs: Sequence[Points], steps: Steps) -> Html:
    """Draw the first two features of inputs beside the values and outputs."""
    _, features = words_of(steps["V"])
    panels = [
        scatter_2d("Inputs", ["flies", "floats"], inputs, size=(1, 1)),
        scatter_2d("Values and outputs", features, outputs_and_values(steps), size=(2, 2)),
    ]
    return beside(panels, name)


def space_figure(name: str, steps: Steps, size: Sequence[int]) -> Html:
    """Draw the values and outputs in space, on axes from 0 to the given sizes."""
    _, features = words_of(steps["V"])
    return scatter_3d(name, features, outputs_and_values(steps), size)


@site_figure
def head_blocks(steps_of: StepsOf) -> Html:
    r"""Three tokens, a row each, with two features for each of two heads: what belongs to head 1
    has a solid frame, and what belongs to head 2 a dashed one. In memory all rows are one list, and
    a reshape only cuts this list into other rows. After the transpose each head has two features
    of every token. With the reshape alone, the first block has all of token 1 and half of
    token 2."""
    steps = steps_of("head_splitting")
    x = steps["X"]
    tokens, heads = len(x), 2
    width = x.shape[1] // heads
    claim((tokens, width) == (3, 2), "Three tokens, a row each, with two features for each")
    head_blocks = np.reshape(x, (tokens, heads, width)).transpose(1, 0, 2)
    blocks_of_reshape = np.reshape(x, (heads, tokens, width))
    claim(np.array_equal(head_blocks[0], steps["head_1"]), "two features of every token")
    first_block = blocks_of_reshape[0]
    is_wrong_head = np.array_equal(first_block, steps["wrong_head_1"])
    claim(is_wrong_head, "With the reshape alone, the first block has all of token 1")
    has_token_and_half = set(first_block.flat) == {*x[0], *x[1, :width]}
    claim(has_token_and_half, "all of token 1 and half of token 2")
    is_second_head = np.indices(x.shape)[1] >= width
    panels = [
        _framed_numbers(name, x, rows, columns, is_dashed=is_second_head)
        for name, (rows, columns) in _places_of_numbers(tokens, heads, width).items()
    ]
    return player(panels, "Cutting a list into heads")


def _places_of_numbers(
    tokens: int, heads: int, width: int
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return the row and column of each number of X, (tokens, heads * width), by arrangement."""
    token, column = np.indices((tokens, heads * width))
    head, feature = np.divmod(column, width)
    address = token * heads * width + column  # in memory, row by row
    # What the reshape alone takes for the head, the token and the feature.
    wrong_head, address_in_block = np.divmod(address, tokens * width)
    wrong_token, wrong_feature = np.divmod(address_in_block, width)
    return {
        "all heads side by side, n × h d": (token, column),
        "in memory, one list": (np.zeros_like(address), address),
        "reshape, n × h × d": (token * (heads + 0.5) + head, feature),
        "transpose, h × n × d": (token, head * (width + 1.5) + feature),
        "instead, the reshape alone, h × n × d": (
            wrong_token,
            wrong_head * (width + 1.5) + wrong_feature,
        ),
    }


def _framed_numbers(
    name: str, matrix: Array, rows: np.ndarray, columns: np.ndarray, is_dashed: np.ndarray
) -> Panel:
    """Draw each number of a matrix in a frame at its row and column on paper, in cells, (m, n)."""
    body = []
    for index, value in np.ndenumerate(matrix):
        x, y = float(columns[index] * NUMBER_SIDE + 2), float(rows[index] * NUMBER_SIDE + 2)
        digits = label(x + FRAME_SIDE / 2, y + FRAME_SIDE / 2, number(value), fill=colour(None))
        framed_digits = _frame(x, y, bool(is_dashed[index])) + digits
        body.append(cells.tag_index(framed_digits, matrix, index))
    by_row_and_column = np.lexsort((columns.ravel(), rows.ravel()))
    numbers = ", ".join(number(matrix.flat[i]) for i in by_row_and_column)
    return Panel(
        float((columns.max() + 1) * NUMBER_SIDE + 2),
        float((rows.max() + 1) * NUMBER_SIDE + 2),
        element("g", *body, data_val=step_name(matrix), fill=FILLS["input"]),
        f"{name}: {numbers}, row by row.",
        name=name,
    )


def _frame(x: float, y: float, is_dashed: bool) -> str:
    """Draw a frame with its upper left corner at (x, y); a click anywhere in it reaches it."""
    return element(
        "rect",
        x=x,
        y=y,
        width=FRAME_SIDE,
        height=FRAME_SIDE,
        rx=4,
        fill="none",
        stroke=colour("second" if is_dashed else "first"),
        stroke_width=2,
        stroke_dasharray="4 3" if is_dashed else None,
        pointer_events="all",
    )
