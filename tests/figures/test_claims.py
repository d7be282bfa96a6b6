"""Captions: sentences that compare need a claim, and a false claim stops the build."""

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
# A sentence with one of these words compares, so it needs a claim.
COMPARING = re.compile(
    r"\b(almost|close|fall|fast|grow|half|hundredth|larg|less|main|more|most|near|small|slow|steep"
    r"|than|times|twice)\w*",
    re.IGNORECASE,
)
# Sentences that explain how to read a drawing, which the tests of drawings check.
LEGENDS = (
    "Four scores that grow with $\\sqrt{d_k}$, as random scores do without the division",
    "The largest entry of the Jacobian of the same softmax",
    "The thicker a line, the larger the weight",
    "the thicker the larger the share",
)


def caption_of(name):
    return " ".join(inspect.getdoc(FIGURES[name]).split())


def claims_of(name, monkeypatch):
    """Draw a figure, and return the quotes of its claims."""
    quotes = []
    module = inspect.getmodule(FIGURES[name])
    if hasattr(module, "claim"):
        monkeypatch.setattr(module, "claim", lambda is_true, quote: quotes.append(quote))
    FIGURES[name](STEPS.steps_with_references)
    return quotes


@pytest.mark.parametrize("name", FIGURES)
def test_claims_quote_the_caption(name, monkeypatch):
    caption = caption_of(name)
    for quote in claims_of(name, monkeypatch):
        assert quote in caption


@pytest.mark.parametrize("name", FIGURES)
def test_sentences_that_compare_have_a_claim(name, monkeypatch):
    quotes = (*claims_of(name, monkeypatch), *LEGENDS)
    sentences = re.split(r"(?<=[.:]) ", caption_of(name))
    for sentence in sentences:
        if COMPARING.search(sentence):
            assert any(quote in sentence for quote in quotes), (
                f"add claim(...) or reword: {sentence}"
            )


def test_false_claim_stops_build_with_page_and_quote():
    def steps_with_equal_weights(name):
        return {**examples.steps(name), "weights": np.full((10, 10), 0.1)}

    with pytest.raises(PublishError) as error_info:
        resolve(
            "A page.\n\n\\figure{batched_second_pair}\n",
            {"figure": lambda name, _: figure_block(name, steps_with_equal_weights, str)},
            lambda line: f"page.md:{line + 1}",
        )
    quote = "less than a hundredth of the weight"
    assert str(error_info.value) == (
        rf"page.md:3: \figure{{batched_second_pair}}: its data contradict its caption: {quote!r}"
    )
