"""Draw straight and curved arrows, and arrowheads in any direction."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from attention_docs.arrays import Array
from attention_docs.render.figures.svg import colour, element
from attention_docs.render.references import row_reference

# Between the ends of a curved arrow and the hands beside them, in radians.
TURN_GAP = 0.12
Point = tuple[float, float]


def line(start: Point, end: Point, role: str | None, **attributes: Any) -> str:
    ends = {"x1": start[0], "y1": start[1], "x2": end[0], "y2": end[1]}
    return element("line", **ends, stroke=colour(role), **attributes)


def turn_arrow(
    centre: Point, radius: float, start: Array, end: Array, *, is_clockwise: bool = True
) -> str:
    """Draw a curved arrow around the centre from one hand to another, on a circle of a radius."""
    sign = 1 if is_clockwise else -1
    start_angle = math.atan2(*start) + sign * TURN_GAP
    end_angle = math.atan2(*end) - sign * TURN_GAP
    x1, y1 = vector_tip((math.sin(start_angle), math.cos(start_angle)), centre, radius)
    x2, y2 = vector_tip((math.sin(end_angle), math.cos(end_angle)), centre, radius)
    arc = f"M{x1:.1f} {y1:.1f}A{radius:g} {radius:g} 0 0 {int(is_clockwise)} {x2:.1f} {y2:.1f}"
    backwards = end_angle - sign * math.pi / 2
    arrowhead = "".join(
        f"M{x2:.1f} {y2:.1f}l{6 * math.sin(angle):.1f} {-6 * math.cos(angle):.1f}"
        for angle in (backwards - 0.5, backwards + 0.5)
    )
    return element(
        "path", d=arc + arrowhead, fill="none", stroke="currentColor", stroke_opacity=0.7
    )


def arrowhead_base(start: Point, tip: Point, length: float) -> Point:
    """Return the point on the line from `start` to `tip` at which an arrowhead begins."""
    fraction = length / math.dist(start, tip)
    return tip[0] - fraction * (tip[0] - start[0]), tip[1] - fraction * (tip[1] - start[1])


def arrowhead(base: Point, tip: Point, half_width: float, **attributes: object) -> str:
    """Draw a triangle from the middle of its base to its tip; its base is twice `half_width`."""
    fraction = half_width / math.dist(base, tip)
    across_x, across_y = fraction * (tip[1] - base[1]), fraction * (base[0] - tip[0])
    corners = (
        tip,
        (base[0] + across_x, base[1] + across_y),
        (base[0] - across_x, base[1] - across_y),
    )
    path = "M" + "L".join(f"{round(x, 1):g} {round(y, 1):g}" for x, y in corners) + "z"
    return element("path", d=path, **attributes)


def vector_arrow(
    vector: np.ndarray,
    start: Point,
    pixels_per_unit: float,
    role: str,
    *,
    head: tuple[float, float],
    dashed: bool = False,
    opacity: float | None = None,
) -> str:
    """Draw a vector, (2,), to the right and up, as an arrow tagged with the vector's step.

    Args:
        head: the length of the arrowhead, and half of its width, in pixels.
    """
    head_length, half_width = head
    tip = vector_tip(vector, start, pixels_per_unit)
    base = arrowhead_base(start, tip, head_length)
    line = element(
        "line",
        x1=start[0],
        y1=start[1],
        x2=base[0],
        y2=base[1],
        stroke=colour(role),
        stroke_width=2,
        stroke_dasharray="4 3" if dashed else None,
        stroke_opacity=opacity,
        data_val=row_reference(vector),
    )
    return line + arrowhead(base, tip, half_width, fill=colour(role), fill_opacity=opacity)


def vector_tip(vector: Sequence[float] | np.ndarray, start: Point, pixels_per_unit: float) -> Point:
    """Return where the tip of a vector, (2,), is on paper."""
    right, up = map(float, vector)
    return start[0] + pixels_per_unit * right, start[1] - pixels_per_unit * up
