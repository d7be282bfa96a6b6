"""The figures of "Learning"."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from attention_docs import examples
from attention_docs.arrays import Array
from attention_docs.publish.before.figures.claims import claim, labels_of_largest
from attention_docs.publish.before.figures.drawings.steps_of_attention import WEIGHTS
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
COLOURED_WEIGHTS: dict[str, Any] = {**WEIGHTS, "numbers": False}
# The roles of the matrices of the forward pass, from left to right.
ROLE_OF_SYMBOL = {"Z": "scores", "A": "weights", "O": "output"}
# The size of their cells, and the room for an arrow between two of them.
PASS_CELL, ARROW_LENGTH = (14, 14), 62
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
    matrices = {
        "Z": forward["scaled"],
        "dZ": backward["dZ"],
        "A": forward["weights"],
        "dA": backward["dA"],
        "O": forward["output"],
        "dO": backward["dO"],
    }
    states = [
        _pass_step("forward: softmax", "softmax", matrices, ["Z"], "A"),
        _pass_step("forward: times V", "times V", matrices, ["A"], "O"),
        _pass_step("backward: times Vᵀ", "times Vᵀ", matrices, ["dO"], "dA"),
        _pass_step(
            "backward: through the softmax", "derivative", matrices, ["dA", "A"], "dZ", ["dO"]
        ),
    ]
    return player(states, "Forward and backward pass")


def _pass_step(
    name: str,
    operation: str,
    matrices: Mapping[str, Array],
    sources: Sequence[str],
    result: str,
    computed_before: Sequence[str] = (),
) -> Panel:
    """Draw what a step of the forward or backward pass starts from, and what it computes.

    Args:
        matrices: all matrices by symbol, each of the backward pass after its forward one.
        sources: the symbols of the outlined matrices; the arrow begins at the first.
        computed_before: the symbols of other matrices that are coloured; the rest have empty cells.
    """
    grids = _grids_of_passes(matrices)
    body, descriptions = [], []
    for symbol, matrix in matrices.items():
        grid, role = grids[symbol], ROLE_OF_SYMBOL[symbol[-1]]
        body.append(title(grid.middle_x, grid.y - LINE_HEIGHT / 2, symbol, role))
        if symbol in (*sources, result, *computed_before):
            kind = "sequential" if symbol == "A" else "diverging"
            scale = scale_of(kind, symbol, matrix, role)
            body.append(cells.draw_cells(grid, matrix, scale, has_numbers=False))
            descriptions.append(cells.describe(symbol, matrix))
        else:
            body.append(cells.draw_grid_lines(grid))
        if symbol in sources:
            body.append(cells.draw_mark(grid, (None, None), role))
    body.append(draw_arrow(grids[sources[0]], grids[result], operation))
    return Panel(
        grids["O"].right + 2,
        grids["dO"].bottom,
        "".join(body),
        f"{operation}: {' '.join(descriptions)}",
        name=name,
    )


def _grids_of_passes(matrices: Mapping[str, Array]) -> dict[str, cells.Grid]:
    """Return the places of the matrices: the forward pass in a row, and the backward pass below."""
    grids = {}
    x = 2.0
    for symbol in ROLE_OF_SYMBOL:
        forward = cells.Grid(x, 1.2 * LINE_HEIGHT, PASS_CELL, *matrices[symbol].shape)
        grids[symbol] = forward
        grids[f"d{symbol}"] = forward._replace(y=forward.bottom + 2.2 * LINE_HEIGHT)
        x = forward.right + ARROW_LENGTH
    return grids


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
        panel = matrix_panel(steps[f"weights_{step}"], heading, **COLOURED_WEIGHTS | POSITIONS)
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
    looks_back = steps["weights1"][1:].argmax(axis=1) == np.arange(len(tokens) - 1)
    claim(looks_back.sum() >= len(looks_back) - 1, "almost every token looks at the one before it")
    seen_by_last = labels_of_largest(steps["weights2"], tokens)[-1]
    after_first_d = tokens[tokens.index("D") + 1]
    claim(seen_by_last == after_first_d == "A", "the last D looks at the A")
    claim(" ".join(tokens) == "B G I F E D A D", "the sequence B G I F E D A D")
    options = {**COLOURED_WEIGHTS, "row_labels": tokens, "column_labels": tokens}
    last_row = (len(tokens) - 1, None)
    panels = [
        matrix_panel(steps["weights1"], "Layer 1", **options),
        matrix_panel(steps["weights2"], "Layer 2", **options, mark=last_row),
    ]
    return beside(panels, "The two heads of induction")


def loss_chart(
    name: str,
    steps: Array,
    lines: Mapping[str, tuple[Array, str]],
    step_ticks: Sequence[float],
    loss_ticks: Sequence[float],
) -> Html:
    """Draw lines, each with its losses and its role by name, over the steps of training."""
    series = [Series(line, steps, losses, role) for line, (losses, role) in lines.items()]
    return line_chart(name, Axis("step", step_ticks), Axis("loss", loss_ticks), series)


def draw_arrow(start: cells.Grid, end: cells.Grid, text: str) -> str:
    """Draw a horizontal arrow from a matrix to the one beside it, with a text above the arrow."""
    if start.x < end.x:
        start_x, end_x, arrowhead = start.right + 4, end.x - 4, 6
    else:
        start_x, end_x, arrowhead = start.x - 4, end.right + 4, -6
    path = f"M{start_x:g} {start.middle_y:g}H{end_x:g}m{-arrowhead} -4l{arrowhead} 4l{-arrowhead} 4"
    line = element("path", d=path, fill="none", stroke="currentColor")
    return label((start_x + end_x) / 2, start.middle_y - 12, text) + line
