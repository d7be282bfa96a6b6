"""Line charts, in which name, dashes and markers distinguish the lines, not colour alone."""

import math
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from attention_docs.arrays import Array, check_finite, readable
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
from attention_docs.render.references import place_of, step_of

WIDTH, HEIGHT = 240, 170
DASHES = (None, "6 3", "2 3", "8 3 2 3")
MARKERS = (
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
    "M-4 -4h8v8h-8z",
    "M0 -5L5 4H-5z",
    "M0 -5L5 0L0 5L-5 0z",
)


class Series(NamedTuple):
    """One line: its points and how it is drawn. One without a name belongs to another."""

    name: str
    x: Array
    y: Array
    role: str | None = None
    line: bool = True
    points: bool = False


class Axis(NamedTuple):
    """From the first tick to the last, evenly or in powers, of what is counted in units."""

    name: str
    ticks: Sequence[float]
    logarithmic: bool = False
    unit: float = 1

    def share(self, value: float) -> float:
        """Return 0 at the first tick, 1 at the last."""
        measure: Callable[[float], float] = math.log if self.logarithmic else float
        low, high = measure(self.ticks[0]), measure(self.ticks[-1])
        return (measure(value) - low) / (high - low)


def line_chart(name: str, x: Axis, y: Axis, series: Sequence[Series]) -> Panel:
    """Draw lines with their names at their right ends.

    Raises:
        TypeError: if a series does not hold real numbers.
        ValueError: if a series has not as many x as y, none at all, or one that is not finite, or
            not positive where its axis is logarithmic.
    """
    points = [_points(one, x, y) for one in series]
    margin = max(text_width(_tick(tick)) for tick in y.ticks) + 2 * LINE
    # The title is centred over the lines, and may be wider.
    left = max(margin, (text_width(name) - WIDTH) / 2)
    top = 2.5 * LINE

    def at(point: np.ndarray) -> tuple[float, float]:
        return left + WIDTH * x.share(point[0]), top + HEIGHT * (1 - y.share(point[1]))

    # What has no name looks like what it belongs to.
    kinds = [count - 1 for count in accumulate(bool(one.name) for one in series)]
    drawn = [
        _of_step(one, _series(kind, one, its, at), _ends(y, top))
        for kind, one, its in zip(kinds, series, points, strict=True)
    ]
    named = [(one, its) for one, its in zip(series, points, strict=True) if one.name]
    ends = _apart([at(its[-1])[1] for _, its in named])
    body = [
        label(left + WIDTH / 2, LINE / 2, name, font_weight="bold"),
        *_axes(x, y, left, top),
        *drawn,
        *(
            label(left + WIDTH + 10, end, one.name, "start", fill=colour(one.role))
            for (one, _), end in zip(named, ends, strict=True)
        ),
    ]
    width = left + max(
        WIDTH + 16 + max(text_width(one.name) for one, _ in named), (WIDTH + text_width(name)) / 2
    )
    description = " ".join(_described(one, its, x, y) for one, its in named)
    return Panel(width, top + HEIGHT + 2.5 * LINE, "".join(body), f"{name}. {description}")


def _points(one: Series, x: Axis, y: Axis) -> np.ndarray:
    """Return the points of a series, in the units of the axes."""
    across, up = (
        readable(f"{axis} of {one.name}", array).astype(float)
        for axis, array in (("x", one.x), ("y", one.y))
    )
    if across.shape != up.shape or across.ndim != 1:
        raise ValueError(
            f"{one.name} has y of shape {up.shape}; expected {across.shape} to match its x"
        )
    if not across.size:
        raise ValueError(f"{one.name} has no points; expected one or more")
    check_finite(np, f"x of {one.name}", across)
    check_finite(np, f"y of {one.name}", up)
    points = np.stack([across / x.unit, up / y.unit], axis=1)
    for name, axis, values in zip("xy", (x, y), points.T, strict=True):
        if axis.logarithmic and values.min() <= 0:
            raise ValueError(
                f"{name} of {one.name} holds {number(values.min())}; "
                "expected positive numbers on a logarithmic axis"
            )
    return points


def _series(
    kind: int, one: Series, points: np.ndarray, at: Callable[[np.ndarray], tuple[float, float]]
) -> str:
    body = []
    if one.line:
        stroke = {"stroke": colour(one.role), "stroke_width": 1.8, "fill": "none"}
        path = "M" + "L".join("{:.1f} {:.1f}".format(*at(point)) for point in points)
        body.append(element("path", d=path, stroke_dasharray=DASHES[kind % 4], **stroke))
    if one.points:
        for i, point in enumerate(points):
            place = "translate({:.1f} {:.1f})".format(*at(point))
            tip = f"{one.name}: {number(point[1])} at {number(point[0])}"
            body.append(
                element(
                    "path",
                    element("title", words(tip)),
                    d=MARKERS[kind % 4],
                    fill=colour(one.role),
                    transform=place,
                    data_at=place_of(one.y, (i,)) if step_of(one.y) else None,
                )
            )
    return "".join(body)


def _of_step(one: Series, drawn: str, axis: str) -> str:
    """Say which step of an example the points of a series are, if that is known."""
    step = step_of(one.y) if one.points else None
    return element("g", drawn, data_val=step, data_axis=axis) if step else drawn


def _ends(y: Axis, top: float) -> str:
    """Say where numbers stand, for the page's script: it moves the points that change."""
    ends = y.ticks[0], y.ticks[-1], y.unit, top + HEIGHT, top
    return " ".join(f"{end:g}" for end in ends) + " logarithmic" * y.logarithmic


def _axes(x: Axis, y: Axis, left: float, top: float) -> list[str]:
    bottom = top + HEIGHT
    faint = {"stroke": "currentColor", "stroke_opacity": 0.25, "fill": "none"}
    body = [label(left + WIDTH / 2, bottom + 2 * LINE, x.name)]
    body.append(turned(LINE / 2, top + HEIGHT / 2, y.name))
    for tick in x.ticks:
        at = left + WIDTH * x.share(tick)
        body.append(element("path", d=f"M{at:.1f} {top}v{HEIGHT}", **faint))
        body.append(label(at, bottom + LINE / 2 + 2, _tick(tick), font_size=11))
    for tick in y.ticks:
        at = bottom - HEIGHT * y.share(tick)
        body.append(element("path", d=f"M{left:.1f} {at:.1f}h{WIDTH}", **faint))
        body.append(label(left - 6, at, _tick(tick), "end", font_size=11))
    return body


def _tick(value: float) -> str:
    """Write the number of a tick, which is exact: 0.1, not 0.1000."""
    shown = number(value)
    return shown.rstrip("0").rstrip(".") if "." in shown and "e" not in shown else shown


def _apart(heights: list[float]) -> list[float]:
    """Move labels up until each has a line of its own."""
    placed, last = list(heights), math.inf
    for index in sorted(range(len(heights)), key=heights.__getitem__, reverse=True):
        last = placed[index] = min(heights[index], last - LINE)
    return placed


def _described(one: Series, points: np.ndarray, x: Axis, y: Axis) -> str:
    first, last = points[[0, -1]]
    return (
        f"{one.name}: {y.name} goes from {number(first[1])} at {x.name} {number(first[0])} "
        f"to {number(last[1])} at {number(last[0])}."
    )
