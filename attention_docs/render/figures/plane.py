"""Draw arrows and points in a plane around zero; an edit in the page moves them.

Each of these vectors is in a group with `data-plane`, the position of zero and the length of a
unit. In the group, an element with a `transform` is at the position of the vector. One with
`data-beyond` is beyond it, by the distances that this gives for a horizontal and for a vertical
vector. An outline joins the points that its `data-joins` selects.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from attention_docs.arrays import Array
from attention_docs.render.figures import arrows, svg
from attention_docs.render.numbers import number
from attention_docs.render.references import row_reference, step_name

HEAD = (9.0, 4.0)  # the length of an arrowhead, and half of its width
# Between the name of a vector and the tip of its arrow, its point, or the page's handle at its tip.
GAP_AT_TIP, GAP_AT_POINT, GAP_AT_HANDLE = 8, 8, 14
NAME_HEIGHT = 10
DOT = "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z"
SMALL_DOT = "M-2 0a2 2 0 1 0 4 0a2 2 0 1 0 -4 0z"  # without a name


class Vector(NamedTuple):
    """A named row of two numbers, drawn as an arrow from zero or as a point.

    Attributes:
        is_inside: whether its name is between zero and the vector, for one among other points.
        is_input: whether it is an input, whose tip is a handle in the page.
        dashes: how its line is dashed.
    """

    name: str
    position: np.ndarray
    role: str
    is_arrow: bool = True
    is_inside: bool = False
    is_input: bool = False
    dashes: str | None = None

    @property
    def name_distance(self) -> tuple[float, float]:
        """How far the middle of the name is beyond a horizontal and a vertical vector."""
        if self.is_input:
            gap = GAP_AT_HANDLE
        elif self.is_arrow:
            gap = GAP_AT_TIP
        else:
            gap = GAP_AT_POINT
        beside, above = gap + svg.text_width(self.name) / 2, gap + NAME_HEIGHT / 2
        return (-beside, -above) if self.is_inside else (beside, above)


def plane_panel(
    name: str,
    vectors: Sequence[Vector],
    *,
    reach: int,
    pixels_per_unit: float,
    corners: Array | None = None,
) -> svg.Panel:
    """Draw vectors, and an outline with corners (n, 2), on axes from minus `reach` to `reach`."""
    side = 2 * reach * pixels_per_unit
    # Room beyond the axes for the name of a vector at their end.
    margin = max(vector.name_distance[0] + svg.text_width(vector.name) / 2 for vector in vectors)
    top = 2.5 * svg.LINE_HEIGHT
    zero = (margin + side / 2, top + side / 2)
    zero_x, zero_y = zero
    grid_lines = "".join(
        f"M{margin + i * pixels_per_unit:g} {top:g}v{side:g}"
        f"M{margin:g} {top + i * pixels_per_unit:g}h{side:g}"
        for i in range(2 * reach + 1)
    )
    axes = f"M{margin:g} {zero_y:g}h{side:g}M{zero_x:g} {top:g}v{side:g}"
    outline = "" if corners is None else draw_outline(corners, zero, pixels_per_unit)
    body = [
        svg.heading(zero_x, name),
        svg.element("path", d=grid_lines, fill="none", stroke="currentColor", stroke_opacity=0.12),
        svg.element("path", d=axes, fill="none", stroke="currentColor", stroke_opacity=0.4),
        outline,
        *(draw_vector(vector, zero, pixels_per_unit) for vector in vectors),
    ]
    positions = (f"{vector.name} ({', '.join(map(number, vector.position))})" for vector in vectors)
    description = f"{name}: {'; '.join(positions)}."
    width, height = side + 2 * margin, top + side + 1.5 * svg.LINE_HEIGHT
    return svg.Panel(width, height, "".join(body), description, name=name)


def draw_outline(
    corners: Array, zero: arrows.Point, pixels_per_unit: float, end: str = "z", **line: Any
) -> str:
    """Draw a line through the points of a step, (n, 2), and back to the first if `end` is z.

    The page's script needs a point in the same drawing for each of them.
    """
    tips = (arrows.vector_tip(corner, zero, pixels_per_unit) for corner in np.asarray(corners))
    path = "M" + "L".join(f"{x:g} {y:g}" for x, y in tips) + end
    line = {"fill": "none", "stroke": "currentColor", "stroke_opacity": 0.5, **line}
    return svg.element("path", d=path, **line, data_joins=f'[data-val^="{step_name(corners)}["]')


def draw_vector(vector: Vector, zero: arrows.Point, pixels_per_unit: float) -> str:
    """Draw an arrow or a point, and its name, in a group that the page's script can move."""
    zero_x, zero_y = zero
    tip = tip_x, tip_y = arrows.vector_tip(vector.position, zero, pixels_per_unit)
    angle = math.atan2(tip_y - zero_y, tip_x - zero_x)  # clockwise, as in SVG
    paint = svg.colour(vector.role)
    reference = row_reference(vector.position)
    if vector.is_arrow:
        line: dict[str, Any] = {"data_val": reference, "data_beyond": f"{-HEAD[0]:g} {-HEAD[0]:g}"}
        line["stroke_dasharray"] = vector.dashes
        drawing = arrows.arrow([zero, tip], vector.role, HEAD, width=2, **line)
    else:
        dot = DOT if vector.name else SMALL_DOT
        at_tip = f"translate({tip_x:g} {tip_y:g})"
        drawing = svg.element("path", d=dot, fill=paint, transform=at_tip, data_val=reference)
    beside, above = vector.name_distance
    name_x, name_y = tip_x + beside * math.cos(angle), tip_y + above * math.sin(angle)
    name = svg.element(
        "g",
        *([svg.label(0, 0, vector.name, fill=paint)] if vector.name else []),
        transform=f"translate({name_x:g} {name_y:g})",
        data_beyond=f"{beside:g} {above:g}",
    )
    return svg.element("g", drawing, name, data_plane=f"{zero_x:g} {zero_y:g} {pixels_per_unit:g}")
