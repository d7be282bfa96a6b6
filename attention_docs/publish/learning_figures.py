r"""The figures about gradients and learning: `site_figures.py` registers them.

Each takes its arrays from the worked examples, and its docstring is its caption, in Markdown.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attention_docs.arrays import Array
from attention_docs.render.figures import Panel, Svg, figure, matrix_panel
from attention_docs.render.figures.svg import LINE, element, label, moved, text_width

# Gives the steps of a worked example by its name.
StepsOf = Callable[[str], Mapping[str, Array]]

PAIRS: dict[str, Any] = {"rows": "queries", "columns": "keys", "numbers": False}
OUTPUTS: dict[str, Any] = {"rows": "queries", "columns": "features", "numbers": False}


def backward_passes(steps_of: StepsOf) -> Svg:
    r"""Both passes of the example. Above, the forward pass goes from the scaled scores $\scores{Z}$
    to the output $\output{O}$. Below, each matrix has its gradient under it, and the backward pass
    goes from right to left, from $d\output{O}$ to $d\scores{Z}$. The values $\value{V}$ and the
    weights $\weights{A}$ that it needs are kept from the forward pass."""
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
    passes = two_rows(above, ["softmax", "times V"], below, ["softmax", "times Vᵀ"])
    return figure(passes, "Forward and backward pass")


def two_rows(
    above: Sequence[Panel], onward: Sequence[str], below: Sequence[Panel], back: Sequence[str]
) -> Panel:
    """Put panels in two rows with arrows between them, to the right above, to the left below."""
    gap = max(map(text_width, (*onward, *back))) + 24
    widths = [max(pair.width for pair in column) for column in zip(above, below, strict=True)]
    lefts = [sum(widths[:i]) + gap * i for i in range(len(widths))]
    body, top = [], 0.0
    for row, steps, points_right in ((above, onward, True), (below, back, False)):
        height = max(panel.height for panel in row)
        for left, panel in zip(lefts, row, strict=True):
            body.append(moved(left, top, panel.body))
        for left, width, step in zip(lefts, widths, steps, strict=False):
            body.append(arrow(left + width, top + height / 2, gap, step, points_right))
        top += height + LINE
    described = " ".join(panel.description for panel in (*above, *below))
    return Panel(lefts[-1] + widths[-1], top - LINE, "".join(body), described)


def arrow(x: float, y: float, length: float, text: str, points_right: bool) -> str:
    """Draw an arrow over a gap, with its step above it."""
    start, end, turn = x + 4, x + length - 4, 1
    if not points_right:
        start, end, turn = end, start, -1
    head = f"M{start:g} {y:g}H{end:g}m{-6 * turn} -4l{6 * turn} 4l{-6 * turn} 4"
    line = element("path", d=head, fill="none", stroke="currentColor")
    return label(x + length / 2, y - 12, text, font_size=11) + line


DRAWINGS: tuple[Callable[[StepsOf], Svg], ...] = (backward_passes,)
