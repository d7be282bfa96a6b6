"""Draw points in a plane, or in space by parallel projection."""

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from attention_docs.arrays import Array
from attention_docs.render.figures import svg
from attention_docs.render.figures.chart import MARKERS
from attention_docs.render.numbers import number
from attention_docs.render.references import row_reference

# The direction of view: the angle from the first axis, and the angle above the floor.
AZIMUTH, ELEVATION = math.radians(-52), math.radians(25)
UNIT = 100  # the length of 1 on paper
MARGIN = 40
TICK_DISTANCE = 0.17  # from a plane to the numbers at its axes, in units
# How far the names and numbers at the axes in space are from the axes, to the right and down: at
# the vertical axis, and at the front and the right edge of the floor.
TOP_NAME_OFFSET, VERTICAL_TICK_OFFSET = (0, -1.3 * svg.LINE_HEIGHT), (-6, 0)
FRONT_NAME_OFFSET, FRONT_TICK_OFFSET = (-20, 31), (0, 14)
SIDE_NAME_OFFSET, SIDE_TICK_OFFSET = (22, 18), (10, 6)
# The offset of a label to the right of its point and down, and its anchor. Each set has its labels
# on its own side, so that the labels of neighbouring points do not overlap, and away from the ticks
# of the vertical axis of a plane.
LABEL_OFFSETS = (
    (-8.0, 11.0, "end"),
    (9.0, -10.0, "start"),
    (0.0, -13.0, "middle"),
    (0.0, 14.0, "middle"),
    (9.0, -10.0, "start"),
)
# At the lower corners of an outline, a label of the second set stays outside.
LOWER_CORNER_OFFSET = (9.0, 7.0, "start")
RING = "M-6.5 0a6.5 6.5 0 1 0 13 0a6.5 6.5 0 1 0 -13 0z"
# The first of several sets has rings, which hide no point below them; a single set has discs.
SHAPES = (RING, *MARKERS[1:], MARKERS[0])

Projection = Callable[[ArrayLike], np.ndarray]  # from (n, 2) or (n, 3) to (n, 2) on paper


class Points(NamedTuple):
    """A set of points, (n, 2) or (n, 3), with edges and faces between them if outlined."""

    name: str
    coordinates: Array
    labels: Sequence[str]
    role: str
    outlined: bool = False


def scatter_3d(
    name: str, axes: Sequence[str], sets: Sequence[Points], size: Sequence[int]
) -> svg.Html:
    """Draw points in space above a floor; each axis goes from zero to `size`."""
    corners = list(product((0, size[0]), (0, size[1]), (0, size[2])))
    corners_on_paper = project_3d(np.array(corners))
    left_top, right_bottom = corners_on_paper.min(axis=0), corners_on_paper.max(axis=0)
    origin = np.array([MARGIN, 2 * svg.LINE_HEIGHT]) - left_top

    def to_paper(coordinates: ArrayLike) -> np.ndarray:
        on_paper: np.ndarray = project_3d(np.asarray(coordinates)) + origin
        return on_paper

    plot_width, plot_height = right_bottom - left_top
    legend_y = plot_height + 4.5 * svg.LINE_HEIGHT
    legend, legend_width = _draw_legend(sets, legend_y)
    width = max(plot_width + MARGIN + _right_margin(sets), legend_width)
    body = [
        svg.heading(width / 2, name),
        *_draw_floor(size, to_paper),
        *_draw_axes_3d(axes, size, to_paper),
        *_draw_outlines(sets, to_paper),
    ]
    for style, points in zip(_styles(sets), sets, strict=True):
        feet = np.multiply(points.coordinates, [1, 1, 0])
        for ends in zip(to_paper(points.coordinates), to_paper(feet), strict=True):
            body.append(_draw_line(*ends, stroke_dasharray="2 2", stroke_opacity=0.6))
        body += _draw_labelled_markers(style, points, to_paper)
    body += legend
    panel = svg.Panel(width, legend_y + svg.LINE_HEIGHT, "".join(body), _describe(name, sets))
    return svg.figure(panel, name)


def scatter_2d(
    name: str, axes: Sequence[str], sets: Sequence[Points], size: Sequence[int]
) -> svg.Panel:
    """Draw points in a plane, whose axes go from zero to `size`."""
    top = 2.5 * svg.LINE_HEIGHT
    right, bottom = MARGIN + UNIT * size[0], top + UNIT * size[1]

    def to_paper(coordinates: ArrayLike) -> np.ndarray:
        return UNIT * np.asarray(coordinates) * [1, -1] + [MARGIN, bottom]

    axes_bottom = bottom + 3.2 * svg.LINE_HEIGHT
    if len(sets) > 1:
        legend, legend_width = _draw_legend(sets, axes_bottom + svg.LINE_HEIGHT)
        height = axes_bottom + 2 * svg.LINE_HEIGHT
    else:
        legend, legend_width = [], 0.0
        height = axes_bottom
    x_ticks = to_paper([(x, -TICK_DISTANCE) for x in range(size[0] + 1)])
    y_ticks = to_paper([(-TICK_DISTANCE, y) for y in range(size[1] + 1)])
    width = max(right + _right_margin(sets), legend_width, svg.text_width(name))
    body = [
        svg.heading(width / 2, name),
        *_draw_floor(size, to_paper),
        *_draw_ticks(x_ticks),
        *_draw_ticks(y_ticks),
        svg.label((MARGIN + right) / 2, bottom + 2.3 * svg.LINE_HEIGHT, axes[0]),
        svg.vertical_label(svg.LINE_HEIGHT / 2, (bottom + top) / 2, axes[1]),
        *_draw_outlines(sets, to_paper),
    ]
    for style, points in zip(_styles(sets), sets, strict=True):
        body += _draw_labelled_markers(style, points, to_paper)
    body += legend
    return svg.Panel(width, height, "".join(body), _describe(name, sets), name=name)


def _right_margin(sets: Sequence[Points]) -> float:
    return max(MARGIN, *(10 + svg.text_width(text) for points in sets for text in points.labels))


def project_3d(coordinates: np.ndarray) -> np.ndarray:
    """Project (n, 3) coordinates to (n, 2) on paper: x to the right, y downwards."""
    x, y, z = coordinates[:, 0], coordinates[:, 1], coordinates[:, 2]
    depth = x * math.cos(AZIMUTH) + y * math.sin(AZIMUTH)
    across = y * math.cos(AZIMUTH) - x * math.sin(AZIMUTH)
    down = depth * math.sin(ELEVATION) - z * math.cos(ELEVATION)
    return np.stack([UNIT * across, UNIT * down], axis=1)


def _draw_line(start: Iterable[float], end: Iterable[float], **attributes: Any) -> str:
    """Draw a line between two positions on paper, which is faint unless `attributes` differ."""
    path = "M{:.1f} {:.1f}L{:.1f} {:.1f}".format(*start, *end)
    attributes = {"stroke": "currentColor", "stroke_opacity": 0.3, "fill": "none", **attributes}
    return svg.element("path", d=path, **attributes)


def _draw_floor(size: Sequence[int], to_paper: Projection) -> list[str]:
    """Draw the grid of whole units in the plane of the first two axes."""
    height = (0,) * (len(size) - 2)  # the third coordinate, in space
    along = [((x, 0, *height), (x, size[1], *height)) for x in range(size[0] + 1)]
    across = [((0, y, *height), (size[0], y, *height)) for y in range(size[1] + 1)]
    return [_draw_line(*to_paper(ends)) for ends in along + across]


def _draw_axes_3d(axes: Sequence[str], size: Sequence[int], to_paper: Projection) -> list[str]:
    """Draw the vertical axis, and the names and ticks of all three."""
    vertical = to_paper([(0, 0, z) for z in range(size[2] + 1)])
    front = to_paper([(x, 0, 0) for x in range(size[0] + 1)])
    side = to_paper([(size[0], y, 0) for y in range(size[1] + 1)])
    return [
        _draw_line(vertical[0], vertical[-1], stroke_opacity=0.6),
        _offset_label(vertical[-1], TOP_NAME_OFFSET, axes[2]),
        *_draw_ticks(vertical, VERTICAL_TICK_OFFSET, start=1, anchor="end"),
        *_draw_ticks(front, FRONT_TICK_OFFSET),
        *_draw_ticks(side, SIDE_TICK_OFFSET, start=1),
        _offset_label(front.mean(axis=0), FRONT_NAME_OFFSET, axes[0]),
        _offset_label(side.mean(axis=0), SIDE_NAME_OFFSET, axes[1], "start"),
    ]


def _draw_ticks(
    positions: np.ndarray,
    offset: tuple[float, float] = (0, 0),
    start: int = 0,
    anchor: str = "middle",
) -> list[str]:
    """Write whole numbers from `start` on at an offset from the units of an axis, (n, 2)."""
    return [
        _offset_label(position, offset, number(tick), anchor)
        for tick, position in enumerate(positions[start:], start)
    ]


def _offset_label(
    position: Iterable[float], offset: tuple[float, float], text: str, anchor: str = "middle"
) -> str:
    (x, y), (right, down) = position, offset
    return svg.label(x + right, y + down, text, anchor)


def _draw_outlines(sets: Sequence[Points], to_paper: Projection) -> list[str]:
    """Draw the faces and edges between points: a triangle or a tetrahedron, for example."""
    body = []
    for points in [points for points in sets if points.outlined]:
        positions = to_paper(points.coordinates)
        paint = svg.colour(points.role)
        corners = ["{:.1f} {:.1f}".format(*position) for position in positions]
        # Overlapping faces add up, so the faces of a solid are fainter than a single triangle.
        fill = {"fill": paint, "fill_opacity": 0.06 if len(corners) > 3 else 0.12}
        for face in combinations(corners, 3):
            body.append(svg.element("path", d="M" + "L".join(face) + "z", **fill))
        edge: dict[str, Any] = {"stroke": paint, "stroke_dasharray": "4 3", "stroke_opacity": 0.7}
        body += [_draw_line(*ends, **edge) for ends in combinations(positions, 2)]
    return body


def _styles(sets: Sequence[Points]) -> range:
    """Return the index of the shape of each set; a single set has the last, a disc."""
    return range(len(sets)) if len(sets) > 1 else range(len(SHAPES) - 1, len(SHAPES))


def _draw_labelled_markers(style: int, points: Points, to_paper: Projection) -> list[str]:
    """Draw the points of a set, each with its label and with the coordinates as its tooltip."""
    body = []
    positions = to_paper(points.coordinates)
    middle_y = positions[:, 1].mean()
    for row, text in enumerate(points.labels):
        x, y = positions[row]
        coordinates = ", ".join(map(number, points.coordinates[row]))
        tooltip = svg.element("title", svg.text_node(f"{text}: {coordinates}"))
        reference = row_reference(points.coordinates[row])
        is_lower_corner = points.outlined and y > middle_y
        is_inside = style == 1 and is_lower_corner
        right, down, anchor = LOWER_CORNER_OFFSET if is_inside else LABEL_OFFSETS[style % 5]
        body += [
            _draw_marker(style, points, x, y, tooltip, data_val=reference),
            svg.label(x + right, y + down, text, anchor, fill=svg.colour(points.role)),
        ]
    return body


def _draw_marker(
    style: int, points: Points, x: float, y: float, *children: str, **attributes: Any
) -> str:
    """Draw a ring, a disc or another shape at (x, y), in the colour of its set."""
    paint = svg.colour(points.role)
    shape = SHAPES[style % len(SHAPES)]
    # With these pointer events, the inside of a ring shows the tooltip, too.
    ring = {"fill": "none", "stroke": paint, "pointer_events": "all"}
    look = ring if shape == RING else {"fill": paint}
    place = f"translate({x:.1f} {y:.1f})"
    return svg.element("path", *children, d=shape, **look, transform=place, **attributes)


def _draw_legend(sets: Sequence[Points], y: float) -> tuple[list[str], float]:
    """Draw the marker and the name of each set in a row at y; return them and the row's width."""
    body = []
    x = MARGIN / 2
    for style, points in zip(_styles(sets), sets, strict=True):
        body.append(_draw_marker(style, points, x, y))
        body.append(svg.label(x + 12, y, points.name, "start"))
        x += 30 + svg.text_width(points.name)
    return body, x


def _describe(name: str, sets: Sequence[Points]) -> str:
    sentences = [f"{name}."]
    for points in sets:
        entries = []
        for text, row in zip(points.labels, points.coordinates, strict=True):
            coordinates = ", ".join(map(number, row))
            entries.append(f"{text} ({coordinates})")
        sentences.append(f"{points.name}: {'; '.join(entries)}.")
    return " ".join(sentences)
