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
    column = rows_with_room(table(np.array([[2.0], [-0.25], [1e-12]]), "toy.A"))
    # ".0000" takes 2.278em of the font; ".0 × 10" and the smaller "−12" take more.
    assert column[0][1] - column[1][1] == pytest.approx(2.278)
    assert column[2] == ("1.0 × 10<sup>−12</sup>", 0)
    assert column[0][1] > 2.278


def test_what_is_no_number_stands_in_the_middle_of_its_column():
    html = table(np.array([[-np.inf], [0.5]]), "toy.A")
    assert html.endswith('<tr><td class="centred">−∞<tr><td>0.5000</table>')


def rows_with_room(html):
    """Each cell with the room after it, in em."""
    cells = re.findall(r'<td(?: style="padding-right:([\d.]+)em")?>([^\n]*?)(?=<t|</t)', html)
    return [(cell, float(room or 0)) for room, cell in cells]


def test_a_vector_is_a_row():
    assert rows(table(np.array([1.0, -np.inf, np.nan]), "toy.v")) == [["1", "−∞", "nan"]]


def test_a_table_says_which_result_it_is():
    assert ' data-val="toy.A"' in table(np.eye(2), "toy.A")


@pytest.mark.parametrize("shape", [(), (2, 2, 2)])
def test_other_arrays_are_refused(shape):
    with pytest.raises(ValueError, match="expected one axis or two"):
        table(np.ones(shape), "toy.A")


def test_what_is_large_is_shown_by_its_corners():
    array = np.arange(70.0).reshape(7, 10)
    assert is_large(array)
    shown = rows(excerpt(array, "a.A"))
    assert (len(shown), len(shown[0])) == EXCERPT
    assert shown[0] == ["0", "1", "2", "3", "⋯", "9"]
    assert shown[2] == ["⋮", "⋮", "⋮", "⋮", "⋱", "⋮"]
    assert shown[-1] == ["60", "61", "62", "63", "⋯", "69"]


@pytest.mark.parametrize("shape", [(3, 30), (30, 3)])
def test_an_excerpt_leaves_a_short_side_whole(shape):
    shown = np.array(rows(excerpt(np.ones(shape), "a.A")))
    assert min(shown.shape) == 3


def test_forty_numbers_are_not_too_many():
    assert not is_large(np.ones((5, MOST_SHOWN // 5)))
    assert is_large(np.ones(MOST_SHOWN + 1))
