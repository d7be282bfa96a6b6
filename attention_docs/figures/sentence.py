"""The sentence of the course in large words: what each word takes from the words before it.

Two sentences are computed by the course, and the third is measured in a real model. It works
without scripts. A radio button for each word shows the shares of that word, and three more choose
the sentence. The style sheet places words, arcs and shares in one grid, in which each word
spans two tracks, so an arc from the middle of one word to the middle of another needs no measuring.
"""

from collections.abc import Callable
from html import escape

import numpy as np

from attention_docs.examples.course_sentence import SWAPPED, THEY, VOCABULARY, WORDS
from attention_docs.lookup import StepsOf, load_results
from attention_docs.render.numbers import computed_span, number, short_number
from attention_docs.render.references import index_in_step, step_name

# Of the record of the real model, the tokens up to the first *they*.
REAL_NAME, REAL_LENGTH = "a real model", 6
# The field has no name, so browsers never send it; site.js hands it to the page of all heads.
OWN_SENTENCE_HTML = (
    '<form class="hands-on" action="course/at_full_size/"><input maxlength="300" '
    'required autocomplete="off" aria-label="your own text" placeholder="Your own text">'
    "<button>Read it with the model</button><small>{megabytes} MB, once</small></form>"
)
# The verbs of the two nouns, which are drawn as bars.
VERBS = ("fly", "sail")
# The sentences that the course computes, and what the names of their steps end with.
COURSE_SENTENCES = ((WORDS, ""), (SWAPPED, "_swapped"))
FIGURE_HTML = (
    '<div class="figure-box sentences" role="group" aria-label="Where each word looks" '
    "data-search-exclude>{switch}{sentences}</div>"
)
SWITCH_HTML = '<div class="order" role="radiogroup" aria-label="Sentence">{choices}</div>'
SENTENCE_HTML = (
    '<div class="sentence" style="--tracks: {tracks}"><div class="words" role="radiogroup" '
    'aria-label="Word that looks" aria-live="polite">{words}</div>'
    '<strong class="gap output">{next_word}</strong>'
    "{next_to_reason}</div>"
)
NEXT_WORD_HTML = '<span data-val="course_next_token.{step}" data-words="{words}">{word}</span>'
BARS_HTML = '<dl aria-label="Probabilities of the next word">{bars}</dl>'
WORD_HTML = (
    '<div class="word"><label style="--at: {at}">{radio}{word}</label>'
    '<div class="shares">{shares}<p>{reason}</p></div></div>'
)
SHARE_HTML = (
    '<span class="{classes}" style="--share: {share:.4f}; --from: {start}; --to: {end}">'
    "<b>{word} </b>{number}<i></i></span>"
)
BAR_HTML = '<div style="--share: {share:.4f}"><dt>{word}</dt><dd><i></i>{number}</dd></div>'


def sentences(steps_of: StepsOf, add_insert: Callable[[str], str]) -> str:
    """Return all sentences, of which the page shows one, for its Markdown."""
    names = [*(" ".join(words[:3]) for words, _ in COURSE_SENTENCES), REAL_NAME]
    choices = "".join(
        f"<label>{radio('sentence', name, is_checked=name == names[0])}{name}</label>"
        for name in names
    )
    html = "".join(course_sentence_html(*sentence, steps_of) for sentence in COURSE_SENTENCES)
    return add_insert(
        FIGURE_HTML.format(
            switch=SWITCH_HTML.format(choices=choices), sentences=html + real_sentence_html()
        )
    )


def course_sentence_html(words: list[str], ending: str, steps_of: StepsOf) -> str:
    """Return a sentence with the shares of each of its words, and the word that comes next."""
    mask, next_token = steps_of("course_mask"), steps_of("course_next_token")
    scores, weights = mask[f"masked{ending}"], mask[f"weights{ending}"]
    probabilities = next_token[f"probabilities{ending}"]
    html = ""
    for query, row in enumerate(weights):
        keys = range(query + 1)  # the causal mask hides the later ones
        shares = [number_html(weights, (query, key)) for key in keys]
        exponents = [number_html(scores, (query, key)) for key in keys]
        powers = [f"<i>e</i><sup>{exponent}</sup>" for exponent in exponents]
        softmax_html = f":<br>{powers[np.argmax(row)]} / ({' + '.join(powers)})"
        html += word_html(" ".join(words[:3]), words, row, shares, softmax_html)
    bars = ""
    for word in VERBS:
        index = (THEY, VOCABULARY.index(word))
        share, digits = probabilities[index], number_html(probabilities, index)
        bars += BAR_HTML.format(share=share, word=word, number=digits)
    return SENTENCE_HTML.format(
        tracks=2 * len(words) + 2,
        words=html,
        next_word=NEXT_WORD_HTML.format(
            step=f"next_token{ending}",
            words=" ".join(VOCABULARY),
            word=VOCABULARY[int(next_token[f"next_token{ending}"])],
        ),
        next_to_reason=BARS_HTML.format(bars=bars),
    )


def real_sentence_html() -> str:
    """Return the beginning of the recorded sentence, with the measured shares of a head."""
    model = load_results("real_model")
    record = model["sentence"]
    tokens = [token.strip() for token in record["tokens"]]
    words = ""
    for query in range(REAL_LENGTH):
        weights = np.array(record["weights"][query][: query + 1])
        digits = [computed_span(escape(short_number(weight))) for weight in weights]
        words += word_html(REAL_NAME, tokens, weights, digits, reason_ending=".")
    layer, head = record["head"]
    next_word = tokens[REAL_LENGTH]
    megabytes = computed_span(number(round(model["file"]["bytes"] / 1e6)))
    own_sentence = OWN_SENTENCE_HTML.format(megabytes=megabytes)
    measured_by = (
        "<p>Measured in SmolLM2, a model that learned its matrices, in head "
        f"{computed_span(str(head))} of layer {computed_span(str(layer))}. "
        f"The text goes on with <em>{next_word}</em>.</p>{own_sentence}"
    )
    return SENTENCE_HTML.format(
        tracks=2 * REAL_LENGTH + 2,
        words=words,
        next_word=next_word,
        next_to_reason=measured_by,
    )


def word_html(
    sentence_name: str, words: list[str], weights: np.ndarray, digits: list[str], reason_ending: str
) -> str:
    """Return a word, its share of each word up to itself, and the reason for the largest share."""
    query = len(digits) - 1
    # Word i has the tracks 2 i + 1 and 2 i + 2, and an arc begins and ends between two tracks.
    shares = "".join(
        SHARE_HTML.format(
            classes="share own" if key == query else "share",
            share=weights[key],
            start=2 * key + 2,
            end=2 * query + 2,
            word=word,
            number=number,
        )
        for key, (word, number) in enumerate(zip(words, digits, strict=False))
    )
    largest = int(np.argmax(weights))
    reason = (
        f'<b>{digits[largest]}</b> is how much <em class="query">{words[query]}</em> takes from '
        f'<em class="key">{words[largest]}</em>{reason_ending}'
    )
    return WORD_HTML.format(
        at=2 * query + 1,
        radio=radio(f"word in {sentence_name}", words[query], is_checked=words[query] == "they"),
        word=words[query] if query else words[query].capitalize(),
        shares=shares,
        reason=reason,
    )


def number_html(step: np.ndarray, index: tuple[int, int]) -> str:
    reference = f"{step_name(step)}[{index_in_step(step, index)}]"
    digits = escape(short_number(step[index]))
    return f'<span data-val="{reference}" data-short>{digits}</span>'


def radio(name: str, value: str, is_checked: bool) -> str:
    """Return a radio button, which excludes the others of its name."""
    checked = " checked" if is_checked else ""
    return f'<input type="radio" name="{name}" value="{value}"{checked}>'
