"""Every figure of the site: its numbers, screen readers, both colour schemes, and its place."""

import functools
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from attention_docs import examples
from attention_docs.publish.after.formulas import ROLES as FORMULA_ROLES
from attention_docs.publish.before.figures.registry import FIGURES, figure_block, site_figure
from attention_docs.publish.computed import ComputedExamples
from attention_docs.render.figures.scales import MINUS, PLUS, UNDER_TEXT, WEIGHT
from attention_docs.render.figures.svg import ROLES
from attention_docs.render.numbers import number
from tests.conftest import ROOT
from tests.figures.drawing import SVG, assert_readable, drawings_of, shapes, size, told

each_name = pytest.mark.parametrize("name", FIGURES)
STEPS = ComputedExamples(ROOT)
STYLE = (ROOT / "docs" / "assets" / "site.css").read_text(encoding="utf-8")


@functools.cache
def draw(name):
    return FIGURES[name](STEPS.named_steps)


@each_name
def test_figure_is_labelled_for_screen_readers(name):
    for picture in drawings_of(draw(name)):
        root = ElementTree.fromstring(picture)
        ids = [root.find(f"{SVG}{tag}").get("id") for tag in ("title", "desc")]
        assert (root.get("role"), root.get("aria-labelledby")) == ("img", " ".join(ids))
        title, description = told(picture)
        assert title
        assert len(description) > 30


@each_name
def test_figure_is_readable_and_has_narrow_margins(name):
    for picture in drawings_of(draw(name)):
        assert_readable(picture)
        width, height = size(picture)
        corners = np.concatenate([shape.corners for shape in shapes(picture)])
        left, top = corners.min(axis=0)
        right, bottom = corners.max(axis=0)
        assert left < 40
        assert top < 8
        assert width - right < 80
        assert height - bottom < 16


@each_name
def test_colours_are_the_text_colour_or_defined_in_both_schemes(name):
    light, dark = re.findall(r'\[data-md-color-scheme="\w+"\] \{(.*?)\n *\}', STYLE, re.DOTALL)
    for node in ElementTree.fromstring(f"<g>{draw(name)}</g>").iter():
        for paint in (node.get("fill"), node.get("stroke")):
            if paint not in (None, "none", "currentColor"):
                variable = re.fullmatch(r"var\((--[\w-]+), #[0-9a-f]{6}\)", paint)[1]
                assert f"{variable}:" in light
                assert f"{variable}:" in dark


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


def result(reference):
    example, step, index = re.fullmatch(r"(\w+)\.(\w+)\[([\d,:]+)\]", reference).groups()
    slices = (
        slice(*map(int, part.split(":"))) if ":" in part else int(part) for part in index.split(",")
    )
    return np.asarray(STEPS.steps(example)[step])[tuple(slices)]


def test_hands_of_the_clock_say_which_numbers_they_show_and_point_there():
    hands = [
        node.attrib for node in ElementTree.fromstring(draw("course_clock")).iter(f"{SVG}line")
    ]
    hands = [hand for hand in hands if "data-val" in hand]
    expected = STEPS.steps("course_order")["E"][:, 5:]
    np.testing.assert_array_equal([result(hand["data-val"]) for hand in hands], expected)
    ends = [[float(hand[end]) for end in ("x1", "y1", "x2", "y2")] for hand in hands]
    drawn = np.array([(x2 - x1, y1 - y2) for x1, y1, x2, y2 in ends])
    lengths = np.linalg.norm(drawn, axis=1, keepdims=True)
    np.testing.assert_allclose(drawn / lengths, expected, atol=0.02)


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
    for paint in (PLUS, MINUS, WEIGHT):
        name, colour = re.fullmatch(r"var\((--[\w-]+), (#\w+)\)", paint).groups()
        if scheme != "fallback":
            block = STYLE.partition(f'[data-md-color-scheme="{scheme}"]')[2]
            colour = re.search(rf"{name}: (#\w+)", block)[1]
        cell = mixed(hexadecimal(colour), hexadecimal(page), UNDER_TEXT)
        text = mixed(hexadecimal(ink), cell, opacity)
        bright, dark = sorted((luminance(cell), luminance(text)), reverse=True)
        if (scheme, page) not in (("default", "#1e2129"), ("slate", "#ffffff")):
            assert (bright + 0.05) / (dark + 0.05) >= 4.5, paint


def test_roles_are_those_of_the_formulas():
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
