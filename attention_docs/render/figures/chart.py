"""Draw line charts, whose lines differ by name, dashes and markers, not by colour alone."""

import math
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import NamedTuple

import numpy as np

from attention_docs.arrays import Array, to_numpy
from attention_docs.render.figures import svg
from attention_docs.render.numbers import exact_number, format_name, number
from attention_docs.render.references import index_in_step, step_name

# The size of the plot, without ticks and names.
WIDTH, HEIGHT = 240, 170
# The width of a chart with its ticks and names; None for a plot as wide as `WIDTH`.
CHART_WIDTH: ContextVar[float | None] = ContextVar("CHART_WIDTH", default=None)
# Whether a drawing has asked for that width, and so differs on a phone.
DEPENDS_ON_WIDTH: ContextVar[bool] = ContextVar("DEPENDS_ON_WIDTH", default=False)
MIN_WIDTH = 150  # of a plot in a chart whose width is given
MIN_HEIGHT_PER_WIDTH = 0.42  # so that the lines of a wide plot do not look flat
# A chart narrower than this has the names of its lines above the plot, because names on the right
# would take a third of its width.
NARROW_WIDTH = 450
SAMPLE_WIDTH = 18  # of a line beside its name above the chart
SAMPLE_GAP, ENTRY_GAP = 6, 10  # after a sample, and after its name
LEADER_WIDTH = 14  # of the thin line from the end of a line to its name, where that is moved up
LEADER_GAP, NAME_GAP = 4, 5  # before a leader, and between it and a name
MAX_SHIFT = 4  # how far a name may be moved up without a leader
RIGHT_MARGIN = 3  # on the right of the names
TICK_GAP, TICK_DROP = 6, 5  # between the plot and a tick on its left, and one below it
DASHES = (None, "6 3", "2 3", "8 3 2 3")
MARKERS = (
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
    "M-4 -4h8v8h-8z",
    "M0 -5L5 4H-5z",
    "M0 -5L5 0L0 5L-5 0z",
)


class Series(NamedTuple):
    """One line of a chart; without a name it looks like the one before it."""

    name: str
    x: Array
    y: Array
    role: str | None = None
    line: bool = True
    points: bool = False


class Axis(NamedTuple):
    """An axis from the first tick to the last; with `unit=1e6`, the tick 10 is ten million."""

    name: str
    ticks: Sequence[float]
    logarithmic: bool = False
    unit: float = 1

    @property
    def tick_texts(self) -> list[str]:
        return [exact_number(tick) for tick in self.ticks]

    def fraction_at(self, value: float) -> float:
        """Return the fraction of the axis that lies before a value, in units of the axis.

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

    @property
    def right(self) -> float:
        return self.left + self.width

    @property
    def bottom(self) -> float:
        return self.top + self.height

    def to_paper(self, point: np.ndarray) -> tuple[float, float]:
        return self.x_on_paper(point[0]), self.y_on_paper(point[1])

    def x_on_paper(self, value: float) -> float:
        return self.left + self.width * self.x.fraction_at(value)

    def y_on_paper(self, value: float) -> float:
        return self.top + self.height * (1 - self.y.fraction_at(value))


class Curve(NamedTuple):
    """A series, its points, (n, 2), in the units of the axes, and the index of its style."""

    series: Series
    points: np.ndarray
    style: int

    @property
    def name(self) -> str:
        return self.series.name

    @property
    def colour(self) -> str:
        return svg.colour(self.series.role)

    def draw_path(self, path: str, **attributes: object) -> str:
        dashes = DASHES[self.style % len(DASHES)]
        stroke = {"stroke": self.colour, "stroke_width": 1.8, "fill": "none"}
        return svg.element("path", d=path, stroke_dasharray=dashes, **stroke, **attributes)

    def draw_marker(self, x: float, y: float, *children: str, **attributes: object) -> str:
        place = f"translate({svg.attribute_value(x)} {svg.attribute_value(y)})"
        shape = MARKERS[self.style % len(MARKERS)]
        marker = {"d": shape, "fill": self.colour, "transform": place}
        return svg.element("path", *children, **marker, **attributes)


def line_chart(name: str, x: Axis, y: Axis, series: Sequence[Series]) -> svg.Html:
    """Draw lines, and the names of several at their right ends, or above a narrow chart."""
    curves = []
    style = -1
    for entry in series:
        style += bool(entry.name)
        points = np.stack([to_numpy(entry.x) / x.unit, to_numpy(entry.y) / y.unit], axis=1)
        curves.append(Curve(entry, points, style))
    named_curves = [curve for curve in curves if curve.name]
    labelled_curves = named_curves if len(named_curves) > 1 else []
    legend_curves = labelled_curves if is_narrow() else []
    curves_with_names_at_ends = [] if is_narrow() else labelled_curves
    margin = _right_margin(x, curves_with_names_at_ends)
    plot = _lay_out(name, x, y, margin)
    legend = _draw_legend(legend_curves, plot.width)
    plot = plot._replace(top=plot.top + legend.height)
    body = [
        svg.heading(plot.left + plot.width / 2, name),
        svg.translated(plot.left, 1.5 * svg.LINE_HEIGHT, legend.body) if legend_curves else "",
        *_draw_axes(plot),
        *(_draw_curve(curve, plot) for curve in curves),
        *_draw_names(curves_with_names_at_ends, plot),
    ]
    # The title is centred over the plot and may be wider than the plot.
    width = plot.left + max(plot.width + margin, (plot.width + svg.text_width(name)) / 2)
    description = " ".join([f"{name}.", *(_describe(curve, x, y) for curve in named_curves)])
    panel = svg.Panel(width, plot.bottom + 2.5 * svg.LINE_HEIGHT, "".join(body), description)
    return svg.figure(panel, name)


def is_narrow() -> bool:
    """Return whether the figure is drawn for the text column of a phone."""
    return (chart_width() or NARROW_WIDTH) < NARROW_WIDTH


def chart_width() -> float | None:
    DEPENDS_ON_WIDTH.set(True)
    return CHART_WIDTH.get()


def _right_margin(x: Axis, curves_with_names_at_ends: Sequence[Curve]) -> float:
    """Return the room for the names of lines on the right of the plot, and for the last tick."""
    names_width = max(
        (svg.text_width(curve.name) for curve in curves_with_names_at_ends), default=0
    )
    leaders_width = LEADER_GAP + LEADER_WIDTH + NAME_GAP
    # The last tick is centred at the end of its axis.
    return max(leaders_width + names_width + RIGHT_MARGIN, svg.text_width(x.tick_texts[-1]) / 2)


def _lay_out(name: str, x: Axis, y: Axis, right_margin: float) -> Plot:
    """Return the plot: on the right of the name and ticks of the y axis, and below the title."""
    left_margin = max(map(svg.text_width, y.tick_texts)) + 2 * svg.LINE_HEIGHT
    given_width = chart_width()
    if given_width is None:
        width: float = WIDTH
    else:
        width = max(MIN_WIDTH, given_width - left_margin - right_margin)
    # The title is centred over the plot and may be wider than the plot.
    title_overhang = (svg.text_width(name) - width) / 2
    height = max(HEIGHT, MIN_HEIGHT_PER_WIDTH * width)
    left = max(left_margin, title_overhang)
    return Plot(x, y, left=left, top=2.5 * svg.LINE_HEIGHT, width=width, height=height)


def _draw_curve(curve: Curve, plot: Plot) -> str:
    """Draw the line and the markers of a curve, in a group with rules if they are a step."""
    positions = [plot.to_paper(point) for point in curve.points]
    step = step_name(curve.series.y) if curve.series.points else None
    line = ""
    if curve.series.line:
        places = (" ".join(map(svg.attribute_value, position)) for position in positions)
        joins = "[data-at]" if step else None
        line = curve.draw_path("M" + "L".join(places), data_joins=joins)
    if not curve.series.points:
        return line
    markers = []
    for i, (point, position) in enumerate(zip(curve.points, positions, strict=True)):
        tooltip = svg.text_node(f"{curve.name}: {number(point[1])} at {number(point[0])}")
        index = index_in_step(curve.series.y, (i,)) if step else None
        markers.append(curve.draw_marker(*position, svg.element("title", tooltip), data_at=index))
    if step is None:
        return line + "".join(markers)
    rules = f"path transform 1; title {format_name()} {1 / plot.y.unit:g}"
    group = {"data_val": step, "data_axis": _axis_data(plot), "data_set": rules}
    return svg.element("g", line, *markers, **group)


def _axis_data(plot: Plot) -> str:
    """Return the y axis as text, by which the page's script moves edited points."""
    transform: Callable[[float], float] = math.log if plot.y.logarithmic else float
    low, high = (transform(plot.y.unit * end) for end in (plot.y.ticks[0], plot.y.ticks[-1]))
    slope = -plot.height / (high - low)
    numbers = slope, plot.bottom - slope * low, plot.bottom
    return " ".join(map(repr, numbers)) + (" logarithmic" if plot.y.logarithmic else "")


def _draw_names(curves: Sequence[Curve], plot: Plot) -> list[str]:
    """Write the name of each curve on the right of the plot, or above the end of a shorter line."""
    body = []
    complete_curves = []
    for curve in curves:
        x, y = plot.to_paper(curve.points[-1])
        if x > plot.right - 1:
            complete_curves.append(curve)
        else:
            body.append(svg.label(x, y - svg.LINE_HEIGHT / 2, curve.name, fill=curve.colour))
    return body + _draw_names_at_right(complete_curves, plot)


def _draw_names_at_right(curves: Sequence[Curve], plot: Plot) -> list[str]:
    """Write names on the right of the plot, with thin leaders if one must be moved up."""
    body = []
    line_ends = [plot.y_on_paper(curve.points[-1][1]) for curve in curves]
    heights = _without_overlap(line_ends)
    shifts = [end - height for end, height in zip(line_ends, heights, strict=True)]
    has_leaders = any(shift > MAX_SHIFT for shift in shifts)
    leader_start = plot.right + LEADER_GAP
    leader_end = leader_start + LEADER_WIDTH
    name_start = (leader_end if has_leaders else leader_start) + NAME_GAP
    for curve, line_end, height in zip(curves, line_ends, heights, strict=True):
        if has_leaders:
            path = f"M{leader_start:.1f} {line_end:.1f}L{leader_end:.1f} {height:.1f}"
            stroke = {"stroke": curve.colour, "stroke_opacity": 0.6, "fill": "none"}
            body.append(svg.element("path", d=path, **stroke))
        body.append(svg.label(name_start, height, curve.name, "start", fill=curve.colour))
    return body


def _draw_legend(curves: Sequence[Curve], width: float) -> svg.Panel:
    body = []
    x, y = 0.0, svg.LINE_HEIGHT / 2
    for curve in curves:
        entry_width = SAMPLE_WIDTH + SAMPLE_GAP + svg.text_width(curve.name)
        if x and x + entry_width > width:
            x, y = 0.0, y + svg.LINE_HEIGHT
        if curve.series.line:
            body.append(curve.draw_path(f"M{x:g} {y:g}h{SAMPLE_WIDTH}"))
        if curve.series.points:
            body.append(curve.draw_marker(x + SAMPLE_WIDTH / 2, y))
        name_start = x + SAMPLE_WIDTH + SAMPLE_GAP
        body.append(svg.label(name_start, y, curve.name, "start", fill=curve.colour))
        x += entry_width + ENTRY_GAP
    return svg.Panel(width, y + svg.LINE_HEIGHT / 2 if curves else 0.0, "".join(body), "")


def _draw_axes(plot: Plot) -> list[str]:
    faint = {"stroke": "currentColor", "stroke_opacity": 0.25, "fill": "none"}
    body = [
        svg.label(plot.left + plot.width / 2, plot.bottom + 2 * svg.LINE_HEIGHT, plot.x.name),
        svg.vertical_label(svg.LINE_HEIGHT / 2, plot.top + plot.height / 2, plot.y.name),
    ]
    for tick, text in zip(plot.x.ticks, plot.x.tick_texts, strict=True):
        x = plot.x_on_paper(tick)
        body.append(svg.element("path", d=f"M{x:.1f} {plot.top}v{plot.height:g}", **faint))
        body.append(svg.label(x, plot.bottom + svg.LINE_HEIGHT / 2 + TICK_DROP, text))
    for tick, text in zip(plot.y.ticks, plot.y.tick_texts, strict=True):
        y = plot.y_on_paper(tick)
        body.append(svg.element("path", d=f"M{plot.left:.1f} {y:.1f}h{plot.width:g}", **faint))
        body.append(svg.label(plot.left - TICK_GAP, y, text, "end"))
    return body


def _without_overlap(y_positions: list[float]) -> list[float]:
    """Return the positions of labels, moved up where they would overlap."""
    moved = list(y_positions)
    bottom_to_top = sorted(range(len(moved)), key=y_positions.__getitem__, reverse=True)
    label_below = math.inf
    for index in bottom_to_top:
        moved[index] = min(y_positions[index], label_below - svg.LINE_HEIGHT)
        label_below = moved[index]
    return moved


def _describe(curve: Curve, x: Axis, y: Axis) -> str:
    (first_x, first_y), (last_x, last_y) = curve.points[[0, -1]]
    return (
        f"{curve.name}: {y.name} goes from {number(first_y)} at {x.name} {number(first_x)} "
        f"to {number(last_y)} at {number(last_x)}."
    )
