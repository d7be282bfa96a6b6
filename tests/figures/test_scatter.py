"""Points in space under a ruler: each stands where the projection puts it."""

import json
import math
import re
from html import unescape
from itertools import combinations

import numpy as np
import pytest

from attention_docs.render.figures import Points, figure, scatter_3d
from attention_docs.render.figures.scatter import projected
from attention_docs.render.figures.svg import ROLES
from tests.figures.drawing import named, numbers, shapes, size, told

SETS = [
    Points("corners", [[0, 0, 0], [2, 0, 0], [2, 1, 0], [0.5, 1, 0.25]], list("ABCD"), "value", outlined=True),
    Points("outputs", [[1, 0.5, 1], [0, 0, 3]], ["y1", "y2"], "output"),
]  # fmt: skip


@pytest.fixture
def space():
    return figure(scatter_3d("Space", ("east", "north", "up"), SETS, (2, 1, 3)), "Space")


def test_the_projection_keeps_lengths_in_planes_that_face_the_eye():
    # Gauss: three equal, perpendicular axes, seen in parallel, have squares that add up to zero in
    # the plane of complex numbers; and twice the unit's square in lengths.
    axes = projected(np.eye(3)) / 100
    complex_axes = axes[:, 0] + 1j * axes[:, 1]
    assert np.sum(complex_axes**2) == pytest.approx(0, abs=1e-12)
    assert np.sum(axes**2) == pytest.approx(2)
    assert axes[0, 0] > 0
    assert axes[0, 1] > 0
    assert axes[1, 0] > 0
    assert axes[1, 1] < 0
    assert axes[2].tolist() == pytest.approx([0, -math.cos(math.radians(25))])


def on_paper(place, origin, right=0, down=0):
    return projected(np.array([place], dtype=float))[0] + origin + np.array([right, down])


def origin_of(picture):
    """Return where the point A stands, which is the origin."""
    (marker,) = [shape for shape in shapes(picture) if shape.tip == "A: 0, 0, 0"]
    return np.array(numbers(marker.attributes["transform"]))


def test_points_in_space_stand_over_their_places_on_the_floor(space):
    origin = origin_of(space)
    markers = {s.tip: s for s in shapes(space) if s.tip}
    assert list(markers) == [
        "A: 0, 0, 0",
        "B: 2, 0, 0",
        "C: 2, 1, 0",
        "D: 0.5000, 1, 0.2500",
        "y1: 1, 0.5000, 1",
        "y2: 0, 0, 3",
    ]
    drops = [s for s in shapes(space) if s.attributes.get("stroke-dasharray") == "2 2"]
    assert {drop.attributes["stroke-opacity"] for drop in drops} == {"0.6"}
    for (tip, marker), drop in zip(markers.items(), drops, strict=True):
        place = [float(number) for number in tip.partition(": ")[2].split(", ")]
        at, ground = on_paper(place, origin), on_paper([*place[:2], 0], origin)
        np.testing.assert_allclose(numbers(marker.attributes["transform"]), at, atol=0.1)
        np.testing.assert_allclose(drop.corners, [at, ground], atol=0.11)
        assert marker.attributes["fill"] == ROLES["output" if tip[0] == "y" else "value"]
    kinds = [marker.attributes["d"] for marker in markers.values()]
    assert len(set(kinds[:4])) == len(set(kinds[4:])) == 1
    assert kinds[0] != kinds[4]


def test_names_of_points_stand_to_another_side_for_each_kind(space):
    origin = origin_of(space)
    (a,), (first,) = named(space, "A"), named(space, "y1")
    x, y = on_paper([0, 0, 0], origin)
    assert (a.box[2], a.centre[1]) == pytest.approx((x - 8, y - 8), abs=0.1)
    x, y = on_paper([1, 0.5, 1], origin)
    assert (first.box[0], first.centre[1]) == pytest.approx((x + 8, y - 7), abs=0.1)
    assert (a.attributes["fill"], first.attributes["fill"]) == (ROLES["value"], ROLES["output"])


def test_the_floor_has_a_line_at_each_whole_number(space):
    origin = origin_of(space)
    thin = [s.corners for s in shapes(space) if s.attributes.get("stroke-opacity") == "0.3"]
    ends = [((x, 0, 0), (x, 1, 0)) for x in (0, 1, 2)] + [((0, y, 0), (2, y, 0)) for y in (0, 1)]
    np.testing.assert_allclose(
        thin, [[on_paper(place, origin) for place in pair] for pair in ends], atol=0.11
    )
    (upright,) = [
        s
        for s in shapes(space)
        if s.attributes.get("stroke-opacity") == "0.6" and "stroke-dasharray" not in s.attributes
    ]
    np.testing.assert_allclose(
        upright.corners, [on_paper((0, 0, 0), origin), on_paper((0, 0, 3), origin)], atol=0.11
    )


def test_ticks_of_space_stand_beside_their_places(space):
    origin = origin_of(space)
    small = [s for s in shapes(space) if s.attributes.get("font-size") == "10"]
    assert [s.text for s in small] == ["1", "2", "3", "0", "1", "2", "0", "1"]
    up, near, right = small[:3], small[3:6], small[6:]
    for z, tick in enumerate(up, 1):
        x, y = on_paper((0, 0, z), origin)
        assert (tick.box[2], tick.centre[1]) == pytest.approx((x - 6, y), abs=0.02)
    for i, tick in enumerate(near):
        assert tick.centre == pytest.approx(on_paper((i, 0, 0), origin, -8, 10), abs=0.12)
    for i, tick in enumerate(right):
        assert tick.centre == pytest.approx(on_paper((2, i, 0), origin, 10, 6), abs=0.12)
    (east,), (north,), (height,) = (named(space, name) for name in ("east", "north", "up"))
    assert east.centre == pytest.approx(on_paper((1, 0, 0), origin, -16, 26), abs=0.12)
    x, y = on_paper((2, 0.5, 0), origin, 22, 18)
    assert (north.box[0], north.centre[1]) == pytest.approx((x, y), abs=0.12)
    assert height.centre == pytest.approx(on_paper((0, 0, 3), origin, 0, -16), abs=0.12)
    assert {s.attributes["font-size"] for s in (east, north, height)} == {"11"}


def sides(picture):
    return [s for s in shapes(picture) if s.kind == "path" and "fill-opacity" in s.attributes]


def edges(picture):
    return [s for s in shapes(picture) if s.attributes.get("stroke-dasharray") == "4 3"]


def test_an_outline_joins_the_points_of_its_set_and_no_other(space):
    origin = origin_of(space)
    faces, pairs = (list(combinations(SETS[0].places, count)) for count in (3, 2))
    for side, face in zip(sides(space), faces, strict=True):
        np.testing.assert_allclose(
            side.corners, [on_paper(place, origin) for place in (*face, face[0])], atol=0.11
        )
        assert side.attributes["fill"] == ROLES["value"]
        assert side.attributes["fill-opacity"] == "0.06"
        assert "stroke" not in side.attributes
    for edge, pair in zip(edges(space), pairs, strict=True):
        np.testing.assert_allclose(
            edge.corners, [on_paper(place, origin) for place in pair], atol=0.11
        )
        assert edge.attributes["stroke"] == ROLES["value"]
        assert edge.attributes["stroke-opacity"] == "0.7"


def test_three_points_have_one_side_with_a_stronger_fill():
    three = [Points("p", [[0, 0, 0], [2, 0, 1], [0, 2, 1]], list("ABC"), "key", outlined=True)]
    picture = figure(scatter_3d("s", "xyz", three, (2, 2, 1)), "s")
    (side,) = sides(picture)
    assert side.attributes["fill-opacity"] == "0.12"
    assert len(edges(picture)) == 3


def test_space_has_a_title_a_legend_and_words(space):
    (title,) = named(space, "Space")
    legend = [
        s for s in shapes(space) if s.kind == "path" and not s.tip and s.attributes.get("transform")
    ]
    (corners,), (outputs,) = named(space, "corners"), named(space, "outputs")
    assert title.attributes["font-weight"] == "bold"
    assert title.centre == pytest.approx(((size(space)[0] - 2) / 2, 8), abs=0.6)
    for marker, text, points in zip(legend, (corners, outputs), SETS, strict=True):
        x, y = numbers(marker.attributes["transform"])
        assert (text.box[0], text.centre[1]) == pytest.approx((x + 10, y), abs=0.01)
        assert marker.attributes["fill"] == ROLES[points.role]
    assert [s.attributes["d"] for s in legend] == [
        [s for s in shapes(space) if s.tip][i].attributes["d"] for i in (0, 4)
    ]
    assert numbers(legend[0].attributes["transform"])[0] == 20
    assert numbers(legend[1].attributes["transform"])[0] == 20 + 28 + 7 * 7
    assert told(space) == (
        "Space. corners: A (0, 0, 0); B (2, 0, 0); C (2, 1, 0); D (0.5000, 1, 0.2500). "
        "outputs: y1 (1, 0.5000, 1); y2 (0, 0, 3)."
    )


def test_space_hands_its_points_to_the_page(space):
    found = json.loads(unescape(re.search(r'data-points="([^"]*)"', space)[1]))
    assert found["axes"] == ["east", "north", "up"]
    assert [one["name"] for one in found["sets"]] == ["corners", "outputs"]
    assert found["sets"][1] == {
        "name": "outputs",
        "places": [[1.0, 0.5, 1.0], [0.0, 0.0, 3.0]],
        "labels": ["y1", "y2"],
        "role": "output",
        "outlined": False,
    }


def test_points_may_be_named_by_numbers():
    picture = figure(
        scatter_3d("s", "xyz", [Points("p", [[0, 0, 0]], [77], "key")], (1, 1, 1)), "s"
    )
    assert named(picture, "77")


@pytest.mark.parametrize(
    ("places", "labels", "message"),
    [
        ([1, 2, 3], ["a"], "outputs has shape (3,); expected (n, 3)"),
        ([[1, 2]], ["a"], "outputs has shape (1, 2); expected (n, 3)"),
        ([[1, 2, np.inf]], ["a"], "outputs holds inf at [0, 2]; expected finite numbers only"),
        (
            [[0, 0, 1e308]],
            ["a"],
            "outputs, drawn, holds -inf at [0, 1]; expected products that fit float64",
        ),
        ([[1, 2, 3]], ["a", "b"], "labels of outputs is ['a', 'b']; expected 1 labels"),
    ],
)
def test_points_that_do_not_fit_are_refused(places, labels, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        scatter_3d("s", "xyz", [Points("outputs", places, labels, "output")], (1, 1, 1))


@pytest.mark.parametrize("reach", [(2, 1, 3), (1, 3, 2)])
def test_space_has_its_axes_in_the_middle_of_the_paper(reach):
    few = [Points("p", [[0, 0, 0]], ["A"], "key")]
    picture = figure(scatter_3d("s", "xyz", few, reach), "s")
    corners = [(x, y, z) for x in (0, reach[0]) for y in (0, reach[1]) for z in (0, reach[2])]
    places = np.array([on_paper(corner, origin_of(picture)) for corner in corners])
    width, height = size(picture)
    assert places.min(axis=0) == pytest.approx([40, 32], abs=0.1)
    assert places.max(axis=0) == pytest.approx([width - 42, height - 58], abs=0.6)


def test_a_fifth_kind_of_points_looks_like_the_first_again():
    kinds = [Points(name, [[i, 0, 0]], [name.upper()], "key") for i, name in enumerate("abcde")]
    picture = figure(scatter_3d("s", "xyz", kinds, (5, 1, 1)), "s")
    markers = [shape.attributes["d"] for shape in shapes(picture) if shape.tip]
    assert len(set(markers[:4])) == 4
    assert markers[4] == markers[0]
    for (text,), marker in zip((named(picture, name) for name in "ABCDE"), "lrmml", strict=True):
        assert text.attributes["text-anchor"][0] == {"l": "e", "r": "s", "m": "m"}[marker]
