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
from tests.figures.drawing import assert_readable, distance, named, numbers, paint, shapes, told

IN_SPACE = [
    Points("corners", [[0, 0, 0], [2, 0, 0], [2, 1, 0], [0.5, 1, 0.25]], list("ABCD"), "value", outlined=True),
    Points("outputs", [[1, 0.5, 1], [0, 0, 3]], [77, "y2"], "output"),
]  # fmt: skip
IN_A_PLANE = [
    Points("above", [[1, 0], [0, 1]], ["p1", "p2"], "query"),
    Points("below", [[1, 0], [0, 1], [2.5, 1]], ["q1", "q2", "q3"], "key", outlined=True),
]


def space():
    return figure(scatter_3d("Space", ("east", "north", "up"), IN_SPACE, (2, 1, 3)), "Space")


def plane():
    return figure(scatter_2d("Plane", ("east", "north"), IN_A_PLANE, (3, 1)), "Plane")


def spot(marker):
    """Return the point that a marker stands on."""
    return np.array(numbers(marker.attributes["transform"]))


def markers_of(picture):
    return [s for s in shapes(picture) if s.tip]


def dashed(picture, dashes):
    return [s for s in shapes(picture) if s.attributes.get("stroke-dasharray") == dashes]


def assert_joined(lines, ends):
    """Assert that lines lead from one point to another."""
    for line, pair in zip(lines, ends, strict=True):
        np.testing.assert_allclose(line.corners, pair, atol=0.2)


@pytest.mark.parametrize(
    ("picture", "sets", "ticks"),
    [
        (
            space(),
            IN_SPACE,
            {"east": [(i, 0, 0) for i in range(3)], "north": [(2, i, 0) for i in range(2)], "up": [(0, 0, i) for i in range(4)]},
        ),
        (plane(), IN_A_PLANE, {"east": [(i, 0) for i in range(4)], "north": [(0, i) for i in range(2)]}),
    ],
    ids=["space", "plane"],
)  # fmt: skip
def test_points_are_readable_and_given_back(picture, sets, ticks):
    assert_readable(picture)
    markers = markers_of(picture)
    places = np.concatenate([points.places for points in sets])
    spots = np.array([spot(marker) for marker in markers])
    # One linear map leads from coordinates to the paper.
    extended = np.c_[places, np.ones(len(places))]
    on_paper = np.linalg.lstsq(extended, spots, rcond=None)[0]
    np.testing.assert_allclose(extended @ on_paper, spots, atol=0.11)
    for name, along in ticks.items():
        tick_spots = np.c_[along, np.ones(len(along))] @ on_paper
        assert min(distance(named(picture, name)[0], place) for place in tick_spots) < 60
        for i, place in enumerate(tick_spots):
            if name != "up" or i:
                assert min(distance(s, place) for s in named(picture, str(i))) < 20
    described = [(points, *one) for points in sets for one in zip(points.places, points.labels, strict=True)]  # fmt: skip
    for marker, (points, place, label) in zip(markers, described, strict=True):
        (text,) = named(picture, str(label))
        assert distance(text, spot(marker)) < 20
        assert marker.tip == f"{label}: " + ", ".join(map(number, place))
        ink = marker.attributes["fill" if marker.filled else "stroke"]
        assert text.attributes["fill"] == ink == paint(points.role)


def test_points_that_are_outlined_are_joined():
    for picture, outlined in ((space(), slice(4)), (plane(), slice(2, 5))):
        spots = [spot(marker) for marker in markers_of(picture)][outlined]
        assert_joined(dashed(picture, "4 3"), combinations(spots, 2))


def test_points_of_space_stand_over_the_floor():
    # The second point of the second set stands three units above the first of the first.
    origin, *_, above = map(spot, markers_of(space()))
    assert_joined(dashed(space(), "2 2")[-1:], [(above, origin)])


def test_legend_shows_the_markers_of_each_set():
    kinds = [Points(name, [[i, 0, 0]], [name.upper()], "key") for i, name in enumerate("abcd")]
    picture = figure(scatter_3d("Space", "xyz", kinds, (4, 1, 1)), "Space")
    drawn = [s for s in shapes(picture) if s.kind == "path" and "transform" in s.attributes]
    points, legend = drawn[:4], drawn[4:]
    looks = [marker.attributes["d"] for marker in legend]
    assert len(set(looks)) == 4
    assert looks == [marker.attributes["d"] for marker in points]
    for name, marker in zip("abcd", legend, strict=True):
        assert distance(named(picture, name)[0], spot(marker)) < 20


def test_equal_points_of_a_plane_are_both_visible():
    ring, _, inner, *_ = markers_of(plane())
    np.testing.assert_array_equal(spot(ring), spot(inner))
    assert (ring.filled, inner.filled) == (False, True)
    reach = np.abs(inner.corners - spot(inner)).max()
    assert (ring.box[2] - ring.box[0]) / 2 > reach


def test_projection_keeps_the_proportions_of_space():
    # Gauss: as complex numbers, the images of three equal, perpendicular axes have squares that add
    # up to zero.
    axes = projected(np.eye(3))
    assert np.sum((axes[:, 0] + 1j * axes[:, 1]) ** 2) == pytest.approx(0, abs=1e-8)


def test_space_is_described_in_words():
    assert told(space())[1] == (
        "Space. corners: A (0, 0, 0); B (2, 0, 0); C (2, 1, 0); D (0.5000, 1, 0.2500). "
        "outputs: 77 (1, 0.5000, 1); y2 (0, 0, 3)."
    )


def test_points_are_data_for_the_script_of_the_page():
    found = json.loads(unescape(re.search(r'data-points="([^"]*)"', space())[1]))
    corners, outputs = (points._asdict() for points in IN_SPACE)
    outputs["labels"] = ["77", "y2"]
    assert found == {"axes": ["east", "north", "up"], "sets": [corners, outputs]}


@pytest.mark.parametrize(
    ("places", "labels", "message"),
    [
        ([[1, 2]], ["a"], "outputs has shape (1, 2); expected (n, 3)"),
        ([[0, 0, 1e308]], ["a"], "outputs, drawn, holds -inf at [0, 1]; expected products that fit float64"),
        ([[1, 2, 3]], ["a", "b"], "labels of outputs is ['a', 'b']; expected 1 labels"),
    ],
)  # fmt: skip
def test_points_that_do_not_fit_are_refused(places, labels, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        scatter_3d("s", "xyz", [Points("outputs", places, labels, "output")], (1, 1, 1))
