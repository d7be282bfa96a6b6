"""The figures of all heads of the real model, and of four of them: what they show is recorded."""

import re
from collections import defaultdict

import numpy as np
import pytest

from attention_docs.publish.before.figures import real_model
from attention_docs.publish.before.results import load_results
from attention_docs.publish.computed import ComputedExamples
from tests.conftest import ROOT
from tests.figures.drawing import shapes, svgs_of

STEPS = ComputedExamples(ROOT).named_steps
SENTENCE = load_results("real_model")["sentence"]
WORDS = [token.strip() for token in SENTENCE["tokens"]]
SIDE = len(WORDS) + real_model.GAP


def test_small_pictures_shade_every_weight_of_every_head():
    shaded = defaultdict(set)
    path = r'<path d="([^"]*)" stroke-opacity="([\d.]+)"/>'
    for data, opacity in re.findall(path, real_model.real_heads(STEPS)):
        for line in data.removeprefix("M").split("M"):
            x, y, length = map(int, re.split("[ v]", line))
            shaded[float(opacity)] |= {(x, y + below) for below in range(length)}
    expected = defaultdict(set)
    for layer, heads in enumerate(SENTENCE["percent"]):
        for head, rows in enumerate(heads):
            for row, percents in enumerate(rows):
                for column, percent in enumerate(percents):
                    cell = SIDE * layer + column, SIDE * head + row
                    if percent >= 20:
                        expected[1.0 if percent >= 50 else 0.4].add(cell)
    assert shaded == expected


def test_enlarged_heads_show_the_recorded_weights():
    drawings = svgs_of(real_model.real_heads_enlarged(STEPS))
    heads = real_model.named_heads().values()
    assert list(heads) == [(13, 8), (16, 0), (18, 6), (18, 8)]
    for picture, (layer, head) in zip(drawings, heads, strict=True):
        texts = [shape for shape in shapes(picture) if shape.kind == "text"]
        numbers = [shape for shape in texts if shape.text.isdigit()]
        words = [shape for shape in texts if shape.text in WORDS]
        by_row, by_column = (
            {round(word.corners.mean(axis=0)[axis]): i for i, word in enumerate(labels)}
            for axis, labels in ((1, words[: len(WORDS)]), (0, words[len(WORDS) :]))
        )
        assert [word.text for word in words] == 2 * WORDS
        shown = np.zeros((len(WORDS), len(WORDS)), int)
        for number in numbers:
            x, y = number.corners.mean(axis=0)
            shown[nearest(by_row, y), nearest(by_column, x)] = int(number.text)
        for row, percents in enumerate(SENTENCE["percent"][layer][head]):
            assert shown[row].tolist() == percents + [0] * (len(WORDS) - len(percents))


def nearest(indices, coordinate):
    return indices[min(indices, key=lambda each: abs(each - coordinate))]


@pytest.mark.parametrize(
    ("head", "row", "column", "quote"),
    [
        ((13, 8), 13, 0, "its weight to its noun"),
        ((16, 0), 7, 0, "to the token before it"),
        ((18, 6), 13, 0, "its largest weight to *are*"),
        ((18, 8), 4, 3, "every token gives all its weight"),
    ],
)
def test_caption_is_refused_if_a_weight_contradicts_it(monkeypatch, head, row, column, quote):
    layer, number = head
    record = load_results("real_model")
    percents = record["sentence"]["percent"][layer][number][row]
    percents[:] = [100 if position == column else 0 for position in range(len(percents))]
    monkeypatch.setattr(real_model, "load_results", lambda name: record)
    with pytest.raises(ValueError, match=re.escape(quote)):
        real_model.real_heads_enlarged(STEPS)
