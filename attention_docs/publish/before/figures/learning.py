"""The figures of "Learning"."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from attention_docs.arrays import Array
from attention_docs.publish.before.figures.claims import claim
from attention_docs.publish.before.figures.registry import StepsOf, site_figure
from attention_docs.render.figures import (
    Axis,
    Html,
    Panel,
    Series,
    beside,
    figure,
    line_chart,
    matrix_panel,
)
from attention_docs.render.figures.svg import LINE_HEIGHT, element, label, text_width, translated
from attention_docs.render.numbers import number

STEPS_OF_REVERSE = (0, 20, 40, 60, 80, 100)
PAIRS: dict[str, Any] = {"rows": "queries", "columns": "keys", "numbers": False}
WEIGHTS: dict[str, Any] = {**PAIRS, "role": "weights", "scale": "sequential"}
OUTPUTS: dict[str, Any] = {"rows": "queries", "columns": "features", "numbers": False}


@site_figure
def backward_passes(steps_of: StepsOf) -> Html:
    r"""Top: the forward pass, from the scaled scores $\scores{Z}$ to the output $\output{O}$.
    Bottom: the backward pass, from $d\output{O}$ to $d\scores{Z}$, with each gradient below its
    matrix. It uses the values $\value{V}$ and the weights $\weights{A}$ of the forward pass."""
    forward, backward = steps_of("distinct_sizes"), steps_of("backward")
    above = [
        matrix_panel(forward["scaled"], "Z", role="scores", **PAIRS),
        matrix_panel(forward["weights"], "A", role="weights", scale="sequential", **PAIRS),
        matrix_panel(forward["output"], "O", role="output", **OUTPUTS),
    ]
    below = [
        matrix_panel(backward["dZ"], "dZ", role="scores", **PAIRS),
        matrix_panel(backward["dA"], "dA", role="weights", **PAIRS),
        matrix_panel(backward["dO"], "dO", role="output", **OUTPUTS),
    ]
    passes = two_rows(above, ["softmax", "times V"], below, ["its derivative", "times Vᵀ"])
    return figure(passes, "Forward and backward pass")


@site_figure
def reverse_weights(steps_of: StepsOf) -> Html:
    r"""The weights for one sequence before the first step, after \val{learning_reverse.step[3]}
    steps and after \val{learning_reverse.step[10]}."""
    steps = steps_of("learning_reverse")
    during, after = (f"after {number(steps['step'][row])} steps" for row in (3, 10))
    stages = {"before": "before", during: "during", after: "after"}
    panels = [
        matrix_panel(steps[f"weights_{stage}"], name, **WEIGHTS) for name, stage in stages.items()
    ]
    return beside(panels, "Weights that learn to reverse")


@site_figure
def mistakes_in_reverse(steps_of: StepsOf) -> Html:
    r"""Loss on sequences not used in training. The paragraph *No scale* says what is wide."""
    correct, mistaken = steps_of("learning_reverse"), steps_of("learning_mistakes")
    lines = {
        "no positions": (mistaken["no_positions"], "scores"),
        "all parts": (correct["loss"], "weights"),
        "wide, no scale": (mistaken["wide_unscaled"], "key"),
        "wide, scaled": (mistaken["wide"], "query"),
    }
    return curves("Learning to reverse", correct["step"], lines, STEPS_OF_REVERSE, (0, 1, 2, 3, 4))


@site_figure
def mistakes_in_a_walk(steps_of: StepsOf) -> Html:
    r"""Loss when the next token is asked for. A model trained without a mask sees that token, so
    its loss falls below $\log 2$. Without the token it fails."""
    steps = steps_of("learning_mistakes")
    claim(steps["unmasked"][-1] < steps["log_2"], r"its loss falls below $\log 2$")
    claim(steps["unmasked_used"][-1] > steps["unmasked_used"][0], "Without the token it fails")
    lines = {
        "no mask, used": (steps["unmasked_used"], "key"),
        "masked": (steps["walk"], "weights"),
        "no mask, trained": (steps["unmasked"], "output"),
    }
    return curves("Learning a walk", steps["step"], lines, STEPS_OF_REVERSE, (0, 1, 2, 3))


@site_figure
def induction_curves(steps_of: StepsOf) -> Html:
    r"""Loss on sequences not used in training. With two layers it stays high for a hundred steps,
    and then falls almost to zero. With one layer it stays high throughout."""
    steps = steps_of("learning_induction")
    two, early = steps["loss_two"], steps["step"] <= 100
    claim(two[early].min() > 0.9 * two[0], "stays high for a hundred steps")
    claim(two[-1] < two[0] / 100, "falls almost to zero")
    one = steps["loss_one"]
    claim(one.min() > 0.8 * one[0], "With one layer it stays high throughout")
    lines = {
        "one layer": (steps["loss_one"], "key"),
        "two layers": (steps["loss_two"], "weights"),
    }
    return curves(
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
    claim(
        attended_by_last == tokens[tokens.index(tokens[-1]) + 1] == "A", "the last D looks at the A"
    )
    options = {**WEIGHTS, "row_labels": tokens, "column_labels": tokens}
    first = matrix_panel(steps["weights1"], "Layer 1", **options)
    second = matrix_panel(steps["weights2"], "Layer 2", **options, mark=(7, None))
    return beside([first, second], "The two heads of induction")


def curves(
    name: str,
    steps: Array,
    lines: Mapping[str, tuple[Array, str]],
    ticks: Sequence[float],
    losses: Sequence[float],
) -> Html:
    """Draw losses over the steps of training."""
    series = [Series(line, steps, loss, role) for line, (loss, role) in lines.items()]
    return figure(line_chart(name, Axis("step", ticks), Axis("loss", losses), series), name)


def two_rows(
    above: Sequence[Panel],
    rightwards: Sequence[str],
    below: Sequence[Panel],
    leftwards: Sequence[str],
) -> Panel:
    """Place panels in two rows, with labelled arrows between them."""
    gap = max(map(text_width, (*rightwards, *leftwards))) + 24
    widths = [max(pair.width for pair in column) for column in zip(above, below, strict=True)]
    lefts = [sum(widths[:i]) + gap * i for i in range(len(widths))]
    body, top = [], 0.0
    for row, operations, points_right in ((above, rightwards, True), (below, leftwards, False)):
        height = max(panel.height for panel in row)
        for left, panel in zip(lefts, row, strict=True):
            body.append(translated(left, top, panel.body))
        for left, width, operation in zip(lefts, widths, operations, strict=False):
            body.append(arrow(left + width, top + height / 2, gap, operation, points_right))
        top += height + LINE_HEIGHT
    description = " ".join(panel.description for panel in (*above, *below))
    return Panel(lefts[-1] + widths[-1], top - LINE_HEIGHT, "".join(body), description)


def arrow(x: float, y: float, length: float, text: str, points_right: bool) -> str:
    """Draw a horizontal arrow with a label above it."""
    start, end, sign = x + 4, x + length - 4, 1
    if not points_right:
        start, end, sign = end, start, -1
    path = f"M{start:g} {y:g}H{end:g}m{-6 * sign} -4l{6 * sign} 4l{-6 * sign} 4"
    line = element("path", d=path, fill="none", stroke="currentColor")
    return label(x + length / 2, y - 12, text, font_size=11) + line
