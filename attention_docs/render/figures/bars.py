"""Draw numbers from zero to a maximum as bars, each with its label and its digits."""

from collections.abc import Sequence

import numpy as np

from attention_docs.arrays import Array
from attention_docs.render.figures import cells, svg
from attention_docs.render.figures.scales import FILLED
from attention_docs.render.numbers import format_name, number
from attention_docs.render.references import step_name

WIDTH, HEIGHT, GAP = 110, 16, 5
TEXT_GAP = 8  # beside a bar
# The digits of a number with an exponent, such as 1.5e-10.
DIGITS_WIDTH = svg.text_width("1.5e-10")
OPACITY = 0.6


def bars_panel(
    name: str,
    values: Array,
    labels: Sequence[str],
    role: str = "weights",
    *,
    largest: float = 1.0,
    room_for: Sequence[str] = (),
    has_heading: bool = True,
) -> svg.Panel:
    """Draw n numbers as stacked horizontal bars; an edit in the page changes their lengths.

    The bar of `largest` has the full length, and labels of another panel, `room_for`, have room.

    >>> panel = bars_panel("Shares", np.array([0.25, 0.75]), ["cat", "mat"])
    >>> panel.description
    'Shares: cat 0.2500, mat 0.7500.'
    """
    row = np.asanyarray(values)
    x = max(map(svg.text_width, [*labels, *room_for])) + TEXT_GAP
    y = 1.6 * svg.LINE_HEIGHT if has_heading else 0
    bars, texts, clauses = [], [], []
    for i, (value, text) in enumerate(zip(row, labels, strict=True)):
        bars.append(cells.tag_index(draw_bar(x, y, value, largest), row, (i,)))
        texts.append(svg.label(x - TEXT_GAP, y + HEIGHT / 2, text, "end"))
        clauses.append(f"{text} {number(value)}")
        y += HEIGHT + GAP
    rules = f"{FILLED} width {WIDTH / largest:g}; text {format_name()}"
    attributes = {"data_val": step_name(row), "data_set": rules, "fill": svg.colour(role)}
    group = svg.element("g", *bars, **attributes)
    heading = svg.title(x, svg.LINE_HEIGHT / 2, name, role, "start") if has_heading else ""
    width = x + max(WIDTH + TEXT_GAP + DIGITS_WIDTH, svg.text_width(name))
    description = f"{name}: {', '.join(clauses)}."
    return svg.Panel(width, y, heading + group + "".join(texts), description, name=name)


def draw_bar(x: float, y: float, value: float, largest: float) -> str:
    """Draw a bar with its corner at (x, y), a frame as long as the bar of `largest`, and digits."""
    bar = svg.element(
        "rect",
        x=x,
        y=y,
        width=float(WIDTH / largest * value),
        height=HEIGHT,
        fill_opacity=OPACITY,
    )
    digits_x = x + WIDTH + TEXT_GAP
    digits = svg.label(digits_x, y + HEIGHT / 2, number(value), "start", fill=svg.colour(None))
    # A click anywhere in the frame reaches the page's script.
    frame = svg.element(
        "rect",
        x=x,
        y=y,
        width=WIDTH,
        height=HEIGHT,
        fill="none",
        stroke="currentColor",
        stroke_opacity=0.3,
        pointer_events="all",
    )
    return bar + digits + frame
