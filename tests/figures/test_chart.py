"""A chart under a ruler: measured by its ticks, it gives back its numbers."""

import math
import re

import numpy as np
import pytest

from attention_docs.render.figures import Axis, Series, figure, line_chart
from attention_docs.render.figures.svg import ROLES
from tests.figures.drawing import named, shapes, size, told


def chart(*series, x=None, y=None, name="Growth"):
    x = x or Axis("d", (1, 10, 100), logarithmic=True)
    return figure(line_chart(name, x, y or Axis("variance", (0, 5, 10)), series), "c")


def ruler(picture, ticks):
    """Return where the ticks of the x axis stand."""
    return [named(picture, tick)[0].centre[0] for tick in ticks]


def test_a_chart_measured_by_its_ticks_gives_back_the_numbers():
    picture = chart(Series("s", [1, 10, 100, 31.6227766], [0, 2.5, 10, 5], points=True))
    left, middle, right = ruler(picture, ["1", "10", "100"])
    (five,), (zero,) = named(picture, "5"), named(picture, "0")
    low, high = zero.centre[1], min(ten.centre[1] for ten in named(picture, "10"))
    assert middle - left == pytest.approx(right - middle)
    assert five.centre[1] == pytest.approx((low + high) / 2)
    (line,) = [s for s in shapes(picture) if s.attributes.get("stroke-width") == "1.8"]
    x = 10 ** (2 * (line.corners[:, 0] - left) / (right - left))
    y = 10 * (line.corners[:, 1] - low) / (high - low)
    np.testing.assert_allclose(x, [1, 10, 100, 31.6227766], rtol=5e-3)
    np.testing.assert_allclose(y, [0, 2.5, 10, 5], atol=0.01)
    points = [s for s in shapes(picture) if s.tip]
    assert [s.tip for s in points] == [
        "s: 0 at 1",
        "s: 2.5000 at 10",
        "s: 10 at 100",
        "s: 5 at 31.6228",
    ]
    np.testing.assert_allclose([s.centre for s in points], line.corners, atol=1e-6)


def test_a_chart_has_a_line_at_each_tick_and_names_beside_its_axes():
    picture = chart(Series("s", [1, 100], [0, 10], role="key"))
    across = [s for s in shapes(picture) if s.attributes.get("stroke-opacity") == "0.25"]
    upright, level = across[:3], across[3:]
    top, bottom = 40, 210
    assert [s.box for s in upright] == [(x, top, x, bottom) for x in (46, 166, 286)]
    assert [s.box for s in level] == [(46, y, 286, y) for y in (210, 125, 40)]
    assert {s.attributes["fill"] for s in across} == {"none"}
    assert ruler(picture, ["1", "10", "100"]) == [46, 166, 286]
    heights = [
        (s.text, s.box[2], s.centre[1])
        for s in shapes(picture)
        if s.attributes.get("text-anchor") == "end"
    ]
    assert heights == [("0", 40, 210), ("5", 40, 125), ("10", 40, 40)]
    ticks = [s for text in ("1", "10", "100", "0", "5") for s in named(picture, text)]
    assert {s.attributes["font-size"] for s in ticks} == {"11"}
    assert {s.centre[1] for s in named(picture, "1") + named(picture, "100")} == {220}
    (name,), (d,), (variance,) = (named(picture, text) for text in ("Growth", "d", "variance"))
    assert name.centre == pytest.approx((166, 8))
    assert name.attributes["font-weight"] == "bold"
    assert d.centre == pytest.approx((166, 242))
    assert variance.centre == pytest.approx((8, 125))
    assert not variance.upright
    (line,), (end,) = (
        [s for s in shapes(picture) if s.attributes.get("stroke-width") == "1.8"],
        named(picture, "s"),
    )
    assert (end.box[0], end.centre[1]) == (296, 40)
    assert end.attributes["fill"] == line.attributes["stroke"] == ROLES["key"]
    assert line.attributes["fill"] == "none"


def test_lines_of_a_chart_differ_in_more_than_colour():
    ends = [Series(name, [1, 100], [i, i], points=True) for i, name in enumerate("abcde")]
    picture = chart(*ends)
    drawn = [s for s in shapes(picture) if s.attributes.get("stroke-width") == "1.8"]
    dashes = [s.attributes.get("stroke-dasharray") for s in drawn]
    assert dashes == [None, "6 3", "2 3", "8 3 2 3", None]
    markers = [s.attributes["d"] for s in shapes(picture) if s.tip][::2]
    assert len(set(markers[:4])) == 4
    assert markers[4] == markers[0]
    line, points, both = (
        Series("l", [1, 100], [1, 2]),
        Series("p", [1, 100], [1, 2], line=False, points=True),
        Series("b", [1, 100], [1, 2], None, True, True),
    )
    drawn = [
        (picture.count('stroke-width="1.8"'), picture.count("<title>"))
        for picture in map(chart, (line, points, both))
    ]
    assert drawn == [(1, 0), (0, 2), (1, 2)]


def test_names_of_lines_are_a_line_apart_in_the_order_of_their_ends():
    picture = chart(
        *[
            Series(name, [1, 100], [0, end])
            for name, end in [("low", 5.0), ("high", 5.2), ("far", 10.0), ("lowest", 4.9)]
        ]
    )
    heights = {name: named(picture, name)[0].centre[1] for name in ("low", "high", "far", "lowest")}
    assert heights["lowest"] == pytest.approx(210 - 170 * 0.49, abs=0.01)
    assert heights["low"] == pytest.approx(heights["lowest"] - 16)
    assert heights["high"] == pytest.approx(heights["low"] - 16)
    assert heights["far"] == 40
    picture = chart(Series("bent", [1, 10, 100], [0, 10, 5]))
    (bent,) = named(picture, "bent")
    assert bent.centre[1] == 125
    assert told(picture).endswith("to 5 at 100.")


def test_a_chart_is_as_wide_as_its_lines_names_and_its_title():
    line = Series("bent", [1, 100], [0, 10])
    assert size(chart(line)) == (46 + 240 + 16 + 28 + 2, 40 + 170 + 40 + 2)
    assert size(chart(line, name=60 * "t"))[0] == 46 + (240 + 420) / 2 + 2


def test_a_line_without_a_name_goes_with_another():
    picture = chart(Series("s", [1, 100], [0, 10]), Series("", [1, 100], [5, 5], "query"))
    assert len([s for s in shapes(picture) if s.attributes.get("stroke-width") == "1.8"]) == 2
    assert told(picture) == "Growth. s: variance goes from 0 at d 1 to 10 at 100."
    two = chart(Series("s", [1, 100], [0, 10]), Series("t", [1, 100], [5, 10], "key", points=True))
    assert told(two).endswith("to 10 at 100. t: variance goes from 5 at d 1 to 10 at 100.")
    assert {s.attributes["fill"] for s in shapes(two) if s.tip} == {ROLES["key"]}


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
def test_a_tick_is_written_as_short_as_it_is_exact(value, written):
    picture = chart(
        Series("s", [0, 1000], [0, 1]), x=Axis("x", (0, value, 1000)), y=Axis("y", (0, 3))
    )
    assert named(picture, written)


@pytest.mark.parametrize(("x", "y"), [([1, 2], [1]), ([[1, 2]], [[1, 2]])])
def test_a_line_needs_as_many_x_as_y(x, y):
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
def test_points_without_a_place_are_refused(x, y, error, message):
    with pytest.raises(error) as caught:
        chart(Series("s", x, y))
    assert str(caught.value) == message
