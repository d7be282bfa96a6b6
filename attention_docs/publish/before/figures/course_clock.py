"""The figures of the course in which a clock hand stands for a position.

A hand is (sine, cosine): how far its tip lies to the right, and how high. Its angle begins at the
top and grows clockwise.
"""

import math
from itertools import pairwise
from typing import Any

import numpy as np

from attention_docs.arrays import Array
from attention_docs.examples.course_sentence import WORDS
from attention_docs.publish.before.figures.claims import claim
from attention_docs.publish.before.figures.course import BIRDS, CLOCK_FEATURES, PASS
from attention_docs.publish.before.figures.drawings.arrows import Point, vector_tip
from attention_docs.publish.before.figures.registry import site_figure
from attention_docs.publish.before.values import StepsOf
from attention_docs.render.figures import Html, Panel, cells, figure
from attention_docs.render.figures.svg import LINE_HEIGHT, colour, element, heading, label
from attention_docs.render.numbers import number
from attention_docs.render.references import row_reference

RADIUS = 78  # of the clock
# Between the ends of a curved arrow and the hands beside them, in radians.
TURN_GAP = 0.12
# How many times as long as a hand the keys and the query of head 2 are, and a hand in pixels there.
KEY_LENGTH, QUERY_LENGTH = 2, 5
HAND_LENGTH = 26
# The labels of the keys: how far right of the tip and below it, and which of their ends is there.
KEY_LABELS = {
    "birds": (-8, -8, "end"),
    "pass": (8, 10, "start"),
    "boats": (6, 6, "start"),
    "because": (0, 12, "middle"),
    "they": (-6, 4, "end"),
}


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


@site_figure
def course_rotated_query(steps_of: StepsOf) -> Html:
    r"""The query and the keys of head 2, to scale. The keys are the hands of the clock, twice as
    long, each with its score. The query of *pass* is its hand, turned back by one step and five
    times as long. It points exactly where the key of *birds* points, so *birds* has the largest
    score."""
    steps = steps_of("course_heads")
    hands = steps["with_positions"][:, CLOCK_FEATURES]
    query, scores = steps["pass_query"][:2], steps["pass_scores"]
    key_lengths = np.linalg.norm(steps["W_K_2"][CLOCK_FEATURES], axis=1)
    claim((key_lengths == KEY_LENGTH).all(), "twice as long")
    # *birds* is one step before *pass*.
    is_hand_of_birds = np.allclose(query, QUERY_LENGTH * hands[BIRDS])
    claim(is_hand_of_birds, "turned back by one step and five times as long")
    claim(is_hand_of_birds, "exactly where the key of *birds* points")
    claim(scores.argmax() == BIRDS, "*birds* has the largest score")
    return figure(_query_and_keys(query, hands, scores), "The query of “pass”")


def _clock(hands: Array) -> Panel:
    """Draw clock hands, (5, 2), with the turn to the next hand and the height of each tip."""
    centre = x, y = RADIUS + 50, RADIUS + 3.75 * LINE_HEIGHT
    body = [heading(x, "The clock"), *_clock_face(centre)]
    for hand, next_hand in pairwise(hands):
        body.append(_turn_arrow(centre, 0.42 * RADIUS, hand, next_hand))
    coordinates = []
    for word, hand in zip(WORDS, hands, strict=True):
        sine, cosine = hand.tolist()
        tip = vector_tip(hand, centre, RADIUS)
        body.append(_line((tip[0], y), tip, None, stroke_dasharray="2 3", stroke_opacity=0.6))
        body.append(_line(centre, tip, "input", stroke_width=2, data_val=row_reference(hand)))
        side = "start" if sine > 0 else "end"
        anchor = "middle" if abs(sine) < 0.2 else side
        body.append(label(x + (RADIUS + 7) * sine, y - (RADIUS + 12) * cosine, word, anchor))
        coordinates.append(f"{word} at sine {number(sine)}, cosine {number(cosine)}")
    return Panel(
        x + RADIUS + 102,
        y + RADIUS + 1.5 * LINE_HEIGHT,
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
        element("path", d=circle, fill="none", **stroke),
        element("line", x1=x, y1=y - RADIUS - 8, x2=x, y2=y + RADIUS + 8, **stroke),
        element("line", x1=x - RADIUS - 8, y1=y, x2=x + RADIUS, y2=y, **stroke),
        label(x, y - RADIUS - 1.5 * LINE_HEIGHT, "↑ clock 2: how high", **faint),
        label(name_x, y + LINE_HEIGHT, "→ clock 1:", "start", **faint),
        label(name_x, y + 2 * LINE_HEIGHT, "how far right", "start", **faint),
    ]


def _query_and_keys(query: Array, hands: Array, scores: Array) -> Panel:
    """Draw the query of "pass", (2,), and the keys, twice as long as the hands, (5, 2)."""
    name = "The query of “pass”"
    centre = x, y = 150, 2 * LINE_HEIGHT + QUERY_LENGTH * HAND_LENGTH
    hand_of_pass = vector_tip(hands[PASS], centre, QUERY_LENGTH * HAND_LENGTH)
    tip = vector_tip(query, centre, HAND_LENGTH)
    body = [
        heading(x, name),
        _line(centre, hand_of_pass, "query", stroke_dasharray="3 4", stroke_opacity=0.7),
        _line(centre, tip, "query", stroke_width=2.5, data_val=row_reference(query)),
        label(tip[0] + 8, tip[1], "query of pass", "start", fill=colour("query")),
    ]
    body += _draw_keys(centre, hands, scores)
    body.append(
        _turn_arrow(centre, 4.4 * HAND_LENGTH, hands[PASS], hands[BIRDS], is_clockwise=False)
    )
    beside_arrow = vector_tip((0.9, 0.44), centre, QUERY_LENGTH * HAND_LENGTH)
    body.append(label(*beside_arrow, "one step back", "start"))
    words = ", ".join(f"{word} {number(score)}" for word, score in zip(WORDS, scores, strict=True))
    return Panel(
        2 * x + 52,
        y + KEY_LENGTH * HAND_LENGTH + 1.5 * LINE_HEIGHT,
        "".join(body),
        "The hand of pass, turned back by one step, points where the hand of birds points. "
        f"Scores: {words}.",
        name=name,
    )


def _draw_keys(centre: Point, hands: Array, scores: Array) -> list[str]:
    """Draw each key as a thick line, with its word and its score at the tip."""
    body = []
    for row, (word, (right, down, anchor)) in enumerate(KEY_LABELS.items()):
        hand = hands[row]
        tip = vector_tip(hand, centre, KEY_LENGTH * HAND_LENGTH)
        body.append(_line(centre, tip, "key", stroke_width=5, data_val=row_reference(hand)))
        score = cells.inline_number(scores, (row,))
        body.append(label(tip[0] + right, tip[1] + down, f"{word} ", anchor, score))
    return body


def _line(start: Point, end: Point, role: str | None, **attributes: Any) -> str:
    ends = {"x1": start[0], "y1": start[1], "x2": end[0], "y2": end[1]}
    return element("line", **ends, stroke=colour(role), **attributes)


def _turn_arrow(
    centre: Point, radius: float, start: Array, end: Array, *, is_clockwise: bool = True
) -> str:
    """Draw a curved arrow around the centre from one hand to another, on a circle of a radius."""
    sign = 1 if is_clockwise else -1
    start_angle = math.atan2(*start) + sign * TURN_GAP
    end_angle = math.atan2(*end) - sign * TURN_GAP
    x1, y1 = vector_tip((math.sin(start_angle), math.cos(start_angle)), centre, radius)
    x2, y2 = vector_tip((math.sin(end_angle), math.cos(end_angle)), centre, radius)
    arc = f"M{x1:.1f} {y1:.1f}A{radius:g} {radius:g} 0 0 {int(is_clockwise)} {x2:.1f} {y2:.1f}"
    backwards = end_angle - sign * math.pi / 2
    arrowhead = "".join(
        f"M{x2:.1f} {y2:.1f}l{6 * math.sin(angle):.1f} {-6 * math.cos(angle):.1f}"
        for angle in (backwards - 0.5, backwards + 0.5)
    )
    return element(
        "path", d=arc + arrowhead, fill="none", stroke="currentColor", stroke_opacity=0.7
    )
