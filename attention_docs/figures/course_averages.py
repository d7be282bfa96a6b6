from collections.abc import Sequence
from typing import Any

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
from attention_docs.figures.course_sentence import (
    AIR_AND_WATER,
    ENDING_COLUMNS,
    ENDINGS,
    WEIGHTS_OF_WORDS,
    WORD_FEATURES,
)
from attention_docs.figures.registry import claim, labels_of_largest, site_figure
from attention_docs.lookup import StepsOf
from attention_docs.render.figures import (
    Html,
    Panel,
    bars,
    cells,
    heatmap,
    matrix_panel,
    scales,
    svg,
)
from attention_docs.render.figures.boxes import box
from attention_docs.render.figures.plane import Vector, draw_outline, draw_vector
from attention_docs.render.numbers import number

# In pixels: the width of a word with what it holds, the height of a feature, and the room for the
# names of the features at the left.
COLUMN, FEATURE_HEIGHT, NAMES_WIDTH = 52, 15, 50
ARCS_HEIGHT, WORD_HEIGHT, ANSWERS_HEIGHT = 56, 24, 36
CELL_WIDTH = 22  # so that what a word holds and what it takes stand side by side
WORDS_Y = ARCS_HEIGHT
CELLS_Y = WORDS_Y + WORD_HEIGHT + ANSWERS_HEIGHT
WIDTH = NAMES_WIDTH + (len(WORDS) + 1) * COLUMN + 4
HEIGHT = CELLS_Y + 5 * FEATURE_HEIGHT + 8
# The widest line from the pronoun to a word, and the thinnest.
WIDEST, THINNEST = 6.0, 0.5
ANSWERS = {BIRDS: "thing, first", BOATS: "thing, later"}
AXIS_LENGTH, UNIT = 2, 90  # of a plane: the length of its axes, and of 1 on paper


@site_figure
def first_minute(steps_of: StepsOf) -> Html:
    r"""The course in a minute. The thicker a line, the larger the weight. One question leads to
    *birds*, another to *because*, and *fly* fits best. With the nouns exchanged, *sail* does."""
    heads, block = steps_of("course_heads"), steps_of("course_block")
    next_token = steps_of("course_next_token")
    x, after_block = heads["with_positions"][:, WORD_FEATURES], block["output"]
    noun, reason = heads["added_1"], heads["added_2"]
    weights, swapped_weights = heads["weights_1"], steps_of("course_mask")["weights_swapped"]
    probabilities = next_token["probabilities"]
    claim(weights[THEY].argmax() == BIRDS and weights[THEY].max() > 0.9, "leads to *birds*")
    claim(heads["weights_2"][THEY].argmax() == BECAUSE, "another to *because*")
    endings = [
        labels_of_largest(next_token[step][THEY:], VOCABULARY)
        for step in ("probabilities", "probabilities_swapped")
    ]
    claim(endings == [["fly"], ["sail"]] and swapped_weights[THEY].argmax() == 0, "*sail* does")
    concluded = labels_of_largest(after_block[THEY:], FEATURES)
    claim(concluded == ["action"], "*fly* fits best")
    words = [column(x, word, place=word) for word in range(len(WORDS))]
    asks = answer(THEY, "which thing", "query") + answer(THEY, "came first?", "query", line=1)
    answers = "".join(answer(word, text, "key") for word, text in ANSWERS.items())
    scenes = [
        scene("Which word comes next? That depends on who “they” are."),
        scene("Each word becomes a list of numbers, which say what it is.", *words),
        scene("The pronoun asks a question, and other words have answers.", asks, answers, *words),
        scene(
            "The answers are compared with the question, and birds fits best.",
            arcs(weights[THEY]),
            *words,
            column(noun, THEY, place=BIRDS, role="output", is_taken=True),
        ),
        scene(
            "So the pronoun takes the numbers of birds, and hardly any others.",
            *words,
            column(noun, THEY, place=THEY, role="output", is_taken=True),
        ),
        scene(
            "A second look finds the word just before, and brings a reason.",
            arcs(heads["weights_2"][THEY]),
            *words,
            column(reason, THEY, place=BECAUSE, role="output", is_taken=True),
        ),
        scene(
            "What the pronoun was and what it has found are added up.",
            *words[:THEY],
            column(block["summed"], THEY, place=THEY, role="output"),
        ),
        scene(
            "A small network concludes: expect an action.",
            *words[:THEY],
            column(after_block, THEY, place=THEY, role="output"),
        ),
        scene(
            "Each word that could follow is compared with this, and fly fits best.",
            next_words(probabilities[THEY][ENDING_COLUMNS]),
            next_word="fly",
        ),
        scene(
            "Exchange the nouns, and the same steps lead to sail.",
            arcs(swapped_weights[THEY]),
            words=SWAPPED,
            next_word="sail",
        ),
    ]
    return Html(svg.element("div", svg.player(scenes, "The first minute"), class_="film"))


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
    frame = {"x": 0.5, "y": 0.5, "width": WIDTH - 1, "height": HEIGHT - 1, "rx": 6}
    stroke = {"fill": "none", "stroke": "currentColor", "stroke_opacity": 0.2}
    body.append(svg.element("rect", **frame, **stroke))
    return Panel(WIDTH, HEIGHT, "".join([*body, *parts]), name, name=name)


def middle(place: float) -> float:
    return NAMES_WIDTH + (place + 0.5) * COLUMN


def column(
    rows: Array, row: int, *, place: int, role: str = "input", is_taken: bool = False
) -> str:
    """Draw the features of a row as cells below a word, at the right if they are taken."""
    features = rows[row : row + 1, :5].T
    x = middle(place) + (1 if is_taken else -CELL_WIDTH - 1)
    grid = cells.Grid(x, CELLS_Y, (CELL_WIDTH, FEATURE_HEIGHT), *features.shape)
    scale = scales.scale_of("diverging", "features", features, role)
    names = FEATURES[WORD_FEATURES] if place == 0 and not is_taken else []
    labels = "".join(
        svg.label(NAMES_WIDTH - cells.LABEL_GAP, grid.row_middle(i), text, "end")
        for i, text in enumerate(names)
    )
    return labels + cells.draw_cells(grid, features, scale, has_numbers=False)


def answer(place: int, text: str, role: str, line: float = 0) -> str:
    y = WORDS_Y + WORD_HEIGHT + (line + 0.5) * svg.LINE_HEIGHT - 2
    return svg.label(middle(place), y, text, fill=svg.colour(role))


def arcs(weights: np.ndarray) -> str:
    """Draw a line from the pronoun to each word, as thick as its share."""
    drawing = ""
    for place, weight in enumerate(weights.tolist()):
        start, end, top = middle(THEY), middle(place), WORDS_Y - 2
        peak = top - 14 - 10 * (THEY - place)
        path = f"M{start:g} {top:g}C{start:g} {peak:g} {end:g} {peak:g} {end:g} {top:g}"
        width = round(max(THINNEST, WIDEST * weight), 2)
        if place != THEY:
            stroke = {"stroke": svg.colour("weights"), "stroke_width": width}
            drawing += svg.element("path", d=path, fill="none", **stroke)
    return drawing


def next_words(probabilities: Array) -> str:
    """Draw the probabilities of three words as bars below the sentence."""
    panel = bars.bars_panel("next word", probabilities, ENDINGS, "output", has_heading=False)
    return svg.translated(NAMES_WIDTH + COLUMN, CELLS_Y, panel.body)


@site_figure
def course_words(steps_of: StepsOf) -> Html:
    r"""The sentence as a matrix $\input{X}$. Both nouns have some *air* and some *water*. The word
    *they* has nothing but *refers*."""
    # The features of the position are still empty.
    matrix = steps_of("course_averages")["X"][:, WORD_FEATURES]
    nouns, they = matrix[[BIRDS, BOATS]], matrix[THEY]
    claim(np.all(nouns[:, AIR_AND_WATER] > 0), "Both nouns have some *air* and some *water*")
    features_of_they = [FEATURES[i] for i in np.flatnonzero(they)]
    claim(features_of_they == ["refers"], "nothing but *refers*")
    labels = {"row_labels": WORDS, "column_labels": FEATURES[WORD_FEATURES]}
    return heatmap(matrix, "The words X", rows="words", columns="features", role="input", **labels)


@site_figure
def course_plane(steps_of: StepsOf) -> Html:
    r"""The nouns as arrows. The dotted line adds up a fifth of each word, in the order of the
    sentence, and ends at the average of all five."""
    steps = steps_of("course_plane")
    nouns, average = steps["nouns"], steps["mean"]
    claim(np.array_equal(nouns, steps_of("course_averages")["X"][[BIRDS, BOATS], :2]), "The nouns")
    arrows = [*noun_arrows(nouns, "input", is_input=True), Vector("average", average, "output")]
    panel = arrows_panel("Words as arrows", FEATURES[AIR_AND_WATER], arrows, steps["path"])
    return svg.figure(panel, "Two nouns and the average")


@site_figure
def course_similarity(steps_of: StepsOf) -> Html:
    r"""The weights, one row for each word. The averages of the two nouns, solid, lie closer
    together than the nouns themselves, dashed."""
    steps = steps_of("course_averages")
    weights = steps["weights"]
    distance, distance_of_averages = (
        np.linalg.norm(rows[BIRDS] - rows[BOATS]) for rows in (steps["X"], steps["blended"])
    )
    claim(distance_of_averages < distance, "closer together than the nouns themselves")
    nouns, averages = (steps[step][[BIRDS, BOATS], AIR_AND_WATER] for step in ("X", "blended"))
    dashed = [noun._replace(name="", dashes="4 3") for noun in noun_arrows(nouns, "input")]
    arrows = [*dashed, *noun_arrows(averages, "output")]
    heading = "Weights from similarity"
    panels = [
        matrix_panel(weights, heading, mark=(BIRDS, None), **WEIGHTS_OF_WORDS),
        arrows_panel("The nouns, averaged", FEATURES[AIR_AND_WATER], arrows),
    ]
    return svg.beside(panels, "Similarity and what it does")


def noun_arrows(rows: np.ndarray, role: str, **options: Any) -> list[Vector]:
    """Return *air* and *water* of both nouns, (2, 2), as arrows."""
    names = WORDS[BIRDS], WORDS[BOATS]
    return [Vector(name, row, role, **options) for name, row in zip(names, rows, strict=True)]


def arrows_panel(
    name: str, features: Sequence[str], vectors: Sequence[Vector], path: Array | None = None
) -> Panel:
    """Draw arrows from zero, and a path, in a plane of two features with axes to `AXIS_LENGTH`."""
    left, top = 2.0 * svg.LINE_HEIGHT, 3.0 * svg.LINE_HEIGHT
    right, bottom = left + AXIS_LENGTH * UNIT, top + AXIS_LENGTH * UNIT
    zero = (left, bottom)
    grid_lines = ""
    ticks = []
    for tick in range(AXIS_LENGTH + 1):
        x, y = left + tick * UNIT, bottom - tick * UNIT
        grid_lines += f"M{x:g} {top:g}V{bottom:g}M{left:g} {y:g}H{right:g}"
        ticks.append(svg.label(x, bottom + svg.LINE_HEIGHT / 2 + 2, number(tick)))
        ticks.append(svg.label(left - svg.LINE_HEIGHT / 2, y, number(tick)))
    body = [
        svg.heading((left + right) / 2, name),
        svg.element("path", d=grid_lines, fill="none", stroke="currentColor", stroke_opacity=0.2),
        *ticks,
        svg.label((left + right) / 2, bottom + 1.7 * svg.LINE_HEIGHT, features[0]),
        svg.vertical_label(svg.LINE_HEIGHT / 2, (top + bottom) / 2, features[1]),
    ]
    body += [draw_vector(vector, zero, UNIT) for vector in vectors]
    if path is not None:
        line = {"stroke": svg.colour("output"), "stroke_opacity": 1, "stroke_width": 2}
        body.append(draw_outline(path, zero, UNIT, end="", **line, stroke_dasharray="2 3"))
        points = [Vector("", point, "output", is_arrow=False) for point in path]
        body += [draw_vector(point, zero, UNIT) for point in points]
    named = [vector for vector in vectors if vector.name]
    coordinates = [f"{v.name} ({', '.join(map(number, v.position))})" for v in named]
    description = f"{name}, by {features[0]} and {features[1]}: {'; '.join(coordinates)}."
    width, height = right + 3 * svg.LINE_HEIGHT, bottom + 2.3 * svg.LINE_HEIGHT
    return Panel(width, height, "".join(body), description, name=name)
