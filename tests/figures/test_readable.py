"""What every figure keeps: all of it on the paper, no words on others, a size and a name."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from attention_docs.render import heatmap, product_figure
from attention_docs.render.figures import Panel, beside, figure
from attention_docs.render.figures.svg import CLASSES, element
from tests.figures.drawing import SVG, named, shapes, size
from tests.figures.test_on_pages import each_picture


def overlap(one, other):
    left, top, right, bottom = one.box
    left_, top_, right_, bottom_ = other.box
    return min(right, right_) - max(left, left_) > 0 and min(bottom, bottom_) - max(top, top_) > 0


def assert_readable(picture):
    """Assert that nothing is cut off and no words lie on others."""
    width, height = size(picture)
    drawn = shapes(picture)
    for shape in drawn:
        left, top, right, bottom = shape.box
        assert 0 <= left <= right <= width, shape
        assert 0 <= top <= bottom <= height, shape
    words = [shape for shape in drawn if shape.text]
    for index, one in enumerate(words):
        for other in words[index + 1 :]:
            assert not overlap(one, other), (one.text, other.text)


@each_picture
def test_nothing_is_cut_off_and_no_words_lie_on_others(draw):
    assert_readable(draw())


@each_picture
def test_a_figure_is_no_larger_than_what_it_shows(draw):
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
def test_a_figure_holds_elements_and_their_words_and_nothing_else(draw):
    for node in ElementTree.fromstring(draw()).iter():
        assert set(node.attrib) <= ATTRIBUTES
        assert not node.tail
        assert bool(node.text) == (node.tag.removeprefix(SVG) in ("title", "desc", "text"))


@each_picture
def test_a_line_has_a_colour_and_an_open_one_is_not_filled(draw):
    for shape in shapes(draw()):
        if shape.kind in ("path", "line"):
            assert shape.attributes.get("fill", "none") != "none" or "stroke" in shape.attributes
        if shape.kind == "path" and "stroke" in shape.attributes:
            assert "fill" in shape.attributes


FEW = array_shapes(min_dims=2, max_dims=2, max_side=6)


@given(arrays(float, FEW, elements=st.floats(-1e4, 1e4)), st.text("abc", max_size=12))
def test_any_matrix_is_readable(matrix, name):
    assert_readable(heatmap(matrix, f"{name}!", rows="queries", columns="keys"))


@given(arrays(bool, FEW))
def test_any_mask_is_readable(mask):
    assert_readable(heatmap(mask, "A mask of all keys"))


@given(
    arrays(float, (3, 2), elements=st.floats(-9, 9)),
    arrays(float, (2, 4), elements=st.floats(-9, 9)),
)
def test_any_product_is_readable(a, b):
    assert_readable(product_figure(a, b))


def test_panels_are_joined_by_an_arrow_that_says_what_happens():
    panels = [
        Panel(50, 30, '<rect width="50" height="30" fill="none"/>', "One."),
        Panel(40, 80, '<rect width="40" height="80" fill="none"/>', "Two."),
    ]
    both = beside(panels, between="softmax")
    picture = figure(both, "b")
    one, two = (s for s in shapes(picture) if s.kind == "rect")
    (arrow,), (text,) = (s for s in shapes(picture) if s.kind == "path"), named(picture, "softmax")
    assert one.box == (0, 0, 50, 30)
    assert two.box == (107, 0, 147, 80)
    assert (both.width, both.height, both.description) == (147, 80, "One. Two.")
    assert arrow.corners.tolist() == [[54, 40], [103, 40], [97, 36], [103, 40], [97, 44]]
    assert (arrow.attributes["fill"], arrow.attributes["stroke"]) == ("none", "currentColor")
    assert text.centre == pytest.approx((78.5, 28))
    assert text.attributes["font-size"] == "11"
    apart = [s.box[0] for s in shapes(figure(beside(panels), "b")) if s.kind == "rect"]
    assert apart == [0, 74]
    assert beside(panels, between="x").width == 50 + 24 + 40


def test_a_figure_says_how_wide_it_is():
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
def test_a_number_is_written_as_short_as_a_hundredth_allows(value, written):
    assert element("g", width=value, class_=None) == f'<g width="{written}"/>'


def test_a_figure_needs_a_name_and_words():
    panel = Panel(10, 10, "<g/>", "")
    assert "<desc" in figure(panel, "n", "Words.")
    for name, description in (("", "Words."), ("n", None), ("n", "")):
        with pytest.raises(
            ValueError,
            match=r"^a figure needs a name and a description, for those who do not see it$",
        ):
            figure(panel, name, description)


def test_another_name_or_other_words_are_another_figure():
    panel = Panel(10, 10, "<g/>", "Words.")
    others = [
        figure(panel, "n"),
        figure(panel, "m"),
        figure(panel, "n", "Others."),
        figure(panel._replace(body="<rect/>"), "n"),
    ]
    assert len({re.search(r' id="(figure-[0-9a-f]{8})"', picture)[1] for picture in others}) == 4
