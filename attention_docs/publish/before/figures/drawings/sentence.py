"""The sentence of the course in large words: what each word takes from the words before it.

It works without scripts. A radio button for each word shows the shares of that word, and two more
choose the sentence. The style sheet places words, arcs and shares in one grid, in which each word
spans two tracks, so an arc from the middle of one word to that of another needs no measuring.
"""

from collections.abc import Callable
from html import escape
from typing import NamedTuple

import numpy as np

from attention_docs.examples.course_sentence import SWAPPED, VOCABULARY, WORDS
from attention_docs.publish.before.values import StepsOf, look_up_array
from attention_docs.render.numbers import short_number

THEY = WORDS.index("they")
# The verbs of the two nouns, which are drawn as bars.
VERBS = ("fly", "sail")
FIGURE_HTML = (
    '<div class="figure-box sentences" role="group" aria-label="Where each word looks" '
    "data-search-exclude>{switch}{sentences}</div>"
)
SWITCH_HTML = '<div class="order" role="radiogroup" aria-label="Sentence">{choices}</div>'
SENTENCE_HTML = (
    '<div class="sentence"><div class="words" role="radiogroup" aria-label="Word that looks">'
    '{words}</div><strong class="gap output">{next_word}</strong>'
    '<dl aria-label="Probabilities of the next word">{bars}</dl></div>'
)
WORD_HTML = (
    '<div class="word"><label style="--at: {at}">{radio}{word}</label>'
    '<div class="shares">{shares}<p>{reason}</p></div></div>'
)
SHARE_HTML = (
    '<span class="{classes}" style="--share: {share:.4f}; --from: {start}; --to: {end}">'
    "{number}<i></i></span>"
)
BAR_HTML = '<div style="--share: {share:.4f}"><dt>{word}</dt><dd><i></i>{number}</dd></div>'


class Sentence(NamedTuple):
    """One of the two sentences, and the steps of its numbers."""

    name: str
    words: list[str]
    scores: str
    weights: str
    probabilities: str


ORDERS = tuple(
    Sentence(
        " ".join(words[:3]),
        words,
        f"course_mask.masked{ending}",
        f"course_mask.weights{ending}",
        f"course_next_token.probabilities{ending}",
    )
    for words, ending in ((WORDS, ""), (SWAPPED, "_swapped"))
)


def sentences(steps_of: StepsOf, add_insert: Callable[[str], str]) -> str:
    """Return both sentences, of which the page shows one, for its Markdown.

    Args:
        steps_of: returns the steps of an example by its name.
        add_insert: stores HTML and returns a placeholder for it.
    """
    choices = "".join(
        f"<label>{radio('sentence', order.name, i == 0)}{order.name}</label>"
        for i, order in enumerate(ORDERS)
    )
    return add_insert(
        FIGURE_HTML.format(
            switch=SWITCH_HTML.format(choices=choices),
            sentences="".join(sentence_html(order, steps_of) for order in ORDERS),
        )
    )


def sentence_html(sentence: Sentence, steps_of: StepsOf) -> str:
    """Return a sentence with the shares of each of its words, and the word that comes next."""
    scores, weights, probabilities = (
        look_up_array(reference, steps_of)
        for reference in (sentence.scores, sentence.weights, sentence.probabilities)
    )
    return SENTENCE_HTML.format(
        words="".join(word_html(sentence, i, scores, weights) for i in range(len(weights))),
        next_word=VOCABULARY[int(np.argmax(probabilities[THEY]))],
        bars="".join(bar_html(sentence, word, probabilities) for word in VERBS),
    )


def word_html(sentence: Sentence, query: int, scores: np.ndarray, weights: np.ndarray) -> str:
    """Return a word, its share of each word up to itself, and how the largest comes about."""
    word = sentence.words[query]
    keys = range(query + 1)
    shares = "".join(
        SHARE_HTML.format(
            classes="share own" if key == query else "share",
            share=weights[query, key],
            start=2 * key + 2,
            end=2 * query + 2,
            number=number_html(sentence.weights, weights, (query, key)),
        )
        for key in keys
    )
    largest = int(np.argmax(weights[query]))
    powers = [f"e<sup>{number_html(sentence.scores, scores, (query, key))}</sup>" for key in keys]
    reason = (
        f"<b>{number_html(sentence.weights, weights, (query, largest))}</b> "
        f'is how much <em class="query">{word}</em> takes from '
        f'<em class="key">{sentence.words[largest]}</em>:<br>{powers[largest]} / '
        f"({' + '.join(powers)})"
    )
    return WORD_HTML.format(
        at=2 * query + 1,
        radio=radio(f"word in {sentence.name}", word, query == THEY),
        word=word if query else word.capitalize(),
        shares=shares,
        reason=reason,
    )


def bar_html(sentence: Sentence, word: str, probabilities: np.ndarray) -> str:
    index = (THEY, VOCABULARY.index(word))
    digits = number_html(sentence.probabilities, probabilities, index)
    return BAR_HTML.format(share=probabilities[index], word=word, number=digits)


def number_html(reference: str, array: np.ndarray, index: tuple[int, int]) -> str:
    """Return a number with two decimals, and its reference."""
    digits = escape(short_number(array[index]))
    return f'<span data-val="{reference}[{index[0]},{index[1]}]" data-short>{digits}</span>'


def radio(name: str, value: str, is_checked: bool) -> str:
    checked = " checked" if is_checked else ""
    return f'<input type="radio" name="{name}" value="{value}"{checked}>'
