"""Draw numbers from zero to a maximum as bars, each with its label and its digits."""

from collections.abc import Sequence

import numpy as np

from attention_docs.arrays import Array
from attention_docs.render.figures import cells
from attention_docs.render.figures.svg import (
    LINE_HEIGHT,
    Panel,
    colour,
    element,
    label,
    text_width,
    title,
)
from attention_docs.render.numbers import number
from attention_docs.render.references import step_name

WIDTH, HEIGHT, GAP = 110, 16, 5
# The digits of a number with an exponent, such as 1.5e-10.
DIGITS_WIDTH = text_width("1.5e-10")
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
) -> Panel:
    """Draw a row of numbers as stacked horizontal bars; an edit in the page changes their lengths.

    Args:
        name: the title of the panel.
        values: (n,) numbers from 0 to `largest`.
        labels: n labels, at the left of the bars.
        role: the colour.
        largest: the number whose bar has the full length.
        room_for: labels of another panel, so that the bars of both begin at the same x.
        has_heading: whether to write the title; a panel below another one goes on without it.

    >>> panel = bars_panel("Shares", np.array([0.25, 0.75]), ["cat", "mat"])
    >>> panel.description
    'Shares: cat 0.2500, mat 0.7500.'
    """
    row = np.asanyarray(values)
    x = max(map(text_width, [*labels, *room_for])) + 8
    top, bars, texts = 1.6 * LINE_HEIGHT if has_heading else 0, [], []
    for i, (value, text) in enumerate(zip(row, labels, strict=True)):
        y = top + i * (HEIGHT + GAP)
        middle = y + HEIGHT / 2
        full = WIDTH / largest
        bar = element(
            "rect",
            x=x,
            y=y,
            width=float(full * value),
            height=HEIGHT,
            fill_opacity=OPACITY,
            data_full=full,
        )
        digits = label(x + WIDTH + 8, middle, number(value), "start", fill=colour(None))
        frame = element(
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
        bars.append(cells.tag_index(bar + digits + frame, row, (i,)))
        texts.append(label(x - 8, middle, text, "end"))
    group = element("g", *bars, data_val=step_name(row), fill=colour(role))
    pairs = ", ".join(f"{text} {number(value)}" for text, value in zip(labels, row, strict=True))
    heading = title(x, LINE_HEIGHT / 2, name, role, "start") if has_heading else ""
    width = max(x + WIDTH + 8 + DIGITS_WIDTH, x + text_width(name))
    height = top + len(row) * (HEIGHT + GAP)
    return Panel(width, height, heading + group + "".join(texts), f"{name}: {pairs}.", name=name)
