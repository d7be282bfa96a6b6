"""Matrix products: A and AB share their rows, B and AB their columns, and all give back numbers."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from attention_docs.render import product_figure
from attention_docs.render.numbers import number
from attention_docs.render.references import named as with_step
from tests.figures.drawing import assert_readable, cells_of, named, paint, told
from tests.figures.test_heatmap import (
    around,
    assert_labels,
    assert_marks,
    assert_scales,
    assert_shows_cells,
)

A = np.array([[1.0, -2.0, 0.5], [3.0, 0.0, 0.25]])
B = np.array([[1.0, 2.0], [0.5, 0.25], [-1.0, 4.0]])
STEPS = ("a.A", "a.B", "a.AB")


def drawn(a, b, **options):
    """Return a readable picture of a product, after all its numbers were read back."""
    a, b, ab = (with_step(matrix, step) for matrix, step in zip((a, b, a @ b), STEPS, strict=True))
    picture = product_figure(a, b, product=ab, **options)
    assert_readable(picture)
    for matrix, step in zip((a, b, ab), STEPS, strict=True):
        assert_shows_cells(picture, step, np.asarray(matrix))
    assert_scales(picture, (a, "diverging"), (b, "diverging"), (ab, "diverging"))
    left, above, corner = (around(cells_of(picture, step), (None, None)) for step in STEPS)
    assert left[1::2] == corner[1::2]
    assert above[::2] == corner[::2]
    assert left[2] < corner[0]
    assert above[3] < corner[1]
    return picture


@given(
    arrays(float, (3, 2), elements=st.floats(-9, 9, allow_subnormal=False)),
    arrays(float, (2, 4), elements=st.floats(-9, 9, allow_subnormal=False)),
    st.data(),
)
def test_any_product_is_readable_and_gives_back_its_numbers(a, b, data):
    row, column = data.draw(st.integers(0, 2)), data.draw(st.integers(0, 3))
    names, roles = ("X", "W", "XW"), data.draw(st.permutations(["input", None, "query"]))
    picture = drawn(a, b, row=row, column=column, roles=roles, names=names)
    matrices = [cells_of(picture, step) for step in STEPS]
    assert_labels(picture, matrices[0], rows="123")
    assert_labels(picture, matrices[1], columns="1234")
    places = ((row, None), (None, column), (row, column))
    assert_marks(picture, *zip(matrices, places, roles, strict=True))
    sentence = f"row {row + 1} · column {column + 1} = {number((a @ b)[row, column])}"
    assert named(picture, sentence)
    for name, role, cells in zip(names, roles, matrices, strict=True):
        left, _, right, _ = around(cells, (None, None))
        titles = [s for s in named(picture, name) if left < s.centre[0] < right]
        assert paint(role) in [s.attributes["fill"] for s in titles]


def test_large_products_show_colours_only():
    drawn(np.full((2, 30), 0.1234), np.full((30, 2), -0.1234))


def test_product_is_described_in_words():
    assert told(product_figure(A, B, row=1, column=0, names=("X", "W", "XW"))) == (
        "X times W gives XW",
        "X: 2 rows, 3 columns. Row 1: 1, -2, 0.5000. Row 2: 3, 0, 0.2500. "
        "W: 3 rows, 2 columns. Row 1: 1, 2. Row 2: 0.5000, 0.2500. Row 3: -1, 4. "
        "XW: 2 rows, 2 columns. Row 1: -0.5000, 3.5000. Row 2: 2.7500, 7. Marked: row 2 · column 1 = 2.7500.",
    )


@pytest.mark.parametrize(
    ("a", "b", "options", "message"),
    [
        (A > 0, B, {}, "a has dtype bool; expected real numbers"),
        (A, np.where(B > 3, -np.inf, B), {}, "b holds -inf at [2, 1]; expected finite numbers only"),
        (np.array([[1e200]]), np.array([[1e200]]), {}, "the products of a and b hold inf at [0, 0]; expected products that fit float64"),
        (A, np.ones((2, 3)), {}, "b has shape (2, 3); expected (3, n) to match a (2, 3)"),
        (A, B, {"column": 4}, "column is 4; expected an index below 2"),
        (A, B, {"column": True}, "column is True; expected a whole number"),
        (A, B, {"names": ("A", "B")}, "names is ('A', 'B'); expected three, for a, b and their product"),
        (A, B, {"scales": "abc"}, "scales is 'abc'; expected three, for a, b and their product"),
        (A, B, {"scales": ("diverging", "sequential", "diverging")}, "B holds -1; expected 0 or more on a sequential scale"),
        (A, B, {"product": A}, "product has shape (2, 3); expected (2, 2), that of a b"),
        (A, B, {"product": A @ B + 1}, "product holds 0.5 at [0, 0]; expected the product of a and b"),
    ],
)  # fmt: skip
def test_factors_that_do_not_fit_are_refused(a, b, options, message):
    with pytest.raises((TypeError, ValueError), match=f"^{re.escape(message)}$"):
        product_figure(a, b, **options)
