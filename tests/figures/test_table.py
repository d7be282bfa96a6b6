"""Matrices as HTML tables: digits, alignment and abridged matrices."""

import re

import numpy as np
import pytest

from attention_docs import examples
from attention_docs.publish.computed import ComputedExamples
from attention_docs.render.numbers import number
from attention_docs.render.table import EXCERPT_SHAPE, MAX_NUMBERS, Labels, excerpt, is_large, table
from tests.conftest import ROOT

STEPS = ComputedExamples(ROOT)


def rows(html):
    """Return the cells of each row; the table omits optional end tags."""
    row_html = html.removesuffix("</table>").split("<tr>")[1:]
    return [[cell.partition(">")[2] for cell in row.split("<td")[1:]] for row in row_html]


def as_shown(cell):
    """Convert the text of a cell to the format of the command `show`."""
    text = cell.replace("−", "-").replace("∞", "inf").replace(",", "")
    mantissa, power, exponent = text.removesuffix("</sup>").partition(" × 10<sup>")
    if power:
        return f"{mantissa}e{int(exponent):+03}"
    return {"T": "True", "F": "False"}.get(text, text)


@pytest.mark.parametrize("name", examples.names())
def test_table_has_the_digits_of_show(name):
    for step, array in STEPS.steps(name).items():
        if np.ndim(array) == 2:
            shown = [[as_shown(cell) for cell in row] for row in rows(table(array, "toy.A"))]
            assert shown == [[number(value) for value in row] for row in array], step


def test_decimal_points_are_aligned():
    html = table(np.array([[2.0], [-0.25], [1e-12]]), "toy.A")
    paddings = re.findall(r'<td(?: style="padding-right:(.*?)em")?>', html)
    of_integer, of_decimal, of_power = (float(padding or 0) for padding in paddings)
    # The widest fraction, ".0 × 10⁻¹²", has no padding.
    assert of_power == 0
    assert of_decimal > 0
    width_of_point_and_four_digits = 2.278
    assert of_integer - of_decimal == pytest.approx(width_of_point_and_four_digits)


def test_columns_of_integers_alone_are_centred_and_as_wide_as_their_longest_word():
    html = table(np.array([[2, -1]]), "toy.A", Labels(columns=["air", "water"]))
    assert html.startswith(
        '<table class="matrix labelled integers" data-val="toy.A" style="--width:1.6em">'
    )


def test_abridged_matrix_keeps_the_words_of_its_rows_and_columns():
    labels = Labels([f"row {i}" for i in range(6)], [f"column {j}" for j in range(10)])
    html = excerpt(np.arange(60).reshape(6, 10), "toy.A", labels)
    words = re.findall(r'<th scope="(?:row|col)">([^<]*)', html)
    columns = ["column 0", "column 1", "column 2", "column 3", "⋯", "column 9"]
    assert words == [*columns, "row 0", "row 1", "⋮", "row 5"]


def test_words_must_match_the_matrix():
    with pytest.raises(
        ValueError, match=r"toy\.A has the labels air, water; expected 3 along axis 1"
    ):
        table(np.ones((2, 3)), "toy.A", Labels(columns=["air", "water"]))


def test_matrix_with_infinity_is_aligned_at_the_right_edge():
    html = table(np.array([[-np.inf], [0.5], [0], [np.nan]]), "toy.A")
    assert html.endswith('<td>−∞<tr><td>0.5000<tr><td>0<tr><td class="centred">nan</table>')


@pytest.mark.parametrize(
    ("shape", "excerpt_shape"), [((7, 10), EXCERPT_SHAPE), ((3, 30), (3, 6)), ((30, 3), (4, 3))]
)
def test_excerpt_has_the_corners_of_a_matrix(shape, excerpt_shape):
    array = np.arange(np.prod(shape)).reshape(shape)
    cells = rows(excerpt(array, "a.A"))
    assert (len(cells), len(cells[0])) == excerpt_shape
    corners = [cells[i][j] for i in (0, -1) for j in (0, -1)]
    assert corners == [str(array[i, j]) for i in (0, -1) for j in (0, -1)]


def test_only_more_numbers_than_the_maximum_are_large():
    assert not is_large(np.ones((5, MAX_NUMBERS // 5)))
    assert is_large(np.ones(MAX_NUMBERS + 1))
