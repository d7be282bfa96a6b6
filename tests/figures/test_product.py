"""The picture of a product under a ruler: A and AB share their rows, B and AB their columns."""

import re

import numpy as np
import pytest

from attention_docs.render import product_figure
from attention_docs.render.figures.scales import ALONE, UNDER_TEXT, WEIGHT
from attention_docs.render.figures.svg import ROLES
from tests.figures.drawing import cells_of, marks_of, name, named, shapes, swatches_of, told

A = np.array([[1.0, -2.0, 0.5], [3.0, 0.0, 0.25]])
B = np.array([[1.0, 2.0], [0.5, 0.25], [-1.0, 4.0]])


def test_a_product_shares_its_rows_with_a_and_its_columns_with_b():
    picture = product_figure(
        A,
        B,
        row=1,
        column=0,
        names=("X", "W", "XW"),
        roles=("input", None, "query"),
        row_labels=["p", "q"],
        column_labels=["u", "v"],
    )
    cells = [cell.box for cell in cells_of(picture)]
    a, b, ab = cells[:6], cells[6:12], cells[12:]
    width = a[1][0] - a[0][0]
    assert [box[1::2] for box in ab] == [a[0][1::2]] * 2 + [a[3][1::2]] * 2
    assert [box[::2] for box in ab] == [box[::2] for box in b[:2]] * 2
    assert b[0][0] - a[2][2] == a[0][1] - b[4][3] == 30
    assert {(box[2] - box[0], box[3] - box[1]) for box in cells} == {(width, 24)}
    row, column, cell = marks_of(picture)
    assert row.box == (*a[3][:2], *a[5][2:])
    assert column.box == (*b[0][:2], *b[4][2:])
    assert cell.box == ab[2]
    assert [mark.attributes["stroke"] for mark in (row, column, cell)] == [
        ROLES["input"],
        "currentColor",
        ROLES["query"],
    ]
    (p,), (q,), (u,), (v,) = (named(picture, text) for text in "pquv")
    assert [p.centre[1], q.centre[1]] == [(box[1] + box[3]) / 2 for box in (a[0], a[3])]
    assert [u.centre[0], v.centre[0]] == [(box[0] + box[2]) / 2 for box in b[:2]]
    assert p.box[2] == a[0][0] - 6 == 9
    frames = [s.box for s in shapes(picture) if s.kind == "path"]
    assert frames == [(*part[0][:2], *part[-1][2:]) for part in (a, b, ab)]
    assert u.centre[1] == b[0][1] - 8


def test_a_product_makes_room_for_its_longest_number_and_for_its_scales():
    picture = product_figure(np.array([[20.5]]), np.array([[30.25]]))
    first = cells_of(picture)[0]
    assert first.box[2] - first.box[0] == 8 + 7 * len("620.1250")
    scale = 5 * 14 + 7 * len("-20.5000")
    assert first.box[0] == 15 + scale - 64
    half = np.full((6, 6), 0.1234)
    assert {cell.attributes["width"] for cell in cells_of(product_figure(half, half))} == {"22"}


def test_a_product_names_its_matrices_and_says_what_is_marked():
    picture = product_figure(
        A, B, row=1, column=0, names=("X", "W", "XW"), roles=("input", "value", "query")
    )
    cells = [cell.box for cell in cells_of(picture)]
    a, b, ab = cells[:6], cells[6:12], cells[12:]
    (x,), (w, of_scale), (product,), (sentence,) = (
        named(picture, text) for text in ("X", "W", "XW", "row 2 · column 1 = 2.7500")
    )
    middle = (b[0][0] + b[1][2]) / 2
    assert x.centre == pytest.approx(((a[0][0] + a[2][2]) / 2, a[0][1] - 10))
    assert w.centre == pytest.approx((middle, b[0][1] - 28))
    assert product.centre == pytest.approx((middle, ab[2][3] + 16))
    assert sentence.centre == pytest.approx((middle, ab[2][3] + 32))
    assert [title.attributes["fill"] for title in (x, w, product)] == [
        ROLES["input"],
        ROLES["value"],
        ROLES["query"],
    ]
    of_a, of_b, of_ab = (swatches_of(picture)[i : i + 5] for i in (0, 5, 10))
    assert of_a[2].centre[0] == pytest.approx((a[0][0] + a[2][2]) / 2)
    assert of_a[0].box[1] == ab[2][3] + 8
    assert of_ab[2].centre[0] == pytest.approx(middle)
    assert of_ab[0].box[1] == ab[2][3] + 44
    assert of_b[2].centre[0] == pytest.approx(of_scale.centre[0])
    assert of_b[0].box[1] == pytest.approx((b[0][1] + b[4][3]) / 2 - 8)
    assert of_scale.centre[1] == pytest.approx((b[0][1] + b[4][3]) / 2 - 19.2)
    assert of_b[4].box[2] < a[2][2]


def test_a_product_is_told_in_words():
    picture = product_figure(A, B, row=1, column=0, names=("X", "W", "XW"))
    assert told(picture) == (
        "X: 2 rows, 3 columns. Row 1: 1, -2, 0.5000. Row 2: 3, 0, 0.2500. "
        "W: 3 rows, 2 columns. Row 1: 1, 2. Row 2: 0.5000, 0.2500. Row 3: -1, 4. "
        "XW: 2 rows, 2 columns. Row 1: -0.5000, 3.5000. Row 2: 2.7500, 7. Marked: row 2 · column 1 = 2.7500."
    )
    assert name(picture) == "X times W gives XW"
    assert "A times B gives AB" in product_figure(A, B)
    assert "row 1 · column 1 = -0.5000" in product_figure(A, B)


def test_a_product_is_computed_in_float64():
    narrow = product_figure(np.array([[200]], "uint8"), np.array([[2]], "uint8"))
    assert "row 1 · column 1 = 400" in narrow
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


def test_a_large_product_shows_colours_only():
    wide = product_figure(np.full((2, 30), 0.1234), np.full((30, 2), 0.1234))
    assert {cell.box[2] - cell.box[0] for cell in cells_of(wide)} == {22}
    assert {cell.strength for cell in cells_of(wide)} == {ALONE}
    assert swatches_of(product_figure(A, B))[-1].strength == UNDER_TEXT
    assert swatches_of(wide)[-1].strength == ALONE
    kinds = product_figure(np.abs(A), B, scales=("sequential", "diverging", "diverging"))
    assert cells_of(kinds)[0].attributes["fill"] == WEIGHT
    with pytest.raises(ValueError, match="B holds -1; expected 0 or more on a sequential scale"):
        product_figure(A, B, scales=("diverging", "sequential", "diverging"))
    for refused in ({"roles": (None, None)}, {"scales": "abc"}):
        ((argument, given_),) = refused.items()
        message = f"{argument} is {given_!r}; expected three, for a, b and their product"
        with pytest.raises(ValueError, match=re.escape(message)):
            product_figure(A, B, **refused)
