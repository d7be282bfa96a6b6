"""Line charts: the numbers can be read back from lines, markers and ticks."""

import math
import re

import numpy as np
import pytest

from attention_docs.render.figures import Axis, Series, figure, line_chart
from attention_docs.render.figures.chart import CHART_WIDTH, NARROW_WIDTH
from attention_docs.render.numbers import drawn_number
from tests.figures.drawing import (
    assert_readable,
    colour_of,
    horizontal_texts,
    left_to_right,
    name_and_description,
    numbers,
    shapes,
    top_to_bottom,
    with_text,
)

# The two axes of most charts here.
D = Axis("d", (1, 10, 100), logarithmic=True)
VARIANCE = Axis("variance", (0, 5, 10))


def chart(*series, x=D, y=VARIANCE, name="Growth"):
    return figure(line_chart(name, x, y, series), "c")


def lines_of(picture):
    return [shape for shape in shapes(picture) if shape.attributes.get("stroke-width") == "1.8"]


def markers_of(picture):
    return [shape for shape in shapes(picture) if shape.tooltip]


def assert_shows_series(picture, x, y, series):
    """Assert that a chart with these axes gives back the points of its series."""
    x_of, y_of = positions_on_axes(picture, x, y)
    lines, markers = iter(lines_of(picture)), iter(markers_of(picture))
    for curve in series:
        points = list(zip(curve.x, curve.y, strict=True))
        points_on_paper = [(x_of(a), y_of(b / y.unit)) for a, b in points]
        if curve.line:
            line = next(lines)
            np.testing.assert_allclose(line.corners, points_on_paper, atol=0.6)
            assert line.attributes["stroke"] == colour_of(curve.role)
            assert not line.is_filled
        if curve.points:
            for point_on_paper, (a, b) in zip(points_on_paper, points, strict=True):
                marker = next(markers)
                np.testing.assert_allclose(
                    numbers(marker.attributes["transform"]), point_on_paper, atol=0.6
                )
                assert (
                    marker.tooltip
                    == f"{curve.name}: {drawn_number(b / y.unit)} at {drawn_number(a)}"
                )
                assert marker.attributes["fill"] == colour_of(curve.role)
    assert not [*lines, *markers]


def positions_on_axes(picture, x, y):
    """Return for each axis the function from a number to its position on paper."""
    # Only the grid lines have this opacity.
    grid = [shape for shape in shapes(picture) if shape.attributes.get("stroke-opacity") == "0.25"]
    vertical = left_to_right(line for line in grid if np.ptp(line.corners[:, 0]) == 0)
    horizontal = top_to_bottom(line for line in grid if np.ptp(line.corners[:, 1]) == 0)[::-1]
    left, bottom = vertical[0].box[0], horizontal[0].box[1]
    texts = horizontal_texts(picture)
    below = left_to_right(text for text in texts if 0 < text.centre[1] - bottom < 16)
    beside = top_to_bottom(text for text in texts if text.box[2] < left)[::-1]
    return position_on_axis(x, vertical, below, 0), position_on_axis(y, horizontal, beside, 1)


def tick_of(text):
    """Read the number of a tick, which may be a power of ten."""
    mantissa, power, exponent = text.rpartition("10⁻")
    if not power:
        return float(text)
    digits = exponent.translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789"))
    return float(f"{mantissa.rstrip('·') or 1}e-{digits}")


def position_on_axis(axis, grid_lines, labels, coordinate):
    """Check that the labels are at the grid lines, and fit a straight line to the ticks."""
    assert [tick_of(label.text) for label in labels] == list(axis.ticks)
    positions = [line.centre[coordinate] for line in grid_lines]
    label_positions = [label.centre[coordinate] for label in labels]
    np.testing.assert_allclose(label_positions, positions, atol=0.2)
    transform = math.log if axis.logarithmic else float
    slope, start = np.polyfit([transform(tick) for tick in axis.ticks], positions, 1)
    return lambda value: start + slope * transform(value)


@pytest.mark.parametrize("y", [VARIANCE, VARIANCE._replace(ticks=(0, 5e-6, 1e-5), unit=1e6)])
def test_points_lie_at_their_positions_on_linear_axes(y):
    series = [
        Series("s", [1, 10, 100, 31.6227766], [0, 2.5, 10, 5], points=True),
        Series("t", [1, 100], [0, 10], "query", line=False, points=True),
        Series("", [1, 100], [5, 5], "key"),
    ]
    picture = chart(*series, y=y)
    assert_readable(picture)
    assert_shows_series(picture, D, y, series)
    assert all(with_text(picture, text) for text in ("Growth", "d", "variance"))
    assert [shape.attributes["fill"] for shape in with_text(picture, "t")] == [colour_of("query")]


def test_points_lie_at_their_positions_on_logarithmic_axes():
    slope = Axis("slope", (1e-8, 1e-4, 1), logarithmic=True)
    series = [Series("s", [1, 50, 100], [1, 1e-3, 1e-8])]
    assert_shows_series(chart(*series, y=slope), D, slope, series)


def test_lines_differ_in_dashes_and_markers():
    picture = chart(*(Series(name, [1, 100], [i, i], points=True) for i, name in enumerate("abcd")))
    dashes = {shape.attributes.get("stroke-dasharray") for shape in lines_of(picture)}
    markers = {shape.attributes["d"] for shape in markers_of(picture)}
    assert len(dashes) == len(markers) == 4


def test_crowded_labels_keep_the_order_of_lines():
    ends = {"low": 5.0, "high": 5.2, "far": 10.0, "lowest": 4.9}
    picture = chart(*(Series(name, [1, 100], [0, end]) for name, end in ends.items()))
    assert_readable(picture)
    lines = dict(zip(ends, lines_of(picture), strict=True))
    names = top_to_bottom(with_text(picture, name)[0] for name in ends)
    assert [shape.text for shape in names] == ["far", "high", "low", "lowest"]
    for shape in names:
        line_height = 16
        # Each other name may push it up by one line.
        x, y = lines[shape.text].corners[-1]
        assert 0 < shape.box[0] - x < line_height
        assert -0.6 < y - shape.centre[1] < line_height * len(ends)


def test_narrow_chart_has_samples_and_names_above_its_lines():
    series = [Series(name, [1, 100], [0, 10], points=True) for name in ("one", "two", 30 * "t")]
    token = CHART_WIDTH.set(NARROW_WIDTH - 1)
    try:
        picture = chart(*series)
    finally:
        CHART_WIDTH.reset(token)
    assert_readable(picture)
    samples, lines = np.split(np.array(lines_of(picture), dtype=object), 2)
    top = min(line.box[1] for line in lines)
    for curve, sample, line in zip(series, samples, lines, strict=True):
        (text,) = with_text(picture, curve.name)
        assert text.box[3] < top
        assert 0 < text.box[0] - sample.box[2] < 10
        assert sample.centre[1] == text.centre[1]
        dashes = [shape.attributes.get("stroke-dasharray") for shape in (sample, line)]
        assert dashes[0] == dashes[1]


def test_long_names_fit_into_the_drawing():
    for characters in (46, 90):
        assert_readable(chart(Series("s", [1, 100], [0, 10]), name=characters * "t"))
    assert_readable(chart(Series(60 * "t", [1, 100], [0, 10]), Series("s", [1, 100], [10, 0])))


def test_chart_is_described_in_words():
    picture = chart(
        Series("s", [1, 10, 100], [0, 9, 10]),
        Series("", [1, 100], [5, 5], "query"),
        Series("t", [1, 100], [5, 10], "key", points=True),
    )
    assert name_and_description(picture)[1] == (
        "Growth. s: variance goes from 0 at d 1 to 10 at 100. "
        "t: variance goes from 5 at d 1 to 10 at 100."
    )


def test_ticks_are_exact_and_short():
    ticks = (1e-8, 0.0001, 0.1, 0.25, 2.5, 10, 100)
    picture = chart(Series("s", [1, 100], [0, 1]), x=D._replace(ticks=ticks))
    for label in ("10⁻⁸", "0.0001", "0.1", "0.25", "2.5", "10", "100"):
        assert with_text(picture, label)


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([1, 2], [1], "s has y of shape (1,); expected (2,) to match its x"),
        ([], [], "s has no points; expected one or more"),
        ([1, 2], [1, math.inf], "y of s holds inf at [1]; expected finite numbers only"),
        ([1, 0], [1, 2], "x of s holds 0; expected positive numbers on a logarithmic axis"),
    ],
)
def test_error_states_argument_expectation_and_value(x, y, message):
    with pytest.raises((TypeError, ValueError), match=f"^{re.escape(message)}$"):
        chart(Series("s", x, y))
