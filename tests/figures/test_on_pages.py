"""Every figure of the site: its data, screen readers, both colour schemes, and what is refused."""

import functools
import inspect
import re
from html import unescape
from xml.etree import ElementTree

import ml_dtypes
import numpy as np
import pytest

from attention_docs import examples
from attention_docs.publish.before.figures import steps_of_attention
from attention_docs.publish.before.figures.registry import FIGURES, figure_block, site_figure
from attention_docs.publish.computed import ComputedExamples
from attention_docs.render import attention_lines, heatmap, product_figure
from attention_docs.render.figures import Panel, figure
from attention_docs.render.figures.scales import MINUS, PLUS, UNDER_TEXT, WEIGHT
from attention_docs.render.figures.svg import ROLES
from attention_docs.render.numbers import number
from tests.conftest import ROOT
from tests.figures.drawing import SVG, drawings_of
from tests.figures.test_chart import assert_shows_series
from tests.figures.test_heatmap import assert_shows_matrix
from tests.figures.test_lines import assert_shows_weights
from tests.figures.test_product import assert_shows_product
from tests.figures.test_scatter import assert_shows_plane, assert_shows_points

each_name = pytest.mark.parametrize("name", FIGURES)


STEPS = ComputedExamples(ROOT)
steps_of = functools.cache(examples.steps)


def drawn_anew(name):
    return FIGURES[name](STEPS.named_steps)


draw = functools.cache(drawn_anew)


@each_name
def test_figure_is_labelled_for_screen_readers(name):
    for picture in drawings_of(draw(name)):
        root = ElementTree.fromstring(picture)
        title, description = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
        assert root.attrib["role"] == "img"
        assert root.attrib["aria-labelledby"] == f"{title.attrib['id']} {description.attrib['id']}"
        assert title.text
        assert len(description.text) > 30


@each_name
def test_figure_has_a_size_and_no_script_style_or_address(name):
    for picture in drawings_of(draw(name)):
        root = ElementTree.fromstring(picture)
        assert root.attrib["viewBox"] == f"0 0 {root.attrib['width']} {root.attrib['height']}"
        for node in root.iter():
            assert node.tag.removeprefix(SVG) not in (
                "script",
                "style",
                "image",
                "foreignObject",
                "use",
            )
            assert not {"onclick", "href"} & set(node.attrib)
        assert "style" not in node.attrib or node.attrib["class"] == "panels"
        assert "nan" not in picture
        assert picture.count("http") == 1


@each_name
def test_colours_are_the_text_colour_or_defined_in_both_schemes(name):
    picture = draw(name)
    style = (ROOT / "docs" / "assets" / "site.css").read_text(encoding="utf-8")
    light, dark = re.findall(r'\[data-md-color-scheme="\w+"\] \{(.*?)\n *\}', style, re.DOTALL)
    for node in ElementTree.fromstring(f"<g>{picture}</g>").iter():
        for paint in (node.attrib.get("fill"), node.attrib.get("stroke")):
            if paint in (None, "none", "currentColor"):
                continue
            name = re.fullmatch(r"var\((--[\w-]+), #[0-9a-f]{6}\)", paint)[1]
            assert f"{name}:" in light
            assert f"{name}:" in dark


def test_ids_are_unique():
    drawings = [drawing for name in FIGURES for drawing in drawings_of(draw(name))]
    found = [found for drawing in drawings for found in re.findall(r' id="([^"]+)"', drawing)]
    assert len(set(found)) == len(found) == 3 * len(drawings)


@each_name
def test_figure_is_deterministic(name):
    assert drawn_anew(name) == draw(name)


def assert_shows_lines(picture, *arguments, heading=None, **options):
    """Read back lines of attention that stand beside others, under a heading of their own."""
    assert heading is None or f">{heading}<" in unescape(picture)
    assert_shows_weights(picture, *arguments, **options)


# How the data of a figure is read back, by the function that draws it.
READERS = {
    "attention_lines": assert_shows_weights,
    "heatmap": assert_shows_matrix,
    "line_chart": assert_shows_series,
    "lines_panel": assert_shows_lines,
    "matrix_panel": assert_shows_matrix,
    "product_figure": assert_shows_product,
    "scatter_2d": assert_shows_plane,
    "scatter_3d": assert_shows_points,
}


@each_name
def test_figure_of_the_site_gives_back_its_data(name, monkeypatch):
    drawn = []

    def record(function, read, *arguments, **options):
        found = function(*arguments, **options)
        drawn.append((read, found, arguments, options))
        return found

    for module in {inspect.getmodule(FIGURES[name]), steps_of_attention}:
        for kind in READERS.keys() & vars(module).keys():
            recorded = functools.partial(record, getattr(module, kind), READERS[kind])
            monkeypatch.setattr(module, kind, recorded)
    whole = drawn_anew(name)
    assert drawn
    for read, found, arguments, options in drawn:
        # Only a panel beside others is not the whole figure.
        if isinstance(found, Panel):
            assert found.body in whole
            assert found.description in unescape(whole)
            found = figure(found, "Panel")
        read(found, *arguments, **options)


@each_name
def test_every_cell_says_which_number_it_shows(name):
    root = ElementTree.fromstring(draw(name))
    boxes = [box for box in root.iter(f"{SVG}rect") if "stroke" not in box.attrib]
    named = set()
    for group in root.findall(f".//{SVG}g[@data-val]"):
        example, _, step = group.get("data-val").partition(".")
        array = STEPS.steps(example)[step]
        for cell in group.findall(f"{SVG}g[@data-at]"):
            value = array[tuple(map(int, cell.get("data-at").split(",")))]
            said = "".join(cell.itertext())
            assert value == -np.inf or said in ("", "✓") or number(value) in said
            named.add(cell[0])
    legend = {box for box in boxes if float(box.get("height")) == 8}
    assert set(boxes) - legend <= named


# Lines of charts that show no result of an example number by number: those through samples of a
# function, and those that join numbers which are not marked.
CURVES = {
    "alibi_biases": "straight lines; of each, one result is the slope, in the text",
    "cache_growth": "straight lines; of each, one result is the bytes of a token, in a table",
    "course_saturation": "61 samples of a softmax; the two factors of the page have markers",
    "induction_curves": "losses, drawn at random in bulk; those that the text quotes are in a table",
    "mistakes_in_a_walk": "losses, drawn at random in bulk; the text quotes some",
    "mistakes_in_reverse": "losses, drawn at random in bulk; the text quotes some",
    "positional_products": "101 samples of a sum of cosines; the results have markers",
    "positional_waves": "101 samples of sines and cosines; the results have markers",
    "score_variance": "what was proved, d and 1, without results; those measured have markers",
    "softmax_gradient": "65 samples of a slope",
    "softmax_saturation": "65 samples of a softmax",
    "speed_growth": "times of a machine, which no example computes",
}


@each_name
def test_every_mark_says_which_number_it_shows(name):
    root = ElementTree.fromstring(f"<g>{draw(name)}</g>")
    parents = {child: parent for parent in root.iter() for child in parent}
    for mark in (node for node in root.iter() if node.find(f"{SVG}title") is not None):
        if mark.tag == f"{SVG}svg":
            continue
        told = mark.findtext(f"{SVG}title")
        group = parents[mark]
        if mark.get("data-at"):  # a point of a chart
            unit = float(group.get("data-axis").split()[2])
            value = result(f"{group.get('data-val')}[{mark.get('data-at')}]")
            assert f": {number(value / unit)} at " in told
        elif mark.get("data-val"):  # a point in a plane or in space
            assert told.endswith(": " + ", ".join(map(number, result(mark.get("data-val")))))
        else:  # a cell or a line between words
            value = result(f"{parents[group].get('data-val')}[{group.get('data-at')}]")
            assert told.endswith(f": {number(value)}")
    lines = [node for node in root.iter() if node.get("stroke-width") == "1.8"]
    assert any(parents[line].get("data-axis") is None for line in lines) == (name in CURVES)


def result(reference):
    example, step, index = re.fullmatch(r"(\w+)\.(\w+)\[([\d,:]+)\]", reference).groups()
    slices = (
        slice(*map(int, part.split(":"))) if ":" in part else int(part) for part in index.split(",")
    )
    return np.asarray(steps_of(example)[step])[tuple(slices)]


def test_hands_of_the_clock_say_which_numbers_they_show():
    hands = re.findall(r'<line [^>]*data-val="([^"]+)"', draw("course_clock"))
    found = np.array([result(hand) for hand in hands])
    np.testing.assert_array_equal(found, steps_of("course_order")["E"][:, 5:])


def test_hands_of_the_clock_point_where_their_words_are():
    hands = steps_of("course_sentence")["E"][:, 5:]
    lines = re.findall(
        r'<line x1="([\d.]+)" y1="([\d.]+)" x2="([\d.]+)" y2="([\d.]+)"', draw("course_clock")
    )
    ends = np.array(lines, dtype=float)[: len(hands)]
    drawn = np.stack([ends[:, 2] - ends[:, 0], ends[:, 1] - ends[:, 3]], axis=1)
    np.testing.assert_allclose(
        drawn / np.linalg.norm(drawn, axis=1, keepdims=True), hands, atol=0.02
    )


def luminance(colour):
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]
    return float(np.dot(parts, [0.2126, 0.7152, 0.0722]))


def mixed(over, under, opacity):
    return [opacity * a + (1 - opacity) * b for a, b in zip(over, under, strict=True)]


def hexadecimal(text):
    return [int(text[i : i + 2], 16) / 255 for i in (1, 3, 5)]


@pytest.mark.parametrize("scheme", ["fallback", "default", "slate"])
@pytest.mark.parametrize(
    ("page", "ink", "opacity"), [("#ffffff", "#000000", 0.87), ("#1e2129", "#e2e4e9", 0.82)]
)  # fmt: skip
def test_numbers_have_contrast_on_the_strongest_colour(scheme, page, ink, opacity):
    style = (ROOT / "docs" / "assets" / "site.css").read_text(encoding="utf-8")
    for paint in (PLUS, MINUS, WEIGHT):
        name, colour = re.fullmatch(r"var\((--[\w-]+), (#\w+)\)", paint).groups()
        if scheme != "fallback":
            block = style.partition(f'[data-md-color-scheme="{scheme}"]')[2]
            colour = re.search(rf"{name}: (#\w+)", block)[1]
        cell = mixed(hexadecimal(colour), hexadecimal(page), UNDER_TEXT)
        text = mixed(hexadecimal(ink), cell, opacity)
        bright, dark = sorted((luminance(cell), luminance(text)), reverse=True)
        if (scheme, page) not in (("default", "#1e2129"), ("slate", "#ffffff")):
            assert (bright + 0.05) / (dark + 0.05) >= 4.5, paint


def test_bfloat16_gives_the_same_figure():
    plain = np.array([[0.25, 0.75], [1.0, 0.0]])
    array = plain.astype(ml_dtypes.bfloat16)
    assert heatmap(array) == heatmap(plain)
    assert product_figure(array, array) == product_figure(plain, plain)
    assert attention_lines(array, ["a", "b"]) == attention_lines(plain, ["a", "b"])


def test_arrays_of_every_library_give_the_same_figure(xp):
    plain = np.array([[0.25, 0.75], [1.0, 0.0]])
    array = xp.asarray(plain)
    assert heatmap(array) == heatmap(plain)
    assert product_figure(array, array) == product_figure(plain, plain)
    assert attention_lines(array, ["a", "b"]) == attention_lines(plain, ["a", "b"])


def test_a_notebook_shows_the_picture():
    picture = heatmap(A)
    assert picture._repr_html_() == picture._repr_svg_() == str(picture)


def test_names_are_escaped():
    picture = heatmap(np.eye(2), 'a < b & "c"', row_labels=["<script>", "&"])
    assert ElementTree.fromstring(picture).find(f"{SVG}title").text == 'a < b & "c"'
    assert "<script>" not in picture


A, B = np.ones((2, 3)), np.ones((3, 4))


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: heatmap(np.ones(3)), "matrix has shape (3,); expected two axes, none of them empty"),
        (lambda: heatmap(np.ones((0, 3))), "matrix has shape (0, 3); expected two axes, none of them empty"),
        (lambda: heatmap([["a"]]), "matrix has dtype <U1; expected real numbers or booleans"),
        (lambda: heatmap([[1j]]), "matrix has dtype complex128; expected real numbers or booleans"),
        (lambda: heatmap([[np.nan]]), "matrix holds nan; expected numbers, or -inf where nothing takes part"),
        (lambda: heatmap(A, row_labels=["a"]), "row_labels is ['a']; expected 2 labels"),
        (lambda: heatmap(A, column_labels="abc"), "column_labels is 'abc'; expected 3 labels"),
        (lambda: heatmap(-A, scale="sequential"), "matrix holds -1; expected 0 or more on a sequential scale"),
        (lambda: heatmap(A, scale="rainbow"), "scale is 'rainbow'; expected 'diverging' or 'sequential'"),
        (lambda: heatmap(A, role="mask"), "role is 'mask'; expected one of input, query, key, value, scores, weights, output"),
        (lambda: heatmap(A, hidden=A), "hidden has shape (2, 3) and dtype float64; expected (2, 3) to match matrix, and bool"),
        (lambda: heatmap(A, hidden=np.ones(3, bool)), "hidden has shape (3,); expected (2, 3) to match matrix"),
        (lambda: heatmap(A, mark=(2, None)), "mark, its row, is 2; expected an index below 2"),
        (lambda: heatmap(A, mark=(0, -4)), "mark, its column, is -4; expected an index below 3"),
        (lambda: product_figure(np.ones(3), B), "a has shape (3,); expected two axes, none of them empty"),
        (lambda: product_figure(A, B, row_labels=["x"]), "row_labels is ['x']; expected 2 labels"),
        (lambda: product_figure(A, B, column_labels=["x"]), "column_labels is ['x']; expected 4 labels"),
        (lambda: product_figure(A, B, row=2), "row is 2; expected an index below 2"),
        (lambda: product_figure(A, A), "b has shape (2, 3); expected (3, n) to match a (2, 3)"),
        (lambda: product_figure(A, np.ones((2, 3, 4))), "b has shape (2, 3, 4); expected two axes, none of them empty"),
        (lambda: product_figure(A, B, column=4), "column is 4; expected an index below 4"),
        (lambda: product_figure(A, B, names=("A", "B")), "names is ('A', 'B'); expected three, for a, b and their product"),
        (lambda: heatmap([[1], [2, 3]]), "matrix is a list of unequal rows; expected an array"),
        (lambda: heatmap(A, mark=3), "mark is 3; expected a pair (row, column)"),
        (lambda: heatmap(A, mark=(1.5, None)), "mark, its row, is 1.5; expected a whole number"),
        (lambda: heatmap(A, row_labels=2), "row_labels is 2; expected 2 labels"),
        (lambda: product_figure(A, B, column=True), "column is True; expected a whole number"),
        (lambda: attention_lines(np.where(A, np.inf, A), ["a", "b"], list("cde")), "weights holds inf; expected finite numbers of 0 or more"),
        (lambda: attention_lines(A, ["a", "b"], []), "keys is []; expected 3 labels"),
        (lambda: attention_lines(A, ["a", "b"]), "tokens is ['a', 'b']; expected 3 labels"),
        (lambda: attention_lines(A, ["a"], ["c"]), "tokens is ['a']; expected 2 labels"),
        (lambda: attention_lines([[1j]], ["a"]), "weights has dtype complex128; expected real numbers or booleans"),
        (lambda: attention_lines(A, ["a", "b"], ["c"]), "keys is ['c']; expected 3 labels"),
        (lambda: attention_lines(-A, ["a", "b"], list("cde")), "weights holds -1; expected finite numbers of 0 or more"),
        (lambda: attention_lines(A, ["a", "b"], list("cde"), query=2), "query is 2; expected an index below 2"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_refused_by_name(draw, message):
    with pytest.raises((TypeError, ValueError)) as caught:
        draw()
    assert str(caught.value) == message


def test_roles_are_those_of_the_formulas():
    from attention_docs.publish.formulas import ROLES as FORMULA_ROLES

    assert tuple(ROLES) == FORMULA_ROLES


def test_unknown_figure_lists_the_known_ones():
    with pytest.raises(
        LookupError, match=r"figure 'nope' is unknown; known are .*self_attention_lines"
    ):
        figure_block("nope", examples.steps, str)


def test_two_figures_of_one_name_are_refused():
    with pytest.raises(ValueError, match=r"figure 'course_words' is in both .*course and .*course"):
        site_figure(FIGURES["course_words"])


def test_every_figure_is_on_one_page():
    pages = [page.read_text(encoding="utf-8") for page in (ROOT / "docs").rglob("*.md")]
    for name in FIGURES:
        macro = rf"\figure{{{name}}}"
        assert sum(page.count(macro) for page in pages) == 1, macro
