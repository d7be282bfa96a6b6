"""Lines from queries to keys: their ends, widths and tooltips give back the weights."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from attention_docs.render import attention_lines
from attention_docs.render.numbers import number
from tests.figures.drawing import assert_readable, name, paint, shapes, texts, told, topmost

WEIGHTS = np.array([[0.75, 0.25, 0.0], [0.001, 0.499, 0.5]])
# Thinner lines could not be seen.
THINNEST = 0.4


def width(shape):
    return float(shape.attributes["stroke-width"])


def assert_shows_weights(picture, weights, tokens, keys=None, *, query=None, name=None, sides=None):
    """Assert that the lines of a figure with these arguments give back its weights."""
    weights, keys = np.asarray(weights, dtype=float), tokens if keys is None else keys
    curves, legend = ([s for s in shapes(picture) if s.kind == k] for k in ("path", "line"))
    rows = range(len(tokens)) if query is None else [query % len(tokens)]
    drawn = [(row, column) for row in rows for column in np.flatnonzero(weights[row])]
    assert len(curves) == len(drawn)
    assert {s.attributes["stroke"] for s in curves + legend} == {paint("weights")}
    assert not any(s.filled for s in curves)
    largest = max(1, weights.max())
    assert [words for words, _ in known(picture, legend)] == [number(largest / 4), number(largest)]
    share = {width(line) / float(words) * largest for words, line in known(picture, legend)}
    assert min(share) == pytest.approx(max(share), rel=0.01)
    if not drawn:
        return
    start, end = ({s.corners[i][0] for s in curves} for i in (0, -1))
    left = topmost(s for s in shapes(picture) if s.text and s.box[2] <= min(start))
    right = topmost(s for s in shapes(picture) if s.text and s.box[0] >= max(end))
    asks, asked = sides or ("queries", "keys")
    assert texts(left) == [asks, *tokens]
    said = [s for s in right if s.box[0] > min(key.box[2] for key in right[1:])]
    right = [s for s in right if s not in said]
    assert texts(right) == [asked, *keys]
    assert texts(said) == ([] if query is None else list(map(number, weights[rows[0]])))
    assert [s.centre[1] for s in said] == [s.centre[1] for s in right[1:] if query is not None]
    colours = [s.attributes["fill"] for s in (left[0], right[0])]
    assert colours == (["currentColor"] * 2 if sides else [paint("query"), paint("key")])
    for curve, (row, column) in zip(curves, drawn, strict=True):
        weight = weights[row, column]
        assert curve.tip == f"{tokens[row]} to {keys[column]}: {number(weight)}"
        (x, y), (_, bend), *_, (x_end, y_end) = curve.corners
        assert (left[row + 1].centre[1], right[column + 1].centre[1]) == (y, y_end)
        assert x - left[row + 1].box[2] < 20
        assert right[column + 1].box[0] - x_end < 20
        assert bend == y  # it leaves its query horizontally, apart from the others
        thick = max(weight / largest * max(map(width, legend)), THINNEST)
        assert width(curve) == pytest.approx(thick, abs=0.0051)


def known(picture, legend):
    """Return the lines of the legend, each with the text to its right."""
    for line in legend:
        level = [s for s in shapes(picture) if s.text and s.centre[1] == line.centre[1]]
        after = [s for s in level if s.box[0] > line.box[2]]
        yield min(after, key=lambda s: s.box[0]).text, line


@given(
    arrays(float, array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.floats(0, 30)),
    st.booleans(),
)
def test_any_weights_are_readable_and_given_back_by_widths(weights, alone):
    names = [[f"{kind}{i}" for i in range(n)] for kind, n in zip("qk", weights.shape, strict=True)]
    options = {"query": -1 if alone else None}
    picture = attention_lines(weights, *names, **options)
    assert_readable(picture)
    assert_shows_weights(picture, weights, *names, **options)


def test_lines_are_described_in_words():
    picture = attention_lines(WEIGHTS, ["it", "is"], ["a", "b", "c"])
    assert name(picture) == "Attention weights"
    assert told(picture) == (
        "it looks at a with 0.7500, b with 0.2500, c with 0; is looks at a with 0.0010, b with 0.4990, c with 0.5000."
    )
    assert told(attention_lines(np.eye(6), list("abcdef"))).count("looks at") == 6
    many = told(attention_lines(np.eye(7), list("abcdefg")))
    assert many.startswith(
        "Weights of queries (rows) on keys (columns): 7 rows, 7 columns. The largest is 1"
    )


def test_one_query_is_described_alone():
    options = {"query": -1, "name": "Where it looks"}
    picture = attention_lines(WEIGHTS, ["it", "is"], ["a", "b", "c"], **options)
    assert told(picture) == "is looks at a with 0.0010, b with 0.4990, c with 0.5000."
    assert name(picture) == "Where it looks"
