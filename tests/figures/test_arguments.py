"""The arguments of drawings, and what every finished figure has."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from attention_docs.render import attention_lines, heatmap, product_figure
from attention_docs.render.figures import Panel, beside, figure
from attention_docs.render.figures.svg import FONT_SIZE
from tests.figures.drawing import SVG, name_and_description, size

A = np.ones((2, 3))
B = np.ones((3, 2))
PANEL = Panel(50, 30, "<g/>", "In words.", name="One")


def test_figures_are_equal_for_arrays_of_every_library(xp):
    matrix = np.array([[0.25, 0.75], [1.0, 0.0]])
    array = xp.asarray(matrix)
    assert heatmap(array) == heatmap(matrix)
    assert product_figure(array, array) == product_figure(matrix, matrix)
    assert attention_lines(array, ["a", "b"]) == attention_lines(matrix, ["a", "b"])


def test_figure_has_html_repr_for_notebooks():
    picture = heatmap(A)
    assert picture._repr_html_() == str(picture)


def test_names_and_labels_are_escaped():
    picture = heatmap(np.eye(2), 'a < b & "c"', row_labels=["<script>", "&"])
    assert name_and_description(picture)[0] == 'a < b & "c"'
    assert "<script>" not in picture


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: heatmap(np.ones((0, 3))), "matrix has shape (0, 3); expected two axes, none of them empty"),
        (lambda: heatmap([["a"]]), "matrix has dtype <U1; expected real numbers or booleans"),
        (lambda: heatmap([[np.nan]]), "matrix holds nan; expected numbers, or -inf where nothing takes part"),
        (lambda: heatmap(A, rows=["a", "b"]), "rows is ['a', 'b']; expected a text"),
        (lambda: heatmap(A, row_labels=["a"]), "row_labels is ['a']; expected 2 labels"),
        (lambda: heatmap(A, column_labels="abc"), "column_labels is 'abc'; expected 3 labels"),
        (lambda: heatmap(A, row_labels=2), "row_labels is 2; expected 2 labels"),
        (lambda: heatmap(A, scale="rainbow"), "scale is 'rainbow'; expected 'diverging' or 'sequential'"),
        (lambda: heatmap(A, role="mask"), "role is 'mask'; expected one of input, query, key, value, scores, weights, output"),
        (lambda: heatmap(A, hidden=A), "hidden has shape (2, 3) and dtype float64; expected (2, 3) to match matrix, and bool"),
        (lambda: heatmap(A, mark=(2, None)), "mark[0] is 2; expected an index below 2"),
        (lambda: heatmap(A, mark=(0, -4)), "mark[1] is -4; expected an index below 3"),
        (lambda: heatmap(A, mark=(1.5, None)), "mark[0] is 1.5; expected a whole number"),
        (lambda: heatmap(A, mark=3), "mark is 3; expected a pair (row, column)"),
        (lambda: attention_lines(-A, ["a", "b"], list("cde")), "weights holds -1; expected finite numbers of 0 or more"),
        (lambda: attention_lines(A * np.inf, ["a", "b"], list("cde")), "weights holds inf; expected finite numbers of 0 or more"),
        (lambda: attention_lines(A, ["a", "b"], ["c"]), "keys is ['c']; expected 3 labels"),
        (lambda: attention_lines(A, ["a", "b"], list("cde"), query=2), "query is 2; expected an index below 2"),
        (lambda: product_figure(A > 0, B), "a has dtype bool; expected real numbers"),
        (lambda: product_figure(A, [[1, 2], [0, 0], [-np.inf, 0]]), "b holds -inf at [2, 0]; expected finite numbers only"),
        (lambda: product_figure([[1e200]], [[1e200]]), "the products of a and b hold inf at [0, 0]; expected products that fit float64"),
        (lambda: product_figure(A, B, column=4), "column is 4; expected an index below 2"),
        (lambda: product_figure(A, B, column=True), "column is True; expected a whole number"),
        (lambda: product_figure(A, B, inner_labels=["one"]), "inner_labels is ['one']; expected 3 labels"),
        (lambda: product_figure(A, B, names=("A", "B")), "names is ('A', 'B'); expected three, for a, b and their product"),
        (lambda: product_figure(A, B, scales="abc"), "scales is 'abc'; expected three, for a, b and their product"),
        (lambda: product_figure(A, B, product=A), "product has shape (2, 3); expected (2, 2), that of a b"),
        (lambda: product_figure(A, B, product=A @ B + 1), "product holds 4.0 at [0, 0]; expected the product of a and b"),
        (lambda: beside([PANEL], ""), "a figure needs a name, for screen readers"),
        (lambda: beside([PANEL._replace(name="")], "Both"), "a figure needs a name and a description, for screen readers"),
        (lambda: figure(PANEL._replace(description=""), "One"), "a figure needs a name and a description, for screen readers"),
    ],
)  # fmt: skip
def test_error_states_argument_expectation_and_value(draw, message):
    with pytest.raises((TypeError, ValueError), match=f"^{re.escape(message)}$"):
        draw()


def test_group_and_its_drawings_have_accessible_names():
    group = ElementTree.fromstring(beside([PANEL, PANEL._replace(name="Two")], 'Both < "all"'))
    assert (group.get("role"), group.get("aria-label")) == ("group", 'Both < "all"')
    assert [drawing.findtext(f"{SVG}title") for drawing in group] == ["One", "Two"]


def test_figure_shrinks_until_its_text_has_11_pixels():
    picture = figure(PANEL, "A panel")
    width, _ = size(picture)
    smallest_scale = 11 / FONT_SIZE
    assert f'style="min-width: {round(width * smallest_scale)}px"' in picture
