"""Draw line charts, whose lines differ by name, dashes and markers, not by colour alone."""

import math
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from attention_docs.arrays import Array, check_finite, displayable
from attention_docs.render.figures.svg import (
    LINE_HEIGHT,
    Panel,
    colour,
    element,
    label,
    text_node,
    text_width,
    translated,
    vertical_label,
)
from attention_docs.render.numbers import exact_number, number
from attention_docs.render.references import index_in_step, step_name

# The size of the plot, without ticks and names.
WIDTH, HEIGHT = 240, 170
# The width of a chart with its ticks and names; None for a plot as wide as `WIDTH`.
CHART_WIDTH: ContextVar[float | None] = ContextVar("CHART_WIDTH", default=None)
MIN_WIDTH = 150  # of a plot in a chart whose width is given
MIN_HEIGHT_PER_WIDTH = 0.42  # so that the lines of a wide plot do not look flat
# A chart narrower than this has the names of its lines above the plot, because names on the right
# would take a third of its width.
NARROW_WIDTH = 450
SAMPLE_WIDTH = 18  # of a line beside its name above the chart
LEADER_WIDTH = 14  # of the thin line from the end of a line to its name, where that is moved up
DASHES = (None, "6 3", "2 3", "8 3 2 3")
MARKERS = (
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
    "M-4 -4h8v8h-8z",
    "M0 -5L5 4H-5z",
    "M0 -5L5 0L0 5L-5 0z",
)


class Series(NamedTuple):
    """One line of a chart: its points, and whether they are joined by a line and have markers.

    A series without a name has the dashes and markers of the one before it.
    """

    name: str
    x: Array
    y: Array
    role: str | None = None
    line: bool = True
    points: bool = False


class Axis(NamedTuple):
    """An axis from the first tick to the last, linear or logarithmic.

    The ticks count units: with `unit=1e6`, the tick 10 stands for ten million.
    """

    name: str
    ticks: Sequence[float]
    logarithmic: bool = False
    unit: float = 1

    def fraction_at(self, value: float) -> float:
        """Return the fraction of the axis that lies before a value.

        It is below 0 or above 1 for a value beyond the ticks.

        Args:
            value: a number in units of the axis; positive on a logarithmic one.

        >>> Axis("n", [0, 5, 20]).fraction_at(5), Axis("n", [1, 100], True).fraction_at(10)
        (0.25, 0.5)
        """
        transform: Callable[[float], float] = math.log if self.logarithmic else float
        low, high = transform(self.ticks[0]), transform(self.ticks[-1])
        return (transform(value) - low) / (high - low)


class Plot(NamedTuple):
    """The rectangle of a chart in which lines are drawn: its axes, its corner and its size."""

    x: Axis
    y: Axis
    left: float
    top: float
    width: float
    height: float

    def to_paper(self, point: np.ndarray) -> tuple[float, float]:
        """Return the position of a point on paper."""
        return (
            self.left + self.width * self.x.fraction_at(point[0]),
            self.top + self.height * (1 - self.y.fraction_at(point[1])),
        )


def line_chart(name: str, x: Axis, y: Axis, series: Sequence[Series]) -> Panel:
    """Draw lines with their names at their right ends, or above them in a narrow chart.

    A leader joins a line to a name that other names have moved up.

    A single line needs no name.

    Raises:
        TypeError: if a series does not hold real numbers.
        ValueError: if a series has no points, a different number of x and y, a number that is not
            finite, or one that is not positive on a logarithmic axis.
    """
    points_of_series = [_checked_points(curve, x, y) for curve in series]
    # The number of a style goes up at each name, so a series without one keeps the style before it.
    styles = [count - 1 for count in accumulate(bool(curve.name) for curve in series)]
    named_series = [
        (curve, points, style)
        for curve, points, style in zip(series, points_of_series, styles, strict=True)
        if curve.name
    ]
    has_names = len(named_series) > 1
    names_above = named_series if has_names and is_narrow() else []
    names_at_ends = named_series if has_names and not is_narrow() else []
    names_width = max((text_width(curve.name) for curve, _, _ in names_at_ends), default=0)
    # The last tick is centred at the end of its axis.
    margin = max(LEADER_WIDTH + 12 + names_width, text_width(_tick_texts(x.ticks)[-1]) / 2)
    plot = _lay_out(name, x, y, margin)
    legend = _draw_legend([(curve, style) for curve, _, style in names_above], plot.width)
    plot = plot._replace(top=plot.top + legend.height)
    body = [
        label(plot.left + plot.width / 2, LINE_HEIGHT / 2, name, font_weight="bold"),
        translated(plot.left, 1.5 * LINE_HEIGHT, legend.body) if names_above else "",
        *_draw_axes(plot),
        *(
            _draw_series(curve, points, style, plot)
            for curve, points, style in zip(series, points_of_series, styles, strict=True)
        ),
        *_draw_names([(curve, points) for curve, points, _ in names_at_ends], plot),
    ]
    width = plot.left + max(plot.width + margin, (plot.width + text_width(name)) / 2)
    height = plot.top + plot.height + 2.5 * LINE_HEIGHT
    sentences = [_describe(curve, points, x, y) for curve, points, _ in named_series]
    return Panel(width, height, "".join(body), f"{name}. {' '.join(sentences)}")


def is_narrow() -> bool:
    """Whether the figure is drawn for the text column of a phone."""
    return (CHART_WIDTH.get() or NARROW_WIDTH) < NARROW_WIDTH


def _lay_out(name: str, x: Axis, y: Axis, margin: float) -> Plot:
    """Return the plot: right of the name and ticks of the y axis, with a margin on its right."""
    left = max(map(text_width, _tick_texts(y.ticks))) + 2 * LINE_HEIGHT
    chart_width = CHART_WIDTH.get()
    width = WIDTH if chart_width is None else max(MIN_WIDTH, chart_width - left - margin)
    # The title is centred over the plot and may be wider than the plot.
    left = max(left, (text_width(name) - width) / 2)
    height = max(HEIGHT, MIN_HEIGHT_PER_WIDTH * width)
    return Plot(x, y, left, 2.5 * LINE_HEIGHT, width, height)


def _checked_points(curve: Series, x: Axis, y: Axis) -> np.ndarray:
    """Return the points of a series, (n, 2), in the units of the axes."""
    x_values = displayable(f"x of {curve.name}", curve.x).astype(float)
    y_values = displayable(f"y of {curve.name}", curve.y).astype(float)
    if x_values.shape != y_values.shape or x_values.ndim != 1:
        raise ValueError(
            f"{curve.name} has y of shape {y_values.shape}; "
            f"expected {x_values.shape} to match its x"
        )
    if not x_values.size:
        raise ValueError(f"{curve.name} has no points; expected one or more")
    check_finite(np, f"x of {curve.name}", x_values)
    check_finite(np, f"y of {curve.name}", y_values)
    points = np.stack([x_values / x.unit, y_values / y.unit], axis=1)
    for name, axis, values in zip("xy", (x, y), points.T, strict=True):
        if axis.logarithmic and values.min() <= 0:
            raise ValueError(
                f"{name} of {curve.name} holds {number(values.min())}; "
                "expected positive numbers on a logarithmic axis"
            )
    return points


def _draw_series(curve: Series, points: np.ndarray, style: int, plot: Plot) -> str:
    """Draw a line and markers; the markers of a step's numbers are tagged with the step."""
    body = []
    if curve.line:
        stroke = {"stroke": colour(curve.role), "stroke_width": 1.8, "fill": "none"}
        path = "M" + "L".join("{:.1f} {:.1f}".format(*plot.to_paper(point)) for point in points)
        dashes = DASHES[style % len(DASHES)]
        body.append(element("path", d=path, stroke_dasharray=dashes, **stroke))
    if not curve.points:
        return "".join(body)
    step = step_name(curve.y)
    for i, point in enumerate(points):
        tooltip = f"{curve.name}: {number(point[1])} at {number(point[0])}"
        marker = element(
            "path",
            element("title", text_node(tooltip)),
            d=MARKERS[style % len(MARKERS)],
            fill=colour(curve.role),
            transform="translate({:.1f} {:.1f})".format(*plot.to_paper(point)),
            data_at=index_in_step(curve.y, (i,)) if step else None,
        )
        body.append(marker)
    return element("g", *body, data_val=step, data_axis=_axis_data(plot)) if step else "".join(body)


def _axis_data(plot: Plot) -> str:
    """Return the ends of the y axis as text, by which the page's script moves edited points."""
    ticks = plot.y.ticks
    ends = ticks[0], ticks[-1], plot.y.unit, plot.top + plot.height, plot.top
    return " ".join(f"{end:g}" for end in ends) + (" logarithmic" if plot.y.logarithmic else "")


def _draw_names(named_series: Sequence[tuple[Series, np.ndarray]], plot: Plot) -> list[str]:
    """Write the name of each series at the right end of its line, with leaders if one is moved.

    The name of a line that ends earlier is above its end.
    """
    right, body, at_right = plot.left + plot.width, [], []
    for curve, points in named_series:
        x, y = plot.to_paper(points[-1])
        if x > right - 1:
            at_right.append((curve, y))
        else:
            body.append(label(x, y - LINE_HEIGHT / 2, curve.name, fill=colour(curve.role)))
    heights = _without_overlap([y for _, y in at_right])
    are_moved = any(y - height > 4 for (_, y), height in zip(at_right, heights, strict=True))
    for (curve, y), height in zip(at_right, heights, strict=True):
        paint, start = colour(curve.role), right + 4
        if are_moved:
            leader = f"M{start:.1f} {y:.1f}L{start + LEADER_WIDTH:.1f} {height:.1f}"
            body.append(element("path", d=leader, stroke=paint, stroke_opacity=0.6, fill="none"))
            start += LEADER_WIDTH
        body.append(label(start + 5, height, curve.name, "start", fill=paint))
    return body


def _draw_legend(named_styles: Sequence[tuple[Series, int]], width: float) -> Panel:
    """Draw a sample and the name of each series, in rows that fit into a width."""
    body, x, row = [], 0.0, 0
    for curve, style in named_styles:
        entry_width = SAMPLE_WIDTH + 6 + text_width(curve.name)
        if x and x + entry_width > width:
            x, row = 0.0, row + 1
        y = (row + 0.5) * LINE_HEIGHT
        if curve.line:
            line = f"M{x:g} {y:g}h{SAMPLE_WIDTH}"
            dashes = DASHES[style % len(DASHES)]
            stroke = {"stroke": colour(curve.role), "stroke_width": 1.8, "fill": "none"}
            body.append(element("path", d=line, stroke_dasharray=dashes, **stroke))
        if curve.points:
            marker = {"d": MARKERS[style % len(MARKERS)], "fill": colour(curve.role)}
            place = f"translate({x + SAMPLE_WIDTH / 2:g} {y:g})"
            body.append(element("path", transform=place, **marker))
        fill = colour(curve.role)
        body.append(label(x + SAMPLE_WIDTH + 6, y, curve.name, "start", fill=fill))
        x += entry_width + 10
    height = (row + 1) * LINE_HEIGHT if named_styles else 0.0
    return Panel(width, height, "".join(body), "")


def _draw_axes(plot: Plot) -> list[str]:
    """Draw the names and ticks of both axes, with a grid line at each tick."""
    left, top, bottom = plot.left, plot.top, plot.top + plot.height
    faint = {"stroke": "currentColor", "stroke_opacity": 0.25, "fill": "none"}
    body = [label(left + plot.width / 2, bottom + 2 * LINE_HEIGHT, plot.x.name)]
    body.append(vertical_label(LINE_HEIGHT / 2, top + plot.height / 2, plot.y.name))
    for tick, text in zip(plot.x.ticks, _tick_texts(plot.x.ticks), strict=True):
        x = left + plot.width * plot.x.fraction_at(tick)
        body.append(element("path", d=f"M{x:.1f} {top}v{plot.height:g}", **faint))
        body.append(label(x, bottom + LINE_HEIGHT / 2 + 5, text))
    for tick, text in zip(plot.y.ticks, _tick_texts(plot.y.ticks), strict=True):
        y = bottom - plot.height * plot.y.fraction_at(tick)
        body.append(element("path", d=f"M{left:.1f} {y:.1f}h{plot.width:g}", **faint))
        body.append(label(left - 6, y, text, "end"))
    return body


def _tick_texts(ticks: Sequence[float]) -> list[str]:
    return [exact_number(tick) for tick in ticks]


def _without_overlap(y_positions: list[float]) -> list[float]:
    """Return the positions of labels, moved up where they would overlap."""
    moved = list(y_positions)
    bottom_to_top = sorted(range(len(moved)), key=y_positions.__getitem__, reverse=True)
    label_below = math.inf
    for index in bottom_to_top:
        moved[index] = min(y_positions[index], label_below - LINE_HEIGHT)
        label_below = moved[index]
    return moved


def _describe(curve: Series, points: np.ndarray, x: Axis, y: Axis) -> str:
    first, last = points[[0, -1]]
    return (
        f"{curve.name}: {y.name} goes from {number(first[1])} at {x.name} {number(first[0])} "
        f"to {number(last[1])} at {number(last[0])}."
    )
