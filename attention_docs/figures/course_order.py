import numpy as np

from attention_docs.arrays import Array
from attention_docs.examples.course_sentence import BIRDS, BOATS, SWAPPED, THEY, WORDS
from attention_docs.figures.course_sentence import CLOCK_FEATURES
from attention_docs.figures.registry import claim, site_figure
from attention_docs.lookup import StepsOf
from attention_docs.render.figures import Html, Panel, beside, cells, figure, lines_panel, svg
from attention_docs.render.figures.arrows import Point, line, vector_tip
from attention_docs.render.numbers import short_number
from attention_docs.render.references import row_reference, step_name

RADIUS = 78  # of the clock


@site_figure
def course_order(steps_of: StepsOf) -> Html:
    r"""Where the word *they* looks, without positions. Both nouns get the same weight in both
    sentences."""
    steps = steps_of("course_order")
    weights, swapped = steps["weights"], steps["weights_swapped"]
    on_nouns = [weights[THEY, [BIRDS, BOATS]], swapped[THEY, [BIRDS, BOATS]]]
    claim(np.ptp(on_nouns) < 1e-12, "Both nouns get the same weight in both")
    return lines_of_they("Where the pronoun looks without positions", weights, swapped)


@site_figure
def course_positions(steps_of: StepsOf) -> Html:
    r"""Where the word *they* looks, with positions: at the noun that comes first. The other noun
    gets almost nothing."""
    steps = steps_of("course_order")
    weights, swapped = steps["weights_with_positions"], steps["weights_with_positions_swapped"]
    first_noun, second_noun = BIRDS, BOATS  # their positions in both sentences
    for rows in (weights, swapped):
        claim(rows[THEY, first_noun] > 0.9, "at the noun that comes first")
        claim(rows[THEY, second_noun] < 0.03, "The other noun gets almost nothing")
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
    r"""The hand turns by the same angle from each position to the next. The coordinates of its tip
    say how far right it lies, and how high."""
    hands = steps_of("turning_clock")["hands"]
    positions = steps_of("course_order")["E"][:, CLOCK_FEATURES]
    # As complex numbers, because their quotient is the turn from one hand to another.
    complex_hands = positions @ np.array([1, 1j])
    turns = complex_hands[1:] / complex_hands[:-1]
    claim(np.allclose(turns, turns[0]), "turns by the same angle")
    claim(np.allclose(hands[:5], positions), "from each position to the next")
    all_turned = complex_hands[0] * turns[0] ** np.arange(len(hands))
    return figure(_clock(hands, all_turned), "Positions as a clock")


def _clock(hands: Array, places: Array) -> Panel:
    """Draw clock hands, (8, 2), the last of which is not faint, and the names of all positions.

    Args:
        places: (8,) the tips of all hands as complex numbers, wherever the hands are.
    """
    centre = x, y = RADIUS + 50, RADIUS + 4.25 * svg.LINE_HEIGHT
    body = [svg.heading(x, "The clock"), *_clock_face(centre, hands[-1])]
    for i, place in enumerate(places):
        name = f"{i + 1}: {WORDS[i]}" if i < len(WORDS) else str(i + 1)
        right, up = place.real, place.imag
        anchor = "middle" if abs(right) < 0.2 else "start" if right > 0 else "end"
        # The names of the first and the last position would meet.
        above = RADIUS + {0: 17, 7: 6}.get(i, 12)
        body.append(svg.label(x + (RADIUS + 7) * right, y - above * up, name, anchor))
    for i, hand in enumerate(hands):
        tip = vector_tip(hand, centre, RADIUS)
        style = {"stroke_width": 3, "stroke_opacity": 1 if i == len(hands) - 1 else 0.3}
        drawn = line(centre, tip, "input", **style, data_val=row_reference(hand))
        body.append(svg.element("g", drawn, data_plane=f"{x:g} {y:g} {RADIUS}"))
    sine, cosine = map(short_number, hands[-1])
    return Panel(
        x + RADIUS + 60,
        y + RADIUS + 2.75 * svg.LINE_HEIGHT,
        "".join(body),
        f"A clock hand at sine {sine}, cosine {cosine}, and the hands of the positions before it.",
        name="The clock",
    )


def _clock_face(centre: Point, hand: Array) -> list[str]:
    """Draw the circle of the clock, with its two axes, their names and where the hand points."""
    x, y = centre
    stroke = {"stroke": "currentColor", "stroke_opacity": 0.3}
    half = f"a{RADIUS} {RADIUS} 0 1 0 "
    circle = f"M{x - RADIUS:g} {y:g}{half}{2 * RADIUS} 0{half}{-2 * RADIUS} 0z"
    coordinates = []
    names = "how far right, → clock 1", "how high, ↑ clock 2"
    for i, name in enumerate(names):
        text_y = y + (1 - 2 * i) * (RADIUS + 2 * svg.LINE_HEIGHT)  # below, then above
        text = svg.label(x, text_y, f"{name}: {short_number(hand[i])}")
        coordinates.append(cells.tag_index(text, hand, (i,)))
    return [
        svg.element("path", d=circle, fill="none", **stroke),
        svg.element("line", x1=x, y1=y - RADIUS - 8, x2=x, y2=y + RADIUS + 8, **stroke),
        svg.element("line", x1=x - RADIUS - 8, y1=y, x2=x + RADIUS, y2=y, **stroke),
        svg.element("g", *coordinates, data_val=step_name(hand), data_set="text short"),
    ]
