"""Points in a plane and in space: their coordinates can be read back."""

from itertools import combinations

import numpy as np
import pytest

from attention_docs.render.figures import Points, figure, scatter_2d, scatter_3d
from attention_docs.render.figures.scatter import project_3d
from attention_docs.render.figures.svg import colour
from attention_docs.render.numbers import drawn_number
from tests.figures.drawing import (
    assert_readable,
    distance,
    name_and_description,
    numbers,
    shapes,
    with_text,
)

IN_SPACE = [
    Points("corners", [[0, 0, 0], [2, 0, 0], [2, 1, 0], [0.5, 1, 0.25]], list("ABCD"), "value", outlined=True),
    Points("outputs", [[1, 0.5, 1], [0, 0, 3]], ["77", "y2"], "output"),
]  # fmt: skip
IN_A_PLANE = [
    Points("above", [[1, 0], [0, 1]], ["p1", "p2"], "query"),
    Points("below", [[1, 0], [0, 1], [2.5, 1]], ["q1", "q2", "q3"], "key", outlined=True),
]


def space():
    return scatter_3d("Space", ("east", "north", "up"), IN_SPACE, (2, 1, 3))


def plane():
    return figure(scatter_2d("Plane", ("east", "north"), IN_A_PLANE, (3, 1)), "Plane")


def position_of(marker):
    return np.array(numbers(marker.attributes["transform"]))


def markers_of(picture):
    return [shape for shape in shapes(picture) if shape.tooltip]


each_drawing = pytest.mark.parametrize(
    ("picture", "sets"), [(space(), IN_SPACE), (plane(), IN_A_PLANE)], ids=["space", "plane"]
)


@each_drawing
def test_points_are_drawn_with_labels_and_tooltips(picture, sets):
    assert_readable(picture)
    markers = iter(markers_of(picture))
    for points in sets:
        for label, coordinates in zip(points.labels, points.coordinates, strict=True):
            marker = next(markers)
            (text,) = with_text(picture, str(label))
            assert distance(text, position_of(marker)) < 20
            assert marker.tooltip == f"{label}: " + ", ".join(map(drawn_number, coordinates))
            marker_colour = marker.attributes["fill" if marker.is_filled else "stroke"]
            assert text.attributes["fill"] == marker_colour == colour(points.role)
    assert not list(markers)


@pytest.mark.parametrize(
    ("picture", "sets", "ticks"),
    [
        # Where two axes meet in space, only the first has a tick.
        (space(), IN_SPACE, {
            "east": {0: (0, 0, 0), 1: (1, 0, 0), 2: (2, 0, 0)},
            "north": {1: (2, 1, 0)},
            "up": {1: (0, 0, 1), 2: (0, 0, 2), 3: (0, 0, 3)},
        }),
        (plane(), IN_A_PLANE, {
            "east": {0: (0, 0), 1: (1, 0), 2: (2, 0), 3: (3, 0)},
            "north": {0: (0, 0), 1: (0, 1)},
        }),
    ],
    ids=["space", "plane"],
)  # fmt: skip
def test_ticks_and_axes_are_labelled_at_their_positions(picture, sets, ticks):
    to_paper = fitted_projection(picture, sets)
    for axis, coordinates_of_ticks in ticks.items():
        positions = to_paper(list(coordinates_of_ticks.values()))
        (name,) = with_text(picture, axis)
        assert min(distance(name, position) for position in positions) < 60
        for tick, position in zip(coordinates_of_ticks, positions, strict=True):
            assert min(distance(text, position) for text in with_text(picture, str(tick))) < 20


def fitted_projection(picture, sets):
    """Return the affine map from coordinates to paper, after checking that it fits all markers."""
    coordinates = np.concatenate([points.coordinates for points in sets])
    positions = np.array([position_of(marker) for marker in markers_of(picture)])
    matrix = np.linalg.lstsq(with_ones(coordinates), positions, rcond=None)[0]
    np.testing.assert_allclose(with_ones(coordinates) @ matrix, positions, atol=0.11)
    return lambda coordinates: with_ones(coordinates) @ matrix


def with_ones(coordinates):
    """Append a column of ones, so that a product with a matrix can shift the coordinates."""
    return np.c_[coordinates, np.ones(len(coordinates))]


@each_drawing
def test_outlined_points_are_joined_in_pairs_and_those_in_space_to_the_floor(picture, sets):
    (outlined,) = (points for points in sets if points.outlined)
    to_paper = fitted_projection(picture, sets)
    pairs = combinations(to_paper(outlined.coordinates), 2)
    points = np.concatenate([points.coordinates for points in sets])
    feet = zip(to_paper(points), to_paper(points * [1, 1, 0][: points.shape[1]]), strict=True)
    for dashes, ends in {"4 3": pairs, "2 2": feet if sets is IN_SPACE else ()}.items():
        drawn = shapes(picture)
        lines = [line for line in drawn if line.attributes.get("stroke-dasharray") == dashes]
        for line, pair in zip(lines, ends, strict=True):
            np.testing.assert_allclose(line.corners, pair, atol=0.2)


def test_legend_shows_the_markers_of_each_set():
    sets = [Points(name, [[i, 0, 0]], [name.upper()], "key") for i, name in enumerate("abcd")]
    picture = scatter_3d("Space", "xyz", sets, (4, 1, 1))
    paths = [shape for shape in shapes(picture) if shape.kind == "path"]
    legend = [path for path in paths if "transform" in path.attributes and not path.tooltip]
    outlines = [marker.attributes["d"] for marker in legend]
    assert len(set(outlines)) == len(sets)
    assert outlines == [marker.attributes["d"] for marker in markers_of(picture)]
    for points, marker in zip(sets, legend, strict=True):
        name = points.name
        assert distance(with_text(picture, name)[0], position_of(marker)) < 20


def test_coinciding_points_of_a_plane_are_both_visible():
    p1, _, q1, _, _ = markers_of(plane())
    np.testing.assert_array_equal(position_of(p1), position_of(q1))
    assert not p1.is_filled
    assert q1.is_filled
    left_of_ring = p1.box[0]
    left_of_disc = q1.box[0]
    assert left_of_ring < left_of_disc


def test_projection_keeps_the_proportions_of_space():
    # Gauss's theorem: if the images of three perpendicular axes of equal length are read as complex
    # numbers, their squares add up to zero.
    x, y = project_3d(np.eye(3)).T
    assert np.sum((x + 1j * y) ** 2) == pytest.approx(0, abs=1e-8)


def test_space_is_described_in_words():
    assert name_and_description(space())[1] == (
        "Space. corners: A (0, 0, 0); B (2, 0, 0); C (2, 1, 0); D (0.5000, 1, 0.2500). "
        "outputs: 77 (1, 0.5000, 1); y2 (0, 0, 3)."
    )
