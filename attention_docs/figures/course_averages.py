from collections.abc import Sequence
from typing import Any

import numpy as np

from attention_docs.arrays import Array
from attention_docs.examples.course_sentence import BIRDS, BOATS, FEATURES, THEY, WORDS
from attention_docs.figures.course_sentence import AIR_AND_WATER, WEIGHTS_OF_WORDS, WORD_FEATURES
from attention_docs.figures.registry import claim, site_figure
from attention_docs.lookup import StepsOf
from attention_docs.render.figures import Html, Panel, heatmap, matrix_panel, svg
from attention_docs.render.figures.plane import Vector, draw_outline, draw_vector
from attention_docs.render.numbers import number

AXIS_LENGTH, UNIT = 2, 90  # of a plane: the length of its axes, and of 1 on paper


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
