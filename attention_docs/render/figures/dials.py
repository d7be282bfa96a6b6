"""Draw pairs of features as arrows that turn on dials."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from attention_docs.render.figures.arrows import Point, arrow, vector_tip
from attention_docs.render.figures.svg import colour, element, label
from attention_docs.render.references import row_reference

HEAD = (6, 3.5)  # the length of an arrowhead, and half of its width
TEXT_GAP = 9  # between the tip of a hand and the middle of its text


class Hand(NamedTuple):
    """An arrow on a dial: the coordinates of its tip, right and up, and a text beside it."""

    coordinates: np.ndarray
    text: str = ""
    role: str = "query"
    opacity: float = 1.0
    text_turn: float = 0.0  # the angle by which the text is turned away from the arrow


def dial(x: float, y: float, radius: float, hands: Sequence[Hand], length: float) -> str:
    """Draw a circle around (x, y) with hands, whose radius stands for a hand of `length`."""
    r = f"{radius:g}"
    # From the left end clockwise, each to the end of the next quarter.
    quarters = (f"{r} -{r}", f"{r} {r}", f"-{r} {r}", f"-{r} -{r}")
    arcs = "".join(f"a{r} {r} 0 0 1 {end}" for end in quarters)
    circle = f"M{x - radius:g} {y:g}{arcs}z"
    rim = element("path", d=circle, fill="none", stroke="currentColor", stroke_opacity=0.35)
    return rim + "".join(_draw_hand((x, y), radius / length, hand) for hand in hands)


def _draw_hand(centre: Point, pixels_per_unit: float, hand: Hand) -> str:
    """Draw a hand as an arrow from the centre of the dial, with its text beyond the tip."""
    tip = vector_tip(hand.coordinates, centre, pixels_per_unit)
    style: dict[str, Any] = {
        "width": 2,
        "opacity": hand.opacity,
        "data_val": row_reference(hand.coordinates),
    }
    drawing = arrow([centre, tip], hand.role, HEAD, **style)
    if not hand.text:
        return drawing
    right, up = hand.coordinates.tolist()
    angle = math.atan2(up, right) + hand.text_turn
    distance = pixels_per_unit * math.hypot(right, up) + TEXT_GAP
    x, y = centre[0] + distance * math.cos(angle), centre[1] - distance * math.sin(angle)
    return drawing + label(x, y, hand.text, fill=colour(hand.role))
