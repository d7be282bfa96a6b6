"""Points in a plane and in space: their coordinates can be read back."""

import json
import re
from html import unescape
from itertools import combinations

import numpy as np
import pytest

from attention_docs.render.figures import Points, figure, scatter_2d, scatter_3d
from attention_docs.render.figures.scatter import project_3d
from attention_docs.render.numbers import drawn_number
from tests.figures.drawing import (
    assert_readable,
    colour_of,
    distance,
    name_and_description,
    numbers,
    shapes,
    with_text,
)

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


def position_of(marker):
    """Return the position of a marker on paper."""
    return np.array(numbers(marker.attributes["transform"]))


def markers_of(picture):
    return [shape for shape in shapes(picture) if shape.tooltip]


def lines_with_dashes(picture, dashes):
    return [
        shape for shape in shapes(picture) if shape.attributes.get("stroke-dasharray") == dashes
    ]


def assert_lines_join(lines, pairs):
    """Assert that each line joins a pair of points."""
    for line, pair in zip(lines, pairs, strict=True):
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
def test_points_and_ticks_are_labelled_at_their_positions(picture, sets, ticks):
    assert_readable(picture)
    to_paper = fitted_projection(picture, sets)
    for axis, ends in ticks.items():
        positions = to_paper(ends)
        assert min(distance(with_text(picture, axis)[0], position) for position in positions) < 60
        for i, position in enumerate(positions):
            # In space, only the first axis has a label where it meets another.
            if i or axis == "east" or len(ends[i]) == 2:
                assert min(distance(text, position) for text in with_text(picture, str(i))) < 20
    markers = iter(markers_of(picture))
    for points in sets:
        for row, label, marker in zip(points.coordinates, points.labels, markers, strict=False):
            (text,) = with_text(picture, str(label))
            assert distance(text, position_of(marker)) < 20
            assert marker.tooltip == f"{label}: " + ", ".join(map(drawn_number, row))
            marker_colour = marker.attributes["fill" if marker.is_filled else "stroke"]
            assert text.attributes["fill"] == marker_colour == colour_of(points.role)
    assert not list(markers)


def fitted_projection(picture, sets):
    """Return the function from (n, 2) or (n, 3) coordinates to paper: one affine map fits all."""
    coordinates = np.concatenate([points.coordinates for points in sets])
    positions = np.array([position_of(marker) for marker in markers_of(picture)])
    matrix = np.linalg.lstsq(with_ones(coordinates), positions, rcond=None)[0]
    np.testing.assert_allclose(with_ones(coordinates) @ matrix, positions, atol=0.11)
    return lambda coordinates: with_ones(coordinates) @ matrix


def with_ones(coordinates):
    """Append a column of ones, so that a product with a matrix can shift the coordinates."""
    return np.c_[coordinates, np.ones(len(coordinates))]


def test_outlined_points_are_joined():
    corners_in_space, below_in_plane = slice(0, 4), slice(2, 5)
    for picture, outlined in ((space(), corners_in_space), (plane(), below_in_plane)):
        positions = [position_of(marker) for marker in markers_of(picture)][outlined]
        assert_lines_join(lines_with_dashes(picture, "4 3"), combinations(positions, 2))


def test_points_in_space_have_lines_to_the_floor():
    # The last point is three units above the first, which is on the floor.
    origin, *_, above = map(position_of, markers_of(space()))
    assert_lines_join(lines_with_dashes(space(), "2 2")[-1:], [(above, origin)])


def test_legend_shows_the_markers_of_each_set():
    sets = [Points(name, [[i, 0, 0]], [name.upper()], "key") for i, name in enumerate("abcd")]
    picture = figure(scatter_3d("Space", "xyz", sets, (4, 1, 1)), "Space")
    markers = [
        shape
        for shape in shapes(picture)
        if shape.kind == "path" and "transform" in shape.attributes
    ]
    points, legend = markers[:4], markers[4:]
    outlines = [marker.attributes["d"] for marker in legend]
    assert len(set(outlines)) == 4
    assert outlines == [marker.attributes["d"] for marker in points]
    for name, marker in zip("abcd", legend, strict=True):
        assert distance(with_text(picture, name)[0], position_of(marker)) < 20


def test_coinciding_points_of_a_plane_are_both_visible():
    ring, _, inner, *_ = markers_of(plane())
    np.testing.assert_array_equal(position_of(ring), position_of(inner))
    assert (ring.is_filled, inner.is_filled) == (False, True)
    radius = np.abs(inner.corners - position_of(inner)).max()
    assert (ring.box[2] - ring.box[0]) / 2 > radius


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


def test_points_are_json_for_the_script_of_the_page():
    data = json.loads(unescape(re.search(r'data-points="([^"]*)"', space())[1]))
    corners, outputs = (points._asdict() for points in IN_SPACE)
    outputs["labels"] = ["77", "y2"]
    assert data == {"axes": ["east", "north", "up"], "sets": [corners, outputs]}


@pytest.mark.parametrize(
    ("coordinates", "labels", "message"),
    [
        ([[1, 2]], ["a"], "outputs has shape (1, 2); expected (n, 3)"),
        ([[0, 0, 1e308]], ["a"], "outputs on paper holds -inf at [0, 1]; expected products that fit float64"),
        ([[1, 2, 3]], ["a", "b"], "labels of outputs is ['a', 'b']; expected 1 labels"),
    ],
)  # fmt: skip
def test_error_states_argument_expectation_and_value(coordinates, labels, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        scatter_3d("s", "xyz", [Points("outputs", coordinates, labels, "output")], (1, 1, 1))
