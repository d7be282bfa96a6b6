import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from attention_docs.arrays import Array
from attention_docs.examples.course_sentence import BIRDS, BOATS, FEATURES, SWAPPED, THEY, WORDS
from attention_docs.figures.course_sentence import AIR_AND_WATER, WEIGHTS_OF_WORDS, WORD_FEATURES
from attention_docs.figures.registry import claim, labels_of_largest, site_figure
from attention_docs.lookup import StepsOf, words_of
from attention_docs.render.figures import Html, Panel, heatmap, matrix_panel, svg
from attention_docs.render.figures.arrows import head
from attention_docs.render.figures.boxes import box, box_width
from attention_docs.render.figures.plane import Vector, draw_outline, draw_vector
from attention_docs.render.numbers import number

WORD_HEIGHT, WORD_RADIUS, WORD_GAP = 28, 8, 8
WORDS_MARGIN = 2.0  # beside a row of words
WORDS_GAP = 2.5 * svg.LINE_HEIGHT  # between two rows, with room for an arc
ARC_TOP = 2.0 * svg.LINE_HEIGHT  # the room for the first arc
# Before a word to be predicted: the room for an arrow, and the arrow's middle in it.
PREDICTION_WIDTH, PREDICTION_X = 28, 10
# An arc from word to word rises above the boxes, from which its ends keep a distance.
ARC_HEIGHT, ARC_GAP, ARC_HEAD = 30, 2, (8.0, 4.0)
AXIS_LENGTH, UNIT = 2, 90  # of a plane: the length of its axes, and of 1 on paper


@site_figure
def course_sentences(steps_of: StepsOf) -> Html:
    r"""Two sentences of the same words, and the word that comes next. It depends on who *they* are:
    the noun that comes first."""
    steps = steps_of("course_next_token")
    _, vocabulary = words_of(steps["probabilities"])
    next_words = [
        labels_of_largest(steps[step], vocabulary)[THEY]
        for step in ("probabilities", "probabilities_swapped")
    ]
    claim(next_words == ["fly", "sail"], "It depends on who *they* are")
    claim(sorted(WORDS) == sorted(SWAPPED), "Two sentences of the same words")
    sentences = [[*WORDS, next_words[0]], [*SWAPPED, next_words[1]]]
    panel = boxed_words_panel(sentences, pronoun=THEY, noun=BIRDS)
    return svg.figure(panel, "Two sentences and their next words")


@site_figure
def course_words(steps_of: StepsOf) -> Html:
    r"""The sentence as a matrix $\input{X}$: a row for each word, a column for each feature.
    *Birds* and *boats* both contain some *air* and some *water*. *They* contains nothing but
    *refers*, and so has nothing in common with either."""
    # The features of the position are still empty.
    matrix = steps_of("course_averages")["X"][:, WORD_FEATURES]
    nouns, they = matrix[[BIRDS, BOATS]], matrix[THEY]
    claim(np.all(nouns[:, AIR_AND_WATER] > 0), "both contain some *air* and some *water*")
    features_of_they = [FEATURES[i] for i in np.flatnonzero(they)]
    claim(features_of_they == ["refers"], "nothing but *refers*")
    claim(not (nouns @ they).any(), "nothing in common with either")
    labels = {"row_labels": WORDS, "column_labels": FEATURES[WORD_FEATURES]}
    return heatmap(matrix, "The words X", rows="words", columns="features", role="input", **labels)


@site_figure
def course_plane(steps_of: StepsOf) -> Html:
    r"""Two of the features as a plane. Each noun is an arrow: *birds* points more towards *air* and
    *boats* more towards *water*. The dotted line adds a fifth of each word, in the order of the
    sentence. It ends at the plain average of all five words, between the two nouns."""
    steps = steps_of("course_plane")
    nouns, average = steps["nouns"], steps["mean"]
    claim(np.array_equal(nouns, steps_of("course_averages")["X"][[BIRDS, BOATS], :2]), "Each noun")
    (air_of_birds, water_of_birds), (air_of_boats, water_of_boats) = nouns
    claim(air_of_birds > water_of_birds, "*birds* points more towards *air*")
    claim(air_of_boats < water_of_boats, "*boats* more towards *water*")
    claim(np.ptp(average) == 0, "between the two nouns")
    arrows = [*noun_arrows(nouns, "input", is_input=True), Vector("average", average, "output")]
    panel = arrows_panel("Words as arrows", FEATURES[AIR_AND_WATER], arrows, steps["path"])
    return svg.figure(panel, "Two nouns and the average")


@site_figure
def course_similarity(steps_of: StepsOf) -> Html:
    r"""The weights that come from similarity, one row for each word, and what becomes of the nouns.
    In the marked row, *birds* divides its weight mainly between itself and *boats*. Every word
    gives itself more than it gives to any other. The averages of the two nouns, solid, lie closer
    together than the nouns themselves, dashed."""
    steps = steps_of("course_averages")
    weights = steps["weights"]
    largest = weights[BIRDS, [BIRDS, BOATS]]
    claim(largest.min() > 1 / 4 and largest.sum() > 1 / 2, "mainly between itself and *boats*")
    own_weights = np.diag(weights)
    weights_of_others = weights - np.diag(own_weights)
    claim(np.all(own_weights > weights_of_others.max(axis=1)), "more than it gives to any other")
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


def boxed_words_panel(sentences: Sequence[Sequence[str]], pronoun: int, noun: int) -> Panel:
    """Draw sentences as words in boxes, with an arc from the pronoun to its noun, by index.

    The noun is bold, and so are the words from the pronoun on, of which those after it are dashed.
    """
    body = []
    right_ends = []
    y = ARC_TOP
    for words in sentences:
        x = WORDS_MARGIN
        middles = []
        for i, word in enumerate(words):
            style: dict[str, Any] = {"dashed": i > pronoun, "bold": i >= pronoun or i == noun}
            style |= {"height": WORD_HEIGHT, "corner_radius": WORD_RADIUS}
            if i > pronoun:
                body.append(svg.label(x + PREDICTION_X, y + WORD_HEIGHT / 2, "→"))
                x += PREDICTION_WIDTH
            width = box_width(word)
            body.append(box(x, y, width, word, **style))
            middles.append(x + width / 2)
            x += width + WORD_GAP
        start_x, end_x = middles[pronoun], middles[noun]
        path = (
            f"M{start_x:g} {y - ARC_GAP:g}C{start_x:g} {y - ARC_HEIGHT:g} "
            f"{end_x:g} {y - ARC_HEIGHT:g} {end_x:g} {y - ARC_GAP:g}"
        )
        stroke = {"stroke": svg.colour("weights"), "stroke_width": 2}
        body.append(svg.element("path", d=path, fill="none", **stroke))
        body.append(head((end_x, y - ARC_GAP / 2), math.pi / 2, "weights", ARC_HEAD))
        right_ends.append(x - WORD_GAP)
        y += WORD_HEIGHT + WORDS_GAP
    texts = (f"“{' '.join(words[:-1])}” goes on with “{words[-1]}”" for words in sentences)
    description = "; ".join(texts) + ". An arc leads from the pronoun to its noun."
    height = y - WORDS_GAP + 0.2 * svg.LINE_HEIGHT
    return Panel(max(right_ends) + WORDS_MARGIN, height, "".join(body), description)


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
