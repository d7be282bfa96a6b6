"""Every figure of the site: references, accessibility and its page."""

import functools
import itertools
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from attention_docs import examples
from attention_docs.publish.before.figures.drawings.side_panel import SIDE_PANELS, side_panel
from attention_docs.publish.before.figures.registry import (
    FIGURES,
    PHONE_TEXT_WIDTH,
    TEXT_WIDTH,
    draw_for,
    figure_block,
    site_figure,
)
from attention_docs.publish.computed import ComputedExamples
from attention_docs.render.figures.scales import FILLS, SWATCH_HEIGHT
from attention_docs.render.figures.svg import ROLES
from attention_docs.render.numbers import drawn_number, short_number
from tests.conftest import ROOT
from tests.figures.drawing import SVG, assert_readable, name_and_description, shapes, size, svgs_of

each_figure = pytest.mark.parametrize("name", FIGURES)
STEPS = ComputedExamples(ROOT)
STYLE = (ROOT / "docs" / "assets" / "site.css").read_text(encoding="utf-8")


@functools.cache
def draw(name):
    return FIGURES[name](STEPS.steps_with_references)


@each_figure
def test_figure_is_labelled_for_screen_readers(name):
    for picture in svgs_of(draw(name)):
        root = ElementTree.fromstring(picture)
        ids = [root.find(f"{SVG}{tag}").get("id") for tag in ("title", "desc")]
        assert (root.get("role"), root.get("aria-labelledby")) == ("img", " ".join(ids))
        title, description = name_and_description(picture)
        assert title
        assert len(description) > 30


@each_figure
def test_figure_has_narrow_margins(name):
    for picture in svgs_of(draw(name)):
        width, height = size(picture)
        corners = np.concatenate([shape.corners for shape in shapes(picture)])
        left, top = corners.min(axis=0)
        right, bottom = corners.max(axis=0)
        # Around a plane is room for the name of an arrow that is turned.
        names = 12 if "data-plane" in picture else 0
        assert left < 40 + names
        assert top < 8
        assert width - right < 80
        assert height - bottom < 16 + names


@each_figure
@pytest.mark.parametrize("width", [None, TEXT_WIDTH, PHONE_TEXT_WIDTH])
def test_figure_is_readable_at_each_width_of_the_text(name, width):
    for picture in svgs_of(draw_for(FIGURES[name], STEPS.steps_with_references, width)):
        assert_readable(picture)


@each_figure
def test_colours_are_defined_in_both_schemes(name):
    light, dark = re.findall(r'\[data-md-color-scheme="\w+"\] \{(.*?)\n *\}', STYLE, re.DOTALL)
    for node in ElementTree.fromstring(f"<g>{draw(name)}</g>").iter():
        for paint in (node.get("fill"), node.get("stroke")):
            if paint not in (None, "none", "currentColor"):
                # Each colour is a CSS variable with a fallback.
                variable = re.fullmatch(r"var\((--[\w-]+), #[0-9a-f]{6}\)", paint)[1]
                assert f"{variable}:" in light
                # Cells have the same colours in both schemes.
                assert f"{variable}:" in dark or variable.startswith("--fill-")


@each_figure
def test_every_cell_has_a_reference(name):
    root = ElementTree.fromstring(draw(name))
    boxes = {box for box in root.iter(f"{SVG}rect") if "stroke" not in box.attrib}
    # The swatches of colour scales need none.
    swatches = {box for box in boxes if float(box.get("height")) == SWATCH_HEIGHT}
    cells = root.findall(f".//{SVG}g[@data-val]/{SVG}g[@data-at]")
    with_reference = {box for box, *_ in cells}
    assert boxes - swatches <= with_reference


@each_figure
def test_references_of_cells_give_their_numbers(name):
    for matrix in ElementTree.fromstring(draw(name)).findall(f".//{SVG}g[@data-val]"):
        format = drawn_number if matrix.get("data-short") is None else short_number
        for cell in matrix.findall(f"{SVG}g[@data-at]"):
            value = referenced_number(f"{matrix.get('data-val')}[{cell.get('data-at')}]")
            text = "".join(cell.itertext())
            assert value == -np.inf or text in ("", "✓") or format(value) in text


@each_figure
def test_marks_have_the_reference_of_their_number(name):
    root = ElementTree.fromstring(f"<g>{draw(name)}</g>")
    parents = {child: parent for parent in root.iter() for child in parent}
    for mark in root.iter():
        tooltip = mark.findtext(f"{SVG}title")
        if tooltip is None or mark.tag == f"{SVG}svg":
            continue
        group = parents[mark]
        if mark.get("data-at"):  # a point of a chart
            unit = float(group.get("data-axis").split()[2])
            value = referenced_number(f"{group.get('data-val')}[{mark.get('data-at')}]")
            assert f": {drawn_number(value / unit)} at " in tooltip
        elif mark.get("data-val"):  # a point in a plane or in space
            coordinates = referenced_number(mark.get("data-val"))
            assert tooltip.endswith(": " + ", ".join(map(drawn_number, coordinates)))
        elif group.get("data-at"):  # a cell or an attention line, unless it was measured
            carrier = parents[group]
            carrier = parents[carrier] if carrier.get("class") == "fan" else carrier
            value = referenced_number(f"{carrier.get('data-val')}[{group.get('data-at')}]")
            assert tooltip.endswith(f": {drawn_number(value)}")


def referenced_number(reference):
    """Return the number, or the part of a row, that a reference like `a.Q[2,0:2]` stands for."""
    example, step, index = re.fullmatch(r"(\w+)\.(\w+)\[([\d,:]+)\]", reference).groups()
    key = []
    for part in index.split(","):
        start, colon, stop = part.partition(":")
        key.append(slice(int(start), int(stop)) if colon else int(start))
    return np.asarray(STEPS.steps(example)[step])[tuple(key)]


def test_clock_hands_have_references_and_point_there():
    lines = ElementTree.fromstring(draw("course_clock")).iter(f"{SVG}line")
    hands = [line.attrib for line in lines if "data-val" in line.attrib]
    # The last two features of a position are a point on the unit circle.
    expected = STEPS.steps("course_order")["E"][:, -2:]
    for hand, direction in zip(hands, expected, strict=True):
        np.testing.assert_array_equal(referenced_number(hand["data-val"]), direction)
        x1, y1, x2, y2 = (float(hand[end]) for end in ("x1", "y1", "x2", "y2"))
        drawn_hand = np.array([x2 - x1, y1 - y2])
        drawn_direction = drawn_hand / np.linalg.norm(drawn_hand)
        np.testing.assert_allclose(drawn_direction, direction, atol=0.02)


def test_unknown_figure_error_lists_all_names():
    with pytest.raises(
        LookupError, match=r"figure 'nope' is unknown; expected one of .*self_attention_lines"
    ):
        figure_block("nope", examples.steps, str)


def test_duplicate_figure_name_is_refused():
    with pytest.raises(ValueError, match=r"figure 'course_words' is in both .*course and .*course"):
        site_figure(FIGURES["course_words"])


def test_every_figure_is_on_exactly_one_page():
    pages = [page.read_text(encoding="utf-8") for page in (ROOT / "docs").rglob("*.md")]
    for name in FIGURES:
        macro = rf"\figure{{{name}}}"
        assert sum(page.count(macro) for page in pages) == 1, macro


# The role of a step, by its name in the notation.
ROLE_OF_STEP = {
    "X": "input",
    "Q": "query",
    "K": "key",
    "V": "value",
    "Z": "scores",
    "A": "weights",
    "O": "output",
    "scores": "scores",
    "scaled": "scores",
    "masked": "scores",
    "weights": "weights",
    "output": "output",
    "probabilities": "output",
}


def role_of_step(reference):
    """Return the role of a step like `course_heads.weights_1` or `backward.dA`, if it has one."""
    step = reference.split(".")[1]
    symbol = re.match(r"d?([A-Z])$|([A-Za-z]+?)\d*(_|$)", step)
    return None if step.startswith("W_") else ROLE_OF_STEP.get(symbol[1] or symbol[2])


def drawn_fills(html):
    """Return the reference and the fill of each matrix of cells in a drawing."""
    return [
        (group.get("data-val"), group.get("fill"))
        for picture in svgs_of(html)
        for group in ElementTree.fromstring(picture).iter(f"{SVG}g")
        if group.get("data-val") and group.find(f"{SVG}g/{SVG}rect") is not None
    ]


def test_cells_have_the_hue_of_their_role():
    drawings = [draw(name) for name in FIGURES] + [
        side_panel(name, STEPS.steps_with_references, str) for name in SIDE_PANELS
    ]
    seen_roles = set()
    for reference, fill in itertools.chain.from_iterable(map(drawn_fills, drawings)):
        role = role_of_step(reference)
        seen_roles.add(role)
        assert role is None or fill in (FILLS[role], ROLES[role]), reference
    assert seen_roles >= set(ROLES)
