"""The figure of all heads of the real model, and one head of each kind: what they show is recorded."""

import base64
import re
from collections import defaultdict

import numpy as np
import pytest

from attention_docs.model.record import pack_percents
from attention_docs.publish.before.figures import real_model
from attention_docs.publish.before.results import load_results
from attention_docs.publish.computed import ComputedExamples
from tests.conftest import ROOT
from tests.figures.drawing import shapes, svgs_of

STEPS = ComputedExamples(ROOT).steps_with_references
SENTENCES = load_results("real_model")["sentences"]
each_sentence = pytest.mark.parametrize("sentence", SENTENCES, ids=lambda each: each["text"])


def percents_of(sentence, layer, head):
    """Return the recorded weights of a head as a square matrix."""
    count = len(sentence["tokens"])
    percents = np.zeros((count, count), int)
    packed = base64.b64decode(sentence["percent"][layer][head])
    percents[np.tril_indices(count)] = list(packed)
    return percents


@each_sentence
def test_small_pictures_shade_every_weight_of_every_head(sentence):
    side = len(sentence["tokens"]) + real_model.GAP
    shaded = defaultdict(set)
    path = r'<path d="([^"]*)" stroke-opacity="([\d.]+)"/>'
    for data, opacity in re.findall(path, real_model.small_pictures(sentence)):
        for line in data.removeprefix("M").split("M"):
            x, y, length = map(int, re.split("[ v]", line))
            shaded[float(opacity)] |= {(x, y + below) for below in range(length)}
    expected = defaultdict(set)
    for layer, heads in enumerate(sentence["percent"]):
        for head in range(len(heads)):
            percents = percents_of(sentence, layer, head)
            for row, column in np.argwhere(percents >= 20):
                cell = side * layer + column, side * head + row
                expected[1.0 if percents[row, column] >= 50 else 0.4].add(cell)
    assert shaded == expected


def test_enlarged_heads_show_the_recorded_weights():
    _, *drawings = svgs_of(real_model.real_heads(STEPS))
    heads = real_model.strongest_heads().values()
    for picture, (place, index) in zip(drawings, heads, strict=True):
        sentence = SENTENCES[index]
        tokens = sentence["tokens"]
        texts = [shape for shape in shapes(picture) if shape.kind == "text"]
        numbers = [shape for shape in texts if shape.text.isdigit()]
        words = [shape for shape in texts if shape.text in tokens]
        assert [word.text for word in words] == 2 * tokens
        by_row, by_column = (
            {round(word.corners.mean(axis=0)[axis]): i for i, word in enumerate(labels)}
            for axis, labels in ((1, words[: len(tokens)]), (0, words[len(tokens) :]))
        )
        shown = np.zeros((len(tokens), len(tokens)), int)
        for number in numbers:
            x, y = number.corners.mean(axis=0)
            shown[nearest(by_row, y), nearest(by_column, x)] = int(number.text)
        np.testing.assert_array_equal(shown, percents_of(sentence, *place))


def nearest(indices, coordinate):
    return indices[min(indices, key=lambda each: abs(each - coordinate))]


@pytest.mark.parametrize(
    ("kind", "row", "column", "quote"),
    [
        ("Pronoun", 13, 0, "leads each *they* to its noun"),
        ("Previous token", 7, 0, "leads each token to the one before it"),
        ("Induction", 13, 0, "to the word after its earlier copy"),
        ("First of a word", 6, 0, "leads the last part of a long word to its first part"),
        ("Sink", 4, 3, "leads every token to the first one"),
    ],
)
def test_caption_is_refused_if_a_weight_contradicts_it(monkeypatch, kind, row, column, quote):
    (layer, head), index = real_model.strongest_heads()[kind]
    record = load_results("real_model")
    percents = percents_of(record["sentences"][index], layer, head)
    percents[row] = 0
    percents[row, column] = 100
    record["sentences"][index]["percent"][layer][head] = pack_percents(percents / 100)
    monkeypatch.setattr(real_model, "load_results", lambda name: record)
    with pytest.raises(ValueError, match=re.escape(quote)):
        real_model.real_heads(STEPS)
