"""Draw arrows and points in a plane around zero; an edit in the page moves them.

Each of these vectors is in a group with `data-plane`, the position of zero and the length of a
unit. In the group, every element with a `transform` is at the position of the vector, and one with
`data-beyond` as far beyond it, to the side and upwards, as this says. An outline joins the points
of the step that its `data-outline` names.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from attention_docs.arrays import Array
from attention_docs.render.figures.svg import (
    LINE_HEIGHT,
    Panel,
    colour,
    element,
    label,
    text_width,
    translated,
)
from attention_docs.render.numbers import number
from attention_docs.render.references import row_reference, step_name

ARROWHEAD = "M1 0L-9 -4L-9 4z"
# Between the name of a vector and the tip of its arrow, its point, or the page's handle at its tip.
GAP_AT_TIP, GAP_AT_POINT, GAP_AT_HANDLE = 5, 8, 14
NAME_HEIGHT = 10
DOT = "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z"


class Vector(NamedTuple):
    """A named row of two numbers, (1, 2), drawn as an arrow from zero or as a point.

    The name is beyond the vector, or before it for one that stays among others. The tip of an
    input is a handle in the page.
    """

    name: str
    position: np.ndarray
    role: str
    is_arrow: bool = True
    is_inside: bool = False
    is_input: bool = False

    @property
    def beyond(self) -> tuple[float, float]:
        """How far the middle of the name is from the vector, if it is beside and if above it."""
        gap = GAP_AT_TIP if self.is_arrow else GAP_AT_POINT
        gap = GAP_AT_HANDLE if self.is_input else gap
        sign = -1 if self.is_inside else 1
        return sign * (gap + text_width(self.name) / 2), sign * (gap + NAME_HEIGHT / 2)


def plane_panel(
    name: str,
    vectors: Sequence[Vector],
    *,
    reach: int,
    pixels_per_unit: float,
    corners: Array | None = None,
) -> Panel:
    """Draw vectors in a plane whose axes go from minus `reach` to `reach`.

    Args:
        name: the title of the panel.
        vectors: what to draw.
        reach: where the axes end.
        pixels_per_unit: the length of 1 on paper.
        corners: (n, 2) points of a step that are joined by an outline.
    """
    side = 2 * reach * pixels_per_unit
    # Room beyond the axes for the name of a vector at their end.
    margin = max(vector.beyond[0] + text_width(vector.name) / 2 for vector in vectors)
    top = 2.5 * LINE_HEIGHT
    left, bottom = margin + side / 2, top + side / 2
    grid = "".join(
        f"M{margin + i * pixels_per_unit:g} {top:g}v{side:g}"
        f"M{margin:g} {top + i * pixels_per_unit:g}h{side:g}"
        for i in range(2 * reach + 1)
    )
    axes = f"M{margin:g} {bottom:g}h{side:g}M{left:g} {top:g}v{side:g}"
    body = [
        label(left, LINE_HEIGHT / 2, name, font_weight="bold"),
        element("path", d=grid, fill="none", stroke="currentColor", stroke_opacity=0.12),
        element("path", d=axes, fill="none", stroke="currentColor", stroke_opacity=0.4),
        draw_outline(corners, left, bottom, pixels_per_unit) if corners is not None else "",
        *(draw_vector(vector, left, bottom, pixels_per_unit) for vector in vectors),
    ]
    positions = (
        f"{vector.name} ({', '.join(map(number, vector.position[0]))})" for vector in vectors
    )
    description = f"{name}: {'; '.join(positions)}."
    width, height = side + 2 * margin, top + side + 1.5 * LINE_HEIGHT
    return Panel(width, height, "".join(body), description, name=name)


def draw_outline(corners: Array, left: float, bottom: float, pixels_per_unit: float) -> str:
    """Join points of a step by a closed line."""
    points = (
        f"{left + pixels_per_unit * x:g} {bottom - pixels_per_unit * y:g}"
        for x, y in corners.tolist()
    )
    line = {"fill": "none", "stroke": "currentColor", "stroke_opacity": 0.5}
    return element("path", d=f"M{'L'.join(points)}z", **line, data_outline=step_name(corners))


def draw_vector(vector: Vector, left: float, bottom: float, pixels_per_unit: float) -> str:
    """Draw a vector in a plane with zero at (left, bottom) on paper."""
    x, y = vector.position[0].tolist()
    tip = (left + pixels_per_unit * x, bottom - pixels_per_unit * y)
    angle = math.atan2(-y, x)
    paint, reference = colour(vector.role), row_reference(vector.position, 0)
    at_tip = f"translate({tip[0]:g} {tip[1]:g})"
    if vector.is_arrow:
        ends = {"x1": left, "y1": bottom, "x2": tip[0], "y2": tip[1]}
        line = element("line", **ends, stroke=paint, stroke_width=2, data_val=reference)
        turn = f"rotate({math.degrees(angle):g})"
        arrowhead = element("path", d=ARROWHEAD, fill=paint, transform=turn, class_="head")
        drawing = line + translated(*tip, arrowhead)
    else:
        drawing = element("path", d=DOT, fill=paint, transform=at_tip, data_val=reference)
    right, down = vector.beyond
    text = label(0, 0, vector.name, fill=paint)
    middle = tip[0] + right * math.cos(angle), tip[1] + down * math.sin(angle)
    place = "translate({:g} {:g})".format(*middle)
    name = element("g", text, transform=place, data_beyond=f"{right:g} {down:g}")
    group = {"data_plane": f"{left:g} {bottom:g} {pixels_per_unit:g}"}
    return element("g", drawing, name, **group)
