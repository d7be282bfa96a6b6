"""Softmax plus one, a temperature by position, values made from keys, and ALiBi's slopes.

>>> show(computed(steps))
plus_one [[0.5923 0.2179 0.0802 0.0295] [0.0462 0.0170 0.0063 0.0023]]
sums [0.9198 0.0718]
plus_one_late [[0.3917 0.1441 0.0530 0.0195] [0.3917 0.1441 0.0530 0.0195]]
sums_late [0.6083 0.6083]
temperatures [1 1.0693 1.1099 1.2833]
plain [0.6439 0.2369 0.0871 0.0321]
sharp [0.7272 0.2015 0.0558 0.0155]
key [0.4198 1.3942]
value [1.4000 0.2000]
value_late [0.4078 1.3541]
slopes [0.3969 0.1575 0.0625 0.0248 0.0098 0.0039]
slopes_in_code [0.2500 0.0625 0.0156 0.0039 0.5000 0.1250]
"""

import numpy

from attention_docs.examples.head_norms import norm
from attention_docs.positions import rotary
from attention_docs.softmax import softmax

TITLE = "A one, a temperature, values made of keys, and slopes"
SOURCE = "our own example"

SCORES = [[2, 1, 0, -1], [-3, -4, -5, -6]]
POSITIONS = [8190, 8191, 16383, 131071]
TRAINED_LENGTH = 8192
GROWTH = 0.1
ROW = [3, 2, 1, 0]
RAW = [7, 1]
SCALE = [1, 2]
HEADS = 6
POWER_BELOW = 4  # the largest power of two below HEADS

QUERIES = ["some keys fit", "no key fits"]
LABELS = {
    "scores plus_one plus_one_late": (QUERIES, []),
    "sums sums_late": (QUERIES,),
    "temperatures": ([str(position) for position in POSITIONS],),
    "slopes slopes_in_code": ([f"head {i + 1}" for i in range(HEADS)],),
}


def steps(xp=numpy):
    """Return the steps of all four calculations, which do not depend on each other."""
    return {
        **softmax_plus_one(xp),
        **temperature_by_position(xp),
        **values_from_keys(xp),
        "slopes": alibi_slopes(HEADS, xp),
        "slopes_in_code": alibi_slopes_in_code(xp),
    }


def softmax_plus_one(xp):
    """Return the weights exp(s_j) / (1 + sum_k exp(s_k)) of each row of scores, and their sums.

    `plus_one_late` subtracts the maximum from the scores, but by mistake still adds 1.
    """
    scores = xp.asarray(SCORES, dtype=xp.float64)
    maximum = xp.max(scores, axis=1, keepdims=True)
    exponentials = xp.exp(scores - maximum)  # cannot overflow
    total = xp.sum(exponentials, axis=1, keepdims=True)
    # exp(scores - maximum) is exp(scores) divided by exp(maximum), so the 1 is divided as well.
    plus_one = exponentials / (xp.exp(-maximum) + total)
    plus_one_late = exponentials / (1 + total)
    return {
        "scores": scores,
        "plus_one": plus_one,
        "sums": xp.sum(plus_one, axis=1),
        "plus_one_late": plus_one_late,
        "sums_late": xp.sum(plus_one_late, axis=1),
    }


def temperature_by_position(xp):
    """Return the temperature of the query at each position, and its effect on one row of weights.

    The temperature is the factor 1 + GROWTH log(1 + floor((position + 1) / TRAINED_LENGTH)), with
    positions counted from 0. `plain` has the weights without it, and `sharp` those with the
    temperature of the last position.
    """
    positions, row = (xp.asarray(numbers, dtype=xp.float64) for numbers in (POSITIONS, ROW))
    # The floor, written with `ceil`, because the pages have no `floor`.
    completed_lengths = -xp.ceil(-(positions + 1) / TRAINED_LENGTH)
    temperatures = 1 + GROWTH * xp.log(1 + completed_lengths)
    return {
        "positions": positions,
        "temperatures": temperatures,
        "row": row,
        "plain": softmax(row),
        "sharp": softmax(temperatures[-1] * row),
    }


def values_from_keys(xp):
    """Return the key and the value of a token, both made from the projection `raw`.

    The key is normalised, scaled and rotated, and the value is only normalised. `value_late` is a
    mistake: it normalises the finished key.
    """
    raw, scale = (xp.asarray(numbers, dtype=xp.float64) for numbers in (RAW, SCALE))
    position = xp.asarray(1.0, dtype=xp.float64)  # turns the only pair of features by one radian
    key = rotary(scale * norm(raw, xp), position)
    return {
        "raw": raw,
        "scale": scale,
        "key": key,
        "value": norm(raw, xp),
        "value_late": norm(key, xp),
    }


def alibi_slopes(heads, xp):
    """Return ALiBi's slopes by the formula of the paper, 2^(-8 k / heads) for k = 1 ... heads."""
    return 2.0 ** (-8 * xp.arange(1, heads + 1, dtype=xp.float64) / heads)


def alibi_slopes_in_code(xp):
    """Return ALiBi's slopes as the authors' code computes them if HEADS is not a power of two.

    The first POWER_BELOW heads get the slopes of a model with POWER_BELOW heads. The others get
    the first, the third and so on of the slopes of a model with twice as many heads.
    """
    further_slopes = alibi_slopes(2 * POWER_BELOW, xp)[::2]
    return xp.concat([alibi_slopes(POWER_BELOW, xp), further_slopes[: HEADS - POWER_BELOW]])
