"""Attention lines: the weights can be read back from their ends, widths and tooltips."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from attention_docs.render import attention_lines
from attention_docs.render.figures import figure, lines_panel
from attention_docs.render.numbers import drawn_number, exact_number
from tests.figures.drawing import (
    assert_readable,
    colour_of,
    left_to_right,
    name_and_description,
    shapes,
    with_text,
)

WEIGHTS = np.array([[0.75, 0.25, 0.0], [0.001, 0.499, 0.5]])
# The width of the thinnest visible lines.
THINNEST = 0.4


def stroke_width(shape):
    return float(shape.attributes["stroke-width"])


def assert_shows_weights(picture, weights, tokens, keys, query=None):
    """Assert that the lines of a figure with these arguments give back its weights."""
    curves = [shape for shape in shapes(picture) if shape.kind == "path"]
    quarter, full = assert_legend_shows_weights(picture, max(1, weights.max()))
    rows = range(len(tokens)) if query is None else [query]
    pairs = [(row, column) for row in rows for column in np.flatnonzero(weights[row])]
    for curve, (row, column) in zip(curves, pairs, strict=True):
        weight = weights[row, column]
        assert_joins(curve, picture, tokens[row], keys[column])
        assert not curve.is_filled
        assert curve.attributes["stroke"] == colour_of("weights")
        assert curve.tooltip == f"{tokens[row]} to {keys[column]}: {drawn_number(weight)}"
        expected_width = max(weight / max(1, weights.max()) * full, THINNEST)
        assert stroke_width(curve) == pytest.approx(expected_width, abs=0.0051)
        x_end, y_end = curve.corners[-1]
        number_labels = [
            text
            for text in with_text(picture, drawn_number(weight))
            if text.centre[1] == y_end and text.box[0] > x_end
        ]
        assert bool(number_labels) == (query is not None)
    assert quarter == pytest.approx(full / 4)


def assert_legend_shows_weights(picture, largest):
    """Assert that a quarter of the largest weight and the largest are beside two sample lines.

    Returns:
        The widths of the two lines.
    """
    samples = [shape for shape in shapes(picture) if shape.kind == "line"]
    for sample, weight in zip(samples, (largest / 4, largest), strict=True):
        texts = with_text(picture, exact_number(weight))
        beside = [text for text in texts if text.centre[1] == sample.centre[1]]
        assert 0 < left_to_right(beside)[0].box[0] - sample.box[2] < 20
    return map(stroke_width, samples)


def assert_joins(curve, picture, token, key):
    """Assert that a curve leads from the name of a query to the name of a key."""
    (token_text,), (key_text,) = with_text(picture, token), with_text(picture, key)
    (x, y), *_, (x_end, y_end) = curve.corners
    assert (y, y_end) == (token_text.centre[1], key_text.centre[1])
    assert 0 < x - token_text.box[2] < 20
    assert 0 < key_text.box[0] - x_end < 20


@given(
    arrays(float, array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.floats(0, 30)),
    st.booleans(),
)
def test_weights_can_be_recovered_from_the_drawn_lines(weights, single_query):
    tokens = [f"q{i}" for i in range(weights.shape[0])]
    keys = [f"k{i}" for i in range(weights.shape[1])]
    query = len(weights) - 1 if single_query else None
    picture = attention_lines(weights, tokens, keys, query=query)
    assert_readable(picture)
    assert_shows_weights(picture, weights, tokens, keys, query)


def test_headings_have_the_colours_of_queries_and_keys():
    picture = attention_lines(WEIGHTS, ["it", "is"], ["a", "b", "c"])
    for text, role in (("queries", "query"), ("keys", "key")):
        assert [shape.attributes["fill"] for shape in with_text(picture, text)] == [colour_of(role)]


def test_sides_and_heading_can_be_set():
    panel = lines_panel(np.eye(2), ["a", "b"], heading="Where it looks", sides=("asks", "is asked"))
    picture = figure(panel, "Lines")
    assert_readable(picture)
    assert with_text(picture, "Where it looks")
    for text in ("asks", "is asked"):
        assert [shape.attributes["fill"] for shape in with_text(picture, text)] == [colour_of(None)]


def test_lines_are_described_in_words():
    picture = attention_lines(WEIGHTS, ["it", "is"], ["a", "b", "c"])
    assert name_and_description(picture) == (
        "Attention weights",
        "it looks at a with 0.7500, b with 0.2500, c with 0; is looks at a with 0.0010, b with 0.4990, c with 0.5000.",
    )


def test_lines_of_one_query_are_described_under_their_name():
    options = {"query": -1, "name": "Where it looks"}
    picture = attention_lines(WEIGHTS, ["it", "is"], ["a", "b", "c"], **options)
    assert name_and_description(picture) == (
        "Where it looks",
        "is looks at a with 0.0010, b with 0.4990, c with 0.5000.",
    )


def test_many_lines_are_described_by_their_extremes():
    description = name_and_description(attention_lines(np.eye(7), list("abcdefg")))[1]
    assert description.startswith(
        "Weights of queries (rows) on keys (columns): 7 rows, 7 columns. The largest is 1"
    )
