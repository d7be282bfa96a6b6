"""Attention lines: the weights can be read back from their ends, widths and tooltips."""

from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from attention_docs.render import attention_lines
from attention_docs.render.figures import figure, lines_panel
from attention_docs.render.figures.scales import round_up
from attention_docs.render.figures.svg import colour
from attention_docs.render.numbers import drawn_number, exact_number
from tests.figures.drawing import (
    SVG,
    assert_readable,
    left_to_right,
    name_and_description,
    shapes,
    with_text,
)

WEIGHTS = np.array([[0.75, 0.25, 0.0], [0.001, 0.499, 0.5]])
THINNEST = 0.4  # the width of a line whose weight is almost 0
# Widths of lines are rounded to two decimals.
ROUNDING = 0.0051


def stroke_width(shape):
    return float(shape.attributes["stroke-width"])


def assert_shows_weights(picture, weights, queries, keys, drawn_queries):
    """Assert that there is a line for each weight of the drawn queries that is not zero."""
    curves = [shape for shape in shapes(picture) if shape.kind == "path"]
    pairs = [(row, column) for row in drawn_queries for column in np.flatnonzero(weights[row])]
    largest = round_up(max(1, weights.max()))
    largest_width = width_of_largest_weight(picture, largest)
    for curve, (row, column) in zip(curves, pairs, strict=True):
        weight = weights[row, column]
        assert_joins(curve, picture, queries[row], keys[column])
        assert not curve.is_filled
        assert curve.attributes["stroke"] == colour("weights")
        assert curve.tooltip == f"{queries[row]} to {keys[column]}: {drawn_number(weight)}"
        width = max(weight / largest * largest_width, THINNEST)
        assert stroke_width(curve) == pytest.approx(width, abs=ROUNDING)


def width_of_largest_weight(picture, largest):
    """Return the line width of the largest weight in the legend, which also shows a quarter of it."""
    quarter_sample, full_sample = (shape for shape in shapes(picture) if shape.kind == "line")
    for sample, weight in ((quarter_sample, largest / 4), (full_sample, largest)):
        texts = with_text(picture, exact_number(weight))
        beside = [text for text in texts if text.centre[1] == sample.centre[1]]
        assert 0 < left_to_right(beside)[0].box[0] - sample.box[2] < 20
    assert stroke_width(quarter_sample) == pytest.approx(stroke_width(full_sample) / 4)
    return stroke_width(full_sample)


def assert_joins(curve, picture, query, key):
    """Assert that a curve leads from the name of a query to the name of a key."""
    (query_text,) = with_text(picture, query)
    (key_text,) = with_text(picture, key)
    start_x, start_y = curve.corners[0]
    end_x, end_y = curve.corners[-1]
    assert (start_y, end_y) == (query_text.centre[1], key_text.centre[1])
    assert 0 < start_x - query_text.box[2] < 20
    assert 0 < key_text.box[0] - end_x < 20


WEIGHTS_OF_ANY_SHAPE = arrays(
    float, array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.floats(0, 30)
)


@given(WEIGHTS_OF_ANY_SHAPE)
def test_lines_of_all_queries_show_weights_without_printing_them(weights):
    queries, keys = names_of(weights)
    picture = attention_lines(weights, queries, keys)
    assert_readable(picture)
    assert_shows_weights(picture, weights, queries, keys, range(len(queries)))
    assert not any(texts_right_of(picture, key) for key in keys)


@given(WEIGHTS_OF_ANY_SHAPE)
def test_lines_of_one_query_show_weights_that_are_printed(weights):
    queries, keys = names_of(weights)
    last = len(queries) - 1
    picture = attention_lines(weights, queries, keys, query=last)
    assert_readable(picture)
    assert_shows_weights(picture, weights, queries, keys, [last])
    for key, weight in zip(keys, weights[last], strict=True):
        assert texts_right_of(picture, key) == [drawn_number(weight)]


def names_of(weights):
    query_count, key_count = weights.shape
    return [f"q{i}" for i in range(query_count)], [f"k{i}" for i in range(key_count)]


def texts_right_of(picture, name):
    """Return the texts in the same row as a name, to its right."""
    (label,) = with_text(picture, name)
    row = [shape for shape in shapes(picture) if shape.centre[1] == label.centre[1]]
    return [shape.text for shape in row if shape.text and shape.box[0] > label.box[2]]


def test_line_of_the_largest_float_is_drawn():
    with np.errstate(all="raise"):
        picture = attention_lines(np.array([[np.finfo(float).max]]), ["it"], ["cat"])
    (curve,) = (shape for shape in shapes(picture) if shape.kind == "path")
    assert stroke_width(curve) > THINNEST


def test_headings_have_the_colours_of_queries_and_keys():
    picture = attention_lines(WEIGHTS, ["it", "is"], ["a", "b", "c"])
    for text, role in (("queries", "query"), ("keys", "key")):
        assert [shape.attributes["fill"] for shape in with_text(picture, text)] == [colour(role)]


def test_sides_and_heading_can_be_set():
    panel = lines_panel(np.eye(2), ["a", "b"], heading="Where it looks", sides=("asks", "is asked"))
    picture = figure(panel, "Lines")
    assert_readable(picture)
    assert with_text(picture, "Where it looks")
    for text in ("asks", "is asked"):
        assert [shape.attributes["fill"] for shape in with_text(picture, text)] == [colour(None)]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        (None, "it looks at a with 0.7500, b with 0.2500, c with 0; is looks at a with 0.0010, b with 0.4990, c with 0.5000."),
        (-1, "is looks at a with 0.0010, b with 0.4990, c with 0.5000."),
    ],
)  # fmt: skip
def test_lines_are_described_in_words(query, words):
    picture = attention_lines(WEIGHTS, ["it", "is"], list("abc"), query=query, name="Where")
    assert name_and_description(picture) == ("Where", words)


def fans_of(picture):
    """Return the texts and then the tooltips in each group that fades as one."""
    groups = ElementTree.fromstring(picture).findall(f".//{SVG}g[@class='fan']")
    return [
        [node.text for tag in ("text", "title") for node in group.iter(f"{SVG}{tag}")]
        for group in groups
    ]


def test_lines_of_each_query_fade_together():
    picture = attention_lines(WEIGHTS, ["it", "is"], ["a", "b", "c"])
    assert fans_of(picture) == [
        ["it", "it to a: 0.7500", "it to b: 0.2500"],
        ["is", "is to a: 0.0010", "is to b: 0.4990", "is to c: 0.5000"],
    ]


def test_line_to_each_key_fades_with_its_weight_when_one_query_is_drawn():
    picture = attention_lines(WEIGHTS, ["it", "is"], ["a", "b", "c"], query=0)
    assert fans_of(picture) == [
        ["a", "0.7500", "it to a: 0.7500"],
        ["b", "0.2500", "it to b: 0.2500"],
        ["c", "0"],  # a weight of zero has no line
    ]
