"""The figures of the page on writing, one of which writes: a sentence, drawn word by word.

Each word that follows the first has a line of length one, which the probabilities fill, and a
slider, whose thumb is the needle that points at the drawn word.
"""

from collections.abc import Callable
from html import escape

import numpy as np

from attention_docs import examples
from attention_docs.figures.course_sentence import ENDING_COLUMNS, ENDINGS
from attention_docs.figures.registry import claim, site_figure
from attention_docs.lookup import StepsOf, words_of
from attention_docs.render.figures import Html, heatmap
from attention_docs.render.numbers import exact_number, number

# A needle can point at each hundredth of its line.
STOPS = [stop / 100 for stop in range(101)]
BOX_HTML = """\
<div class="figure-box writing" role="group" aria-label="A sentence, drawn word by word" \
data-control="writing" data-input="course_writing.draws" data-search-exclude>
<p><button type="button" class="hands-on">Write</button> <b>{first_word}</b>{words}</p>
{lines}
</div>"""
WORD_HTML = (
    ' <b class="drawn" data-val="course_writing.written[{i}]" data-words="{words}">{word}</b>'
)
LINE_HTML = """\
<div class="drawn line"><div>{pieces}<input type="range" data-control="slider" \
data-input="course_writing.draws[{i}]" data-stops="{stops}" min="0" max="{last}" \
value="{position}" aria-valuetext="{draw}" aria-label="draw of {place}"></div>
<span data-val="course_writing.draws[{i}]" data-short>{draw}</span></div>"""
PIECE_HTML = (
    '<span style="--share: {share:.4f}"><b>{word}</b>'
    '<small data-val="course_writing.probabilities[{row},{i}]" data-short>{digits}</small></span>'
)


@site_figure
def course_temperatures(steps_of: StepsOf) -> Html:
    r"""Three probabilities of the model set by hand after the word *they*, at three
    temperatures."""
    steps = steps_of("course_next_token")
    probabilities = steps["tempered"][:, ENDING_COLUMNS]
    claim(probabilities.shape == (3, 3), "at three temperatures")
    return heatmap(
        probabilities,
        "Probabilities",
        rows="temperature",
        columns="next word",
        row_labels=[exact_number(temperature) for temperature in steps["temperatures"]],
        column_labels=ENDINGS,
        role="output",
        scale="sequential",
    )


def written_sentence(steps_of: StepsOf, add_insert: Callable[[str], str]) -> str:
    """Return the sentence and the lines of its draws in Markdown, with a placeholder for HTML."""
    steps = steps_of("course_writing")
    vocabulary, _ = words_of(steps["probabilities"])
    words = " ".join(vocabulary)
    drawn = [vocabulary[word] for word in steps["written"]]
    return add_insert(
        BOX_HTML.format(
            first_word=vocabulary[examples.load("course_writing").FIRST_WORD],
            words="".join(
                WORD_HTML.format(i=i, words=words, word=word) for i, word in enumerate(drawn)
            ),
            lines="\n".join(
                line_html(i, float(draw), steps["probabilities"])
                for i, draw in enumerate(steps["draws"])
            ),
        )
    )


def line_html(i: int, draw: float, probabilities: np.ndarray) -> str:
    """Return the line of a draw, whose pieces are as long as column i of the probabilities."""
    vocabulary, places = words_of(probabilities)
    pieces = (
        PIECE_HTML.format(share=share, word=escape(word), row=row, i=i, digits=number(share))
        for row, (word, share) in enumerate(zip(vocabulary, probabilities[:, i], strict=True))
    )
    return LINE_HTML.format(
        pieces="".join(pieces),
        i=i,
        stops=" ".join(map(str, STOPS)),
        last=len(STOPS) - 1,
        position=STOPS.index(draw),
        draw=number(draw),
        place=places[i],
    )
