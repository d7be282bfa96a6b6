"""Line charts: read by their ticks, lines and markers give back the numbers."""

import math
import re

import numpy as np
import pytest

from attention_docs.render.figures import Axis, Series, figure, line_chart
from attention_docs.render.numbers import number
from tests.figures.drawing import (
    assert_readable,
    leftmost,
    named,
    numbers,
    paint,
    shapes,
    texts,
    told,
    topmost,
)

X = Axis("d", (1, 10, 100), logarithmic=True)


def chart(*series, x=X, y=None, name="Growth"):
    return figure(line_chart(name, x, y or Axis("variance", (0, 5, 10)), series), "c")


def lines_of(picture):
    return [s for s in shapes(picture) if s.attributes.get("stroke-width") == "1.8"]


def markers_of(picture):
    return [s for s in shapes(picture) if s.tip]


def assert_shows_series(picture, name, x, y, series):
    """Assert that a chart with these arguments gives back the points of its series."""
    grid = [s for s in shapes(picture) if s.attributes.get("stroke-opacity") == "0.25"]
    down = leftmost(s for s in grid if np.ptp(s.corners[:, 0]) == 0)
    across = topmost(s for s in grid if np.ptp(s.corners[:, 1]) == 0)[::-1]
    left, right, bottom = down[0].box[0], down[-1].box[0], across[0].box[1]
    below = leftmost(
        s for s in shapes(picture) if s.text and s.upright and 0 < s.centre[1] - bottom < 16
    )
    beside = topmost(s for s in shapes(picture) if s.text and s.upright and s.box[2] < left)[::-1]
    at_x = ruler(x, [s.centre[0] for s in down], [s.centre[0] for s in below], below)
    at_y = ruler(y, [s.centre[1] for s in across], [s.centre[1] for s in beside], beside)
    # Each line of the grid goes from one end of the other axis to the other.
    assert {s.box[1::2] for s in down} == {(across[-1].box[1], bottom)}
    assert {s.box[::2] for s in across} == {(left, right)}
    assert_axis_names(picture, name, x, y, (left, right, bottom))
    drawn, markers = iter(lines_of(picture)), iter(markers_of(picture))
    for one in series:
        counted = np.asarray(one.y) / y.unit
        places = np.array([list(map(at_x, one.x)), list(map(at_y, counted))]).T
        colour = paint(one.role)
        if one.line:
            line = next(drawn)
            np.testing.assert_allclose(line.corners, places, atol=0.6)
            assert (line.attributes["stroke"], line.filled) == (colour, False)
        for point, *place in zip(places, one.x, counted, strict=True) if one.points else ():
            marker = next(markers)
            np.testing.assert_allclose(numbers(marker.attributes["transform"]), point, atol=0.6)
            assert marker.tip == f"{one.name}: {number(place[1])} at {number(place[0])}"
            assert marker.attributes["fill"] == colour
    assert not [*drawn, *markers]
    assert_names(
        picture, right, lambda end: at_y(end / y.unit), [one for one in series if one.name]
    )


def ruler(axis, lines, places, labels):
    """Return the function from a number to its place on the paper, as the ticks tell it."""
    assert [float(s.text) for s in labels] == list(axis.ticks)
    np.testing.assert_allclose(places, lines, atol=0.2)
    measure = math.log if axis.logarithmic else float
    measured = [measure(float(s.text)) for s in labels]
    slope, start = np.polyfit(measured, lines, 1)
    np.testing.assert_allclose(start + slope * np.array(measured), lines, atol=0.2)
    return lambda value: start + slope * measure(value)


def assert_axis_names(picture, name, x, y, plot):
    left, right, bottom = plot
    words = [s for s in shapes(picture) if s.text]
    title, *_, last = topmost(words)
    assert (title.text, title.attributes["font-weight"], last.text) == (name, "bold", x.name)
    assert left < last.centre[0] < right
    assert last.centre[1] > bottom
    (side,) = [s for s in words if not s.upright]
    assert side.text == y.name
    assert side.box[2] < left


def assert_names(picture, right, at_y, series):
    """Assert that names stand to the right of their lines, in the order of the ends."""
    found = [s for s in shapes(picture) if s.text and s.box[0] > right]
    assert texts(found) == [one.name for one in series]
    ends = [at_y(one.y[-1]) for one in series]
    for shape, one, end in zip(found, series, ends, strict=True):
        assert shape.attributes["fill"] == paint(one.role)
        # Other names may push it up, by a line each.
        assert -0.6 < end - shape.centre[1] < 16 * (len(ends) - 1) + 0.6
    for one, end in zip(found, ends, strict=True):
        for other, its_end in zip(found, ends, strict=True):
            assert end >= its_end or one.centre[1] < other.centre[1]


def test_chart_gives_back_its_points():
    x, y = Axis("d", (1, 10, 100), logarithmic=True), Axis("variance", (0, 5, 10))
    series = [
        Series("s", [1, 10, 100, 31.6227766], [0, 2.5, 10, 5], points=True),
        Series("t", [1, 100], [0, 10], "query", line=False, points=True),
        Series("", [1, 100], [5, 5], "key"),
    ]
    for axes in ((x, y), (y, Axis("slope", (1e-8, 1e-4, 1), logarithmic=True))):
        fitting = [
            one._replace(
                x=np.interp(one.x, (0, 100), axes[0].ticks[::2]),
                y=np.interp(one.y, (0, 10), axes[1].ticks[::2]),
            )
            for one in series
        ]
        picture = figure(line_chart("Growth", *axes, fitting), "c")
        assert_readable(picture)
        assert_shows_series(picture, "Growth", *axes, fitting)


def test_lines_differ_in_more_than_colour():
    picture = chart(*(Series(name, [1, 100], [i, i], points=True) for i, name in enumerate("abcd")))
    dashes = {s.attributes.get("stroke-dasharray") for s in lines_of(picture)}
    markers = {s.attributes["d"] for s in markers_of(picture)}
    assert len(dashes) == len(markers) == 4
    assert chart(*(Series(name, [1, 100], [1, 1], points=True) for name in "abcdefghi"))


def test_names_of_crowded_lines_keep_the_order_of_their_ends():
    ends = {"low": 5.0, "high": 5.2, "far": 10.0, "lowest": 4.9}
    series = [Series(name, [1, 100], [0, end]) for name, end in ends.items()]
    picture = chart(*series)
    assert_readable(picture)
    assert_shows_series(picture, "Growth", X, Axis("variance", (0, 5, 10)), series)


def test_long_names_fit_on_the_paper():
    for length in (46, 60, 90):
        assert_readable(chart(Series("s", [1, 100], [0, 10]), name=length * "t"))
    assert_readable(chart(Series(60 * "t", [1, 100], [0, 10])))


def test_chart_is_described_in_words():
    picture = chart(
        Series("s", [1, 10, 100], [0, 9, 10]),
        Series("", [1, 100], [5, 5], "query"),
        Series("t", [1, 100], [5, 10], "key", points=True),
    )
    assert told(picture) == (
        "Growth. s: variance goes from 0 at d 1 to 10 at 100. "
        "t: variance goes from 5 at d 1 to 10 at 100."
    )


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0.1, "0.1"),
        (0.999999, "1"),
        (1e-10, "1.0e-10"),
        (0.0001, "0.0001"),
        (1e-8, "1.0e-08"),
        (100, "100"),
        (0.25, "0.25"),
        (2.5, "2.5"),
        (10, "10"),
    ],
)
def test_ticks_are_exact_and_short(value, written):
    picture = chart(
        Series("s", [0, 1000], [0, 1]), x=Axis("x", (0, value, 1000)), y=Axis("y", (0, 3))
    )
    assert named(picture, written)


@pytest.mark.parametrize(("x", "y"), [([1, 2], [1]), ([[1, 2]], [[1, 2]])])
def test_series_need_as_many_x_as_y(x, y):
    with pytest.raises(
        ValueError,
        match=re.escape(f"s has y of shape {np.shape(y)}; expected {np.shape(x)} to match its x"),
    ):
        chart(Series("s", x, y))


@pytest.mark.parametrize(
    ("x", "y", "error", "message"),
    [
        ([], [], ValueError, "s has no points; expected one or more"),
        ([1, math.nan], [1, 2], ValueError, "x of s holds nan at [1]; expected finite numbers only"),
        ([1, 2], [1, math.inf], ValueError, "y of s holds inf at [1]; expected finite numbers only"),
        ([1, 0], [1, 2], ValueError, "x of s holds 0; expected positive numbers on a logarithmic axis"),
        ([1, 2], [1, 2j], TypeError, "y of s has dtype complex128; expected real numbers or booleans"),
    ],
)  # fmt: skip
def test_points_that_have_no_place_are_refused(x, y, error, message):
    with pytest.raises(error) as caught:
        chart(Series("s", x, y))
    assert str(caught.value) == message
