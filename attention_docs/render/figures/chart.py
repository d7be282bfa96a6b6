"""Line charts, in which name, dashes and markers distinguish the lines, not colour alone."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from array_api_compat import numpy as numpy_namespace

from attention_docs.arrays import Array, check_finite, readable
from attention_docs.render.figures.svg import (
    LINE,
    Panel,
    colour,
    element,
    label,
    text_width,
    words,
)
from attention_docs.render.numbers import number

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
    """From the first tick to the last, evenly or in powers."""

    name: str
    ticks: Sequence[float]
    logarithmic: bool = False

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
    for one in series:
        _check_logarithms(one, x, y)
    margin = max(text_width(_tick(tick)) for tick in y.ticks) + 2 * LINE
    # The title is centred over the lines, and may be wider.
    left = max(margin, (text_width(name) - WIDTH) / 2)
    top = 2.5 * LINE

    def at(point: np.ndarray) -> tuple[float, float]:
        return left + WIDTH * x.share(point[0]), top + HEIGHT * (1 - y.share(point[1]))

    drawn = [_series(index, one, at) for index, one in enumerate(series)]
    named = [one for one in series if one.name]
    ends = _apart([at(_points(one)[-1])[1] for one in named])
    body = [
        label(left + WIDTH / 2, LINE / 2, name, font_weight="bold"),
        *_axes(x, y, left, top),
        *drawn,
        *(
            label(left + WIDTH + 10, end, one.name, "start", fill=colour(one.role))
            for one, end in zip(named, ends, strict=True)
        ),
    ]
    width = left + max(
        WIDTH + 16 + max(text_width(one.name) for one in named), (WIDTH + text_width(name)) / 2
    )
    description = " ".join(_described(one, x, y) for one in named)
    return Panel(width, top + HEIGHT + 2.5 * LINE, "".join(body), f"{name}. {description}")


def _points(one: Series) -> np.ndarray:
    x, y = (
        readable(f"{axis} of {one.name}", array).astype(float)
        for axis, array in (("x", one.x), ("y", one.y))
    )
    if x.shape != y.shape or x.ndim != 1:
        raise ValueError(f"{one.name} has y of shape {y.shape}; expected {x.shape} to match its x")
    if not x.size:
        raise ValueError(f"{one.name} has no points; expected one or more")
    check_finite(numpy_namespace, f"x of {one.name}", x)
    check_finite(numpy_namespace, f"y of {one.name}", y)
    return np.stack([x, y], axis=1)


def _check_logarithms(one: Series, x: Axis, y: Axis) -> None:
    """Refuse numbers that a logarithmic axis cannot show."""
    for name, axis, values in zip("xy", (x, y), _points(one).T, strict=True):
        if axis.logarithmic and values.min() <= 0:
            raise ValueError(
                f"{name} of {one.name} holds {number(values.min())}; "
                "expected positive numbers on a logarithmic axis"
            )


def _series(index: int, one: Series, at: Callable[[np.ndarray], tuple[float, float]]) -> str:
    points = _points(one)
    stroke = {"stroke": colour(one.role), "stroke_width": 1.8, "fill": "none"}
    body = []
    if one.line:
        path = "M" + "L".join("{:.1f} {:.1f}".format(*at(point)) for point in points)
        body.append(element("path", d=path, stroke_dasharray=DASHES[index % 4], **stroke))
    if one.points:
        for point in points:
            place = "translate({:.1f} {:.1f})".format(*at(point))
            tip = f"{one.name}: {number(point[1])} at {number(point[0])}"
            marker = MARKERS[index % 4]
            body.append(
                element(
                    "path",
                    element("title", words(tip)),
                    d=marker,
                    fill=colour(one.role),
                    transform=place,
                )
            )
    return "".join(body)


def _axes(x: Axis, y: Axis, left: float, top: float) -> list[str]:
    bottom = top + HEIGHT
    faint = {"stroke": "currentColor", "stroke_opacity": 0.25, "fill": "none"}
    body = [label(left + WIDTH / 2, bottom + 2 * LINE, x.name)]
    turn = f"rotate(-90 {LINE / 2:g} {top + HEIGHT / 2:g})"
    body.append(label(LINE / 2, top + HEIGHT / 2, y.name, transform=turn))
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


def _described(one: Series, x: Axis, y: Axis) -> str:
    first, last = _points(one)[[0, -1]]
    return (
        f"{one.name}: {y.name} goes from {number(first[1])} at {x.name} {number(first[0])} "
        f"to {number(last[1])} at {number(last[0])}."
    )
