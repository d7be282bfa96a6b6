from itertools import pairwise
from typing import Any

import numpy as np

from attention_docs.arrays import Array
from attention_docs.examples.course_sentence import BIRDS, BOATS, SWAPPED, THEY, WORDS
from attention_docs.figures.course_sentence import CLOCK_FEATURES
from attention_docs.figures.registry import claim, site_figure
from attention_docs.lookup import StepsOf
from attention_docs.render.figures import Html, Panel, beside, figure, lines_panel, svg
from attention_docs.render.figures.arrows import Point, line, turn_arrow, vector_tip
from attention_docs.render.numbers import number
from attention_docs.render.references import row_reference

RADIUS = 78  # of the clock


@site_figure
def course_order(steps_of: StepsOf) -> Html:
    r"""Where *they* looks in the two sentences, without positions. The nouns have changed places,
    and their weights have moved along with them. Both get the same weight in both sentences."""
    steps = steps_of("course_order")
    weights, swapped = steps["weights"], steps["weights_swapped"]
    with_nouns_exchanged = weights[THEY, [WORDS.index(word) for word in SWAPPED]]
    have_moved = np.allclose(with_nouns_exchanged, swapped[THEY])
    claim(have_moved, "their weights have moved along with them")
    on_nouns = [weights[THEY, [BIRDS, BOATS]], swapped[THEY, [BIRDS, BOATS]]]
    claim(np.ptp(on_nouns) < 1e-12, "Both get the same weight in both")
    return lines_of_they("Where the pronoun looks without positions", weights, swapped)


@site_figure
def course_positions(steps_of: StepsOf) -> Html:
    r"""Where *they* looks in the two sentences, with positions. Now it finds the noun that comes
    first, whichever it is, and the other noun gets almost nothing."""
    steps = steps_of("course_order")
    weights, swapped = steps["weights_with_positions"], steps["weights_with_positions_swapped"]
    first_noun, second_noun = BIRDS, BOATS  # their positions in both sentences
    for rows in (weights, swapped):
        claim(rows[THEY, first_noun] > 0.9, "it finds the noun that comes first")
        claim(rows[THEY, second_noun] < 0.03, "the other noun gets almost nothing")
    return lines_of_they("Where the pronoun looks with positions", weights, swapped)


def lines_of_they(name: str, weights: Array, swapped: Array) -> Html:
    """Draw the weights of "they" as lines, in the sentence and in the one with swapped nouns."""
    panels = [
        lines_panel(weights, WORDS, query=THEY, heading="Birds pass boats …"),
        lines_panel(swapped, SWAPPED, query=THEY, heading="Boats pass birds …"),
    ]
    return beside(panels, name)


@site_figure
def course_clock(steps_of: StepsOf) -> Html:
    r"""The positions: a clock hand that turns by the same angle from each word to the next. The
    tip of the hand has two coordinates, how far it lies to the right and, dotted, how high."""
    hands = steps_of("course_order")["E"][:, CLOCK_FEATURES]
    # As complex numbers, because their quotient is the turn from one hand to another.
    complex_hands = hands @ np.array([1, 1j])
    turns = complex_hands[1:] / complex_hands[:-1]
    claim(np.allclose(turns, turns[0]), "turns by the same angle")
    return figure(_clock(hands), "Positions as a clock")


def _clock(hands: Array) -> Panel:
    """Draw clock hands, (5, 2), with the turn to the next hand and the height of each tip."""
    centre = x, y = RADIUS + 50, RADIUS + 3.75 * svg.LINE_HEIGHT
    body = [svg.heading(x, "The clock"), *_clock_face(centre)]
    for hand, next_hand in pairwise(hands):
        body.append(turn_arrow(centre, 0.42 * RADIUS, hand, next_hand))
    coordinates = []
    for word, hand in zip(WORDS, hands, strict=True):
        sine, cosine = hand.tolist()
        tip = vector_tip(hand, centre, RADIUS)
        body.append(line((tip[0], y), tip, None, stroke_dasharray="2 3", stroke_opacity=0.6))
        body.append(line(centre, tip, "input", stroke_width=2, data_val=row_reference(hand)))
        side = "start" if sine > 0 else "end"
        anchor = "middle" if abs(sine) < 0.2 else side
        body.append(svg.label(x + (RADIUS + 7) * sine, y - (RADIUS + 12) * cosine, word, anchor))
        coordinates.append(f"{word} at sine {number(sine)}, cosine {number(cosine)}")
    return Panel(
        x + RADIUS + 102,
        y + RADIUS + 1.5 * svg.LINE_HEIGHT,
        "".join(body),
        f"Clock hands: {'; '.join(coordinates)}.",
        name="The clock",
    )


def _clock_face(centre: Point) -> list[str]:
    """Draw the circle of the clock, with its two axes and their names."""
    x, y = centre
    stroke = {"stroke": "currentColor", "stroke_opacity": 0.3}
    faint: dict[str, Any] = {"fill_opacity": 0.7}
    half = f"a{RADIUS} {RADIUS} 0 1 0 "
    circle = f"M{x - RADIUS:g} {y:g}{half}{2 * RADIUS} 0{half}{-2 * RADIUS} 0z"
    name_x = x + RADIUS + 7
    return [
        svg.element("path", d=circle, fill="none", **stroke),
        svg.element("line", x1=x, y1=y - RADIUS - 8, x2=x, y2=y + RADIUS + 8, **stroke),
        svg.element("line", x1=x - RADIUS - 8, y1=y, x2=x + RADIUS, y2=y, **stroke),
        svg.label(x, y - RADIUS - 1.5 * svg.LINE_HEIGHT, "↑ clock 2: how high", **faint),
        svg.label(name_x, y + svg.LINE_HEIGHT, "→ clock 1:", "start", **faint),
        svg.label(name_x, y + 2 * svg.LINE_HEIGHT, "how far right", "start", **faint),
    ]
