"""Line charts: the numbers can be read back from lines, markers and ticks."""

import math
import re

import numpy as np
import pytest

from attention_docs.render.figures import Axis, Series, figure, line_chart
from attention_docs.render.numbers import number
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

D = Axis("d", (1, 10, 100), logarithmic=True)
VARIANCE = Axis("variance", (0, 5, 10))


def chart(*series, x=D, y=VARIANCE, name="Growth"):
    return figure(line_chart(name, x, y, series), "c")


def lines_of(picture):
    return [s for s in shapes(picture) if s.attributes.get("stroke-width") == "1.8"]


def markers_of(picture):
    return [s for s in shapes(picture) if s.tooltip]


def assert_shows_series(picture, x, y, series):
    """Assert that a chart with these axes gives back the points of its series."""
    grid = [s for s in shapes(picture) if s.attributes.get("stroke-opacity") == "0.25"]
    down = left_to_right(s for s in grid if np.ptp(s.corners[:, 0]) == 0)
    across = top_to_bottom(s for s in grid if np.ptp(s.corners[:, 1]) == 0)[::-1]
    left, bottom = down[0].box[0], across[0].box[1]
    x_labels = left_to_right(s for s in horizontal_texts(picture) if 0 < s.centre[1] - bottom < 16)
    y_labels = top_to_bottom(s for s in horizontal_texts(picture) if s.box[2] < left)[::-1]
    x_of = axis_map(x, [s.centre[0] for s in down], [s.centre[0] for s in x_labels], x_labels)
    y_of = axis_map(y, [s.centre[1] for s in across], [s.centre[1] for s in y_labels], y_labels)
    lines, markers = iter(lines_of(picture)), iter(markers_of(picture))
    for curve in series:
        places = [(x_of(a), y_of(b / y.unit)) for a, b in zip(curve.x, curve.y, strict=True)]
        if curve.line:
            line = next(lines)
            np.testing.assert_allclose(line.corners, places, atol=0.6)
            assert (line.attributes["stroke"], line.is_filled) == (colour_of(curve.role), False)
        for place, a, b in zip(places, curve.x, curve.y, strict=True) if curve.points else ():
            marker = next(markers)
            np.testing.assert_allclose(numbers(marker.attributes["transform"]), place, atol=0.6)
            assert marker.tooltip == f"{curve.name}: {number(b / y.unit)} at {number(a)}"
            assert marker.attributes["fill"] == colour_of(curve.role)
    assert not [*lines, *markers]


def axis_map(axis, lines, places, labels):
    """Return the function from a number to its position on paper, fitted to the ticks."""
    assert [float(s.text) for s in labels] == list(axis.ticks)
    np.testing.assert_allclose(places, lines, atol=0.2)
    measure = math.log if axis.logarithmic else float
    slope, start = np.polyfit([measure(tick) for tick in axis.ticks], lines, 1)
    return lambda value: start + slope * measure(value)


@pytest.mark.parametrize("y", [VARIANCE, VARIANCE._replace(ticks=(0, 5e-6, 1e-5), unit=1e6)])
def test_points_can_be_read_back(y):
    series = [
        Series("s", [1, 10, 100, 31.6227766], [0, 2.5, 10, 5], points=True),
        Series("t", [1, 100], [0, 10], "query", line=False, points=True),
        Series("", [1, 100], [5, 5], "key"),
    ]
    picture = chart(*series, y=y)
    assert_readable(picture)
    assert_shows_series(picture, D, y, series)
    assert all(with_text(picture, text) for text in ("Growth", "d", "variance"))
    assert [s.attributes["fill"] for s in with_text(picture, "t")] == [colour_of("query")]


def test_points_can_be_read_back_from_logarithmic_axes():
    slope = Axis("slope", (1e-8, 1e-4, 1), logarithmic=True)
    series = [Series("s", [1, 50, 100], [1, 1e-3, 1e-8])]
    assert_shows_series(chart(*series, y=slope), D, slope, series)


def test_lines_differ_in_dashes_and_markers():
    picture = chart(*(Series(name, [1, 100], [i, i], points=True) for i, name in enumerate("abcd")))
    dashes = {s.attributes.get("stroke-dasharray") for s in lines_of(picture)}
    markers = {s.attributes["d"] for s in markers_of(picture)}
    assert len(dashes) == len(markers) == 4


def test_crowded_labels_keep_the_order_of_lines():
    ends = {"low": 5.0, "high": 5.2, "far": 10.0, "lowest": 4.9}
    picture = chart(*(Series(name, [1, 100], [0, end]) for name, end in ends.items()))
    assert_readable(picture)
    lines = dict(zip(ends, lines_of(picture), strict=True))
    names = top_to_bottom(with_text(picture, name)[0] for name in ends)
    assert [s.text for s in names] == ["far", "high", "low", "lowest"]
    for shape in names:
        # Each other name may push it up by one line.
        x, y = lines[shape.text].corners[-1]
        assert 0 < shape.box[0] - x < 16
        assert -0.6 < y - shape.centre[1] < 16 * len(ends)


def test_long_names_fit_into_the_drawing():
    for length in (46, 90):
        assert_readable(chart(Series("s", [1, 100], [0, 10]), name=length * "t"))
    assert_readable(chart(Series(60 * "t", [1, 100], [0, 10])))


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
    for written in ("1.0e-08", "0.0001", "0.1", "0.25", "2.5", "10", "100"):
        assert with_text(picture, written)


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([1, 2], [1], "s has y of shape (1,); expected (2,) to match its x"),
        ([], [], "s has no points; expected one or more"),
        ([1, 2], [1, math.inf], "y of s holds inf at [1]; expected finite numbers only"),
        ([1, 0], [1, 2], "x of s holds 0; expected positive numbers on a logarithmic axis"),
    ],
)
def test_invalid_points_are_refused(x, y, message):
    with pytest.raises((TypeError, ValueError), match=f"^{re.escape(message)}$"):
        chart(Series("s", x, y))
