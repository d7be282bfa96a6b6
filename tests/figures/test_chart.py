"""Line charts: the numbers can be read back from lines, markers and ticks."""

import math

import numpy as np
import pytest

from attention_docs.render.figures import Axis, Series, line_chart
from attention_docs.render.figures.svg import LINE_HEIGHT, colour
from attention_docs.render.numbers import drawn_number, exact_number
from tests.figures.drawing import (
    assert_readable,
    horizontal_texts,
    left_to_right,
    name_and_description,
    numbers,
    shapes,
    texts,
    top_to_bottom,
    with_text,
)

# Positions on paper are rounded to one decimal.
ROUNDING = 0.1
# The two axes of most charts here.
D = Axis("d", (1, 10, 100), logarithmic=True)
VARIANCE = Axis("variance", (0, 5, 10))


def chart(*series, x=D, y=VARIANCE, name="Growth"):
    return line_chart(name, x, y, series)


def lines_of(picture):
    return [shape for shape in shapes(picture) if shape.attributes.get("stroke-width") == "1.8"]


def markers_of(picture):
    return [shape for shape in shapes(picture) if shape.tooltip]


def assert_shows_series(picture, x, y, series):
    """Assert that a chart with these axes has the lines and markers of its series."""
    to_left, to_top = positions_on_axes(picture, x, y)

    def on_paper(curve):
        return [(to_left(a), to_top(b / y.unit)) for a, b in zip(curve.x, curve.y, strict=True)]

    curves_with_line = [curve for curve in series if curve.line]
    for line, curve in zip(lines_of(picture), curves_with_line, strict=True):
        np.testing.assert_allclose(line.corners, on_paper(curve), atol=ROUNDING)
        assert line.attributes["stroke"] == colour(curve.role)
        assert not line.is_filled
    curves_with_markers = [curve for curve in series if curve.points]
    for curve in curves_with_markers:
        assert_marks_points(picture, curve, on_paper(curve), y.unit)
    assert len(markers_of(picture)) == sum(len(curve.x) for curve in curves_with_markers)


def assert_marks_points(picture, curve, positions, unit):
    """Assert that the markers of a curve are at its positions, with the numbers in tooltips."""
    own_markers = [
        shape for shape in markers_of(picture) if shape.tooltip.startswith(f"{curve.name}: ")
    ]
    for marker, a, b, position in zip(own_markers, curve.x, curve.y, positions, strict=True):
        np.testing.assert_allclose(numbers(marker.attributes["transform"]), position, atol=ROUNDING)
        assert marker.tooltip == f"{curve.name}: {drawn_number(b / unit)} at {drawn_number(a)}"
        assert marker.attributes["fill"] == colour(curve.role)


def positions_on_axes(picture, x, y):
    """Return for each axis the function from a number to its position on paper."""
    # Only the grid lines have this opacity.
    grid = [shape for shape in shapes(picture) if shape.attributes.get("stroke-opacity") == "0.25"]
    vertical = left_to_right(line for line in grid if np.ptp(line.corners[:, 0]) == 0)
    horizontal = top_to_bottom(line for line in grid if np.ptp(line.corners[:, 1]) == 0)[::-1]
    left = vertical[0].box[0]
    bottom = horizontal[0].box[1]
    labels = horizontal_texts(picture)
    below = left_to_right(label for label in labels if 0 < label.centre[1] - bottom < 16)
    beside = top_to_bottom(label for label in labels if label.box[2] < left)[::-1]
    return position_on_axis(x, vertical, below, 0), position_on_axis(y, horizontal, beside, 1)


def position_on_axis(axis, grid_lines, labels, coordinate):
    """Check that the labels are at the grid lines, and fit a straight line to the ticks."""
    assert texts(labels) == [exact_number(tick) for tick in axis.ticks]
    positions = [line.centre[coordinate] for line in grid_lines]
    label_positions = [label.centre[coordinate] for label in labels]
    np.testing.assert_allclose(label_positions, positions, atol=0.2)
    transform = math.log if axis.logarithmic else float
    slope, start = np.polyfit([transform(tick) for tick in axis.ticks], positions, 1)
    return lambda value: start + slope * transform(value)


VARIANCE_IN_MILLIONS = Axis("variance", (0, 5e-6, 1e-5), unit=1e6)


@pytest.mark.parametrize("y", [VARIANCE, VARIANCE_IN_MILLIONS], ids=["in units", "in millions"])
def test_points_lie_at_their_positions_on_linear_axis(y):
    series = [
        Series("s", [1, 10, 100, 31.6], [0, 2.5, 10, 5], points=True),
        Series("t", [1, 100], [0, 10], "query", line=False, points=True),
        Series("", [1, 100], [5, 5], "key"),
    ]
    picture = chart(*series, y=y)
    assert_readable(picture)
    assert_shows_series(picture, D, y, series)


def test_names_of_chart_axes_and_series_are_in_the_colour_of_their_role():
    picture = chart(Series("s", [1, 100], [0, 10]), Series("t", [1, 100], [10, 0], "query"))
    role_of_text = {"Growth": None, "d": None, "variance": None, "s": None, "t": "query"}
    for text, role in role_of_text.items():
        (shape,) = with_text(picture, text)
        assert shape.attributes["fill"] == colour(role), text


def test_points_lie_at_their_positions_on_logarithmic_axis():
    slope = Axis("slope", (1e-8, 1e-4, 1), logarithmic=True)
    series = [Series("s", [1, 50, 100], [1, 1e-3, 1e-8])]
    assert_shows_series(chart(*series, y=slope), D, slope, series)


def test_lines_differ_in_dashes_and_markers():
    picture = chart(*(Series(name, [1, 100], [i, i], points=True) for i, name in enumerate("abcd")))
    dashes = {line.attributes.get("stroke-dasharray") for line in lines_of(picture)}
    markers = {shape.attributes["d"] for shape in markers_of(picture)}
    assert len(dashes) == len(markers) == 4


# Three of their lines end closer to one another than their names are high.
CROWDED_SERIES = [
    Series(name, [1, 100], [0, end])
    for name, end in {"low": 5.0, "high": 5.2, "far": 10.0, "lowest": 4.9}.items()
]


def test_leaders_join_lines_to_crowded_names_in_the_same_order():
    picture = chart(*CROWDED_SERIES)
    leaders = [line for line in shapes(picture) if line.attributes.get("stroke-opacity") == "0.6"]
    assert_readable(picture)
    names = [with_text(picture, series.name)[0] for series in CROWDED_SERIES]
    assert texts(top_to_bottom(names)) == ["far", "high", "low", "lowest"]
    for name, line in zip(names, lines_of(picture), strict=True):
        end_x, end_y = line.corners[-1]
        # The names below it may push it up, each by at most one line.
        assert -ROUNDING < end_y - name.centre[1] < LINE_HEIGHT * len(names)
        (leader,) = [leader for leader in leaders if abs(leader.corners[0][1] - end_y) <= ROUNDING]
        assert leader.corners[-1][1] == pytest.approx(name.centre[1], abs=ROUNDING)
        assert end_x < leader.box[0] < leader.box[2] < name.box[0]


@pytest.mark.parametrize("length", [46, 90], ids=["wider than lines", "wider than ticks and lines"])
def test_chart_has_room_for_long_title(length):
    assert_readable(chart(Series("s", [1, 100], [0, 10]), name=length * "t"))


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
