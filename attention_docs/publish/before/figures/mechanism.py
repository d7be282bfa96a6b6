"""The figures of "The mechanism"."""

from collections.abc import Mapping, Sequence

import numpy as np

from attention_docs import examples
from attention_docs.arrays import Array
from attention_docs.publish.before.figures.claims import claim
from attention_docs.publish.before.figures.drawings.steps_of_attention import (
    WEIGHTS,
    output_figure,
    scores_figure,
    word_cells,
    words_panel,
)
from attention_docs.publish.before.figures.registry import site_figure
from attention_docs.publish.before.values import StepsOf
from attention_docs.render.figures import (
    Html,
    Panel,
    Points,
    attention_lines,
    beside,
    cells,
    figure,
    matrix_panel,
    scatter_2d,
    scatter_3d,
)
from attention_docs.render.figures.scales import FILLS
from attention_docs.render.figures.svg import (
    LINE_HEIGHT,
    colour,
    element,
    label,
    player,
    vertical_label,
)
from attention_docs.render.numbers import number
from attention_docs.render.references import step_name

# The geometry of the figure of two heads, in pixels.
HEAD_CELL, HEAD_ROWS, HEADS_TOP, HEADS_GAP = (18, 20), 5, 80, 18
TOKENS = ["bird", "boat", "seaplane"]


@site_figure
def self_attention_scores(steps_of: StepsOf) -> Html:
    r"""The query of the seaplane, row 3 of $\query{Q}$, meets its key, column 3 of $\key{K}^\top$.
    Their dot product is the score in row 3, column 3 of $\scores{S}$."""
    return scores_figure(steps_of("self_attention"), 2, 2, TOKENS, TOKENS)


@site_figure
def self_attention_output(steps_of: StepsOf) -> Html:
    r"""The weights of the bird, row 1 of $\weights{A}$, average column 2 of $\value{V}$, which says
    how far each of the three is *afloat*. The result is in row 1, column 2 of the output
    $\output{O}$."""
    features = examples.labels("self_attention", "V")[1]
    return output_figure(steps_of("self_attention"), 0, 1, TOKENS, TOKENS, features)


@site_figure
def self_attention_lines(steps_of: StepsOf) -> Html:
    r"""Who looks at whom. The thicker a line, the larger the weight. Bird and boat look at each
    other and at the seaplane, which looks mostly at itself."""
    weights = steps_of("self_attention")["weights"]
    first_looks_away = weights[0, [1, 2]].min() > weights[0, 0]
    second_looks_away = weights[1, [0, 2]].min() > weights[1, 1]
    claim(
        first_looks_away and second_looks_away,
        "Bird and boat look at each other and at the seaplane",
    )
    claim(weights[2, 2] > 3 / 4, "which looks mostly at itself")
    return attention_lines(weights, TOKENS)


@site_figure
def self_attention_plane(steps_of: StepsOf) -> Html:
    r"""The inputs have a plane of their own. Of their four features two are drawn, and the other
    two repeat them. Values and outputs share another plane: an output is an average of the values,
    so it lies in their triangle."""
    steps = steps_of("self_attention")
    claim(repeats_two_features(steps["X"]), "two repeat them")
    inputs = [Points("inputs X", steps["X"][:, :2], TOKENS, "input")]
    values, outputs = values_and_outputs(steps, TOKENS, TOKENS)
    features = examples.labels("self_attention", "V")[1]
    return plane_figure("Self-attention: points", inputs, [outputs, values], features)


@site_figure
def self_attention_space(steps_of: StepsOf) -> Html:
    r"""Values and outputs in the space of the values, with three features each. An output is an
    average of the values, so it lies in their triangle. The output of the seaplane lies close to
    its own value, from which it takes most. The inputs are not drawn, because they have four
    features and live in another space."""
    steps = steps_of("values_in_space")
    distances = np.linalg.norm(steps["V"] - steps["output"][2], axis=1)
    claim(distances.argmin() == 2, "The output of the seaplane lies close to its own value")
    claim(steps["weights"][2].argmax() == 2, "from which it takes most")
    values, outputs = values_and_outputs(steps, TOKENS, TOKENS)
    features = examples.labels("values_in_space", "V")[1]
    # The labels of the outputs, which come first, are left of their points, so that the two labels
    # of the seaplane do not overlap.
    return space_figure(
        "Self-attention: values and outputs", features, [outputs, values], size=(2, 2, 1)
    )


@site_figure
def cross_attention_output(steps_of: StepsOf) -> Html:
    r"""Each row of $\weights{A}$ holds the weights of one average of the three values, so the
    output $\output{O}$ has a row for each query."""
    features = examples.labels("cross_attention", "V")[1]
    return output_figure(steps_of("cross_attention"), 0, 0, TOKENS[:2], TOKENS, features)


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
    inputs = [
        Points("X_q", x_q[:, :2], TOKENS[:2], "input"),
        Points("X_kv", x_kv[:, :2], TOKENS, "input"),
    ]
    values, outputs = values_and_outputs(steps, TOKENS, TOKENS[:2])
    features = examples.labels("cross_attention", "V")[1]
    return plane_figure("Cross-attention: points", inputs, [outputs, values], features)


@site_figure
def cross_attention_lines(steps_of: StepsOf) -> Html:
    r"""The alignment of the words. Each French word on the left looks at the English word that is
    to be translated next. The thickest lines cross, because *voiture* comes before the adjective
    in French and *car* after it in English."""
    weights = steps_of("two_sequences")["weights"]
    french, english = examples.labels("two_sequences", "weights")
    looked_at = [english[column] for column in weights.argmax(axis=1)]
    claim(looked_at == ["car", "green"], "looks at the English word that is to be translated next")
    claim(weights[0].argmax() > weights[1].argmax(), "The thickest lines cross")
    return attention_lines(weights, french, english)


@site_figure
def cross_attention_space(steps_of: StepsOf) -> Html:
    r"""Four values are the corners of a tetrahedron, and the two outputs lie inside it. The output
    of *la* is drawn towards the value of *car*, and that of *voiture* towards the value of *green*,
    as their weights say. The two input sequences are not drawn: they have six features, and a query
    and a value have no space in common."""
    steps = steps_of("two_sequences")
    french, english = examples.labels("two_sequences", "weights")
    drawn_to = [english[column] for column in steps["weights"].argmax(axis=1)]
    claim(drawn_to[0] == "car", "The output of *la* is drawn towards the value of *car*")
    claim(drawn_to[1] == "green", "that of *voiture* towards the value of *green*")
    values, outputs = values_and_outputs(steps, english, french)
    features = examples.labels("two_sequences", "V")[1]
    return space_figure(
        "Cross-attention: values and outputs", features, [outputs, values], (2, 2, 2)
    )


@site_figure
def heads_of_a_sentence(steps_of: StepsOf) -> Html:
    r"""Two heads read one sentence. In head 1, *they* looks at *birds*, the noun that it stands
    for. In head 2, each word looks at the word before it, and the first at itself. Under the causal
    mask no word looks ahead. The outputs are put side by side, and $W_O$ mixes them: *they* gets
    *air* from head 1 and most of its *reason* from head 2. A strong colour is a number far from
    zero."""
    steps = steps_of("course_heads")
    words = examples.labels("course_heads", "weights_1")[0]
    weights_1, weights_2 = steps["weights_1"], steps["weights_2"]
    features = examples.labels("course_heads", "added_1")[1]
    they, air, reason = words.index("they"), features.index("air"), features.index("reason")
    claim(words[weights_1[they].argmax()] == "birds", "*they* looks at *birds*")
    looked_at = weights_2.argmax(axis=1).tolist()
    claim(looked_at == [0, 0, 1, 2, 3], "each word looks at the word before it")
    added_1, added_2 = steps["added_1"][they], steps["added_2"][they]
    claim(added_1[air] > added_2[air] == 0, "*air* from head 1")
    claim(added_2[reason] > added_1[reason], "most of its *reason* from head 2")
    panels = [_heads_attend(steps, they)]
    for name, step in (("Side by side", "side_by_side"), ("Mixed by W_O", "output")):
        grid = cells.Grid(36, HEADS_TOP, HEAD_CELL, *steps[step].shape)
        mark = cells.draw_row_labels(grid, [""] * they + ["they"])
        body = word_cells(grid, steps[step], "output", examples.labels("course_heads", step)[1])
        heading = label(grid.x, LINE_HEIGHT / 2, name, "start", font_weight="bold")
        width, height = grid.right + 2, grid.bottom
        panels.append(
            Panel(
                width, height, heading + body + mark, cells.describe(name, steps[step]), name=name
            )
        )
    return beside(panels, "Two heads, side by side and mixed")


def _heads_attend(steps: Mapping[str, Array], they: int) -> Panel:
    """Draw the weights of two heads, one below the other, and the output of each."""
    words, features = examples.labels("course_heads", "head_1")
    body = [label(76, LINE_HEIGHT / 2, "Each head attends", "start", font_weight="bold")]
    description = []
    for head in (1, 2):
        weights, output = steps[f"weights_{head}"], steps[f"head_{head}"]
        top = HEADS_TOP + (head - 1) * (HEAD_ROWS * HEAD_CELL[1] + HEADS_GAP)
        grid = cells.Grid(76, top, HEAD_CELL, *weights.shape)
        result = cells.Grid(grid.right + 36, top, HEAD_CELL, *output.shape)
        is_first = head == 1
        body += [
            vertical_label(8, top + grid.height / 2, f"head {head}"),
            cells.draw_row_labels(grid, words),
            word_cells(grid, weights, "weights", words if is_first else []),
            label(result.x - 18, result.row_middle(2), "V ="),
            word_cells(result, output, "output", features if is_first else []),
        ]
        description += [
            cells.describe(f"Weights of head {head}", weights),
            cells.describe(f"Output of head {head}", output),
        ]
    return Panel(
        result.right + 2,
        top + result.height,
        "".join(body),
        " ".join(description),
        name="Each head attends",
    )


@site_figure
def output_matrix(steps_of: StepsOf) -> Html:
    r"""The output matrix $W_O$ of the sentence, with the features of both heads at the rows and
    those of the output at the columns. The first four rows are the block $W_O^{(1)}$, and the
    others are $W_O^{(2)}$. The rows *air 2* and *water 2* are zero, so these two are dropped."""
    matrix = steps_of("course_heads")["W_O"]
    rows, columns = examples.labels("course_heads", "W_O")
    dropped = [row for row, numbers in zip(rows, matrix, strict=True) if not numbers.any()]
    claim(dropped == ["air 2", "water 2"], "The rows *air 2* and *water 2* are zero")
    return figure(words_panel("W_O", matrix, (rows, columns), 28), "The output matrix")


@site_figure
def heads_side_by_side(steps_of: StepsOf) -> Html:
    r"""The weights of the two heads, for the same queries and keys. Each query has its largest
    weight on one key in head 1, and on another in head 2."""
    steps = steps_of("multi_head")
    weights_1, weights_2 = steps["weights_1"], steps["weights_2"]
    differ = weights_1.argmax(axis=1) != weights_2.argmax(axis=1)
    claim(np.all(differ), "Each query has its largest weight on one key in head 1")
    panels = [
        matrix_panel(weights_1, "Head 1", **WEIGHTS, numbers=False),
        matrix_panel(weights_2, "Head 2", **WEIGHTS, numbers=False),
    ]
    return beside(panels, "Weights of two heads")


def values_and_outputs(
    steps: Mapping[str, Array], values: list[str], outputs: list[str]
) -> list[Points]:
    """Return the points of the values, outlined, and of the outputs in the same space."""
    return [
        Points("values V", steps["V"], values, "value", outlined=True),
        Points("outputs O", steps["output"], outputs, "output"),
    ]


def repeats_two_features(x: Array) -> bool:
    """Return whether features 3 and 4 repeat 1 and 2, so that a drawing of two shows all four."""
    return np.array_equal(x[:, 2:], x[:, :2])


def plane_figure(
    name: str, inputs: Sequence[Points], sets: Sequence[Points], features: Sequence[str]
) -> Html:
    """Draw inputs, with features from 0 to 1, beside values and outputs, from 0 to 2."""
    panels = [
        scatter_2d("Inputs", ["flies", "floats"], inputs, (1, 1)),
        scatter_2d("Values and outputs", features, sets, (2, 2)),
    ]
    return beside(panels, name)


def space_figure(
    name: str, axes: Sequence[str], sets: Sequence[Points], size: Sequence[int]
) -> Html:
    return figure(scatter_3d(name, axes, sets, size), name)


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
    right = np.reshape(x, (tokens, heads, width)).transpose(1, 0, 2)
    wrong = np.reshape(x, (heads, tokens, width))
    claim(np.array_equal(right[0], steps["head_1"]), "two features of every token")
    claim(
        np.array_equal(wrong[0], steps["wrong_head_1"]),
        "With the reshape alone, the first block has all of token 1",
    )
    claim(set(wrong[0].flat) == {*x[0], *x[1, :width]}, "all of token 1 and half of token 2")
    token, column = np.indices(x.shape)
    head, feature = column // width, column % width
    address = token * x.shape[1] + column
    wrong_head, rest = address // (tokens * width), address % (tokens * width)
    # The row and the column of each number on paper; a gap is half a cell.
    states = {
        "all heads side by side, n × h d": (token, column),
        "in memory, one list": (0 * token, address),
        "reshape, n × h × d": (token * (heads + 0.5) + head, feature),
        "transpose, h × n × d": (token, head * (width + 1.5) + feature),
        "instead, the reshape alone, h × n × d": (
            rest // width,
            wrong_head * (width + 1.5) + rest % width,
        ),
    }
    panels = [_blocks(name, x, head, *indices) for name, indices in states.items()]
    return player(panels, "Cutting a list into heads")


def _blocks(name: str, x: Array, head: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> Panel:
    """Draw the numbers of a matrix at the given rows and columns, framed by their heads."""
    side, body = 28, []
    for index, value in np.ndenumerate(x):
        left, upper = columns[index] * side + 2, rows[index] * side + 2
        frame = element(
            "rect",
            x=float(left),
            y=float(upper),
            width=side - 3,
            height=side - 3,
            rx=4,
            fill="none",
            stroke=colour("second" if head[index] else "first"),
            stroke_width=2,
            stroke_dasharray="4 3" if head[index] else None,
            pointer_events="all",
        )
        middle = (side - 3) / 2
        digits = label(
            float(left) + middle, float(upper) + middle, number(value), fill=colour(None)
        )
        body.append(cells.tag_index(frame + digits, x, index))
    in_order = np.lexsort((columns.ravel(), rows.ravel()))
    description = f"{name}: {', '.join(number(x.flat[i]) for i in in_order)}, row by row."
    extent = ((columns.max() + 1) * side + 2, (rows.max() + 1) * side + 2)
    group = element("g", *body, data_val=step_name(x), fill=FILLS["input"])
    return Panel(float(extent[0]), float(extent[1]), group, description, name=name)
