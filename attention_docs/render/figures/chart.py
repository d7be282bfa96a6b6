"""Draw line charts, whose lines differ by name, dashes and markers, not by colour alone."""

import math
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from attention_docs.arrays import Array, check_finite, displayable
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
from attention_docs.render.references import index_in_step, step_name

WIDTH, HEIGHT = 240, 170
DASHES = (None, "6 3", "2 3", "8 3 2 3")
MARKERS = (
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
    "M-4 -4h8v8h-8z",
    "M0 -5L5 4H-5z",
    "M0 -5L5 0L0 5L-5 0z",
)


class Series(NamedTuple):
    """One line: its points and how it is drawn; one without a name shares the style before it."""

    name: str
    x: Array
    y: Array
    role: str | None = None
    line: bool = True
    points: bool = False


class Axis(NamedTuple):
    """An axis from the first tick to the last, linear or logarithmic, in multiples of a unit."""

    name: str
    ticks: Sequence[float]
    logarithmic: bool = False
    unit: float = 1

    def share(self, value: float) -> float:
        """Return where a value lies: 0 at the first tick, 1 at the last."""
        measure: Callable[[float], float] = math.log if self.logarithmic else float
        low, high = measure(self.ticks[0]), measure(self.ticks[-1])
        return (measure(value) - low) / (high - low)


def line_chart(name: str, x: Axis, y: Axis, series: Sequence[Series]) -> Panel:
    """Draw lines with their names at their right ends.

    Raises:
        TypeError: if a series does not hold real numbers.
        ValueError: if a series has no points, a different number of x and y, a number that is not
            finite, or one that is not positive on a logarithmic axis.
    """
    all_points = [_points(curve, x, y) for curve in series]
    margin = max(text_width(_tick_text(tick)) for tick in y.ticks) + 2 * LINE_HEIGHT
    # The title is centred over the lines and may be wider than they are.
    left = max(margin, (text_width(name) - WIDTH) / 2)
    top = 2.5 * LINE_HEIGHT

    def to_paper(point: np.ndarray) -> tuple[float, float]:
        return left + WIDTH * x.share(point[0]), top + HEIGHT * (1 - y.share(point[1]))

    # A series without a name has the style of the named one before it.
    styles = [count - 1 for count in accumulate(bool(curve.name) for curve in series)]
    lines = [
        _tag_step(curve, _curve(style, curve, points, to_paper), _axis_data(y, top))
        for style, curve, points in zip(styles, series, all_points, strict=True)
    ]
    labelled = [
        (curve, points) for curve, points in zip(series, all_points, strict=True) if curve.name
    ]
    ends = _without_overlap([to_paper(points[-1])[1] for _, points in labelled])
    body = [
        label(left + WIDTH / 2, LINE_HEIGHT / 2, name, font_weight="bold"),
        *_axes(x, y, left, top),
        *lines,
        *(
            label(left + WIDTH + 10, end, curve.name, "start", fill=colour(curve.role))
            for (curve, _), end in zip(labelled, ends, strict=True)
        ),
    ]
    width = left + max(
        WIDTH + 16 + max(text_width(curve.name) for curve, _ in labelled),
        (WIDTH + text_width(name)) / 2,
    )
    description = " ".join(_describe(curve, points, x, y) for curve, points in labelled)
    return Panel(width, top + HEIGHT + 2.5 * LINE_HEIGHT, "".join(body), f"{name}. {description}")


def _points(curve: Series, x: Axis, y: Axis) -> np.ndarray:
    """Return the points of a series, in the units of the axes."""
    across, up = (
        displayable(f"{axis} of {curve.name}", array).astype(float)
        for axis, array in (("x", curve.x), ("y", curve.y))
    )
    if across.shape != up.shape or across.ndim != 1:
        raise ValueError(
            f"{curve.name} has y of shape {up.shape}; expected {across.shape} to match its x"
        )
    if not across.size:
        raise ValueError(f"{curve.name} has no points; expected one or more")
    check_finite(np, f"x of {curve.name}", across)
    check_finite(np, f"y of {curve.name}", up)
    points = np.stack([across / x.unit, up / y.unit], axis=1)
    for name, axis, values in zip("xy", (x, y), points.T, strict=True):
        if axis.logarithmic and values.min() <= 0:
            raise ValueError(
                f"{name} of {curve.name} holds {number(values.min())}; "
                "expected positive numbers on a logarithmic axis"
            )
    return points


def _curve(
    style: int,
    curve: Series,
    points: np.ndarray,
    to_paper: Callable[[np.ndarray], tuple[float, float]],
) -> str:
    body = []
    if curve.line:
        stroke = {"stroke": colour(curve.role), "stroke_width": 1.8, "fill": "none"}
        path = "M" + "L".join("{:.1f} {:.1f}".format(*to_paper(point)) for point in points)
        body.append(element("path", d=path, stroke_dasharray=DASHES[style % 4], **stroke))
    if curve.points:
        for i, point in enumerate(points):
            translation = "translate({:.1f} {:.1f})".format(*to_paper(point))
            tip = f"{curve.name}: {number(point[1])} at {number(point[0])}"
            body.append(
                element(
                    "path",
                    element("title", escape_text(tip)),
                    d=MARKERS[style % 4],
                    fill=colour(curve.role),
                    transform=translation,
                    data_at=index_in_step(curve.y, (i,)) if step_name(curve.y) else None,
                )
            )
    return "".join(body)


def _tag_step(curve: Series, svg: str, axis_data: str) -> str:
    """Attach the step that the points of a series show, if they have one."""
    step = step_name(curve.y) if curve.points else None
    return element("g", svg, data_val=step, data_axis=axis_data) if step else svg


def _axis_data(y: Axis, top: float) -> str:
    """Return the scale of the y axis for the page's script, which moves points that change."""
    ends = y.ticks[0], y.ticks[-1], y.unit, top + HEIGHT, top
    return " ".join(f"{end:g}" for end in ends) + " logarithmic" * y.logarithmic


def _axes(x: Axis, y: Axis, left: float, top: float) -> list[str]:
    bottom = top + HEIGHT
    faint = {"stroke": "currentColor", "stroke_opacity": 0.25, "fill": "none"}
    body = [label(left + WIDTH / 2, bottom + 2 * LINE_HEIGHT, x.name)]
    body.append(vertical_label(LINE_HEIGHT / 2, top + HEIGHT / 2, y.name))
    for tick in x.ticks:
        across = left + WIDTH * x.share(tick)
        body.append(element("path", d=f"M{across:.1f} {top}v{HEIGHT}", **faint))
        body.append(label(across, bottom + LINE_HEIGHT / 2 + 2, _tick_text(tick), font_size=11))
    for tick in y.ticks:
        down = bottom - HEIGHT * y.share(tick)
        body.append(element("path", d=f"M{left:.1f} {down:.1f}h{WIDTH}", **faint))
        body.append(label(left - 6, down, _tick_text(tick), "end", font_size=11))
    return body


def _tick_text(value: float) -> str:
    """Return the label of a tick, whose number is exact: 0.1, not 0.1000."""
    text = number(value)
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text


def _without_overlap(heights: list[float]) -> list[float]:
    """Move labels up until none overlaps another."""
    moved, below = list(heights), math.inf
    for index in sorted(range(len(heights)), key=heights.__getitem__, reverse=True):
        below = moved[index] = min(heights[index], below - LINE_HEIGHT)
    return moved


def _describe(curve: Series, points: np.ndarray, x: Axis, y: Axis) -> str:
    first, last = points[[0, -1]]
    return (
        f"{curve.name}: {y.name} goes from {number(first[1])} at {x.name} {number(first[0])} "
        f"to {number(last[1])} at {number(last[0])}."
    )
