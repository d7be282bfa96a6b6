"""Draw arrows: through points, or around a centre."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from attention_docs.arrays import Array
from attention_docs.render.figures import svg

# Between the ends of a curved arrow and the hands beside them, in radians.
TURN_GAP = 0.12
HEAD = (6.0, 4.0)  # the length of an arrowhead, and half of its width
Point = tuple[float, float]


def line(start: Point, end: Point, role: str | None, **attributes: Any) -> str:
    ends = {"x1": start[0], "y1": start[1], "x2": end[0], "y2": end[1]}
    return svg.element("line", **ends, stroke=svg.colour(role), **attributes)


def arrow(
    points: Sequence[Point],
    role: str | None = None,
    head_size: tuple[float, float] = HEAD,
    *,
    width: float = 1.5,
    opacity: float | None = None,
    **attributes: Any,
) -> str:
    """Draw a line through points, with an arrowhead at the last of them."""
    *starts, tip = points
    angle = math.atan2(tip[1] - starts[-1][1], tip[0] - starts[-1][0])
    length = head_size[0]
    base = (tip[0] - length * math.cos(angle), tip[1] - length * math.sin(angle))
    line_opacity = 0.6 if opacity is None and role is None else opacity
    attributes |= {"stroke_width": width, "stroke_opacity": line_opacity}
    if len(points) == 2:
        shaft = line(starts[0], base, role, **attributes)
    else:
        path = "M" + "L".join(f"{x:g} {y:g}" for x, y in [*starts, base])
        shaft = svg.element("path", d=path, fill="none", stroke=svg.colour(role), **attributes)
    return shaft + head(tip, angle, role, head_size, opacity)


def head(
    tip: Point,
    angle: float,
    role: str | None,
    size: tuple[float, float] = HEAD,
    opacity: float | None = None,
) -> str:
    """Draw an arrowhead that points at an angle, which is clockwise from the right as in SVG."""
    length, half_width = size
    triangle = svg.element(
        "path",
        d=f"M0 0L{-length:g} {-half_width:g}v{2 * half_width:g}z",
        fill=svg.colour(role),
        fill_opacity=opacity,
        transform=f"rotate({math.degrees(angle):g})",
    )
    return svg.translated(*tip, triangle)


def turn_arrow(centre: Point, radius: float, start: Array, end: Array) -> str:
    """Draw a curved arrow anticlockwise from one hand to another, on a circle around the centre."""
    start_angle = math.atan2(*start) - TURN_GAP
    end_angle = math.atan2(*end) + TURN_GAP
    x1, y1 = vector_tip((math.sin(start_angle), math.cos(start_angle)), centre, radius)
    tip = x2, y2 = vector_tip((math.sin(end_angle), math.cos(end_angle)), centre, radius)
    arc = f"M{x1:.1f} {y1:.1f}A{radius:g} {radius:g} 0 0 0 {x2:.1f} {y2:.1f}"
    stroke = {"stroke": "currentColor", "stroke_opacity": 0.7, "fill": "none"}
    return svg.element("path", d=arc, **stroke) + head(tip, end_angle + math.pi, None, opacity=0.7)


def vector_tip(vector: Sequence[float] | np.ndarray, start: Point, pixels_per_unit: float) -> Point:
    """Return where the tip of a vector, (2,), is on paper."""
    right, up = map(float, vector)
    return start[0] + pixels_per_unit * right, start[1] - pixels_per_unit * up
