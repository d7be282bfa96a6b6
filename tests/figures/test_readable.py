"""Every figure is readable: all of it on the paper, no text on other text, a size and a name."""

import itertools
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from attention_docs.render.figures import Panel, beside, figure
from attention_docs.render.figures.svg import CLASSES, element
from tests.conftest import ROOT
from tests.figures.drawing import SVG, assert_readable, drawings_of, shapes, size
from tests.figures.test_on_pages import draw, each_name


@each_name
def test_nothing_is_cut_off_and_no_text_lies_on_other_text(name):
    for picture in drawings_of(draw(name)):
        assert_readable(picture)


@each_name
def test_figure_has_narrow_margins(name):
    for picture in drawings_of(draw(name)):
        width, height = size(picture)
        corners = np.concatenate([shape.corners for shape in shapes(picture)])
        left, top = corners.min(axis=0)
        right, bottom = corners.max(axis=0)
        assert left < 40
        assert top < 8
        assert width - right < 80
        assert height - bottom < 16


@each_name
def test_shapes_have_a_colour(name):
    for shape in itertools.chain(*map(shapes, drawings_of(draw(name)))):
        # A path without a fill is black, whatever the page's scheme.
        if shape.kind in ("path", "line"):
            assert shape.filled or "stroke" in shape.attributes
        if shape.kind != "line":
            assert "fill" in shape.attributes


def test_a_figure_of_several_drawings_has_a_name_and_so_has_each_of_them():
    panels = [Panel(50, 30, "<g/>", f"{name} in words.", name=name) for name in ("One", "Two")]
    group = ElementTree.fromstring(beside(panels, 'Both < "all"'))
    assert (group.attrib["role"], group.attrib["aria-label"]) == ("group", 'Both < "all"')
    assert [drawing.findtext(f"{SVG}title") for drawing in group] == ["One", "Two"]
    assert [drawing.findtext(f"{SVG}desc") for drawing in group] == [p.description for p in panels]
    for unnamed, name in ((panels, ""), ([panels[0]._replace(name="")], "Both")):
        with pytest.raises(ValueError, match=r"^a figure needs a name"):
            beside(unnamed, name)


def test_wide_figures_have_the_classes_of_the_style_sheet():
    style = (ROOT / "docs" / "assets" / "site.css").read_text(encoding="utf-8")
    kinds = re.findall(r"\.drawing\.(\w+) \{ min-width: ([1-9]\d*)px", style)
    assert len(kinds) == len(CLASSES) - 1
    for kind, least in kinds:
        for more in (-20, 20):
            picture = figure(Panel(int(least) + more, 10.4, "<g/>", "Words."), "n")
            classes = re.search(r'class="([^"]*)"', picture)[1].split()
            assert (kind in classes) == (more > 0)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (12.5, "12.5"),
        (100.0, "100"),
        (0.126, "0.13"),
        (-0.001, "0"),
        (10, "10"),
        ('"<', "&quot;&lt;"),
    ],
)
def test_attributes_are_short_and_escaped(value, written):
    assert element("g", width=value, class_=None) == f'<g width="{written}"/>'


def test_figure_needs_a_name_and_a_description():
    panel = Panel(10, 10, "<g/>", "")
    assert "<desc" in figure(panel, "n", "Words.")
    for name, description in (("", "Words."), ("n", None), ("n", "")):
        with pytest.raises(
            ValueError,
            match=r"^a figure needs a name and a description, for those who do not see it$",
        ):
            figure(panel, name, description)


def test_id_depends_on_name_description_and_drawing():
    panel = Panel(10, 10, "<g/>", "Words.")
    others = [
        figure(panel, "n"),
        figure(panel, "m"),
        figure(panel, "n", "Others."),
        figure(panel._replace(body="<rect/>"), "n"),
    ]
    assert len({re.search(r' id="(figure-[0-9a-f]{8})"', picture)[1] for picture in others}) == 4
