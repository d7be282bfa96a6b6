"""Heatmaps and products: numbers, colours, labels and marks can be read back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from attention_docs import causal_mask
from attention_docs.render import heatmap, product_figure
from attention_docs.render.figures import matrix_panel
from attention_docs.render.figures.scales import (
    MINUS,
    OPACITY,
    OPACITY_UNDER_TEXT,
    SWATCH_COUNT,
    SWATCH_HEIGHT,
    round_up,
)
from attention_docs.render.figures.svg import ROLES, colour
from attention_docs.render.numbers import drawn_number, exact_number
from attention_docs.render.references import with_step
from tests.figures.drawing import (
    assert_readable,
    cells_of,
    horizontal_texts,
    left_to_right,
    shapes,
    size,
    texts,
    with_text,
)

SMALL_SHAPES = array_shapes(min_dims=2, max_dims=2, max_side=6)
WEIGHTS = st.floats(0, 30, allow_subnormal=False) | st.just(-np.inf)
SMALLEST_FLOAT = -1.7e308
SCORES = WEIGHTS | st.floats(-1e4, 1e4, allow_subnormal=False) | st.just(SMALLEST_FLOAT)


def assert_shows_cells(picture, step, matrix, scale="diverging", hidden=False):
    """Assert the position of each cell, and that its text and colour match its number."""
    cells = cells_of(picture, step)
    assert_in_table(cells)
    assert_grid_surrounds(picture, cells)
    crosses = crosses_of(picture)
    expected_crosses = (~matrix if matrix.dtype == bool else matrix == -np.inf) | hidden
    for index, value in np.ndenumerate(matrix):
        cell, *labels = cells[index]
        assert is_crossed(cell, crosses) == expected_crosses[index]
        assert cell.is_filled == (not expected_crosses[index])
        if expected_crosses[index]:
            assert not labels
        elif matrix.dtype == bool:
            assert texts(labels) == ["✓"]
        else:
            assert_shows_number(cell, labels, index, value)
            fraction = value / high_end(matrix, scale)
            # Opacities, of at least a half at the high end, are rounded to two decimals.
            assert fraction_of_scale(cell) == pytest.approx(fraction, abs=0.011)


def assert_in_table(cells):
    """Assert that cells of equal size are in rows and columns, and that their texts fit."""
    left, top, right, bottom = cells[0, 0][0].box
    width, height = right - left, bottom - top
    for (row, column), (cell, *labels) in cells.items():
        x = left + column * width
        y = top + row * height
        assert cell.box == pytest.approx((x, y, x + width, y + height), abs=0.1)
        assert all(x <= text.box[0] <= text.box[2] <= x + width + 0.1 for text in labels)


def assert_shows_number(cell, labels, index, value):
    """Assert that the number of a cell is printed, or a tooltip beside a printed minus sign."""
    if cell.tooltip:
        row, column = index
        assert cell.tooltip == f"row {row + 1}, column {column + 1}: {drawn_number(value)}"
        assert texts(labels) == (["−"] if value < 0 else [])
    else:
        assert texts(labels) == [drawn_number(value)]


def assert_grid_surrounds(picture, cells):
    """Assert that the grid lines of some matrix have the same outer box as these cells."""
    # The grid lines are one path, identified by its opacity.
    grids = [shape for shape in shapes(picture) if shape.attributes.get("stroke-opacity") == "0.3"]
    boxes = [pytest.approx(grid.box, abs=0.1) for grid in grids]
    assert box_around(cells, (None, None)) in boxes


def crosses_of(picture):
    """Return the four ends of the two diagonals of each cross, (crosses, 4, 2)."""
    # The diagonals of a matrix are one path, identified by its opacity.
    paths = [shape for shape in shapes(picture) if shape.attributes.get("stroke-opacity") == "0.45"]
    no_ends = np.zeros((0, 2))  # for a figure without crosses
    return np.concatenate([no_ends, *(path.corners for path in paths)]).reshape(-1, 4, 2)


def is_crossed(cell, crosses):
    """Return whether two diagonals cross in the middle of a cell and end within it."""
    centres = crosses.mean(axis=1)
    ends = crosses[np.abs(centres - cell.centre).max(axis=1) < 0.1]
    low, high = cell.corners
    return bool(len(ends) and (low < ends).all() and (ends < high).all())


def box_around(cells, mark):
    """Return the box around a row, (2, None), a column, (None, 5), a cell, or all cells."""
    marked_row, marked_column = mark
    boxes = [
        cell.box
        for (row, column), (cell, *_) in cells.items()
        if marked_row in (None, row) and marked_column in (None, column)
    ]
    left, top, right, bottom = zip(*boxes, strict=True)
    return min(left), min(top), max(right), max(bottom)


def high_end(matrix, scale):
    largest = np.abs(matrix[np.isfinite(matrix)]).max(initial=0)
    return round_up(max(1.0, largest) if scale == "sequential" else largest) or 1.0


def fraction_of_scale(cell):
    """Return the number of a cell as a fraction of the scale's high end, by its colour."""
    max_opacity = OPACITY if cell.tooltip else OPACITY_UNDER_TEXT
    sign = -1 if cell.attributes["fill"] == MINUS else 1
    return sign * float(cell.attributes["fill-opacity"]) / max_opacity


def assert_scale(picture, matrix, scale):
    """Assert that the ends of the scale, and zero, are written below its swatches."""
    boxes = [shape for shape in shapes(picture) if shape.kind == "rect"]
    swatches = [box for box in boxes if np.ptp(box.corners[:, 1]) == SWATCH_HEIGHT]
    assert len(swatches) == SWATCH_COUNT
    left, _, _, bottom = swatches[0].box
    right = swatches[-1].box[2]
    below = [text for text in horizontal_texts(picture) if 0 < text.box[1] - bottom < 8]
    labels = [text for text in below if left <= text.centre[0] <= right]
    high = high_end(matrix, scale)
    has_negative = (matrix[np.isfinite(matrix)] < 0).any()
    ticks = [-high, 0, high] if has_negative else [0, high]
    assert texts(left_to_right(labels)) == [exact_number(tick) for tick in ticks]
    opacities = [float(swatch.attributes["fill-opacity"]) for swatch in swatches]
    assert opacities[0] == (opacities[-1] if has_negative else 0)
    assert (swatches[0].attributes["fill"] == MINUS) == has_negative


def assert_labels(picture, cells, rows=(), columns=()):
    """Assert that labels are to the left of their rows and above their columns."""
    for row, name in enumerate(rows):
        cell = cells[row, 0][0]
        beside = [text for text in with_text(picture, name) if 0 <= cell.box[0] - text.box[2] < 16]
        assert cell.centre[1] in [pytest.approx(text.centre[1], abs=1) for text in beside]
    for column, name in enumerate(columns):
        cell = cells[0, column][0]
        above = [text for text in with_text(picture, name) if 0 <= cell.box[1] - text.box[3] < 8]
        assert cell.centre[0] in [pytest.approx(text.centre[0], abs=1) for text in above]


def assert_marks(picture, *marks):
    """Assert that the outlined boxes are these marks: cells, (row, column) and role of each."""
    boxes = [
        shape
        for shape in shapes(picture)
        if shape.kind == "rect" and "stroke-width" in shape.attributes
    ]
    for shape, (cells, mark, role) in zip(boxes, marks, strict=True):
        assert shape.box == pytest.approx(box_around(cells, mark), abs=0.1)
        assert not shape.is_filled
        assert shape.attributes["stroke"] == colour(role)


def matrices(elements):
    return arrays(float, SMALL_SHAPES, elements=elements)


MATRIX_OF_SCALE = {
    "diverging": matrices(SCORES),
    "sequential": matrices(WEIGHTS) | matrices(st.floats(0, 0.5)),
}
each_scale = pytest.mark.parametrize("scale", MATRIX_OF_SCALE)


@each_scale
@given(st.data(), st.sampled_from([None, *ROLES]))
def test_drawn_matrix_shows_numbers_labels_title_and_mark(scale, data, role):
    matrix = data.draw(MATRIX_OF_SCALE[scale])
    hidden = data.draw(arrays(bool, matrix.shape))
    mark = tuple(data.draw(st.none() | st.integers(0, count - 1)) for count in matrix.shape)
    rows, columns = (
        [f"{name} {i}" for i in range(n)]
        for name, n in zip(("query", "key"), matrix.shape, strict=True)
    )
    options = {"rows": "queries", "columns": "keys", "row_labels": rows, "column_labels": columns}
    options |= {"scale": scale, "hidden": hidden, "role": role, "mark": mark}
    picture = heatmap(with_step(matrix, "a.S"), "A matrix", **options)
    assert_readable(picture)
    assert_shows_cells(picture, "a.S", matrix, scale, hidden)
    cells = cells_of(picture, "a.S")
    assert_labels(picture, cells, rows, columns)
    assert with_text(picture, "queries")
    assert with_text(picture, "keys")
    assert_marks(picture, (cells, mark, role))
    (title,) = with_text(picture, "A matrix")
    assert title.attributes["fill"] == colour(role)


@each_scale
@given(st.data())
def test_matrix_without_printed_numbers_has_tooltips_and_a_scale(scale, data):
    matrix = data.draw(MATRIX_OF_SCALE[scale])
    picture = heatmap(with_step(matrix, "a.S"), scale=scale, numbers=False)
    assert_readable(picture)
    assert_shows_cells(picture, "a.S", matrix, scale)
    assert_scale(picture, matrix, scale)
    assert all(cell.tooltip for cell, *_ in cells_of(picture, "a.S").values() if cell.is_filled)


@given(arrays(bool, SMALL_SHAPES))
def test_drawn_mask_shows_every_entry(mask):
    picture = heatmap(with_step(mask, "a.M"), "A mask of all keys")
    assert_readable(picture)
    assert_shows_cells(picture, "a.M", mask)
    assert with_text(picture, "✓ takes part, × does not")


@pytest.mark.parametrize(("shape", "has_tooltips"), [((8, 8), False), ((3, 30), True)])
def test_numbers_of_a_matrix_too_wide_for_them_are_tooltips(shape, has_tooltips):
    picture = heatmap(with_step(np.full(shape, 0.1234), "a.S"))
    assert_readable(picture)
    for cell, *_ in cells_of(picture, "a.S").values():
        assert bool(cell.tooltip) == has_tooltips


def test_compact_matrix_of_nine_columns_fits_on_a_phone():
    words = ["because", "they", "boats", "pass", "birds", "fly", "sail", "and", "."]
    options = {"row_labels": ["because"], "column_labels": words, "rows": ""}
    picture = heatmap(np.full((1, len(words)), -2.217), compact=True, **options)
    assert_readable(picture)
    width, _ = size(picture)
    assert width < 390  # pixels of common phones
    assert all(with_text(picture, word) for word in words)


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        ([[1, -2, 0.5], [0.25, -np.inf, 2]], "S: 2 rows, 3 columns. Row 1: 1, -2, 0.5000. Row 2: 0.2500, takes no part, 2."),
        (causal_mask(2), "S: 2 rows, 2 columns. Row 1: yes, no. Row 2: yes, yes."),
        (
            np.array([-np.inf, *range(39)]).reshape(4, 10),
            "S: 4 rows, 10 columns. The largest is 38 in row 4, column 10; the smallest 0 in row 1, column 2.",
        ),
        (np.full((7, 7), -np.inf), "S: 7 rows, 7 columns. No cell takes part."),
    ],
    ids=["few numbers", "mask", "many numbers", "fully masked"],
)  # fmt: skip
def test_matrix_is_described_in_words(matrix, words):
    assert matrix_panel(matrix, "S").description == words


A = np.array([[1.0, -2.0, 0.5], [3.0, 0.0, 0.25]])
B = np.array([[1.0, 2.0], [0.5, 0.25], [-1.0, 4.0]])
STEPS = ("a.A", "a.B", "a.AB")  # the references of two matrices and their product


def drawn_product(a, b, **options):
    """Return a readable figure of a product whose matrices have the names in `STEPS`."""
    tagged_a, tagged_b, tagged_ab = map(with_step, (a, b, a @ b), STEPS)
    picture = product_figure(tagged_a, tagged_b, product=tagged_ab, **options)
    assert_readable(picture)
    return picture


@given(
    arrays(float, (3, 2), elements=st.floats(-9, 9, allow_subnormal=False)),
    arrays(float, (2, 4), elements=st.floats(-9, 9, allow_subnormal=False)),
)
def test_drawn_product_shows_every_number(a, b):
    assert_shows_product(drawn_product(a, b), a, b)


def test_large_product_shows_numbers_only_in_tooltips():
    a = np.full((2, 30), 0.1234)
    b = np.full((30, 2), -0.1234)
    picture = drawn_product(a, b)
    assert_shows_product(picture, a, b)
    for step in STEPS:
        assert all(cell.tooltip for cell, *_ in cells_of(picture, step).values())


def test_wide_numbers_are_tooltips_even_where_labels_widen_the_cells():
    a = np.full((2, 6), 1234.5678)
    b = np.full((6, 6), -1234.5678)
    picture = drawn_product(a, b, column_labels=["word"] * 6)
    assert all(cell.tooltip for cell, *_ in cells_of(picture, "a.B").values())


def assert_shows_product(picture, a, b):
    for matrix, step in zip((a, b, a @ b), STEPS, strict=True):
        assert_shows_cells(picture, step, matrix)


@pytest.mark.parametrize(("row", "column"), [(0, 1), (1, 0)])
def test_product_is_labelled_and_marks_a_row_a_column_and_their_product(row, column):
    names, roles = ("X", "W", "XW"), ("input", None, "query")
    labels = ["one", "another one", "three"]
    options = {"names": names, "roles": roles, "inner_labels": labels}
    picture = drawn_product(A, B, row=row, column=column, **options)
    matrices = [cells_of(picture, step) for step in STEPS]
    box_a, box_b, box = (box_around(cells, (None, None)) for cells in matrices)
    assert (box_a[1], box_a[3]) == (box[1], box[3])
    assert (box_b[0], box_b[2]) == (box[0], box[2])
    assert box_a[2] < box[0]
    assert box_b[3] < box[1]
    assert_labels(picture, matrices[0], rows="12", columns=labels)
    assert_labels(picture, matrices[1], rows=labels, columns="12")
    marks = [(row, None), (None, column), (row, column)]
    assert_marks(picture, *zip(matrices, marks, roles, strict=True))
    assert with_text(
        picture, f"row {row + 1} · column {column + 1} = {drawn_number((A @ B)[row, column])}"
    )
    for (left, top, right, _), name, role in zip((box_a, box_b, box), names, roles, strict=True):
        above = [shape for shape in with_text(picture, name) if shape.box[3] < top]
        (title,) = (shape for shape in above if left < shape.centre[0] < right)
        assert title.attributes["fill"] == colour(role)
