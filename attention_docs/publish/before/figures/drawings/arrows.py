"""Draw straight arrows and arrowheads in any direction."""

import math
from collections.abc import Sequence

import numpy as np

from attention_docs.render.figures.svg import colour, element
from attention_docs.render.references import row_reference

Point = tuple[float, float]


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
