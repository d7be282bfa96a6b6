"""Draw pairs of features as arrows that turn on dials."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from attention_docs.publish.before.figures.drawings.boxes import small
from attention_docs.render.figures.svg import colour, element
from attention_docs.render.references import row_reference


class Hand(NamedTuple):
    """An arrow on a dial: the (1, 2) coordinates of its tip, and a text beside it.

    A clock's hand points to (sine, cosine) and an arrow in a plane to (cosine, sine): both are
    (right, up) on paper, so the caller says in which order the coordinates are.
    """

    coordinates: np.ndarray
    text: str = ""
    role: str = "query"
    opacity: float = 1.0
    text_turn: float = 0.0  # the angle by which the text is turned away from the arrow


def dial(x: float, y: float, radius: float, hands: Sequence[Hand], length: float) -> str:
    """Draw a dial with its centre at (x, y), whose radius stands for `length`."""
    r = f"{radius:g}"
    ends = (f"{r} -{r}", f"{r} {r}", f"-{r} {r}", f"-{r} -{r}")
    arcs = "".join(f"a{r} {r} 0 0 1 {end}" for end in ends)
    rim = f"M{x - radius:g} {y:g}{arcs}z"
    outline = element("path", d=rim, fill="none", stroke="currentColor", stroke_opacity=0.35)
    return outline + "".join(_hand(x, y, radius / length, hand) for hand in hands)


def _hand(x: float, y: float, pixels_per_unit: float, hand: Hand) -> str:
    """Draw a hand from the centre (x, y), with an arrowhead and its text beside the tip."""
    right, up = hand.coordinates[0].tolist()
    length = math.hypot(right, up)
    along = np.array([right, -up]) / length
    tip = np.array([x, y]) + pixels_per_unit * length * along
    across = np.array([along[1], -along[0]])
    back = tip - 6 * along
    corners = [tip, back + 3.5 * across, back - 3.5 * across]
    arrowhead = "M" + "L".join("{:.1f} {:.1f}".format(*corner) for corner in corners) + "z"
    paint = {"stroke": colour(hand.role), "stroke_width": 2, "stroke_opacity": hand.opacity}
    line = element(
        "line",
        x1=x,
        y1=y,
        x2=float(back[0]),
        y2=float(back[1]),
        **paint,
        data_val=row_reference(hand.coordinates, 0),
    )
    fill = element("path", d=arrowhead, fill=colour(hand.role), fill_opacity=hand.opacity)
    angle = math.atan2(up, right) + hand.text_turn
    beside = (x, y) + (pixels_per_unit * length + 9) * np.array([math.cos(angle), -math.sin(angle)])
    text = small(float(beside[0]), float(beside[1]), hand.text, role=hand.role)
    return line + fill + (text if hand.text else "")
