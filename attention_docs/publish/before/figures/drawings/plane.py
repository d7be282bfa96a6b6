"""Draw arrows and points in a plane around zero; an edit in the page moves them.

Each is in a group with `data-plane`, the position of zero and the length of a unit. In the group,
every element with a `transform` is at the position of the mark.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from attention_docs.render.figures.svg import (
    LINE_HEIGHT,
    Panel,
    colour,
    element,
    escape_text,
    label,
    translated,
)
from attention_docs.render.numbers import number
from attention_docs.render.references import row_reference

HEAD = "M1 0L-9 -4L-9 4z"
# Room beyond the axes for the name of a mark at their end.
NAME_WIDTH = 40
DOT = "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z"


class Mark(NamedTuple):
    """An arrow from zero, or a point, with its name: a row of two numbers, (1, 2)."""

    name: str
    position: np.ndarray
    role: str
    is_arrow: bool = True


def plane_panel(name: str, marks: Sequence[Mark], reach: int, unit: float) -> Panel:
    """Draw marks in a plane whose axes go from minus `reach` to `reach`."""
    side = 2 * reach * unit
    top = 1.5 * LINE_HEIGHT
    left, bottom = reach * unit, top + reach * unit
    grid = "".join(
        f"M{i * unit:g} {top:g}v{side:g}M0 {top + i * unit:g}h{side:g}"
        for i in range(2 * reach + 1)
    )
    axes = f"M0 {bottom:g}h{side:g}M{left:g} {top:g}v{side:g}"
    body = [
        label(side / 2, LINE_HEIGHT / 2, name, font_weight="bold"),
        element("path", d=grid, fill="none", stroke="currentColor", stroke_opacity=0.12),
        element("path", d=axes, fill="none", stroke="currentColor", stroke_opacity=0.4),
        *(draw_mark(mark, left, bottom, unit) for mark in marks),
    ]
    positions = (f"{mark.name} ({', '.join(map(number, mark.position[0]))})" for mark in marks)
    description = f"{name}: {'; '.join(positions)}."
    return Panel(
        side + NAME_WIDTH, top + side + 2, "".join(body), escape_text(description), name=name
    )


def draw_mark(mark: Mark, left: float, bottom: float, unit: float) -> str:
    """Draw a mark in a plane with zero at (left, bottom) on paper."""
    x, y = mark.position[0].tolist()
    tip = (left + unit * x, bottom - unit * y)
    paint, reference = colour(mark.role), row_reference(mark.position, 0)
    at_tip = f"translate({tip[0]:g} {tip[1]:g})"
    if mark.is_arrow:
        ends = {"x1": left, "y1": bottom, "x2": tip[0], "y2": tip[1]}
        line = element("line", **ends, stroke=paint, stroke_width=2, data_val=reference)
        turn = f"rotate({math.degrees(math.atan2(-y, x)):g} 0 0)"
        head = element("path", d=HEAD, fill=paint, transform=turn, class_="head")
        drawing = line + translated(*tip, head)
    else:
        drawing = element("path", d=DOT, fill=paint, transform=at_tip, data_val=reference)
    text = translated(*tip, label(6, -8, mark.name, "start", fill=paint))
    group = {"data_plane": f"{left:g} {bottom:g} {unit:g}"}
    return element("g", drawing, text, **group)
