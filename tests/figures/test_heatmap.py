"""Heatmaps: numbers, colours, labels and marks give back the matrix that was drawn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from attention_docs import causal_mask
from attention_docs.render import heatmap
from attention_docs.render.figures import matrix_panel
from attention_docs.render.figures.scales import ALONE, MINUS, SWATCHES, UNDER_TEXT
from attention_docs.render.figures.svg import ROLES
from attention_docs.render.numbers import number
from attention_docs.render.references import named as with_step
from tests.figures.drawing import (
    assert_readable,
    cells_of,
    leftmost,
    named,
    paint,
    shapes,
    texts,
    words_of,
)

FEW = array_shapes(min_dims=2, max_dims=2, max_side=6)
WEIGHTS = st.floats(0, 30, allow_subnormal=False) | st.just(-np.inf)
SCORES = WEIGHTS | st.floats(-1e4, 1e4, allow_subnormal=False) | st.just(-1.7e308)


def assert_shows_cells(picture, step, matrix, scale="diverging", hidden=False):
    """Assert that each cell is in its place, and tells its number in digits and in colour."""
    crossed = (~matrix if matrix.dtype == bool else matrix == -np.inf) | hidden
    cells, crosses = cells_of(picture, step), crosses_of(picture)
    left, top, right, bottom = cells[0, 0][0].box
    for place, value in np.ndenumerate(matrix):
        cell, *inside = cells[place]
        x, y = left + place[1] * (right - left), top + place[0] * (bottom - top)
        assert cell.box == pytest.approx((x, y, x + right - left, y + bottom - top), abs=0.1)
        assert all(x <= text.box[0] <= text.box[2] <= cell.box[2] for text in inside)
        assert is_crossed(cell, crosses) == crossed[place] == (not cell.filled)
        if crossed[place]:
            assert not inside
        elif matrix.dtype == bool:
            assert texts(inside) == ["✓"]
        else:
            assert share(cell) == pytest.approx(value / high_end(matrix, scale), abs=0.011)
            if cell.tip:
                assert cell.tip == f"row {place[0] + 1}, column {place[1] + 1}: {number(value)}"
                assert texts(inside) == (["−"] if value < 0 else [])
            else:
                assert texts(inside) == [number(value)]
    thin = [s for s in shapes(picture) if s.attributes.get("stroke-opacity") == "0.3"]
    assert around(cells, (None, None)) in [pytest.approx(s.box, abs=0.1) for s in thin]


def crosses_of(picture):
    """Return the four ends of each pair of diagonals."""
    drawn = [s for s in shapes(picture) if s.attributes.get("stroke-opacity") == "0.45"]
    return np.concatenate([s.corners.reshape(-1, 4, 2) for s in drawn] or [np.zeros((0, 4, 2))])


def is_crossed(cell, crosses):
    """Whether two diagonals meet in the middle of a cell, and end within it."""
    ends = crosses[np.abs(crosses.mean(axis=1) - cell.centre).max(axis=1) < 0.1]
    low, high = cell.corners
    return bool(len(ends) and (low < ends).all() and (ends < high).all())


def around(cells, place):
    """Return the box around a row, (2, None), a column, (None, 5), a cell, or all cells."""
    chosen = [
        cell.box
        for index, (cell, *_) in cells.items()
        if all(i is None or i == j for i, j in zip(place, index, strict=True))
    ]
    left, top, right, bottom = zip(*chosen, strict=True)
    return min(left), min(top), max(right), max(bottom)


def high_end(matrix, scale):
    largest = np.abs(matrix[np.isfinite(matrix)]).max(initial=0)
    return max(1.0, largest) if scale == "sequential" else largest or 1.0


def share(cell):
    """Return what part of the scale's largest number the colour of a cell stands for."""
    strongest = ALONE if cell.tip else UNDER_TEXT
    sign = -1 if cell.attributes["fill"] == MINUS else 1
    return sign * float(cell.attributes["fill-opacity"]) / strongest


def assert_scales(picture, *scales):
    """Assert that below the swatches of each scale stand its ends, and zero."""
    swatches = [s for s in shapes(picture) if s.kind == "rect" and np.ptp(s.corners[:, 1]) == 8]
    for i, (matrix, scale) in enumerate(scales):
        row = swatches[SWATCHES * i : SWATCHES * (i + 1)]
        left, right, bottom = row[0].box[0], row[-1].box[2], row[0].box[3]
        below = [s for s in words_of(picture) if left <= s.centre[0] <= right and 0 < s.box[1] - bottom < 8]  # fmt: skip
        high = high_end(matrix, scale)
        ends = [0, high] if scale == "sequential" else [-high, 0, high]
        assert texts(leftmost(below)) == [number(end) for end in ends]
        opacities = [float(s.attributes["fill-opacity"]) for s in row]
        assert opacities[0] == (0 if scale == "sequential" else opacities[-1])
        assert (row[0].attributes["fill"] == MINUS) == (scale == "diverging")


def assert_labels(picture, cells, rows=(), columns=()):
    """Assert that to the left of each row and above each column stands its label."""
    for i, text in enumerate(rows):
        (x, _, *_), (_, y) = cells[i, 0][0].box, cells[i, 0][0].centre
        beside = [s for s in named(picture, text) if 0 <= x - s.box[2] < 16]
        assert y in [pytest.approx(s.centre[1], abs=1) for s in beside]
    for i, text in enumerate(columns):
        (_, y, *_), (x, _) = cells[0, i][0].box, cells[0, i][0].centre
        over = [s for s in named(picture, text) if 0 <= y - s.box[3] < 8]
        assert x in [pytest.approx(s.centre[0], abs=1) for s in over]


def assert_marks(picture, *marks):
    """Assert that a box in the colour of its role is drawn around each row, column or cell."""
    drawn = [s for s in shapes(picture) if s.kind == "rect" and "stroke-width" in s.attributes]
    for shape, (cells, place, role) in zip(drawn, marks, strict=True):
        assert shape.box == pytest.approx(around(cells, place), abs=0.1)
        assert not shape.filled
        assert shape.attributes["stroke"] == paint(role)


@given(st.data())
def test_any_matrix_is_readable_and_gives_back_its_numbers(data):
    scale, elements = data.draw(st.sampled_from([("diverging", SCORES), ("sequential", WEIGHTS)]))
    matrix = data.draw(arrays(float, FEW, elements=elements))
    hidden, numbers = data.draw(arrays(bool, matrix.shape)), data.draw(st.booleans())
    role = data.draw(st.sampled_from([None, *ROLES]))
    mark = tuple(data.draw(st.none() | st.integers(0, count - 1)) for count in matrix.shape)
    kinds = {"rows": "queries", "columns": "keys"}
    labels = [
        [f"{kind[0]}{i}" for i in range(count)]
        for kind, count in zip(kinds.values(), matrix.shape, strict=True)
    ]
    options = {
        **kinds,
        "scale": scale,
        "hidden": hidden,
        "numbers": numbers,
        "role": role,
        "mark": mark,
    }
    picture = heatmap(
        with_step(matrix, "a.S"),
        "A matrix",
        row_labels=labels[0],
        column_labels=labels[1],
        **options,
    )
    assert_readable(picture)
    assert_shows_cells(picture, "a.S", matrix, scale, hidden)
    assert_scales(picture, (matrix, scale))
    cells = cells_of(picture, "a.S")
    assert numbers or not any(s.text for shapes in cells.values() for s in shapes if s.text != "−")
    assert_labels(picture, cells, *labels)
    assert_marks(picture, (cells, mark, role))
    assert [s.attributes["fill"] for s in named(picture, "A matrix")] == [paint(role)]
    assert all(named(picture, kind) for kind in kinds.values())


@given(arrays(bool, FEW))
def test_any_mask_is_readable_and_ticks_what_takes_part(mask):
    picture = heatmap(with_step(mask, "a.M"), "A mask of all keys")
    assert_readable(picture)
    assert_shows_cells(picture, "a.M", mask)
    assert named(picture, "✓ takes part, × does not")


def test_numbers_are_printed_where_they_fit_and_are_tooltips_elsewhere():
    for shape, fits in (((8, 8), True), ((3, 30), False)):
        picture = heatmap(with_step(np.full(shape, 0.1234), "a.S"))
        assert_readable(picture)
        assert {bool(cell.tip) for cell, *_ in cells_of(picture, "a.S").values()} == {not fits}


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        ([[1, -2, 0.5], [0.25, -np.inf, 2]], "S: 2 rows, 3 columns. Row 1: 1, -2, 0.5000. Row 2: 0.2500, takes no part, 2."),
        (causal_mask(2), "S: 2 rows, 2 columns. Row 1: yes, no. Row 2: yes, yes."),
        (
            np.where(np.arange(40.0) == 9, -np.inf, np.arange(40) - 3).reshape(4, 10),
            "S: 4 rows, 10 columns. The largest is 36 in row 4, column 10; the smallest -3 in row 1, column 1.",
        ),
        (np.full((7, 7), -np.inf), "S: 7 rows, 7 columns. No cell takes part."),
    ],
    ids=["few", "mask", "many", "nothing"],
)  # fmt: skip
def test_matrix_is_described_in_words(matrix, words):
    assert matrix_panel(matrix, "S").description == words
