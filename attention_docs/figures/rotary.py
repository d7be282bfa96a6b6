import math

import numpy as np

from attention_docs.arrays import Array
from attention_docs.examples import load
from attention_docs.figures.registry import claim, site_figure
from attention_docs.figures.steps_of_attention import scores_of_positions
from attention_docs.lookup import StepsOf
from attention_docs.render.figures import Html, Panel, beside, dials, plane, svg
from attention_docs.render.figures.chart import is_narrow
from attention_docs.render.numbers import exact_number, number

# The radius of a dial, and the room around it: at its sides, below its name, and at the bottom.
DIAL_RADIUS, DIAL_SIDE, DIAL_TOP, DIAL_BOTTOM = 80, 20, 38, 12
# The radius of a dial of `rotary_scaling`, and the room at its sides.
SMALL_RADIUS, SMALL_MARGIN = 60, 12


@site_figure
def rotary_arrows(steps_of: StepsOf) -> Html:
    r"""One query of six features as three arrows, at the positions 0 to 3. From one position to the
    next, each pair turns by an angle of its own, $\omega$ in radians, the first pair fast and the
    last one slowly. No arrow changes its length, which is the radius of its circle."""
    steps = steps_of("rotary")
    rotated, frequencies = steps["Q_rotated"], steps["frequencies"]
    lengths = np.linalg.norm(np.reshape(rotated, (len(rotated), -1, 2)), axis=2)
    claim(np.allclose(lengths, lengths[0]), "No arrow changes its length")
    claim(frequencies[0] > frequencies[-1], "the first pair fast and the last one slowly")
    panels = [
        _turning_pair(
            f"pair {pair}, ω = {exact_number(frequency)}",
            rotated[:, 2 * pair : 2 * pair + 2],
            is_fast=pair == 0,
        )
        for pair, frequency in enumerate(frequencies)
    ]
    return beside(panels, "A query that turns")


def _turning_pair(name: str, pair_at_positions: Array, is_fast: bool) -> Panel:
    """Draw a pair of rotated features on a dial, with an arrow for each position: (positions, 2).

    Args:
        is_fast: whether the arrows lie far enough apart for the numbers of all positions. Otherwise
            only the first and the last have one, each on the side where there are no arrows.
    """
    last_position = len(pair_at_positions) - 1
    hands = []
    for position, pair in enumerate(pair_at_positions):
        text = str(position) if is_fast or position in (0, last_position) else ""
        outwards = 0.08 if position else -0.08  # in radians
        turn = 0 if is_fast else outwards
        hands.append(dials.Hand(pair, text, opacity=1 - 0.15 * position, text_turn=turn))
    x, y = DIAL_SIDE + DIAL_RADIUS, DIAL_TOP + DIAL_RADIUS
    length = float(np.linalg.norm(pair_at_positions[0]))
    tips = (f"({number(right)}, {number(up)})" for right, up in pair_at_positions)
    return Panel(
        2 * x,
        y + DIAL_RADIUS + DIAL_BOTTOM,
        svg.heading(x, name) + dials.dial(x, y, DIAL_RADIUS, hands, length),
        f"An arrow at the positions 0 to {last_position}: {', '.join(tips)}.",
        name=name,
    )


@site_figure
def rotary_positions(steps_of: StepsOf) -> Html:
    r"""The three pairs of the query and of the key, in planes whose axes go from $-4$ to $4$."""
    steps = steps_of("rotary_positions")
    # All three planes stand in one row, on a phone, too.
    pixels_per_unit = 9 if is_narrow() else 18
    panels = [
        plane.plane_panel(
            f"pair {pair}",
            [
                plane.Vector("q", steps["q_turned"][pair], "query"),
                plane.Vector("k", steps["k_turned"][pair], "key"),
            ],
            reach=4,
            pixels_per_unit=pixels_per_unit,
        )
        for pair in range(3)
    ]
    return beside(panels, "A query and a key at two positions")


@site_figure
def rotary_scores(steps_of: StepsOf) -> Html:
    r"""One query at four positions, one key at five: the scores after the rotation. Along each
    diagonal the signed distance is the same, and so is the score."""
    scores = steps_of("rotary")["scores"]
    claim(np.allclose(scores[1:, 1:], scores[:-1, :-1]), "and so is the score")
    return scores_of_positions("Scores of one query and one key", scores)


@site_figure
def rotary_scaling(steps_of: StepsOf) -> Html:
    r"""The slowest pair of the query, as an arrow at every position. In training it turns up to
    position \number{15}. In a text of \number{64} tokens it goes on to angles that it has never
    met, which are orange. With position interpolation and with NTK-aware scaling it turns four
    times as slowly, and stops less than one position beyond the last trained angle."""
    steps = steps_of("rotary")
    slowest_pair, frequencies = steps["q"][-2:], steps["frequencies"]
    # The angles of that pair at the last position, in radians.
    trained, plain = steps["last_angles"][-1], steps["longer_angles"][-1]
    interpolated, ntk = steps["interpolated_angles"][-1], steps["ntk_angles"][-1]
    next_angle = trained + frequencies[-1]
    claim(frequencies[-1] == frequencies.min(), "The slowest pair of the query")
    claim(next_angle < plain < 2 * np.pi, "angles that it has never met")
    claim(np.allclose([interpolated, ntk], plain / 4), "it turns four times as slowly")
    claim(max(interpolated, ntk) < next_angle, "less than one position beyond the last")
    trained_length = load("rotary").TRAINED
    longer_length = load("rotary").FACTOR * trained_length
    claim((trained_length, longer_length) == (16, 64), "In training it turns up to position")
    panels = [
        _turns_of_pair(name, slowest_pair, np.linspace(0, last_angle, length), next_angle)
        for name, last_angle, length in (
            ("trained", trained, trained_length),
            ("plain", plain, longer_length),
            ("interpolated", interpolated, longer_length),
            ("NTK-aware", ntk, longer_length),
        )
    ]
    return beside(panels, "The slowest pair in a longer text")


def _turns_of_pair(name: str, pair: Array, angles: Array, untrained_angle: float) -> Panel:
    """Draw a pair, (2,), turned by angles, (positions,), those not trained in another colour."""
    hands = []
    for angle in angles:
        cosine, sine = math.cos(angle), math.sin(angle)
        rotation = np.array([[cosine, -sine], [sine, cosine]])  # counterclockwise
        role = "key" if angle >= untrained_angle else "query"
        hands.append(dials.Hand(rotation @ pair, role=role, opacity=0.5))
    x, y = SMALL_RADIUS + SMALL_MARGIN, svg.LINE_HEIGHT + 8 + SMALL_RADIUS
    return Panel(
        2 * x,
        y + SMALL_RADIUS + 2,
        svg.heading(x, name) + dials.dial(x, y, SMALL_RADIUS, hands, math.hypot(*pair)),
        f"An arrow at each position, turned by 0 to {number(angles[-1])} radians.",
        name=name,
    )
