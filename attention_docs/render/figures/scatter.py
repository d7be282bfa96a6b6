"""Draw points in a plane, or in space by parallel projection."""

import json
import math
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from attention_docs.arrays import Array, check_finite, check_no_overflow, ignoring_overflow
from attention_docs.render.figures import arguments
from attention_docs.render.figures.chart import MARKERS
from attention_docs.render.figures.svg import (
    LINE_HEIGHT,
    Panel,
    colour,
    element,
    escape_text,
    label,
    text_width,
    vertical_label,
)
from attention_docs.render.numbers import number
from attention_docs.render.references import row_reference

# The direction of view: the angle from the first axis, and the angle above the floor.
AZIMUTH, ELEVATION = math.radians(-52), math.radians(25)
UNIT = 100
MARGIN = 40
# Each set has its labels on a side of its own, so that those of neighbours do not overlap.
LABEL_OFFSETS = (
    (-8.0, -8.0, "end"),
    (8.0, -7.0, "start"),
    (0.0, -13.0, "middle"),
    (0.0, 14.0, "middle"),
)
# In a plane, a label to the left of a point on the vertical axis goes below the tick there.
LABEL_OFFSETS_2D = ((-8.0, 11.0, "end"), *LABEL_OFFSETS[1:])
RING = "M-6.5 0a6.5 6.5 0 1 0 13 0a6.5 6.5 0 1 0 -13 0z"


Projection = Callable[[ArrayLike], np.ndarray]  # from (n, 2) or (n, 3) to (n, 2) on paper


class Points(NamedTuple):
    """A set of points: (n, 2) or (n, 3) coordinates and a label for each."""

    name: str
    places: Array
    labels: Sequence[str]
    role: str
    outlined: bool = False


def scatter_3d(
    name: str, axes: Sequence[str], sets: Sequence[Points], size: Sequence[int]
) -> Panel:
    """Draw points in space above a floor, each with a vertical line down to it.

    Args:
        name: the title.
        axes: the names of the three axes.
        sets: the points; `outlined` joins any two points of a set, and fills between any three.
        size: how far each axis goes from zero, in whole units.

    Raises:
        TypeError: if places are not real numbers.
        ValueError: if places are not (n, 3) or not finite, or do not have a label each.
    """
    sets = [_checked(points, 3, project_3d) for points in sets]
    corners = np.array(
        [[x, y, z] for x in (0, size[0]) for y in (0, size[1]) for z in (0, size[2])]
    )
    low, high = project_3d(corners).min(axis=0), project_3d(corners).max(axis=0)
    origin = np.array([MARGIN, 2 * LINE_HEIGHT]) - low

    def to_paper(places: ArrayLike) -> np.ndarray:
        on_paper: np.ndarray = project_3d(np.asarray(places)) + origin
        return on_paper

    width = high[0] - low[0] + 2 * MARGIN
    height = high[1] - low[1] + 4.5 * LINE_HEIGHT
    entries, legend_width = _legend(sets, height)
    body = [
        label(max(width, legend_width) / 2, LINE_HEIGHT / 2, name, font_weight="bold"),
        *_floor(size, to_paper),
        *_ticks(axes, size, to_paper),
        *(path for points in sets if points.outlined for path in _outline(points, to_paper)),
        *(svg for index, points in enumerate(sets) for svg in _points(index, points, to_paper)),
        *entries,
    ]
    description = f"{name}. " + " ".join(_describe(points) for points in sets)
    paper = max(width, legend_width), height + LINE_HEIGHT
    return Panel(*paper, "".join(body), description, _json(axes, sets))


def scatter_2d(
    name: str, axes: Sequence[str], sets: Sequence[Points], size: Sequence[int]
) -> Panel:
    """Draw points in a plane; the first set is drawn as rings, which hide no point below them.

    Args:
        name: the title.
        axes: the names of the two axes.
        sets: the points; `outlined` joins any two points of a set, and fills between any three.
        size: how far each axis goes from zero, in whole units.

    Raises:
        TypeError: if places are not real numbers.
        ValueError: if places are not (n, 2) or not finite, or do not have a label each.
    """
    sets = [_checked(points, 2, project_2d) for points in sets]
    origin = np.array([MARGIN, 2.5 * LINE_HEIGHT + UNIT * size[1]])

    def to_paper(places: ArrayLike) -> np.ndarray:
        on_paper: np.ndarray = project_2d(np.asarray(places)) + origin
        return on_paper

    right, top = to_paper([size])[0]
    height = origin[1] + 4.2 * LINE_HEIGHT
    entries, legend_width = _legend(sets, height, is_planar=True)
    width = max(right + MARGIN, legend_width, text_width(name))
    body = [
        label(width / 2, LINE_HEIGHT / 2, name, font_weight="bold"),
        *_floor(size, to_paper),
        *(label(*to_paper([(i, -0.17)])[0], number(i), font_size=10) for i in range(size[0] + 1)),
        *(label(*to_paper([(-0.17, i)])[0], number(i), font_size=10) for i in range(size[1] + 1)),
        label((MARGIN + right) / 2, origin[1] + 2.3 * LINE_HEIGHT, axes[0], font_size=11),
        vertical_label(LINE_HEIGHT / 2, (origin[1] + top) / 2, axes[1], font_size=11),
        *(path for points in sets if points.outlined for path in _outline(points, to_paper)),
    ]
    for index, points in enumerate(sets):
        for row, place in enumerate(to_paper(points.places)):
            body += _marker(index, points, row, place, is_planar=True)
    description = f"{name}. " + " ".join(_describe(points) for points in sets)
    return Panel(width, height + LINE_HEIGHT, "".join([*body, *entries]), description, name=name)


def _checked(points: Points, features: int, project: Callable[[np.ndarray], np.ndarray]) -> Points:
    expected = f"(n, {features})"
    places = arguments.matrix(points.name, points.places, expected)
    if places.shape[1] != features:
        raise ValueError(f"{points.name} has shape {places.shape}; expected {expected}")
    check_finite(np, points.name, places)
    with ignoring_overflow():
        check_no_overflow(np, f"{points.name}, drawn, holds", project(places))
    labels = arguments.labels(f"labels of {points.name}", points.labels, len(places))
    return points._replace(places=places, labels=labels)


def _json(axes: Sequence[str], sets: Sequence[Points]) -> str:
    """Return the points as JSON with all digits, for the page's script."""
    json_sets = [{**points._asdict(), "places": points.places.tolist()} for points in sets]
    return json.dumps({"axes": list(axes), "sets": json_sets})


def project_3d(places: np.ndarray) -> np.ndarray:
    """Project (n, 3) coordinates to (n, 2) on paper, with the second downwards.

    >>> show(project_3d(np.zeros((1, 3))))
    [[0 0]]
    """
    x, y, z = places[:, 0], places[:, 1], places[:, 2]
    depth = x * math.cos(AZIMUTH) + y * math.sin(AZIMUTH)
    across = y * math.cos(AZIMUTH) - x * math.sin(AZIMUTH)
    down = depth * math.sin(ELEVATION) - z * math.cos(ELEVATION)
    on_paper: np.ndarray = UNIT * np.stack([across, down], axis=1)
    return on_paper


def project_2d(places: np.ndarray) -> np.ndarray:
    """Scale (n, 2) coordinates to (n, 2) on paper, with the second downwards.

    >>> show(project_2d(np.array([[1, 2]])))
    [[100 -200]]
    """
    on_paper: np.ndarray = UNIT * places * np.array([1, -1])
    return on_paper


def _line(start: Iterable[float], end: Iterable[float], **attributes: Any) -> str:
    path = "M{:.1f} {:.1f}L{:.1f} {:.1f}".format(*start, *end)
    attributes = {"stroke": "currentColor", "stroke_opacity": 0.3, "fill": "none", **attributes}
    return element("path", d=path, **attributes)


def _floor(size: Sequence[int], to_paper: Projection) -> list[str]:
    height = (0,) * (len(size) - 2)
    along = [((x, 0, *height), (x, size[1], *height)) for x in range(size[0] + 1)]
    across = [((0, y, *height), (size[0], y, *height)) for y in range(size[1] + 1)]
    return [_line(*to_paper(ends)) for ends in along + across]


def _ticks(axes: Sequence[str], size: Sequence[int], to_paper: Projection) -> list[str]:
    upright = to_paper([(0, 0, 0), (0, 0, size[2])])
    x, y = upright[1]
    body = [_line(*upright, stroke_opacity=0.6), label(x, y - LINE_HEIGHT, axes[2], font_size=11)]
    for z in range(1, size[2] + 1):
        ((x, y),) = to_paper([(0, 0, z)])
        body.append(label(x - 6, y, number(z), "end", font_size=10))
    near = to_paper([(i, 0, 0) for i in range(size[0] + 1)])
    right = to_paper([(size[0], i, 0) for i in range(size[1] + 1)])
    body += [label(x - 8, y + 10, number(i), font_size=10) for i, (x, y) in enumerate(near)]
    body += [label(x + 10, y + 6, number(i), font_size=10) for i, (x, y) in enumerate(right)]
    (x, y), (across, down) = near.mean(axis=0), right.mean(axis=0)
    body.append(label(x - 16, y + 26, axes[0], font_size=11))
    body.append(label(across + 22, down + 18, axes[1], "start", font_size=11))
    return body


def _outline(points: Points, to_paper: Projection) -> list[str]:
    """Draw the faces and edges between points, such as those of a triangle or tetrahedron."""
    places, paint = to_paper(points.places), colour(points.role)
    corners = ["{:.1f} {:.1f}".format(*place) for place in places]
    opacity = 0.06 if len(corners) > 3 else 0.12
    faces = [
        element("path", d="M" + "L".join(face) + "z", fill=paint, fill_opacity=opacity)
        for face in combinations(corners, 3)
    ]
    edge: dict[str, Any] = {"stroke": paint, "stroke_dasharray": "4 3", "stroke_opacity": 0.7}
    return faces + [_line(*ends, **edge) for ends in combinations(places, 2)]


def _points(index: int, points: Points, to_paper: Projection) -> list[str]:
    body = []
    for row, place in enumerate(points.places):
        point, (_, ground) = to_paper([place, (place[0], place[1], 0)])
        drop = (point[0], ground)
        body.append(_line(point, drop, stroke_dasharray="2 2", stroke_opacity=0.6))
        body += _marker(index, points, row, point)
    return body


def _marker(
    index: int, points: Points, row: int, point: np.ndarray, is_planar: bool = False
) -> list[str]:
    """Draw a point, with its coordinates as a tooltip, and its label."""
    (x, y), text = point, points.labels[row]
    right, down, anchor = (LABEL_OFFSETS_2D if is_planar else LABEL_OFFSETS)[index % 4]
    tip = element("title", escape_text(f"{text}: " + ", ".join(map(number, points.places[row]))))
    reference = row_reference(points.places, row)
    return [
        _symbol(index, points, x, y, tip, is_planar=is_planar, data_val=reference),
        label(x + right, y + down, text, anchor, fill=colour(points.role)),
    ]


def _symbol(
    index: int, points: Points, x: float, y: float, *tip: str, is_planar: bool, **attributes: Any
) -> str:
    paint = colour(points.role)
    look: dict[str, Any] = {"d": MARKERS[index % 4], "fill": paint}
    if is_planar and index == 0:
        # The inside of a ring answers the pointer, too.
        look = {"d": RING, "fill": "none", "stroke": paint, "pointer_events": "all"}
    return element("path", *tip, **look, transform=f"translate({x:.1f} {y:.1f})", **attributes)


def _legend(sets: Sequence[Points], y: float, is_planar: bool = False) -> tuple[list[str], float]:
    """Return the SVG of the legend and its width."""
    body, x = [], MARGIN / 2
    for index, points in enumerate(sets):
        body.append(_symbol(index, points, x, y, is_planar=is_planar))
        body.append(label(x + 10, y, points.name, "start"))
        x += 28 + text_width(points.name)
    return body, x


def _describe(points: Points) -> str:
    places = (", ".join(map(number, place)) for place in points.places)
    labelled = (f"{text} ({place})" for text, place in zip(points.labels, places, strict=True))
    return f"{points.name}: {'; '.join(labelled)}."
