"""Attention lines: the weights can be read back from their ends, widths and tooltips."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from attention_docs.render import attention_lines
from attention_docs.render.figures import figure, lines_panel
from attention_docs.render.numbers import number
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


def width(shape):
    return float(shape.attributes["stroke-width"])


def assert_shows_weights(picture, weights, tokens, keys, query=None):
    """Assert that the lines of a figure with these arguments give back its weights."""
    curves, legend = ([s for s in shapes(picture) if s.kind == k] for k in ("path", "line"))
    rows = range(len(tokens)) if query is None else [query]
    pairs = [(row, column) for row in rows for column in np.flatnonzero(weights[row])]
    largest = max(1, weights.max())
    for line, part in zip(legend, (largest / 4, largest), strict=True):
        level = [s for s in with_text(picture, number(part)) if s.centre[1] == line.centre[1]]
        assert 0 < left_to_right(level)[0].box[0] - line.box[2] < 20
    for curve, (row, column) in zip(curves, pairs, strict=True):
        (token,), (key,) = with_text(picture, tokens[row]), with_text(picture, keys[column])
        weight = weights[row, column]
        (x, y), *_, (x_end, y_end) = curve.corners
        assert (y, y_end) == (token.centre[1], key.centre[1])
        assert 0 < x - token.box[2] < 20
        assert 0 < key.box[0] - x_end < 20
        assert not curve.is_filled
        assert curve.attributes["stroke"] == colour_of("weights")
        assert curve.tooltip == f"{tokens[row]} to {keys[column]}: {number(weight)}"
        thick = max(weight / largest * width(legend[1]), THINNEST)
        assert width(curve) == pytest.approx(thick, abs=0.0051)
        number_labels = [
            s
            for s in with_text(picture, number(weight))
            if s.centre[1] == y_end and s.box[0] > x_end
        ]
        assert bool(number_labels) == (query is not None)
    assert width(legend[0]) == pytest.approx(width(legend[1]) / 4)


@given(
    arrays(float, array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.floats(0, 30)),
    st.booleans(),
)
def test_any_weights_can_be_read_back(weights, single_query):
    names = [[f"{kind}{i}" for i in range(n)] for kind, n in zip("qk", weights.shape, strict=True)]
    query = len(weights) - 1 if single_query else None
    picture = attention_lines(weights, *names, query=query)
    assert_readable(picture)
    assert_shows_weights(picture, weights, *names, query=query)
    for text, role in (("queries", "query"), ("keys", "key")):
        assert [s.attributes["fill"] for s in with_text(picture, text)] == [colour_of(role)]


def test_sides_and_heading_can_be_set():
    panel = lines_panel(np.eye(2), ["a", "b"], heading="Where it looks", sides=("asks", "is asked"))
    picture = figure(panel, "Lines")
    assert_readable(picture)
    assert with_text(picture, "Where it looks")
    for text in ("asks", "is asked"):
        assert [s.attributes["fill"] for s in with_text(picture, text)] == [colour_of(None)]


def test_lines_are_described_in_words():
    picture = attention_lines(WEIGHTS, ["it", "is"], ["a", "b", "c"])
    assert name_and_description(picture) == (
        "Attention weights",
        "it looks at a with 0.7500, b with 0.2500, c with 0; is looks at a with 0.0010, b with 0.4990, c with 0.5000.",
    )
    options = {"query": -1, "name": "Where it looks"}
    assert name_and_description(
        attention_lines(WEIGHTS, ["it", "is"], ["a", "b", "c"], **options)
    ) == (
        "Where it looks",
        "is looks at a with 0.0010, b with 0.4990, c with 0.5000.",
    )
    many = name_and_description(attention_lines(np.eye(7), list("abcdefg")))[1]
    assert many.startswith(
        "Weights of queries (rows) on keys (columns): 7 rows, 7 columns. The largest is 1"
    )
