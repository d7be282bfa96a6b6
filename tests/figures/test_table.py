"""A matrix as a table: every digit of `show`, and the decimal points one below the other."""

import re

import numpy as np
import pytest

from attention_docs import examples
from attention_docs.render.numbers import number
from attention_docs.render.table import EXCERPT, MOST_SHOWN, excerpt, is_large, table


def rows(html):
    """The cells of each row, whose end tags HTML lets one leave out."""
    written = html.removesuffix("</table>").split("<tr>")[1:]
    return [[cell.partition(">")[2] for cell in row.split("<td")[1:]] for row in written]


def as_shown(cell):
    """Undo what HTML writes differently from `show`."""
    plain = cell.replace("−", "-").replace("∞", "inf")
    mantissa, power, exponent = plain.removesuffix("</sup>").partition(" × 10<sup>")
    if power:
        return f"{mantissa}e{int(exponent):+03}"
    return {"T": "True", "F": "False"}.get(plain, plain)


@pytest.mark.parametrize("name", examples.names())
def test_a_table_has_the_digits_of_show(name):
    for step, array in examples.steps(name).items():
        if np.ndim(array) == 2:
            shown = [[as_shown(cell) for cell in row] for row in rows(table(array, "toy.A"))]
            assert shown == [[number(value) for value in row] for row in array], step


def test_decimal_points_stand_one_below_the_other():
    html = table(np.array([[2.0], [-0.25], [1e-12]]), "toy.A")
    room = [float(found or 0) for found in re.findall(r'<td(?: style="padding-right:(.*?)em")?>', html)]  # fmt: skip
    # ".0000" takes 2.278em of the font; ".0 × 10" and the smaller "−12" take more.
    assert room[0] - room[1] == pytest.approx(2.278)
    assert room[0] > 2.278
    assert room[2] == 0


def test_what_is_no_number_stands_in_the_middle_of_its_column():
    html = table(np.array([[-np.inf], [0.5]]), "toy.A")
    assert html.endswith('<tr><td class="centred">−∞<tr><td>0.5000</table>')


def test_a_vector_is_a_row():
    assert rows(table(np.array([1.0, -np.inf, np.nan]), "toy.v")) == [["1", "−∞", "nan"]]


@pytest.mark.parametrize(
    ("shape", "shown"), [((7, 10), EXCERPT), ((3, 30), (3, 6)), ((30, 3), (4, 3))]
)
def test_what_is_large_is_shown_by_its_corners(shape, shown):
    array = np.arange(np.prod(shape)).reshape(shape)
    cells = rows(excerpt(array, "a.A"))
    assert (len(cells), len(cells[0])) == shown
    corners = [cells[i][j] for i in (0, -1) for j in (0, -1)]
    assert corners == [str(array[i, j]) for i in (0, -1) for j in (0, -1)]


def test_forty_numbers_are_not_too_many():
    assert not is_large(np.ones((5, MOST_SHOWN // 5)))
    assert is_large(np.ones(MOST_SHOWN + 1))
