"""Every figure is readable: all of it on the paper, no text on other text, a size and a name."""

import re

import numpy as np
import pytest

from attention_docs.render.figures import Panel, beside, figure
from attention_docs.render.figures.svg import CLASSES, element
from tests.conftest import ROOT
from tests.figures.drawing import assert_readable, named, shapes, size
from tests.figures.test_on_pages import draw, each_name


@each_name
def test_nothing_is_cut_off_and_no_text_lies_on_other_text(name):
    assert_readable(draw(name))


@each_name
def test_figure_has_narrow_margins(name):
    picture = draw(name)
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
    for shape in shapes(draw(name)):
        # A path without a fill is black, whatever the page's scheme.
        if shape.kind in ("path", "line"):
            assert shape.filled or "stroke" in shape.attributes
        if shape.kind != "line":
            assert "fill" in shape.attributes


def test_panels_stand_side_by_side_joined_by_an_arrow():
    panels = [
        Panel(width, height, f'<rect width="{width}" height="{height}" fill="red"/>', words)
        for width, height, words in ((50, 30, "One."), (40, 80, "Two."))
    ]
    for between in (None, "x", "softmax of each row"):
        both = beside(panels, between=between)
        picture = figure(both, "b")
        assert_readable(picture)
        one, two = (s for s in shapes(picture) if s.kind == "rect")
        assert (one.box[2], two.box[0]) == (50, both.width - 40)
        assert two.box[0] - one.box[2] > 16
        assert (both.height, both.description) == (80, "One. Two.")
        arrows = [s for s in shapes(picture) if s.kind == "path"]
        assert len(arrows) == (between is not None)
        for arrow in arrows:
            (text,) = named(picture, between)
            assert 50 < arrow.box[0] < arrow.box[2] < two.box[0]
            assert 50 <= text.box[0] < text.box[2] <= two.box[0]
            assert text.box[3] <= arrow.box[1]
            # Three lines meet at the head, on the right.
            assert (arrow.corners[:, 0] == arrow.box[2]).sum() == 2
            assert arrow.corners[0, 0] == arrow.box[0]


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
