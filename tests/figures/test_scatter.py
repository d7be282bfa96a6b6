"""Points in a plane and in space: read by lines and ticks, they give back coordinates."""

import json
import re
from html import unescape
from itertools import combinations

import numpy as np
import pytest

from attention_docs.render.figures import Points, figure, scatter_2d, scatter_3d
from attention_docs.render.figures.scatter import projected
from attention_docs.render.numbers import number
from tests.figures.drawing import assert_readable, named, numbers, paint, shapes, told

SETS = [
    Points("corners", [[0, 0, 0], [2, 0, 0], [2, 1, 0], [0.5, 1, 0.25]], list("ABCD"), "value", outlined=True),
    Points("outputs", [[1, 0.5, 1], [0, 0, 3]], ["y1", "y2"], "output"),
]  # fmt: skip


IN_A_PLANE = [
    Points("above", [[1, 0], [0, 1]], ["p1", "p2"], "query"),
    Points("below", [[1, 0], [0, 1], [2.5, 1]], ["q1", "q2", "q3"], "key", outlined=True),
]


def spot(marker):
    """Return the point that a marker stands on."""
    return np.array(numbers(marker.attributes["transform"]))


def dashed(picture, dashes):
    return [s for s in shapes(picture) if s.attributes.get("stroke-dasharray") == dashes]


def distance(shape, point):
    """Return how far a text is from a point."""
    left, top, right, bottom = shape.box
    return np.hypot(*(np.clip(point, (left, top), (right, bottom)) - point))


def assert_shows_points(picture, name, axes, sets, size):
    """Assert that points in space with these arguments can be read back."""
    origin, basis = assert_axes(picture, axes, size)
    markers = [s for s in shapes(picture) if s.tip]
    drops = iter(dashed(picture, "2 2"))
    for points in sets:
        mine, markers = markers[: len(points.places)], markers[len(points.places) :]
        assert len({s.attributes["d"] for s in mine}) == 1
        for marker, place, text in zip(mine, points.places, points.labels, strict=True):
            top, ground = next(drops).corners
            np.testing.assert_allclose(spot(marker), top, atol=0.11)
            # The foot of its line gives x and y; the line's length gives z.
            floor = np.linalg.solve(basis[:2].T, ground - origin)
            np.testing.assert_allclose([*floor, (ground - top)[1] / -basis[2, 1]], place, atol=0.01)
            assert marker.tip == f"{text}: " + ", ".join(map(number, place))
            assert marker.attributes["fill"] == paint(points.role)
            words = [s for s in named(picture, text) if distance(s, top) < 20]
            assert {s.attributes["fill"] for s in words} == {paint(points.role)}
        if points.outlined:
            assert_outline(picture, [spot(marker) for marker in mine], paint(points.role))
    assert not markers
    assert bool(dashed(picture, "4 3")) == any(points.outlined for points in sets)
    title = min((s for s in shapes(picture) if s.text), key=lambda s: s.centre[1])
    assert (title.text, title.attributes["font-weight"]) == (name, "bold")
    assert_legend_of_markers(picture, sets)


def assert_shows_plane(picture, name, axes, sets, size):
    """Assert that points in a plane with these arguments can be read back."""
    thin = [s.corners for s in shapes(picture) if s.attributes.get("stroke-opacity") == "0.3"]
    (left, top), (right, bottom) = np.min(thin, axis=(0, 1)), np.max(thin, axis=(0, 1))
    origin, unit = np.array([left, bottom]), np.array([right - left, top - bottom]) / size
    assert unit[0] == -unit[1]  # a distance is as long in every direction
    lines = [((x, 0), (x, size[1])) for x in range(size[0] + 1)]
    lines += [((0, y), (size[0], y)) for y in range(size[1] + 1)]
    np.testing.assert_allclose(thin, origin + np.array(lines) * unit, atol=0.11)
    ticks = [s for s in shapes(picture) if s.text and s.text.isdigit()]
    below, beside = (
        [s for s in ticks if s.centre[1] > bottom],
        [s for s in ticks if s.box[2] < left],
    )
    for along, axis in ((below, 0), (beside, 1)):
        read = [(s.centre[axis] - origin[axis]) / unit[axis] for s in along]
        assert [int(s.text) for s in along] == list(range(size[axis] + 1))
        np.testing.assert_allclose(read, range(size[axis] + 1), atol=0.01)
    (across,), (up,) = named(picture, axes[0]), named(picture, axes[1])
    assert left < across.centre[0] < right
    assert across.box[1] > bottom
    assert up.box[2] < left
    assert top < up.centre[1] < bottom
    markers = [s for s in shapes(picture) if s.tip]
    for points in sets:
        mine, markers = markers[: len(points.places)], markers[len(points.places) :]
        for marker, place, text in zip(mine, points.places, points.labels, strict=True):
            np.testing.assert_allclose((spot(marker) - origin) / unit, place, atol=0.01)
            assert marker.tip == f"{text}: " + ", ".join(map(number, place))
            (word,) = named(picture, text)
            assert distance(word, spot(marker)) < 20
            assert word.attributes["fill"] == ink(marker) == paint(points.role)
        if points.outlined:
            assert_outline(picture, [spot(marker) for marker in mine], paint(points.role))
    assert not markers
    assert bool(dashed(picture, "4 3")) == any(points.outlined for points in sets)
    title = min((s for s in shapes(picture) if s.text), key=lambda s: s.centre[1])
    assert (title.text, title.attributes["font-weight"]) == (name, "bold")
    assert_legend_of_markers(picture, sets)


def ink(marker):
    """Return the colour of a marker, which is a ring or filled."""
    return marker.attributes["fill" if marker.filled else "stroke"]


def assert_axes(picture, axes, size):
    """Assert that whole numbers have ticks and lines; return the origin and the three units."""
    thin = [s.corners for s in shapes(picture) if s.attributes.get("stroke-opacity") == "0.3"]
    (upright,) = [
        s.corners
        for s in shapes(picture)
        if s.attributes.get("stroke-opacity") == "0.6" and "stroke-dasharray" not in s.attributes
    ]
    origin, top = upright
    assert top[0] == origin[0]
    assert top[1] < origin[1]
    from_origin = [end for start, end in thin if np.allclose(start, origin, atol=0.11)]
    # The first axis leads to the near edge's end, which is the lower one.
    first, second = sorted(from_origin, key=lambda end: -end[1])
    basis = np.array([first, second, top]) - origin
    basis /= np.array(size)[:, None]
    lines = [((x, 0), (x, size[1])) for x in range(size[0] + 1)]
    lines += [((0, y), (size[0], y)) for y in range(size[1] + 1)]
    np.testing.assert_allclose(thin, origin + np.array(lines) @ basis[:2], atol=0.25)
    ticks = [s for s in shapes(picture) if s.text and s.text.isdigit()]
    places = [
        *((i, (i, 0, 0)) for i in range(size[0] + 1)),
        *((i, (size[0], i, 0)) for i in range(size[1] + 1)),
        *((i, (0, 0, i)) for i in range(1, size[2] + 1)),
    ]
    assert len(ticks) == len(places)
    for i, place in places:
        point = origin + np.array(place) @ basis
        assert any(tick.text == str(i) and distance(tick, point) < 20 for tick in ticks)
    middles = [(size[0] / 2, 0, 0), (size[0], size[1] / 2, 0), (0, 0, size[2])]
    for text, place in zip(axes, middles, strict=True):
        (word,) = named(picture, text)
        assert distance(word, origin + np.array(place) @ basis) < 40
    return origin, basis


def assert_outline(picture, corners, colour):
    """Assert that the points of a set are joined by edges, and the sides between them filled."""
    sides = [s for s in shapes(picture) if "fill-opacity" in s.attributes]
    edges = dashed(picture, "4 3")
    assert {s.attributes["fill"] for s in sides} == {colour}
    assert {s.attributes["stroke"] for s in edges} == {colour}
    for drawn, count in ((sides, 3), (edges, 2)):
        for shape, ends in zip(drawn, combinations(corners, count), strict=True):
            np.testing.assert_allclose(shape.corners[:count], ends, atol=0.11)


def assert_legend_of_markers(picture, sets):
    """Assert that the legend shows the marker and the name of each set."""
    markers = [
        s for s in shapes(picture) if s.kind == "path" and not s.tip and "transform" in s.attributes
    ]
    drawn = iter([s for s in shapes(picture) if s.tip])
    for marker, points in zip(markers, sets, strict=True):
        first, *_ = (next(drawn) for _ in points.places)
        assert marker.attributes["d"] == first.attributes["d"]
        assert ink(marker) == paint(points.role)
        (text,) = named(picture, points.name)
        assert text.box[0] > marker.box[2]
        assert distance(text, spot(marker)) < 20


def space(sets=SETS, size=(2, 1, 3)):
    return figure(scatter_3d("Space", ("east", "north", "up"), sets, size), "Space")


@pytest.mark.parametrize(
    ("sets", "size"),
    [
        (SETS, (2, 1, 3)),
        ([Points("p", [[0, 0, 0], [2, 0, 1], [0, 2, 1]], [7, 8, 9], "key", True)], (2, 2, 1)),
        ([Points("p", [[0, 0, 0]], ["A"], "key")], (1, 3, 2)),
    ],
    ids=["tetrahedron", "triangle", "point"],
)
def test_space_gives_back_its_points(sets, size):
    sets = [points._replace(labels=[f"{text}'" for text in points.labels]) for points in sets]
    picture = space(sets, size)
    assert_readable(picture)
    assert_shows_points(picture, "Space", ("east", "north", "up"), sets, size)


def plane(sets=IN_A_PLANE, size=(3, 1)):
    return figure(scatter_2d("Plane", ("east", "north"), sets, size), "Plane")


@pytest.mark.parametrize(
    ("sets", "size"), [(IN_A_PLANE, (3, 1)), (IN_A_PLANE[:1], (1, 1))], ids=["two sets", "one"]
)
def test_plane_gives_back_its_points(sets, size):
    picture = plane(sets, size)
    assert_readable(picture)
    assert_shows_plane(picture, "Plane", ("east", "north"), sets, size)


def test_equal_points_of_a_plane_are_both_visible():
    markers = [s for s in shapes(plane()) if s.tip]
    ring, inner = markers[0], markers[2]
    np.testing.assert_array_equal(spot(ring), spot(inner))
    assert not ring.filled
    assert inner.filled
    reach = np.abs(np.array([*inner.corners]) - spot(inner)).max()
    assert (ring.box[2] - ring.box[0]) / 2 > reach


def test_projection_keeps_the_proportions_of_space():
    # Gauss: as complex numbers, the images of three equal, perpendicular axes have squares that add
    # up to zero.
    axes = projected(np.eye(3))
    assert np.sum((axes[:, 0] + 1j * axes[:, 1]) ** 2) == pytest.approx(0, abs=1e-8)


def test_space_is_described_in_words():
    assert told(space()) == (
        "Space. corners: A (0, 0, 0); B (2, 0, 0); C (2, 1, 0); D (0.5000, 1, 0.2500). "
        "outputs: y1 (1, 0.5000, 1); y2 (0, 0, 3)."
    )


def test_points_are_data_for_the_script_of_the_page():
    found = json.loads(unescape(re.search(r'data-points="([^"]*)"', space())[1]))
    assert found["axes"] == ["east", "north", "up"]
    assert [one["name"] for one in found["sets"]] == ["corners", "outputs"]
    assert found["sets"][1] == {
        "name": "outputs",
        "places": [[1.0, 0.5, 1.0], [0.0, 0.0, 3.0]],
        "labels": ["y1", "y2"],
        "role": "output",
        "outlined": False,
    }


def test_labels_may_be_numbers():
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


def test_points_of_space_are_refused_in_a_plane():
    with pytest.raises(ValueError, match=r"^above has shape \(1, 3\); expected \(n, 2\)$"):
        plane([Points("above", [[1, 0, 2]], ["A"], "query")])


def test_four_kinds_of_points_have_markers_of_their_own():
    kinds = [Points(name, [[i, 0, 0]], [name.upper()], "key") for i, name in enumerate("abcde")]
    markers = [shape.attributes["d"] for shape in shapes(space(kinds, (5, 1, 1))) if shape.tip]
    assert len(set(markers)) == len(set(markers[:4])) == 4
