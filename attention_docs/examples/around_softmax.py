"""A one in the denominator, a temperature for the position, values made of keys, and slopes.

`plus_one` are the weights of two rows of `scores` with a 1 added to the denominator, `sums` what
they add up to. `plus_one_late` subtracts the maximum first and adds the 1 as it is, which is a
mistake.

`temperatures` multiply the queries at these `positions`, counted from 0. `sharp` are the weights of
`row` at the last of them, `plain` the weights without a temperature.

`raw` is what one projection returns for the key and the value of a token. `key` is normed, scaled
by `scale` and turned by one radian, `value` only normed. `value_late` is made from the finished
key, which is a mistake.

`slopes` are the slopes of ALiBi's formula for six heads, `slopes_in_code` the slopes of its
authors' code.
>>> show(steps())
scores 2 x 4
[[ 2  1  0 -1]
 [-3 -4 -5 -6]]
plus_one 2 x 4
[[0.5923 0.2179 0.0802 0.0295]
 [0.0462 0.0170 0.0063 0.0023]]
sums 2
[0.9198 0.0718]
plus_one_late 2 x 4
[[0.3917 0.1441 0.0530 0.0195]
 [0.3917 0.1441 0.0530 0.0195]]
sums_late 2
[0.6083 0.6083]
positions 4
[8190 8191 16383 131071]
temperatures 4
[1 1.0693 1.1099 1.2833]
row 4
[3 2 1 0]
plain 4
[0.6439 0.2369 0.0871 0.0321]
sharp 4
[0.7272 0.2015 0.0558 0.0155]
raw 2
[7 1]
scale 2
[1 2]
key 2
[0.4198 1.3942]
value 2
[1.4000 0.2000]
value_late 2
[0.4078 1.3541]
slopes 6
[0.3969 0.1575 0.0625 0.0248 0.0098 0.0039]
slopes_in_code 6
[0.2500 0.0625 0.0156 0.0039 0.5000 0.1250]
"""

from types import ModuleType

import numpy

from attention_docs.arrays import Array
from attention_docs.examples.head_norms import norm
from attention_docs.positions import rotary
from attention_docs.softmax import softmax

TITLE = "A one, a temperature, values made of keys, and slopes"
SOURCE = "our own example"

SCORES = [[2, 1, 0, -1], [-3, -4, -5, -6]]
POSITIONS, TRAINED, GROWTH = [8190, 8191, 16383, 131071], 8192, 0.1
ROW = [3, 2, 1, 0]
RAW, SCALE = [7, 1], [1, 2]
HEADS, POWER_BELOW = 6, 4

ROWS = ["some keys fit", "no key fits"]
LABELS = {
    **dict.fromkeys(("scores", "plus_one", "plus_one_late"), (ROWS, [])),
    **dict.fromkeys(("sums", "sums_late"), (ROWS,)),
    "temperatures": ([str(position) for position in POSITIONS],),
    **dict.fromkeys(("slopes", "slopes_in_code"), ([f"head {i + 1}" for i in range(HEADS)],)),
}


def slopes_of(heads: int, xp: ModuleType) -> Array:
    """Return ALiBi's slopes by its formula, 2^(-8 k / heads)."""
    return 2.0 ** (-8 * xp.arange(1, heads + 1, dtype=xp.float64) / heads)


def steps(xp: ModuleType = numpy) -> dict[str, Array]:
    scores, positions, row, raw, scale = (
        xp.asarray(numbers, dtype=xp.float64) for numbers in (SCORES, POSITIONS, ROW, RAW, SCALE)
    )
    maximum = xp.max(scores, axis=1, keepdims=True)
    exponentials = xp.exp(scores - maximum)
    total = xp.sum(exponentials, axis=1, keepdims=True)
    plus_one = exponentials / (xp.exp(-maximum) + total)
    plus_one_late = exponentials / (1 + total)
    completed_lengths = -xp.ceil(-(positions + 1) / TRAINED)
    temperatures = 1 + GROWTH * xp.log(1 + completed_lengths)
    position = xp.asarray(1.0, dtype=xp.float64)
    key = rotary(scale * norm(raw, xp), position)
    extra_slopes = slopes_of(2 * POWER_BELOW, xp)[: 2 * (HEADS - POWER_BELOW) : 2]
    return {
        "scores": scores,
        "plus_one": plus_one,
        "sums": xp.sum(plus_one, axis=1),
        "plus_one_late": plus_one_late,
        "sums_late": xp.sum(plus_one_late, axis=1),
        "positions": positions,
        "temperatures": temperatures,
        "row": row,
        "plain": softmax(row),
        "sharp": softmax(temperatures[-1] * row),
        "raw": raw,
        "scale": scale,
        "key": key,
        "value": norm(raw, xp),
        "value_late": norm(key, xp),
        "slopes": slopes_of(HEADS, xp),
        "slopes_in_code": xp.concat([slopes_of(POWER_BELOW, xp), extra_slopes]),
    }
