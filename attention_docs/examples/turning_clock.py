"""The clock of the course at eight positions, with a hand that readers can turn.

The first two rows of E give the hand of position 1 and the angle by which it turns from each
position to the next. `hands` has a row for each of eight positions, as far as `position`: later
rows have the hand of `position` itself. So the last row is always that hand. Rounding to thirteen
decimals removes the errors of the float arithmetic.

>>> show(computed(steps))
hands 8 x 2
[[ 0.6000  0.8000]
 [      1       0]
 [ 0.6000 -0.8000]
 [-0.2800 -0.9600]
 [-0.9360 -0.3520]
 [-0.9360 -0.3520]
 [-0.9360 -0.3520]
 [-0.9360 -0.3520]]
"""

import numpy

from attention_docs.examples.course_sentence import given_matrices, round_off

TITLE = "A clock hand to turn"
SOURCE = "our own example"

POSITION = [5]
POSITIONS = 8
LABELS = {"hands": ([f"position {i + 1}" for i in range(POSITIONS)], ["clock 1", "clock 2"])}


def steps(xp=numpy):
    """Rotate the hand of the first position clockwise, once for each further position."""
    position = xp.asarray(POSITION, dtype=xp.float64)
    e = given_matrices(xp)["E"][:, -2:]
    # Clock hands have length 1, so their dot product is the cosine of the angle.
    angle = xp.acos(xp.sum(e[0, :] * e[1, :]))
    steps_back = xp.maximum(-xp.arange(POSITIONS, dtype=xp.float64), 1 - position)
    turned = -steps_back * angle
    cosine, sine = xp.cos(turned), xp.sin(turned)
    hands = [e[0, 0] * cosine + e[0, 1] * sine, e[0, 1] * cosine - e[0, 0] * sine]
    return {"position": position, "hands": round_off(xp, xp.stack(hands, axis=1))}
