"""The figures of "Learning"."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from attention_docs import examples
from attention_docs.arrays import Array
from attention_docs.publish.before.figures.claims import claim
from attention_docs.publish.before.figures.registry import site_figure
from attention_docs.publish.before.values import StepsOf
from attention_docs.render.figures import (
    Axis,
    Html,
    Panel,
    Series,
    beside,
    cells,
    figure,
    line_chart,
    matrix_panel,
)
from attention_docs.render.figures.scales import scale_of
from attention_docs.render.figures.svg import LINE_HEIGHT, element, label, player, title
from attention_docs.render.numbers import number

STEP_TICKS = (0, 20, 40, 60, 80, 100)
WEIGHTS: dict[str, Any] = {
    "rows": "queries",
    "columns": "keys",
    "numbers": False,
    "role": "weights",
    "scale": "sequential",
}
POSITIONS: dict[str, Any] = {"rows": "position of the query", "columns": "position of the key"}


@site_figure
def backward_passes(steps_of: StepsOf) -> Html:
    r"""The forward pass, above, goes from the scaled scores $\scores{Z}$ to the weights
    $\weights{A}$ and to the output $\output{O}$. The backward pass, below, starts with
    $d\output{O}$, which says how the error depends on each entry of $\output{O}$. From there it
    goes back to $d\weights{A}$ and $d\scores{Z}$, each below its matrix, with the help of the
    values $\value{V}$ and the weights. What a step starts from is outlined. A strong colour is a
    number far from zero, and olive ones are negative."""
    forward, backward = steps_of("distinct_sizes"), steps_of("backward")
    passes = (
        (("Z", forward["scaled"]), ("A", forward["weights"]), ("O", forward["output"])),
        (("dZ", backward["dZ"]), ("dA", backward["dA"]), ("dO", backward["dO"])),
    )
    states = [
        _pass("forward: softmax", passes, 0, (0, 1), "softmax"),
        _pass("forward: times V", passes, 0, (1, 2), "times V"),
        _pass("backward: times Vᵀ", passes, 1, (2, 1), "times Vᵀ"),
        _pass("backward: through the softmax", passes, 1, (1, 0), "derivative", ((0, 1), (1, 2))),
    ]
    return player(states, "Forward and backward pass")


Pass = Sequence[tuple[str, Array]]
ROLES_OF_PASSES = ("scores", "weights", "output")


def _pass(
    name: str,
    passes: Sequence[Pass],
    row: int,
    columns: tuple[int, int],
    text: str,
    others: Sequence[tuple[int, int]] = (),
) -> Panel:
    """Draw one step of a pass: two matrices and an arrow, and the others without colours.

    Args:
        name: the name of the state.
        passes: names and matrices of the forward pass, and of the backward pass below them.
        row: 0 in the forward pass, 1 in the backward pass.
        columns: where the step starts and ends.
        text: what the step does.
        others: rows and columns of matrices that have colours, too. One above the start is used.
    """
    side, gap, start, end = 14, 62, *columns
    body, descriptions, x, centre = [], [], 2.0, 0.0
    for column, role in enumerate(ROLES_OF_PASSES):
        m, n = passes[0][column][1].shape
        height = m * side + 2.2 * LINE_HEIGHT
        for line, (title_text, matrix) in enumerate(one[column] for one in passes):
            grid = cells.Grid(x, 1.2 * LINE_HEIGHT + line * height, (side, side), m, n)
            body.append(title(x + grid.width / 2, grid.y - LINE_HEIGHT / 2, title_text, role))
            if (line, column) in ((row, start), (row, end), *others):
                kind = "sequential" if title_text == "A" else "diverging"
                scale = scale_of(kind, title_text, matrix, role)
                body.append(cells.draw_cells(grid, matrix, scale, None, False))
                descriptions.append(cells.describe(title_text, matrix))
                if column == start:
                    body.append(cells.draw_mark(grid, (None, None), role))
            else:
                body.append(cells.draw_grid_lines(grid))
        if column == min(columns):
            centre = 1.2 * LINE_HEIGHT + row * height + m * side / 2
            body.append(draw_arrow(x + n * side, centre, gap, text, points_right=end > start))
        x += n * side + gap
    return Panel(
        x - gap + 2,
        2 * height - LINE_HEIGHT,
        "".join(body),
        f"{text}: {' '.join(descriptions)}",
        name=name,
    )


@site_figure
def reverse_weights(steps_of: StepsOf) -> Html:
    r"""The weights for one sequence of the test. After \number{40} steps the largest weight of
    every row but one is at the mirrored position, and after \number{50} that of every row. The
    loss and the right answers are those of the whole test."""
    steps = steps_of("learning_reverse")
    panels = []
    for step in examples.load("learning_reverse").DRAWN:
        (row,) = np.flatnonzero(steps["step"] == step)
        loss, right = number(steps["loss"][row]), number(steps["accuracy"][row])
        state = f"after {number(step)} steps" if step else "before training"
        heading = f"loss {loss}, {right} in 100 right"
        panel = matrix_panel(steps[f"weights_{step}"], heading, **WEIGHTS | POSITIONS)
        panels.append(panel._replace(name=state))
    claim(is_largest_mirrored(steps["weights_40"]).sum() == 5, "every row but one")
    claim(is_largest_mirrored(steps["weights_50"]).all(), "that of every row")
    return player(panels, "Weights that learn to reverse")


@site_figure
def reverse_position_scores(steps_of: StepsOf) -> Html:
    r"""The scores that come from positions alone, after \number{100} steps. In every row the
    largest is on the mirrored diagonal, which runs from the lower left to the upper right."""
    scores = steps_of("learning_reverse")["position_scores"]
    claim(is_largest_mirrored(scores).all(), "the largest is on the mirrored diagonal")
    panel = matrix_panel(scores, "scores of positions", **POSITIONS, role="scores")
    return figure(panel, "Scores of positions")


def is_largest_mirrored(matrix: Array) -> Array:
    """Return for each row whether its largest entry stands at the mirrored position."""
    return matrix.argmax(axis=1) == np.arange(len(matrix))[::-1]


@site_figure
def mistakes_in_reverse(steps_of: StepsOf) -> Html:
    r"""Loss on sequences not used in training. The wide model has keys of many features: see
    *No scale*."""
    correct, mistaken = steps_of("learning_reverse"), steps_of("learning_mistakes")
    lines = {
        "no positions": (mistaken["no_positions"], "second"),
        "all parts": (correct["loss"], "first"),
        "wide, no scale": (mistaken["wide_unscaled"], "third"),
        "wide, scaled": (mistaken["wide"], "fourth"),
    }
    return loss_chart("Learning to reverse", correct["step"], lines, STEP_TICKS, (0, 1, 2, 3, 4))


@site_figure
def mistakes_in_a_walk(steps_of: StepsOf) -> Html:
    r"""Loss when the next token is asked for. A model trained without a mask sees that token, so
    its loss falls below $\log 2$. Without the token it fails."""
    steps = steps_of("learning_mistakes")
    claim(steps["unmasked"][-1] < steps["log_2"], r"its loss falls below $\log 2$")
    claim(steps["unmasked_used"][-1] > steps["unmasked_used"][0], "Without the token it fails")
    lines = {
        "no mask, used": (steps["unmasked_used"], "second"),
        "masked": (steps["walk"], "first"),
        "no mask, trained": (steps["unmasked"], "third"),
    }
    return loss_chart("Learning a walk", steps["step"], lines, STEP_TICKS, (0, 1, 2, 3))


@site_figure
def induction_curves(steps_of: StepsOf) -> Html:
    r"""Loss on sequences not used in training. With two layers it stays high for a hundred steps,
    and then falls almost to zero. With one layer it stays high throughout."""
    steps = steps_of("learning_induction")
    one_layer, two_layers = steps["loss_one"], steps["loss_two"]
    early = steps["step"] <= 100
    claim(two_layers[early].min() > 0.9 * two_layers[0], "stays high for a hundred steps")
    claim(two_layers[-1] < two_layers[0] / 100, "falls almost to zero")
    claim(one_layer.min() > 0.8 * one_layer[0], "With one layer it stays high throughout")
    lines = {"one layer": (one_layer, "second"), "two layers": (two_layers, "first")}
    return loss_chart(
        "Learning induction", steps["step"], lines, (0, 50, 100, 150, 200, 250), (0, 1, 2, 3)
    )


@site_figure
def induction_weights(steps_of: StepsOf) -> Html:
    r"""The weights of two trained layers for the sequence B G I F E D A D. In the first layer,
    almost every token looks at the one before it. In the second, the last D looks at the A that
    followed the first D."""
    steps = steps_of("learning_induction")
    tokens = ["ABCDEFGHI"[token] for token in steps["tokens"]]
    looks_back = steps["weights1"].argmax(axis=1)[1:] == np.arange(len(tokens) - 1)
    claim(looks_back.sum() >= len(looks_back) - 1, "almost every token looks at the one before it")
    attended_by_last = tokens[steps["weights2"][-1].argmax()]
    after_first_d = tokens[tokens.index("D") + 1]
    claim(attended_by_last == after_first_d == "A", "the last D looks at the A")
    options = {**WEIGHTS, "row_labels": tokens, "column_labels": tokens}
    first = matrix_panel(steps["weights1"], "Layer 1", **options)
    second = matrix_panel(steps["weights2"], "Layer 2", **options, mark=(7, None))
    return beside([first, second], "The two heads of induction")


def loss_chart(
    name: str,
    steps: Array,
    lines: Mapping[str, tuple[Array, str]],
    step_ticks: Sequence[float],
    loss_ticks: Sequence[float],
) -> Html:
    """Draw losses over the steps of training.

    Args:
        lines: the losses and the role of each line, by its name.
    """
    series = [Series(line, steps, losses, role) for line, (losses, role) in lines.items()]
    chart = line_chart(name, Axis("step", step_ticks), Axis("loss", loss_ticks), series)
    return figure(chart, name)


def draw_arrow(x: float, y: float, length: float, text: str, points_right: bool) -> str:
    """Draw a horizontal arrow with a label above it."""
    start, end, arrowhead = x + 4, x + length - 4, 6
    if not points_right:
        start, end, arrowhead = end, start, -6
    path = f"M{start:g} {y:g}H{end:g}m{-arrowhead} -4l{arrowhead} 4l{-arrowhead} 4"
    line = element("path", d=path, fill="none", stroke="currentColor")
    return label(x + length / 2, y - 12, text) + line
