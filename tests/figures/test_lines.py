"""Lines from queries to keys under a ruler: each is where, and as thick as, its weight says."""

import numpy as np
import pytest

from attention_docs.render import attention_lines
from attention_docs.render.figures.svg import ROLES
from attention_docs.render.numbers import number
from tests.figures.drawing import name, named, shapes, size, told

WEIGHTS = np.array([[0.75, 0.25, 0.0], [0.001, 0.499, 0.5]])


def curves_of(picture):
    return [shape for shape in shapes(picture) if shape.kind == "path"]


def test_a_line_goes_from_its_query_to_its_key():
    picture = attention_lines(WEIGHTS, ["it", "is"], ["a", "b", "c"])
    curves = {shape.tip: shape for shape in curves_of(picture)}
    assert list(curves) == [
        "it to a: 0.7500",
        "it to b: 0.2500",
        "is to a: 0.0010",
        "is to b: 0.4990",
        "is to c: 0.5000",
    ]
    for tip, curve in curves.items():
        query, _, key = tip.partition(":")[0].split()
        (left,), (right,) = named(picture, query), named(picture, key)
        start, bend, back, end = curve.corners
        assert tuple(start) == (left.box[2] + 8, left.centre[1])
        assert tuple(end) == (right.box[0] - 8, right.centre[1])
        assert bend.tolist() == [(start[0] + end[0]) / 2, start[1]]
        assert back.tolist() == [(start[0] + end[0]) / 2, end[1]]
        assert end[0] - start[0] == 180
    heights = [named(picture, text)[0].centre[1] for text in ("it", "is", "a", "b", "c")]
    assert np.diff(heights).tolist() == [34, -51, 34, 34]
    assert heights[2] == 49


def test_a_line_is_nine_thick_for_a_weight_of_one_and_never_too_thin_to_see():
    widths = [
        float(s.attributes["stroke-width"])
        for s in curves_of(attention_lines(WEIGHTS, list("ab"), list("xyz")))
    ]
    assert widths == [6.75, 2.25, 0.4, 4.49, 4.5]
    large = curves_of(attention_lines(np.array([[4.0, 1.0]]), ["a"], ["x", "y"]))
    assert [float(s.attributes["stroke-width"]) for s in large] == [9, 2.25]
    assert {s.attributes["stroke"] for s in large} == {ROLES["weights"]}
    assert {s.attributes["fill"] for s in large} == {"none"}


def test_the_lines_of_known_weight_are_as_thick_as_the_others_of_that_weight():
    for largest in (1.0, 4.0):
        picture = attention_lines(np.array([[largest, largest / 4]]), ["a"], ["x", "y"])
        known = [shape for shape in shapes(picture) if shape.kind == "line"]
        drawn = [shape.attributes["stroke-width"] for shape in curves_of(picture)]
        assert [line.attributes["stroke-width"] for line in known] == drawn[::-1]
        words = [shape.text for shape in shapes(picture) if shape.text]
        assert words[-2:] == [number(largest / 4), number(largest)]


def test_lines_have_titles_and_two_lines_of_known_weight():
    picture = attention_lines(WEIGHTS, ["it", "is"], ["a", "b", "c"])
    (queries,), (keys,), (it,), (a,) = (
        named(picture, text) for text in ("queries", "keys", "it", "a")
    )
    assert (queries.box[2], keys.box[0]) == (it.box[2], a.box[0])
    assert queries.centre[1] == keys.centre[1] == 8
    assert (queries.attributes["fill"], keys.attributes["fill"]) == (ROLES["query"], ROLES["key"])
    thin, thick = (shape for shape in shapes(picture) if shape.kind == "line")
    assert [float(line.attributes["stroke-width"]) for line in (thin, thick)] == [2.25, 9]
    assert {line.attributes["stroke"] for line in (thin, thick)} == {ROLES["weights"]}
    assert {line.attributes["stroke-opacity"] for line in (thin, thick)} == {
        curves_of(picture)[0].attributes["stroke-opacity"]
    }
    start = curves_of(picture)[0].corners[0][0]
    for line, text, left in ((thin, "0.2500", start), (thick, "1", start + 90)):
        (weight,) = named(picture, text)
        assert line.box == (left, 142, left + 30, 142)
        assert (weight.box[0], weight.centre[1]) == (left + 36, 142)
        assert weight.attributes["font-size"] == "10"


def test_one_query_has_its_numbers_beside_the_keys():
    picture = attention_lines(
        WEIGHTS, ["it", "is"], ["a", "b", "c"], query=-1, name="Where it looks"
    )
    words = [shape.text for shape in shapes(picture)]
    assert {"a  0.0010", "b  0.4990", "c  0.5000"} <= set(words)
    assert [shape.tip[:5] for shape in curves_of(picture)] == ["is to"] * 3
    assert told(picture) == "is looks at a with 0.0010, b with 0.4990, c with 0.5000."
    assert name(picture) == "Where it looks"
    assert size(picture)[0] == 7 * 7 + 8 + 180 + 16 + 7 * 9 + 2
    assert size(attention_lines(np.eye(1), ["a"]))[0] == 7 * 7 + 8 + 180 + 16 + 7 * 4 + 2


def test_lines_are_told_in_words():
    assert told(attention_lines(WEIGHTS, ["it", "is"], ["a", "b", "c"])) == (
        "it looks at a with 0.7500, b with 0.2500, c with 0; is looks at a with 0.0010, b with 0.4990, c with 0.5000."
    )
    assert told(attention_lines(np.eye(6), list("abcdef"))).count("looks at") == 6
    many = told(attention_lines(np.eye(7), list("abcdefg")))
    assert many.startswith(
        "Weights of queries (rows) on keys (columns): 7 rows, 7 columns. The largest is 1"
    )
    with pytest.raises(ValueError, match="weights holds inf; expected finite numbers of 0 or more"):
        attention_lines(np.array([[np.inf]]), ["a"])
    assert name(attention_lines([[1, 0]], ["a"], ["b", "c"])) == "Attention weights"
