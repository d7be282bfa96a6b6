"""A matrix under a ruler: each number stands where its row and column meet."""

import itertools
import re

import numpy as np
import pytest

from attention_docs import causal_mask
from attention_docs.render import heatmap
from attention_docs.render.figures import matrix_panel
from attention_docs.render.figures.scales import ALONE, MINUS, PLUS, UNDER_TEXT, WEIGHT
from attention_docs.render.figures.svg import ROLES
from tests.figures.drawing import cells_of, marks_of, named, shapes, size, swatches_of

SCORES = np.array([[1.0, -2.0, 0.5], [0.25, -np.inf, 2.0]])


def lines_of(picture, opacity):
    """Return the straight lines of a thin path, each as its two ends."""
    (path,) = [
        s
        for s in shapes(picture)
        if s.attributes.get("stroke-opacity") == opacity and s.kind == "path"
    ]
    return {tuple(map(tuple, ends)) for ends in path.corners.reshape(-1, 2, 2).tolist()}


def test_cells_are_a_table_with_each_number_in_the_middle_of_its_own():
    picture = heatmap(SCORES)
    cells = cells_of(picture)
    assert [s.box for s in cells] == [
        (31, 48, 81, 72),
        (81, 48, 131, 72),
        (131, 48, 181, 72),
        (31, 72, 81, 96),
        (131, 72, 181, 96),
    ]
    for cell, text in zip(cells, ["1", "-2", "0.5000", "0.2500", "2"], strict=True):
        assert cell.centre in [pytest.approx(shape.centre) for shape in named(picture, text)]


def test_rows_and_columns_are_named_beside_their_middles():
    picture = heatmap(
        SCORES,
        "S",
        rows="queries",
        columns="keys",
        row_labels=["cat", "mat"],
        column_labels=list("xyz"),
        role="scores",
    )
    (queries,), (keys,), (title,) = (named(picture, text) for text in ("queries", "keys", "S"))
    cat, mat, x, y, z = (named(picture, text)[0] for text in ("cat", "mat", "x", "y", "z"))
    first, *_, last = cells_of(picture)
    left, top, right, bottom = *first.box[:2], *last.box[2:]
    assert (cat.centre[1], mat.centre[1]) == (first.centre[1], last.centre[1])
    assert cat.box[2] == mat.box[2] == left - 6
    assert [name.centre[0] for name in (x, y, z)] == [
        cell.centre[0] for cell in cells_of(picture)[:3]
    ]
    assert {name.centre[1] for name in (x, y, z)} == {top - 8}
    assert keys.centre == pytest.approx(((left + right) / 2, top - 24))
    assert title.centre == pytest.approx(((left + right) / 2, top - 40))
    assert title.attributes["fill"] == ROLES["scores"]
    assert title.attributes["font-weight"] == "bold"
    assert queries.centre == pytest.approx((8, (top + bottom) / 2))
    assert not queries.upright
    assert queries.box[3] - queries.box[1] > 3 * (queries.box[2] - queries.box[0])
    assert size(heatmap(SCORES)) == (183, 132)
    one = np.ones((1, 1))
    assert size(heatmap(one, 20 * "n"))[0] == size(heatmap(one, columns=20 * "c"))[0] == 142
    assert [len(named(heatmap(np.zeros((2, 3))), text)) for text in "123"] == [3, 2, 1]
    assert named(heatmap(SCORES), "rows")
    assert named(heatmap(SCORES), "columns")
    assert {queries.attributes["font-size"], keys.attributes["font-size"]} == {"11"}
    assert matrix_panel(SCORES).body == matrix_panel(SCORES, "Matrix").body
    assert named(heatmap(SCORES), "Matrix")[0].attributes["fill"] == "currentColor"


def test_lines_go_around_every_cell_from_edge_to_edge():
    down = {((x, 48), (x, 96)) for x in (31, 81, 131, 181)}
    across = {((31, y), (181, y)) for y in (48, 72, 96)}
    assert lines_of(heatmap(SCORES), "0.3") == down | across


def test_a_cross_has_two_diagonals_within_its_cell():
    assert lines_of(heatmap(SCORES), "0.45") == {((85, 76), (127, 92)), ((127, 76), (85, 92))}
    small = heatmap(np.array([[False]]))
    ((left, top), (right, bottom)), *_ = sorted(lines_of(small, "0.45"))
    assert (right - left, abs(bottom - top)) == (14, 16)
    assert len(lines_of(heatmap(~np.eye(4, dtype=bool)), "0.45")) == 8


@pytest.mark.parametrize(
    ("mark", "box"),
    [
        ((-2, None), (31, 48, 181, 72)),
        ((1, None), (31, 72, 181, 96)),
        ((None, 1), (81, 48, 131, 96)),
        ((0, 2), (131, 48, 181, 72)),
        ((-1, -1), (131, 72, 181, 96)),
    ],
)
def test_a_mark_goes_around_a_row_a_column_or_a_cell(mark, box):
    (drawn,) = marks_of(heatmap(SCORES, mark=mark, role="scores"))
    assert drawn.box == box
    assert drawn.attributes["fill"] == "none"
    assert drawn.attributes["stroke"] == ROLES["scores"]
    assert not marks_of(heatmap(SCORES))


@pytest.mark.parametrize("mark", [(2, None), (-3, 0), (None, 3), (0, -4)])
def test_a_mark_beside_the_matrix_is_refused(mark):
    axis, (index, count) = ("row", (mark[0], 2)) if mark[0] in (2, -3) else ("column", (mark[1], 3))
    with pytest.raises(
        ValueError,
        match=re.escape(f"mark, its {axis}, is {index}; expected an index below {count}"),
    ):
        heatmap(SCORES, mark=mark)


def test_a_cell_is_as_strong_as_its_number():
    picture = heatmap(SCORES)
    assert [cell.strength for cell in cells_of(picture)] == [0.25, 0.5, 0.12, 0.06, 0.5]
    assert [cell.attributes["fill"] for cell in cells_of(picture)] == [
        PLUS,
        MINUS,
        PLUS,
        PLUS,
        PLUS,
    ]
    weights = heatmap(np.array([[0.5, 0.0, 1.0]]), scale="sequential")
    assert [(cell.attributes["fill"], cell.strength) for cell in cells_of(weights)] == [
        (WEIGHT, 0.25),
        (WEIGHT, 0),
        (WEIGHT, 0.5),
    ]
    assert [
        cell.strength for cell in cells_of(heatmap(np.array([[1.0, -4.0]]), numbers=False))
    ] == [0.2, 0.8]
    assert [cell.strength for cell in cells_of(heatmap(np.zeros((1, 2))))] == [0, 0]
    assert [cell.strength for cell in cells_of(heatmap(causal_mask(1)))] == [UNDER_TEXT]
    assert [
        cell.strength for cell in cells_of(heatmap(np.array([[0.5, 4.0]]), scale="sequential"))
    ] == [0.06, 0.5]
    assert [cell.strength for cell in cells_of(heatmap(np.array([[np.inf, 1.0]])))] == [0.5, 0.5]
    none = np.full((1, 2), -np.inf)
    assert "inf" not in "".join(shape.text for shape in shapes(heatmap(none)))
    assert {"-1", "0", "1"} <= {shape.text for shape in shapes(heatmap(none))}
    assert {"0", "1"} <= {shape.text for shape in shapes(heatmap(none, scale="sequential"))}


@pytest.mark.parametrize(
    ("options", "ends", "paints"),
    [
        ({}, ["-2", "0", "2"], [MINUS, MINUS, PLUS, PLUS, PLUS]),
        ({"numbers": False}, ["-2", "0", "2"], [MINUS, MINUS, PLUS, PLUS, PLUS]),
        ({"scale": "sequential"}, ["0", "2"], [WEIGHT] * 5),
    ],
)
def test_the_scale_says_what_its_ends_and_its_zero_look_like(options, ends, paints):
    matrix = np.abs(SCORES[:, [0, 2]]) if options.get("scale") else SCORES
    picture = heatmap(matrix, **options)
    swatches, full = swatches_of(picture), ALONE if options.get("numbers") is False else UNDER_TEXT
    assert [swatch.attributes["fill"] for swatch in swatches] == paints
    strengths = [
        full * share
        for share in ([1, 0.5, 0, 0.5, 1] if ends[0] == "-2" else [0, 0.25, 0.5, 0.75, 1])
    ]
    assert [swatch.strength for swatch in swatches] == pytest.approx(strengths, abs=0.0051)
    places = [swatches[round(i * 4 / (len(ends) - 1))] for i in range(len(ends))]
    below = [s for s in shapes(picture) if s.text and s.box[1] > swatches[0].box[3]]
    assert [shape.text for shape in below] == ends
    assert {shape.centre[1] for shape in below} == {swatches[0].box[3] + 8}
    assert [shape.centre[0] for shape in below] == pytest.approx(
        [place.centre[0] for place in places]
    )
    assert {shape.box[1] - swatches[0].box[3] < 8 for shape in below} == {True}
    cells = cells_of(picture)
    assert swatches[0].box[1] == cells[-1].box[3] + 10
    left, right = cells[0].box[0], max(cell.box[2] for cell in cells)
    assert swatches[2].centre[0] == pytest.approx((left + right) / 2)
    outlined = [
        s.box
        for s in shapes(picture)
        if s.kind == "rect" and s.attributes.get("stroke-opacity") == "0.3"
    ]
    assert outlined == [swatch.box for swatch in swatches]
    for one, following in itertools.pairwise(swatches):
        assert one.box[2] == following.box[0]


def test_a_scale_may_reach_the_largest_float():
    largest = np.finfo(float).max
    swatches = swatches_of(heatmap(np.array([[largest, -largest]])))
    assert [swatch.strength for swatch in swatches] == [0.5, 0.25, 0, 0.25, 0.5]


def test_the_least_number_of_a_narrow_integer_is_as_strong_as_any():
    cells = cells_of(heatmap(np.array([[-128, 0]], dtype=np.int8)))
    assert [(cell.attributes["fill"], cell.strength) for cell in cells] == [(MINUS, 0.5), (PLUS, 0)]


def test_a_mask_says_what_its_signs_mean():
    picture = heatmap(causal_mask(6))
    (legend,) = named(picture, "✓ takes part, × does not")
    first, last = cells_of(picture)[0], cells_of(picture)[-1]
    assert legend.centre[0] == (first.box[0] + last.box[2]) / 2
    assert legend.centre[1] == last.box[3] + 18
    assert legend.attributes["font-size"] == "11"
    assert not swatches_of(picture)
    assert all(cell.tip == "" for cell in cells_of(picture))
    assert {cell.box[2] - cell.box[0] for cell in cells_of(picture)} == {22}


def test_numbers_are_printed_while_all_of_a_row_fits():
    # 50 is the width of a cell for six characters, 560 the widest matrix of numbers.
    fits, wide = heatmap(np.full((1, 11), 0.1234)), heatmap(np.full((1, 12), 0.1234))
    assert len(named(fits, "0.1234")) == 11 + 1
    assert {cell.box[2] - cell.box[0] for cell in cells_of(fits)} == {50}
    assert len(named(wide, "0.1234")) == 1
    assert {(cell.box[2] - cell.box[0], cell.box[3] - cell.box[1]) for cell in cells_of(wide)} == {
        (22, 22)
    }
    assert cells_of(wide)[4].tip == "row 1, column 5: 0.1234"
    assert all(cell.tip == "" for cell in cells_of(fits))
    assert {cell.box[2] - cell.box[0] for cell in cells_of(heatmap(np.eye(2)))} == {26}
    assert cells_of(heatmap(np.array([[1.0, -np.inf]])))[0].attributes["width"] == "26"
    minus = named(heatmap(np.array([[-1.0, 0.0, 1.0]]), numbers=False), "−")
    assert len(minus) == 1
    assert minus[0].centre == pytest.approx(
        cells_of(heatmap(np.array([[-1.0, 0.0, 1.0]]), numbers=False))[0].centre
    )


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
def test_a_matrix_is_told_in_words(matrix, words):
    described = matrix_panel(matrix, "S").description
    assert described == words if words else described.count("Row") == 7
