"""Points in a plane, and in space in parallel projection, which keeps parallel lengths equal."""

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
    LINE,
    Panel,
    colour,
    element,
    label,
    text_width,
    turned,
    words,
)
from attention_docs.render.numbers import number
from attention_docs.render.references import of_row

# The direction of view: to the side, from the first axis, and from above.
SIDE, UP = math.radians(-52), math.radians(25)
UNIT = 100
MARGIN = 40
# Each kind of points has its labels on another side, so that those of neighbours stay apart.
BESIDE = ((-8.0, -8.0, "end"), (8.0, -7.0, "start"), (0.0, -13.0, "middle"), (0.0, 14.0, "middle"))
# In a plane, a label to the left of a point on the upright axis stands below its tick.
IN_A_PLANE = ((-8.0, 11.0, "end"), *BESIDE[1:])
RING = "M-6.5 0a6.5 6.5 0 1 0 13 0a6.5 6.5 0 1 0 -13 0z"


Projection = Callable[[ArrayLike], np.ndarray]  # from (n, 2) or (n, 3) to (n, 2) on paper


class Points(NamedTuple):
    """Some points of one kind: (n, 2) or (n, 3) coordinates and a name for each."""

    name: str
    places: Array
    labels: Sequence[str]
    role: str
    outlined: bool = False


def scatter_3d(
    name: str, axes: Sequence[str], sets: Sequence[Points], size: Sequence[int]
) -> Panel:
    """Draw points over a floor, each with a line down to it.

    Args:
        name: the title.
        axes: the names of the three axes.
        sets: the points; `outlined` joins any two points of a set, and fills between any three.
        size: how far each axis goes from zero, in whole units.

    Raises:
        TypeError: if places are not real numbers.
        ValueError: if places are not (n, 3) or not finite, or do not have a label each.
    """
    sets = [_checked(points, 3, projected) for points in sets]
    corners = np.array(
        [[x, y, z] for x in (0, size[0]) for y in (0, size[1]) for z in (0, size[2])]
    )
    low, high = projected(corners).min(axis=0), projected(corners).max(axis=0)
    origin = np.array([MARGIN, 2 * LINE]) - low

    def at(places: ArrayLike) -> np.ndarray:
        on_paper: np.ndarray = projected(np.asarray(places)) + origin
        return on_paper

    width = high[0] - low[0] + 2 * MARGIN
    height = high[1] - low[1] + 4.5 * LINE
    entries, legend_width = _legend(sets, height)
    body = [
        label(max(width, legend_width) / 2, LINE / 2, name, font_weight="bold"),
        *_floor(size, at),
        *_ticks(axes, size, at),
        *(part for points in sets if points.outlined for part in _outline(points, at)),
        *(drawn for index, points in enumerate(sets) for drawn in _points(index, points, at)),
        *entries,
    ]
    description = f"{name}. " + " ".join(_described(points) for points in sets)
    size_and_body = max(width, legend_width), height + LINE, "".join(body)
    return Panel(*size_and_body, description, _json(axes, sets))


def scatter_2d(
    name: str, axes: Sequence[str], sets: Sequence[Points], size: Sequence[int]
) -> Panel:
    """Draw points in a plane; those of the first set are rings, and hide none in the same place.

    Args:
        name: the title.
        axes: the names of the two axes.
        sets: the points; `outlined` joins any two points of a set, and fills between any three.
        size: how far each axis goes from zero, in whole units.

    Raises:
        TypeError: if places are not real numbers.
        ValueError: if places are not (n, 2) or not finite, or do not have a label each.
    """
    sets = [_checked(points, 2, flat) for points in sets]
    origin = np.array([MARGIN, 2.5 * LINE + UNIT * size[1]])

    def at(places: ArrayLike) -> np.ndarray:
        on_paper: np.ndarray = flat(np.asarray(places)) + origin
        return on_paper

    right, top = at([size])[0]
    height = origin[1] + 4.2 * LINE
    entries, legend_width = _legend(sets, height, ringed=True)
    width = max(right + MARGIN, legend_width, text_width(name))
    body = [
        label(width / 2, LINE / 2, name, font_weight="bold"),
        *_floor(size, at),
        *(label(*at([(i, -0.17)])[0], number(i), font_size=10) for i in range(size[0] + 1)),
        *(label(*at([(-0.17, i)])[0], number(i), font_size=10) for i in range(size[1] + 1)),
        label((MARGIN + right) / 2, origin[1] + 2.3 * LINE, axes[0], font_size=11),
        turned(LINE / 2, (origin[1] + top) / 2, axes[1], font_size=11),
        *(part for points in sets if points.outlined for part in _outline(points, at)),
    ]
    for index, points in enumerate(sets):
        for row, place in enumerate(at(points.places)):
            body += _marker(index, points, row, place, in_a_plane=True)
    description = f"{name}. " + " ".join(_described(points) for points in sets)
    return Panel(width, height + LINE, "".join([*body, *entries]), description, name=name)


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
    """Write the points as JSON, all their digits kept."""
    plain = [{**points._asdict(), "places": points.places.tolist()} for points in sets]
    return json.dumps({"axes": list(axes), "sets": plain})


def projected(places: np.ndarray) -> np.ndarray:
    """Turn (n, 3) coordinates into (n, 2) on paper, the second downwards.

    >>> show(projected(np.zeros((1, 3))))
    [[0 0]]
    """
    x, y, z = places[:, 0], places[:, 1], places[:, 2]
    away = x * math.cos(SIDE) + y * math.sin(SIDE)
    across = y * math.cos(SIDE) - x * math.sin(SIDE)
    down = away * math.sin(UP) - z * math.cos(UP)
    found: np.ndarray = UNIT * np.stack([across, down], axis=1)
    return found


def flat(places: np.ndarray) -> np.ndarray:
    """Turn (n, 2) coordinates into (n, 2) on paper, the second downwards.

    >>> show(flat(np.array([[1, 2]])))
    [[100 -200]]
    """
    found: np.ndarray = UNIT * places * np.array([1, -1])
    return found


def _line(start: Iterable[float], end: Iterable[float], **attributes: Any) -> str:
    path = "M{:.1f} {:.1f}L{:.1f} {:.1f}".format(*start, *end)
    attributes = {"stroke": "currentColor", "stroke_opacity": 0.3, "fill": "none", **attributes}
    return element("path", d=path, **attributes)


def _floor(size: Sequence[int], at: Projection) -> list[str]:
    above = (0,) * (len(size) - 2)
    along = [((x, 0, *above), (x, size[1], *above)) for x in range(size[0] + 1)]
    across = [((0, y, *above), (size[0], y, *above)) for y in range(size[1] + 1)]
    return [_line(*at(ends)) for ends in along + across]


def _ticks(axes: Sequence[str], size: Sequence[int], at: Projection) -> list[str]:
    upright = at([(0, 0, 0), (0, 0, size[2])])
    x, y = upright[1]
    body = [_line(*upright, stroke_opacity=0.6), label(x, y - LINE, axes[2], font_size=11)]
    for z in range(1, size[2] + 1):
        ((x, y),) = at([(0, 0, z)])
        body.append(label(x - 6, y, number(z), "end", font_size=10))
    near = at([(i, 0, 0) for i in range(size[0] + 1)])
    right = at([(size[0], i, 0) for i in range(size[1] + 1)])
    body += [label(x - 8, y + 10, number(i), font_size=10) for i, (x, y) in enumerate(near)]
    body += [label(x + 10, y + 6, number(i), font_size=10) for i, (x, y) in enumerate(right)]
    (x, y), (across, down) = near.mean(axis=0), right.mean(axis=0)
    body.append(label(x - 16, y + 26, axes[0], font_size=11))
    body.append(label(across + 22, down + 18, axes[1], "start", font_size=11))
    return body


def _outline(points: Points, at: Projection) -> list[str]:
    """Draw the sides and the edges between points: of a triangle, or of a tetrahedron."""
    places, paint = at(points.places), colour(points.role)
    corners = ["{:.1f} {:.1f}".format(*place) for place in places]
    opacity = 0.06 if len(corners) > 3 else 0.12
    sides = [
        element("path", d="M" + "L".join(side) + "z", fill=paint, fill_opacity=opacity)
        for side in combinations(corners, 3)
    ]
    edge: dict[str, Any] = {"stroke": paint, "stroke_dasharray": "4 3", "stroke_opacity": 0.7}
    return sides + [_line(*ends, **edge) for ends in combinations(places, 2)]


def _points(index: int, points: Points, at: Projection) -> list[str]:
    body = []
    for row, place in enumerate(points.places):
        spot, (_, ground) = at([place, (place[0], place[1], 0)])
        drop = (spot[0], ground)
        body.append(_line(spot, drop, stroke_dasharray="2 2", stroke_opacity=0.6))
        body += _marker(index, points, row, spot)
    return body


def _marker(
    index: int, points: Points, row: int, spot: np.ndarray, in_a_plane: bool = False
) -> list[str]:
    """Draw a point, which says its coordinates, and its label."""
    (x, y), text = spot, points.labels[row]
    right, down, anchor = (IN_A_PLANE if in_a_plane else BESIDE)[index % 4]
    tip = element("title", words(f"{text}: " + ", ".join(map(number, points.places[row]))))
    reference = of_row(points.places, row)
    return [
        _mark(index, points, x, y, tip, ringed=in_a_plane, data_val=reference),
        label(x + right, y + down, text, anchor, fill=colour(points.role)),
    ]


def _mark(
    index: int, points: Points, x: float, y: float, *tip: str, ringed: bool, **attributes: Any
) -> str:
    paint = colour(points.role)
    look: dict[str, Any] = {"d": MARKERS[index % 4], "fill": paint}
    if ringed and not index:
        # Its inside answers the pointer, too.
        look = {"d": RING, "fill": "none", "stroke": paint, "pointer_events": "all"}
    return element("path", *tip, **look, transform=f"translate({x:.1f} {y:.1f})", **attributes)


def _legend(sets: Sequence[Points], y: float, ringed: bool = False) -> tuple[list[str], float]:
    body, x = [], MARGIN / 2
    for index, points in enumerate(sets):
        body.append(_mark(index, points, x, y, ringed=ringed))
        body.append(label(x + 10, y, points.name, "start"))
        x += 28 + text_width(points.name)
    return body, x


def _described(points: Points) -> str:
    places = (", ".join(map(number, place)) for place in points.places)
    named = (f"{text} ({place})" for text, place in zip(points.labels, places, strict=True))
    return f"{points.name}: {'; '.join(named)}."
