"""Matrix products: A and AB share their rows, B and AB their columns, and all give back numbers."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from attention_docs.render import product_figure
from attention_docs.render.numbers import number
from tests.figures.drawing import (
    assert_readable,
    legends_of,
    name,
    named,
    paint,
    tables_of,
    told,
)
from tests.figures.test_heatmap import (
    above,
    assert_below,
    assert_column_labels,
    assert_legend,
    assert_marks,
    assert_row_labels,
    assert_shows_cells,
    positions,
)

A = np.array([[1.0, -2.0, 0.5], [3.0, 0.0, 0.25]])
B = np.array([[1.0, 2.0], [0.5, 0.25], [-1.0, 4.0]])


def assert_shows_product(
    picture,
    a,
    b,
    *,
    row=0,
    column=0,
    names=("A", "B", "AB"),
    roles=(None, None, None),
    scales=("diverging", "diverging", "diverging"),
    row_labels=None,
    column_labels=None,
    product=None,
):
    """Assert that a product with these arguments can be read back."""
    matrices = [np.asarray(a, float), np.asarray(b, float), np.asarray(a, float) @ b]
    if product is not None:
        np.testing.assert_allclose(product, matrices[2])
    tables, legends = tables_of(picture), legends_of(picture)
    left, upper, corner = tables
    assert (left.y == corner.y).all()
    assert (upper.x == corner.x).all()
    assert left.x[-1] < corner.x[0]
    assert upper.y[-1] < corner.y[0]
    for table, matrix, scale, legend in zip(tables, matrices, scales, legends, strict=True):
        assert_legend(legend, matrix, scale)
        assert_shows_cells(picture, table, matrix, scale, legend)
    assert_below(legends[0], left)
    assert_below(legends[2], corner)
    assert_row_labels(picture, left, row_labels or positions(len(a)))
    (of_b,), *labels = above(picture, upper)
    assert_column_labels(labels, upper, column_labels or positions(len(b[0])))
    row, column = row % left.shape[0], column % upper.shape[1]
    places = ((row, None), (None, column), (row, column))
    assert_marks(picture, tables, list(zip(places, roles, strict=True)))
    sentence = f"row {row + 1} · column {column + 1} = {number(matrices[2][row, column])}"
    (said,) = named(picture, sentence)
    assert_below(said, corner)
    (of_a,) = above(picture, left)[-1]
    (of_ab,) = [s for s in named(picture, names[2]) if 0 < s.centre[1] - corner.y[-1] < 30]
    for title, given_, role, table in zip((of_a, of_b, of_ab), names, roles, tables, strict=True):
        assert title.text == given_
        assert title.attributes["fill"] == paint(role)
        assert table.x[0] < title.centre[0] < table.x[-1]
    # The scale of B stands apart from B, and so under its name.
    over = [s for s in named(picture, names[1]) if 0 < legends[1].box[1] - s.box[3] < 16]
    assert over[0].centre[0] == pytest.approx(sum(legends[1].box[::2]) / 2, abs=1)


@given(
    arrays(float, (3, 2), elements=st.floats(-9, 9, allow_subnormal=False)),
    arrays(float, (2, 4), elements=st.floats(-9, 9, allow_subnormal=False)),
    st.data(),
)
def test_any_product_is_readable_and_gives_back_its_numbers(a, b, data):
    options = {
        "row": data.draw(st.integers(-3, 2)),
        "column": data.draw(st.integers(-4, 3)),
        "names": ("X", "W", "XW"),
        "roles": data.draw(st.permutations(["input", None, "query"])),
        "row_labels": ["p", "q", "r"],
        "column_labels": ["t", "u", "v", "w"],
    }
    picture = product_figure(a, b, **options)
    assert_readable(picture)
    assert_shows_product(picture, a, b, **options)


def test_large_products_show_colours_only():
    a, b = np.full((2, 30), 0.1234), np.full((30, 2), -0.1234)
    scales = ("sequential", "diverging", "diverging")
    picture = product_figure(a, b, scales=scales)
    assert_readable(picture)
    assert_shows_product(picture, a, b, scales=scales)


def test_product_is_described_in_words():
    picture = product_figure(A, B, row=1, column=0, names=("X", "W", "XW"))
    assert told(picture) == (
        "X: 2 rows, 3 columns. Row 1: 1, -2, 0.5000. Row 2: 3, 0, 0.2500. "
        "W: 3 rows, 2 columns. Row 1: 1, 2. Row 2: 0.5000, 0.2500. Row 3: -1, 4. "
        "XW: 2 rows, 2 columns. Row 1: -0.5000, 3.5000. Row 2: 2.7500, 7. Marked: row 2 · column 1 = 2.7500."
    )
    assert name(picture) == "X times W gives XW"
    assert name(product_figure(A, B)) == "A times B gives AB"
    assert "row 1 · column 1 = -0.5000" in product_figure(A, B)


def test_product_is_computed_in_float64():
    narrow = product_figure(np.array([[200]], "uint8"), np.array([[2]], "uint8"))
    assert narrow == product_figure(np.array([[200.0]]), np.array([[2.0]]))


@pytest.mark.parametrize(
    ("a", "b", "error", "message"),
    [
        (A > 0, B, TypeError, "a has dtype bool; expected real numbers"),
        (A, B > 0, TypeError, "b has dtype bool; expected real numbers"),
        (np.where(A == 1, np.inf, A), B, ValueError, "a holds inf at [0, 0]; expected finite numbers only"),
        (A, np.where(B > 3, -np.inf, B), ValueError, "b holds -inf at [2, 1]; expected finite numbers only"),
        (np.array([[1e200]]), np.array([[1e200]]), ValueError, "the products of a and b hold inf at [0, 0]; expected products that fit float64"),
    ],
)  # fmt: skip
def test_factors_without_a_product_are_refused(a, b, error, message):
    with pytest.raises(error) as caught:
        product_figure(a, b)
    assert str(caught.value) == message


def test_arguments_for_three_matrices_are_checked():
    with pytest.raises(ValueError, match="B holds -1; expected 0 or more on a sequential scale"):
        product_figure(A, B, scales=("diverging", "sequential", "diverging"))
    for argument, wrong in (("roles", (None, None)), ("scales", "abc")):
        message = f"{argument} is {wrong!r}; expected three, for a, b and their product"
        with pytest.raises(ValueError, match=re.escape(message)):
            product_figure(A, B, **{argument: wrong})
