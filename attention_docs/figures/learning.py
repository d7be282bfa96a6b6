from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from attention_docs import examples
from attention_docs.arrays import Array
from attention_docs.figures.registry import claim, site_figure
from attention_docs.figures.steps_of_attention import WEIGHTS
from attention_docs.lookup import StepsOf
from attention_docs.render.figures import Axis, Html, Series, figure, line_chart, matrix_panel, svg
from attention_docs.render.numbers import number

STEP_TICKS = (0, 20, 40, 60, 80, 100)
COLOURED_WEIGHTS: dict[str, Any] = {**WEIGHTS, "numbers": False}
POSITIONS: dict[str, Any] = {"rows": "position of the query", "columns": "position of the key"}


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
    return svg.player(panels, "Weights that learn to reverse")


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
