"""Captions: what they say of growth, order and size is claimed of the data, and a lie stops a build."""

import inspect
import re

import numpy as np
import pytest

from attention_docs import examples
from attention_docs.publish.before.figures.registry import FIGURES, figure_block
from attention_docs.publish.before.values import resolve
from attention_docs.publish.computed import ComputedExamples
from attention_docs.publish.errors import PublishError
from tests.conftest import ROOT

STEPS = ComputedExamples(ROOT)
# Words that compare. What a sentence with one of them says has to be claimed.
COMPARING = re.compile(
    r"\b(almost|close|fall|fast|grow|half|hundredth|larg|less|main|more|most|near|small|slow|steep"
    r"|than|times|twice)\w*",
    re.IGNORECASE,
)
# What is drawn, and how to read it: the tests of the drawings hold these to the data.
LEGENDS = (
    "Four scores that grow with $\\sqrt{d_k}$, as random scores do without the division",
    "The largest entry of the Jacobian of the same softmax",
    "The thicker a line, the larger the weight",
    "the thicker the larger the share",
)


def caption_of(name):
    return " ".join(inspect.getdoc(FIGURES[name]).split())


def claims_of(name, monkeypatch):
    claimed = []
    module = inspect.getmodule(FIGURES[name])
    if hasattr(module, "claim"):
        monkeypatch.setattr(module, "claim", lambda holds, words: claimed.append(words))
    FIGURES[name](STEPS.named_steps)
    return claimed


@pytest.mark.parametrize("name", FIGURES)
def test_claims_are_words_of_the_caption(name, monkeypatch):
    assert [words for words in claims_of(name, monkeypatch) if words not in caption_of(name)] == []


@pytest.mark.parametrize("name", FIGURES)
def test_sentences_that_compare_are_claimed(name, monkeypatch):
    claimed = (*claims_of(name, monkeypatch), *LEGENDS)
    sentences = re.split(r"(?<=[.:]) ", caption_of(name))
    comparing = [sentence for sentence in sentences if COMPARING.search(sentence)]
    assert [s for s in comparing if not any(words in s for words in claimed)] == []


def test_a_false_claim_stops_the_build_and_names_page_figure_and_words():
    def steps_of(name):
        return {**examples.steps(name), "weights": np.full((10, 10), 0.1)}

    with pytest.raises(PublishError) as caught:
        resolve(
            "A page.\n\n\\figure{batched_second_pair}\n",
            {"figure": lambda name, _: figure_block(name, steps_of, str)},
            lambda line: f"page.md:{line + 1}",
        )
    words = "less than a hundredth of the weight"
    assert str(caught.value) == (
        rf"page.md:3: \figure{{batched_second_pair}}: its data contradict its caption: {words!r}"
    )
