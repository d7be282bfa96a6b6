"""Every figure is readable: all of it on the paper, no text on other text, a size and a name."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from attention_docs.render.figures import Panel, beside, figure
from attention_docs.render.figures.svg import CLASSES, element
from tests.figures.drawing import SVG, assert_readable, named, shapes, size
from tests.figures.test_on_pages import each_picture


@each_picture
def test_nothing_is_cut_off_and_no_text_lies_on_other_text(draw):
    assert_readable(draw())


@each_picture
def test_figure_has_narrow_margins(draw):
    picture = draw()
    width, height = size(picture)
    corners = np.concatenate([shape.corners for shape in shapes(picture)])
    left, top = corners.min(axis=0)
    right, bottom = corners.max(axis=0)
    assert left < 40
    assert top < 8
    assert width - right < 80
    assert height - bottom < 16


ATTRIBUTES = {
    "aria-labelledby",
    "class",
    "d",
    "data-points",
    "fill",
    "fill-opacity",
    "font-size",
    "font-weight",
    "height",
    "id",
    "role",
    "stroke",
    "stroke-dasharray",
    "stroke-opacity",
    "stroke-width",
    "text-anchor",
    "transform",
    "viewBox",
    "width",
    "x",
    "x1",
    "x2",
    "y",
    "y1",
    "y2",
}


@each_picture
def test_figure_has_known_attributes_and_no_stray_text(draw):
    for node in ElementTree.fromstring(draw()).iter():
        assert set(node.attrib) <= ATTRIBUTES
        assert not node.tail
        assert bool(node.text) == (node.tag.removeprefix(SVG) in ("title", "desc", "text"))


@each_picture
def test_lines_have_a_colour_and_open_ones_are_not_filled(draw):
    for shape in shapes(draw()):
        if shape.kind in ("path", "line"):
            assert shape.attributes.get("fill", "none") != "none" or "stroke" in shape.attributes
        if shape.kind == "path" and "stroke" in shape.attributes:
            assert "fill" in shape.attributes


def test_panels_stand_side_by_side_joined_by_an_arrow():
    panels = [
        Panel(width, height, f'<rect width="{width}" height="{height}" fill="none"/>', words)
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
    for width, kind in [
        (418, "drawing"),
        (419, "drawing wide"),
        (558, "drawing wide"),
        (559, "drawing wide widest"),
    ]:
        picture = figure(Panel(width, 10.4, "<g/>", "Words."), "n")
        assert f'class="{kind}"' in picture
        assert size(picture) == (width + 2, 12)
        assert 'font-size="12"' in picture
    assert [least for least, _ in CLASSES] == [560, 420, 0]


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
