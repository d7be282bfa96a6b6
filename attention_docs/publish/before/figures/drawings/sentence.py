"""The sentence of the course in large words: what each word takes from the words before it.

Two sentences are computed by the course, and the third is measured in a real model. It works
without scripts. A radio button for each word shows the shares of that word, and three more choose
the sentence. The style sheet places words, arcs and shares in one grid, in which each word
spans two tracks, so an arc from the middle of one word to the middle of another needs no measuring.
"""

from collections.abc import Callable
from html import escape
from typing import NamedTuple

import numpy as np

from attention_docs.examples.course_sentence import SWAPPED, VOCABULARY, WORDS
from attention_docs.publish.before.results import load_results
from attention_docs.publish.before.values import StepsOf, computed_span, look_up_array
from attention_docs.render.numbers import short_number

THEY = WORDS.index("they")
# Of the record of the real model, the tokens up to the first *they*.
REAL_NAME, REAL_LENGTH = "a real model", 6
# The verbs of the two nouns, which are drawn as bars.
VERBS = ("fly", "sail")
FIGURE_HTML = (
    '<div class="figure-box sentences" role="group" aria-label="Where each word looks" '
    "data-search-exclude>{switch}{sentences}</div>"
)
SWITCH_HTML = '<div class="order" role="radiogroup" aria-label="Sentence">{choices}</div>'
SENTENCE_HTML = (
    '<div class="sentence" style="--tracks: {tracks}"><div class="words" role="radiogroup" '
    'aria-label="Word that looks">{words}</div><strong class="gap output">{next_word}</strong>'
    "{next_to_reason}</div>"
)
BARS_HTML = '<dl aria-label="Probabilities of the next word">{bars}</dl>'
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
    """Return all sentences, of which the page shows one, for its Markdown.

    Args:
        steps_of: returns the steps of an example by its name.
        add_insert: stores HTML and returns a placeholder for it.
    """
    choices = "".join(
        f"<label>{radio('sentence', name, i == 0)}{name}</label>"
        for i, name in enumerate((*(order.name for order in ORDERS), REAL_NAME))
    )
    return add_insert(
        FIGURE_HTML.format(
            switch=SWITCH_HTML.format(choices=choices),
            sentences="".join(sentence_html(order, steps_of) for order in ORDERS)
            + real_sentence_html(),
        )
    )


def sentence_html(sentence: Sentence, steps_of: StepsOf) -> str:
    """Return a sentence with the shares of each of its words, and the word that comes next."""
    scores, weights, probabilities = (
        look_up_array(reference, steps_of)
        for reference in (sentence.scores, sentence.weights, sentence.probabilities)
    )
    words = []
    for query in range(len(weights)):
        digits, powers = (
            [number_html(reference, array, (query, key)) for key in range(query + 1)]
            for reference, array in ((sentence.weights, weights), (sentence.scores, scores))
        )
        powers = [f"<i>e</i><sup>{score}</sup>" for score in powers]
        fraction = f":<br>{powers[np.argmax(weights[query])]} / ({' + '.join(powers)})"
        words.append(word_html(sentence.name, sentence.words, weights[query], digits, fraction))
    bars = "".join(bar_html(sentence, word, probabilities) for word in VERBS)
    return SENTENCE_HTML.format(
        tracks=2 * len(words) + 2,
        words="".join(words),
        next_word=VOCABULARY[int(np.argmax(probabilities[THEY]))],
        next_to_reason=BARS_HTML.format(bars=bars),
    )


def real_sentence_html() -> str:
    """Return the beginning of the recorded sentence, with the measured shares of a head."""
    record = load_results("real_model")["sentence"]
    *tokens, next_word = (token.strip() for token in record["tokens"][: REAL_LENGTH + 1])
    rows = [np.array(row[: i + 1]) for i, row in enumerate(record["weights"][:REAL_LENGTH])]
    words = [word_html(REAL_NAME, tokens, row, list(map(measured_html, row)), ".") for row in rows]
    layer, head = map(str, record["head"])
    measured_by = (
        f"<p>Measured in SmolLM2, a model that learned its matrices, in head {computed_span(head)} "
        f"of layer {computed_span(layer)}. The text goes on with <em>{next_word}</em>.</p>"
    )
    return SENTENCE_HTML.format(
        tracks=2 * REAL_LENGTH + 2,
        words="".join(words),
        next_word=next_word,
        next_to_reason=measured_by,
    )


def word_html(
    sentence: str, words: list[str], weights: np.ndarray, digits: list[str], fraction: str
) -> str:
    """Return a word, its share of each word up to itself, and the reason for the largest."""
    query = len(digits) - 1
    shares = "".join(
        SHARE_HTML.format(
            classes="share own" if key == query else "share",
            share=weights[key],
            start=2 * key + 2,
            end=2 * query + 2,
            number=number,
        )
        for key, number in enumerate(digits)
    )
    largest = int(np.argmax(weights))
    reason = (
        f'<b>{digits[largest]}</b> is how much <em class="query">{words[query]}</em> takes from '
        f'<em class="key">{words[largest]}</em>{fraction}'
    )
    return WORD_HTML.format(
        at=2 * query + 1,
        radio=radio(f"word in {sentence}", words[query], words[query] == "they"),
        word=words[query] if query else words[query].capitalize(),
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


def measured_html(weight: float) -> str:
    return computed_span(escape(short_number(weight)))


def radio(name: str, value: str, is_checked: bool) -> str:
    checked = " checked" if is_checked else ""
    return f'<input type="radio" name="{name}" value="{value}"{checked}>'
