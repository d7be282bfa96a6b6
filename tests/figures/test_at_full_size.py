"""The figure of all heads of the real model, and one head of each kind: what they show is recorded."""

import base64
import re
from collections import defaultdict

import numpy as np
import pytest

from attention_docs.figures import course_at_full_size as heads_figure
from attention_docs.lookup import load_results
from attention_docs.publish.computed import ComputedExamples
from tests.conftest import ROOT
from tests.figures.drawing import shapes, svgs_of, texts

STEPS = ComputedExamples(ROOT).steps
SENTENCES = load_results("real_model")["sentences"]


def percents_of(sentence, layer, head):
    """Return the recorded weights of a head as a square matrix."""
    count = len(sentence["tokens"])
    percents = np.zeros((count, count), int)
    packed = base64.b64decode(sentence["percent"][layer][head])
    percents[np.tril_indices(count)] = list(packed)
    return percents


@pytest.mark.parametrize("sentence", SENTENCES, ids=lambda sentence: sentence["text"])
def test_small_pictures_shade_every_weight_of_every_head(sentence):
    side = len(sentence["tokens"]) + heads_figure.GAP
    expected = defaultdict(set)
    for layer, heads in enumerate(sentence["percent"]):
        for head in range(len(heads)):
            percents = percents_of(sentence, layer, head)
            for row, column in np.argwhere(percents >= 20):
                opacity = 1.0 if percents[row, column] >= 50 else 0.4
                expected[opacity].add((side * layer + column, side * head + row))
    shaded = defaultdict(set)
    path = r'<path d="([^"]*)" stroke-opacity="([\d.]+)"/>'
    for lines, opacity in re.findall(path, heads_figure.small_pictures(sentence)):
        for column, row, length in re.findall(r"M(\d+) (\d+)v(\d+)", lines):
            shaded[float(opacity)] |= {(int(column), int(row) + i) for i in range(int(length))}
    assert shaded == expected


def test_enlarged_heads_show_the_recorded_weights():
    enlarged_heads = svgs_of(heads_figure.real_heads(STEPS))[1:]  # after all heads
    strongest_heads = heads_figure.strongest_heads().values()
    for picture, ((layer, head), index) in zip(enlarged_heads, strongest_heads, strict=True):
        sentence = SENTENCES[index]
        shown_percents = numbers_at_tokens(picture, sentence["tokens"])
        np.testing.assert_array_equal(shown_percents, percents_of(sentence, layer, head))


def test_strongest_heads_show_their_kind_on_their_sentences():
    heads = heads_figure.strongest_heads().items()
    weights = {kind: percents_of(SENTENCES[index], *place) for kind, (place, index) in heads}
    nouns, repeated, long_words = (sentence["tokens"] for sentence in SENTENCES[:3])
    first_they, second_they = np.flatnonzero(np.array(nouns) == "they").tolist()
    assert weights["Pronoun"][first_they, nouns.index("cats")] > 50
    assert weights["Pronoun"][second_they, nouns.index("dogs")] > 50
    assert np.all(np.diag(weights["Previous token"], -1) > 50)
    for position, token in enumerate(repeated):
        earlier_copy = repeated.index(token)
        if earlier_copy < position:
            assert weights["Induction"][position, earlier_copy + 1] > 75
    for last_part, first_part in (("arianism", "ant"), ("istic", "un")):
        row = weights["First of a word"][long_words.index(last_part)]
        assert long_words[np.argmax(row)] == first_part
    assert np.all(weights["Sink"][:, 0] == 100)


def numbers_at_tokens(picture, tokens):
    """Return a matrix of the printed numbers, 0 where none is, by the tokens beside and below."""
    words = [shape for shape in shapes(picture) if shape.text in tokens]
    assert texts(words) == tokens + tokens
    beside_rows = words[: len(tokens)]
    below_columns = words[len(tokens) :]
    matrix = np.zeros((len(tokens), len(tokens)), int)
    for number in shapes(picture):
        if number.text.isdigit():
            row = np.argmin([abs(word.centre[1] - number.centre[1]) for word in beside_rows])
            column = np.argmin([abs(word.centre[0] - number.centre[0]) for word in below_columns])
            matrix[row, column] = int(number.text)
    return matrix
