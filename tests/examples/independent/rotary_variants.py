"""Variants of rotary positions, with complex numbers and one pair at a time."""

import cmath
import math

from tests import loops
from tests.examples.comparison import independent


def turned(row, angles):
    """Rotate the pairs of features i and i + d/2 as complex numbers."""
    half = len(row) // 2
    numbers = [complex(row[i], row[i + half]) * cmath.exp(1j * angles[i]) for i in range(half)]
    return [number.real for number in numbers] + [number.imag for number in numbers]


def clipped(part):
    return min(max(part, 0.0), 1.0)


FREQUENCIES = [2.0**-pair for pair in range(8)]


def temperature(literals):
    """Return the factor of queries and of keys in YaRN."""
    return 1 + math.log(literals["FACTOR"][0]) / 10


@independent("rotary_variants", "one pair at a time", fixed=["TRAINED", "BOUNDS"])
def speeds_of_pairs(literals):
    factor, trained = literals["FACTOR"][0], literals["TRAINED"][0]
    low, high = literals["BOUNDS"]
    turns = [trained * frequency / (2 * math.pi) for frequency in FREQUENCIES]
    paper = [clipped((turn - low) / (high - low)) for turn in turns]
    # The fractional index of a pair that makes `bound` turns: each makes half as many as the last.
    first, last = (math.log2(turns[0] / bound) for bound in (high, low))
    whole = max(math.floor(first), 0)
    code = [clipped(1 - (pair - whole) / (math.ceil(last) - whole)) for pair in range(8)]
    return {
        "turns": turns,
        "kept_paper": paper,
        "kept_code": code,
        "speeds": [
            [4.0**-pair / 2.0**-pair if pair < 4 else 0.0 for pair in range(8)],
            [1 / factor] * 8,
            [factor ** (-pair / 7) for pair in range(8)],
            *([kept + (1 - kept) / factor for kept in parts] for parts in (paper, code)),
        ],
    }


@independent("rotary_variants", "scores times a power of the temperature")
def temperatures(literals):
    m = temperature(literals)

    def weights(power):
        return loops.softmax_row([m**power * score for score in literals["ROW"]])

    return {
        "temperature": [m],
        "plain": weights(0),
        "only_queries": weights(1),
        "once": weights(2),
        "twice": weights(4),
    }


@independent("rotary_variants", "complex numbers, distance by distance")
def partial_rotation(literals):
    q, k = literals["Q"], literals["K"]
    squared_temperature = temperature(literals) ** 2

    def scores(second_frequency, scale_turned=1.0, scale_rest=1.0):
        """Return the scores at five distances if only the first four features turn."""
        rest = scale_rest * (q[4] * k[4] + q[5] * k[5])
        rows = [turned(k[:4], [t, t * second_frequency]) for t in range(5)]
        return [scale_turned * loops.dot(q[:4], row) + rest for row in rows]

    return {
        "partial": scores(1 / 8),
        "of_head": scores(1 / 4),
        "on_scores": scores(1 / 8, squared_temperature, squared_temperature),
        "on_turned": scores(1 / 8, squared_temperature),
    }


@independent("rotary_variants", "complex numbers, patch by patch", fixed=["CHUNKS", "WOVEN"])
def scores_of_patches(literals):
    def turned_at(name, position, axes, frequencies):
        """Rotate each pair by its frequency times the coordinate on its axis."""
        angles = [position[axis] * frequencies[pair] for pair, axis in enumerate(axes)]
        return turned(literals[name], angles)

    def scores(axes, frequencies=FREQUENCIES):
        query = turned_at("PATCH_Q", (5, 1, 2), axes, frequencies)
        return [
            [
                loops.dot(query, turned_at("PATCH_K", (5, row, column), axes, frequencies))
                for column in range(3)
            ]
            for row in range(2)
        ]

    in_rows, in_columns = [4.0**-pair for pair in range(4)], [4.0**-pair / 2 for pair in range(4)]
    return {
        **dict.fromkeys(("shared", "shifted"), scores((1,) * 4 + (2,) * 4, in_rows * 2)),
        "split": scores((1,) * 4 + (2,) * 4, in_rows + in_columns),
        "rows_only": scores((1,) * 8, in_rows * 2),
        "chunks": scores(literals["CHUNKS"]),
        "woven": scores(literals["WOVEN"]),
    }
