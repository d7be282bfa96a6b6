import numpy as np

from attention_docs.arrays import Array
from attention_docs.examples.course_sentence import BIRDS, BOATS, SWAPPED, THEY, WORDS
from attention_docs.figures.course_sentence import CLOCK_FEATURES
from attention_docs.figures.registry import claim, site_figure
from attention_docs.lookup import StepsOf
from attention_docs.render.figures import Html, Panel, beside, cells, figure, lines_panel, svg
from attention_docs.render.figures.arrows import Point, line, vector_tip
from attention_docs.render.figures.plane import Vector, draw_vector
from attention_docs.render.numbers import short_number
from attention_docs.render.references import step_name

RADIUS = 76  # of the clock


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
    places = np.stack([all_turned.real, all_turned.imag], axis=1)
    return figure(_clock(hands, places), "Positions as a clock")


def _clock(hands: Array, places: Array) -> Panel:
    """Draw hands, (8, 2), all but the last faint, and the names of all positions, (8, 2)."""
    centre = x, y = RADIUS + 56, RADIUS + 4.25 * svg.LINE_HEIGHT
    body = [svg.heading(x, "The clock"), *_clock_face(centre, hands[-1])]
    for i, (right, up) in enumerate(places):
        name = f"{i + 1}: {WORDS[i]}" if i < len(WORDS) else str(i + 1)
        # The names of the first and the last position would meet.
        above = RADIUS + {0: 17, 7: 6}.get(i, 14)
        start = x + (RADIUS + 15) * right, y - above * up
        body.append(svg.label(*start, name, "start" if right > 0 else "end"))
        tick = [vector_tip((right, up), centre, radius) for radius in (RADIUS, RADIUS + 6)]
        body.append(line(tick[0], tick[1], None, stroke_opacity=0.6))
    drawn = [draw_vector(Vector("", hand, "input"), centre, RADIUS) for hand in hands]
    body += [svg.element("g", hand, opacity=0.3) for hand in drawn[:-1]]
    tips = ",".join(f"{right:.2f} {up:.2f}" for right, up in places)
    body.append(svg.element("g", drawn[-1], data_places=tips))
    sine, cosine = map(short_number, hands[-1])
    return Panel(
        x + RADIUS + 62,
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
    axes = f"M{x} {y - RADIUS - 8:g}v{2 * RADIUS + 16}M{x - RADIUS - 8} {y:g}h{2 * RADIUS + 8}"
    coordinates = []
    names = "how far right, → clock 1", "how high, ↑ clock 2"
    for i, name in enumerate(names):
        text_y = y + (1 - 2 * i) * (RADIUS + 2 * svg.LINE_HEIGHT)  # below, then above
        text = svg.label(x, text_y, f"{name}: {short_number(hand[i])}")
        coordinates.append(cells.tag_index(text, hand, (i,)))
    return [
        svg.element("path", d=circle + axes, fill="none", **stroke),
        svg.element("g", *coordinates, data_val=step_name(hand), data_set="text short"),
    ]
