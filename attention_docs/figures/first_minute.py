"""The way of the sentence through the model in a minute, without a symbol.

A player of scenes. Each has the words in a row, and below them what they hold, as cells: a column
of features for each word. Cells with the same reference move from one scene to the next.
"""

from collections.abc import Sequence

import numpy as np

from attention_docs.arrays import Array
from attention_docs.examples.course_sentence import (
    BECAUSE,
    BIRDS,
    BOATS,
    FEATURES,
    SWAPPED,
    THEY,
    VOCABULARY,
    WORDS,
)
from attention_docs.figures.course_sentence import WORD_FEATURES
from attention_docs.figures.registry import claim, labels_of_largest, site_figure
from attention_docs.lookup import StepsOf
from attention_docs.render.figures import Html, Panel, bars, cells, scales, svg
from attention_docs.render.figures.boxes import box

# In pixels: the width of a word with what it holds, the height of a feature, and the room for the
# names of the features at the left.
COLUMN, FEATURE_HEIGHT, NAMES_WIDTH = 58, 15, 50
ARCS_HEIGHT, WORD_HEIGHT, ANSWERS_HEIGHT = 56, 24, 26
CELL_WIDTH = 22  # so that what a word holds and what it takes stand side by side
WORDS_Y = ARCS_HEIGHT
CELLS_Y = WORDS_Y + WORD_HEIGHT + ANSWERS_HEIGHT
WIDTH = NAMES_WIDTH + (len(WORDS) + 1) * COLUMN
HEIGHT = CELLS_Y + 5 * FEATURE_HEIGHT + 4
# The widest line from the pronoun to a word, and the thinnest.
WIDEST, THINNEST = 6.0, 0.5
ANSWERS = {BIRDS: "thing, first", BOATS: "thing, later"}


@site_figure
def first_minute(steps_of: StepsOf) -> Html:
    r"""The whole course in a minute, before the first symbol. Darker cells are larger numbers, and
    thicker lines larger shares."""
    heads, block = steps_of("course_heads"), steps_of("course_block")
    next_token = steps_of("course_next_token")
    x, after_block = heads["with_positions"][:, WORD_FEATURES], block["output"]
    noun, reason = heads["added_1"], heads["added_2"]
    weights, swapped_weights = heads["weights_1"], steps_of("course_mask")["weights_swapped"]
    probabilities = next_token["probabilities"]
    claim(weights[THEY].argmax() == BIRDS and weights[THEY].max() > 0.9, "nearly all goes to birds")
    claim(heads["weights_2"][THEY].argmax() == BECAUSE, "the word just before")
    claim(labels_of_largest(after_block[THEY:], FEATURES) == ["action"], "expect an action")
    claim(labels_of_largest(probabilities[THEY:], VOCABULARY) == ["fly"], "fits best")
    swapped = labels_of_largest(next_token["probabilities_swapped"][THEY:], VOCABULARY)
    claim(swapped == ["sail"] and swapped_weights[THEY].argmax() == 0, "lead to sail")
    words = [column(x, word, place=word) for word in range(len(WORDS))]
    own = [*words[:THEY], column(x, THEY, place=THEY)]
    took_noun = column(noun, THEY, place=THEY, is_taken=True)
    took_reason = column(reason, THEY, place=THEY, is_taken=True)
    asks = answer(THEY, "which thing", "query") + answer(THEY, "came first?", "query", line=1)
    answers = "".join(answer(word, text, "key") for word, text in ANSWERS.items())
    first, second = arcs(weights[THEY], "weights"), arcs(heads["weights_2"][THEY], "weights")
    scenes = [
        scene("Which word comes next? That depends on who “they” are."),
        scene("Each word becomes a list of numbers, which say what it is.", *words),
        scene("The pronoun asks a question, and other words have answers.", asks, answers, *words),
        scene(
            "It weighs the answers: nearly all of its attention goes to birds.",
            first,
            *words,
            column(noun, THEY, place=BIRDS, is_taken=True),
        ),
        scene(
            "From each word it takes a share of the numbers, here air and water.", *own, took_noun
        ),
        scene(
            "A second look finds the word just before, and brings a reason.",
            second,
            *own,
            column(reason, THEY, place=BECAUSE, is_taken=True),
        ),
        scene("All of it is added up.", *own, took_reason),
        scene(
            "A small network concludes: expect an action.",
            *words[:THEY],
            column(after_block[:, WORD_FEATURES], THEY, place=THEY),
        ),
        scene(
            "Each word that could follow is compared with that, and one fits best.",
            next_words(probabilities[THEY]),
            next_word="fly",
        ),
        scene(
            "Exchange the nouns, and the same steps lead to sail.",
            arcs(swapped_weights[THEY], "weights"),
            words=SWAPPED,
            next_word=swapped[0],
        ),
    ]
    return svg.player(scenes, "The first minute")


def scene(name: str, *parts: str, words: Sequence[str] = WORDS, next_word: str = "?") -> Panel:
    """Draw the words in a row, the next one dashed, with other parts above and below."""
    body = [
        box(
            middle(place) - COLUMN / 2 + 1,
            WORDS_Y,
            COLUMN - 2,
            word,
            height=WORD_HEIGHT,
            dashed=place > THEY,
            bold=place >= THEY,
        )
        for place, word in enumerate([*words, next_word])
    ]
    return Panel(WIDTH, HEIGHT, "".join([*body, *parts]), name, name=name)


def middle(place: float) -> float:
    return NAMES_WIDTH + (place + 0.5) * COLUMN


def column(rows: Array, row: int, *, place: int, is_taken: bool = False) -> str:
    """Draw the features of a row as cells below a word, at the right if they are taken."""
    features = rows[row : row + 1, :5].T
    x = middle(place) + (1 if is_taken else -CELL_WIDTH - 1)
    grid = cells.Grid(x, CELLS_Y, (CELL_WIDTH, FEATURE_HEIGHT), *features.shape)
    scale = scales.scale_of("diverging", "features", rows, "output" if is_taken else "input")
    names = FEATURES[WORD_FEATURES] if place == 0 and not is_taken else []
    labels = "".join(
        svg.label(NAMES_WIDTH - cells.LABEL_GAP, grid.row_middle(i), text, "end")
        for i, text in enumerate(names)
    )
    return labels + cells.draw_cells(grid, features, scale, has_numbers=False)


def answer(place: int, text: str, role: str, line: float = 0) -> str:
    y = WORDS_Y + WORD_HEIGHT + (line + 0.5) * svg.LINE_HEIGHT - 2
    return svg.label(middle(place), y, text, fill=svg.colour(role))


def arcs(weights: np.ndarray, role: str) -> str:
    """Draw a line from the pronoun to each word, as thick as its share."""
    drawing = ""
    for place, weight in enumerate(weights.tolist()):
        start, end, top = middle(THEY), middle(place), WORDS_Y - 2
        height = 14 + 10 * (THEY - place)
        path = f"M{start:g} {top:g}C{start:g} {top - height:g} {end:g} {top - height:g} {end:g} {top:g}"
        width = max(THINNEST, WIDEST * weight)
        stroke = {"stroke": svg.colour(role), "stroke_width": round(width, 2)}
        if place != THEY:
            drawing += svg.element("path", d=path, fill="none", **stroke)
    return drawing


def next_words(probabilities: Array) -> str:
    """Draw how well three words fit, as bars below the sentence."""
    panel = bars.bars_panel("", probabilities, VOCABULARY, "output", has_heading=False)
    return svg.translated(NAMES_WIDTH + COLUMN, CELLS_Y - ANSWERS_HEIGHT, panel.body)
