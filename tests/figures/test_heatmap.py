"""Heatmaps: numbers, colours, labels and marks give back the matrix that was drawn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from attention_docs import causal_mask
from attention_docs.render import heatmap
from attention_docs.render.figures import matrix_panel
from attention_docs.render.figures.scales import UNDER_TEXT
from attention_docs.render.figures.svg import ROLES
from attention_docs.render.numbers import number
from tests.figures.drawing import (
    assert_readable,
    contents_of,
    crosses_of,
    legends_of,
    marks_of,
    name,
    named,
    paint,
    shapes,
    tables_of,
    texts,
    topmost,
)

SCORES = np.array([[1.0, -2.0, 0.5], [0.25, -np.inf, 2.0]])
FEW = array_shapes(min_dims=2, max_dims=2, max_side=6)
NUMBERS = st.floats(-1e4, 1e4, allow_subnormal=False)


def assert_shows_matrix(
    picture,
    matrix,
    name="Matrix",
    *,
    rows="rows",
    columns="columns",
    row_labels=None,
    column_labels=None,
    scale="diverging",
    hidden=None,
    mark=None,
    role=None,
    numbers=True,
):
    """Assert that a heatmap with these arguments can be read back."""
    matrix = np.asarray(matrix)
    matrix = matrix if matrix.dtype == bool else matrix.astype(float)
    (table,), legends = tables_of(picture), legends_of(picture)
    if matrix.dtype == bool:
        assert not legends
        (signs,) = named(picture, "✓ takes part, × does not")
        assert_below(signs, table)
    else:
        (legend,) = legends
        assert_legend(legend, matrix, scale)
        assert_below(legend, table)
    assert_shows_cells(picture, table, matrix, scale, *legends, hidden=hidden, printable=numbers)
    assert_row_labels(picture, table, row_labels or positions(matrix.shape[0]))
    title, kind, *labels = above(picture, table)
    assert texts(title) == [name]
    assert title[0].attributes["fill"] == paint(role)
    assert texts(kind) == [columns]
    assert_column_labels(labels, table, column_labels or positions(matrix.shape[1]))
    (side,) = [s for s in shapes(picture) if s.text and not s.upright]
    assert side.text == rows
    assert side.box[2] <= table.x[0]
    assert table.y[0] < side.centre[1] < table.y[-1]
    assert_marks(picture, [table] * (mark is not None), [(mark, role)] * (mark is not None))


def positions(count):
    return [str(i + 1) for i in range(count)]


def assert_below(shape, table):
    left, top, right, _ = shape.box
    assert top > table.y[-1]
    assert table.x[0] < (left + right) / 2 < table.x[-1]


def assert_legend(legend, matrix, kind):
    """Assert that a legend has the ends of the scale, and its colours in even steps."""
    high = high_end(matrix, kind)
    ends = [0, high] if kind == "sequential" else [-high, 0, high]
    assert texts(legend.labels) == [number(end) for end in ends]
    shares = [legend.at(swatch) for swatch in legend.swatches]
    np.testing.assert_allclose(shares, np.linspace(ends[0] / high, 1, len(shares)), atol=0.01)
    np.testing.assert_allclose([legend.read(s) for s in legend.swatches], shares, atol=0.011)


def high_end(matrix, kind):
    largest = np.abs(matrix[np.isfinite(matrix)]).max(initial=0)
    return max(1.0, largest) if kind == "sequential" else largest or 1.0


def assert_shows_cells(picture, table, matrix, scale, legend=None, *, hidden=None, printable=True):
    """Assert that each cell is in its place, and tells its number in digits and in colour."""
    assert table.shape == matrix.shape
    # All columns have the same width, all rows the same height.
    for steps in (np.diff(table.x), np.diff(table.y)):
        assert np.ptp(steps) < 0.1
    crossed = ~matrix if matrix.dtype == bool else matrix == -np.inf
    crossed = crossed if hidden is None else crossed | hidden
    assert crosses_of(picture, table) == set(map(tuple, np.argwhere(crossed).tolist()))
    contents, printed = contents_of(picture, table), set()
    for (row, column), value in np.ndenumerate(matrix):
        found = contents[row, column]
        if crossed[row, column]:
            assert not found
            continue
        cell, *inside = found
        box = table.box(row, column)
        assert cell.box == pytest.approx(box, abs=0.1)
        for text in inside:
            assert box[0] <= text.box[0] <= text.box[2] <= box[2], text
            assert text.centre == pytest.approx(cell.centre, abs=1)
        if matrix.dtype == bool:
            assert texts(inside) == ["✓"]
            continue
        printed.add(not cell.tip)
        if cell.tip:
            assert cell.tip == f"row {row + 1}, column {column + 1}: {number(value)}"
            assert texts(inside) == (["−"] if value < 0 else [])
        else:
            assert printable
            assert cell.opacity <= UNDER_TEXT
            assert texts(inside) == [number(value)]
        share = np.clip(value / high_end(matrix, scale), -1, 1)
        assert legend.read(cell) == pytest.approx(share, abs=0.011)
    assert len(printed) <= 1


def assert_row_labels(picture, table, labels):
    """Assert that to the left of each row stands its label."""
    words = [s for s in shapes(picture) if s.text and s.upright and s.box[2] <= table.x[0]]
    left = topmost(s for s in words if table.y[0] < s.centre[1] < table.y[-1])
    assert texts(left) == labels
    assert [table.cell(s.centre)[0] for s in left] == list(range(len(labels)))


def assert_column_labels(lines, table, labels):
    """Assert that above each column stands its label."""
    ((*found,),) = lines
    assert texts(found) == labels
    assert [table.cell(s.centre)[1] for s in found] == list(range(len(labels)))


def above(picture, table):
    """Return the lines of text above a table, from top to bottom."""
    lines = {}
    for shape in topmost(shapes(picture)):
        left, _, right, bottom = shape.box
        beside = right < table.x[0] or left > table.x[-1]
        if shape.text and shape.upright and bottom <= table.y[0] and not beside:
            lines.setdefault(round(shape.centre[1]), []).append(shape)
    return [sorted(line, key=lambda s: s.centre[0]) for line in lines.values()]


def assert_marks(picture, tables, marks):
    """Assert that a box in the colour of its role is drawn around each row, column or cell."""
    for shape, table, (place, role) in zip(marks_of(picture), tables, marks, strict=True):
        assert shape.box == pytest.approx(table.box(*place), abs=0.1)
        assert not shape.filled
        assert shape.attributes["stroke"] == paint(role)


@given(arrays(float, FEW, elements=NUMBERS), st.text("abc", max_size=12), st.booleans())
def test_any_matrix_is_readable_and_gives_back_its_numbers(matrix, name, numbers):
    options = {"rows": "queries", "columns": "keys", "numbers": numbers}
    picture = heatmap(matrix, f"{name}!", **options)
    assert_readable(picture)
    assert_shows_matrix(picture, matrix, f"{name}!", **options)


@given(arrays(float, FEW, elements=st.floats(0, 30, allow_subnormal=False)), st.data())
def test_any_weights_are_readable_and_give_back_their_numbers(weights, data):
    options = {
        "scale": "sequential",
        "hidden": data.draw(arrays(bool, weights.shape)),
        "mark": tuple(
            data.draw(st.none() | st.integers(-count, count - 1)) for count in weights.shape
        ),
        "role": data.draw(st.sampled_from([None, *ROLES])),
        "row_labels": [f"row {i}" for i in range(weights.shape[0])],
        "column_labels": [chr(97 + i) for i in range(weights.shape[1])],
    }
    picture = heatmap(weights, **options)
    assert_readable(picture)
    assert_shows_matrix(picture, weights, **options)


@given(arrays(bool, FEW))
def test_any_mask_is_readable_and_ticks_what_takes_part(mask):
    picture = heatmap(mask, "A mask of all keys")
    assert_readable(picture)
    assert_shows_matrix(picture, mask, "A mask of all keys")


@pytest.mark.parametrize(
    ("matrix", "scale"),
    [
        (SCORES, "diverging"),
        (np.full((1, 2), -np.inf), "diverging"),
        (np.full((1, 2), -np.inf), "sequential"),
        (np.array([[np.inf, 1.0]]), "diverging"),
        (np.array([[1.7e308, -1.7e308]]), "diverging"),
        (np.array([[-128, 0]], dtype=np.int8), "diverging"),
        (np.full((12, 30), 0.1234), "sequential"),
    ],
    ids=["scores", "nothing", "no weight", "infinite", "large", "int8", "wide"],
)
def test_unusual_matrices_give_back_their_numbers(matrix, scale):
    picture = heatmap(matrix, scale=scale)
    assert_readable(picture)
    assert_shows_matrix(picture, matrix, scale=scale)
    assert name(picture) == "Matrix"


def test_numbers_are_printed_where_they_fit_and_are_tooltips_elsewhere():
    assert named(heatmap(np.full((8, 8), 0.1234)), "0.1234")
    wide = heatmap(np.full((3, 30), 0.1234))
    assert wide.count(">0.1234<") == 1  # in the legend
    assert wide.count(": 0.1234</title>") == 90


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        (SCORES, "S: 2 rows, 3 columns. Row 1: 1, -2, 0.5000. Row 2: 0.2500, takes no part, 2."),
        (causal_mask(2), "S: 2 rows, 2 columns. Row 1: yes, no. Row 2: yes, yes."),
        (np.arange(36.0).reshape(1, 36), "S: 1 row, 36 columns. Row 1: " + ", ".join(map(str, range(36))) + "."),
        (
            np.where(np.arange(40.0) == 9, -np.inf, np.arange(40) - 3).reshape(4, 10),
            "S: 4 rows, 10 columns. The largest is 36 in row 4, column 10; the smallest -3 in row 1, column 1.",
        ),
        (
            -np.arange(40.0).reshape(4, 10),
            "S: 4 rows, 10 columns. The largest is 0 in row 1, column 1; the smallest -39 in row 4, column 10.",
        ),
        (np.full((7, 7), -np.inf), "S: 7 rows, 7 columns. No cell takes part."),
        (
            np.where(np.eye(7) > 0, np.inf, -np.inf),
            "S: 7 rows, 7 columns. The largest is inf in row 1, column 1; the smallest inf in row 1, column 1.",
        ),
        (causal_mask(7)[:, :6], None),
    ],
    ids=["few", "mask", "36", "many", "falling", "nothing", "infinite", "large mask"],
)  # fmt: skip
def test_matrix_is_described_in_words(matrix, words):
    described = matrix_panel(matrix, "S").description
    assert described == words if words else described.count("Row") == 7
