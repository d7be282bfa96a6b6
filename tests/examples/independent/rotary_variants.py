"""Variants of rotary positions, with complex numbers and one pair at a time."""

import cmath
import math

from tests import reference
from tests.examples.comparison import independent


def turned(row, angles):
    """Rotate the pairs of features i and i + d/2 as complex numbers."""
    half = len(row) // 2
    numbers = [complex(row[i], row[i + half]) * cmath.exp(1j * angles[i]) for i in range(half)]
    return [number.real for number in numbers] + [number.imag for number in numbers]


def clipped(part):
    return min(max(part, 0.0), 1.0)


@independent(
    "rotary_variants",
    "complex numbers, pair by pair",
    fixed=["TRAINED", "BOUNDS", "CHUNKS", "WOVEN"],
)
def rotary_variants(literals):
    factor, trained = literals["FACTOR"][0], literals["TRAINED"][0]
    low, high = literals["BOUNDS"]
    frequencies = [2.0**-pair for pair in range(8)]
    turns = [trained * frequency / (2 * math.pi) for frequency in frequencies]
    paper = [clipped((turn - low) / (high - low)) for turn in turns]
    # The fractional index of a pair that makes `bound` turns: each makes half as many as the last.
    first, last = (math.log2(turns[0] / bound) for bound in (high, low))
    whole = max(math.floor(first), 0)
    code = [clipped(1 - (pair - whole) / (math.ceil(last) - whole)) for pair in range(8)]
    m = 1 + math.log(factor) / 10

    def weights(power):
        return reference.softmax_row([m**power * score for score in literals["ROW"]])

    q, k = literals["Q"], literals["K"]

    def partly(second_frequency, scale_turned=1.0, scale_rest=1.0):
        rest = scale_rest * (q[4] * k[4] + q[5] * k[5])
        rows = [turned(k[:4], [t, t * second_frequency]) for t in range(5)]
        return [scale_turned * reference.dot(q[:4], row) + rest for row in rows]

    def patches(axes):
        query_position = (5, 1, 2)

        def angles(position):
            return [position[axis] * frequencies[pair] for pair, axis in enumerate(axes)]

        query = turned(literals["PATCH_Q"], angles(query_position))
        return [
            [
                reference.dot(query, turned(literals["PATCH_K"], angles((5, row, column))))
                for column in range(3)
            ]
            for row in range(2)
        ]

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
        "temperature": [m],
        "plain": weights(0),
        "only_queries": weights(1),
        "once": weights(2),
        "twice": weights(4),
        "partial": partly(1 / 8),
        "of_head": partly(1 / 4),
        "on_scores": partly(1 / 8, m**2, m**2),
        "on_turned": partly(1 / 8, m**2),
        "chunks": patches(literals["CHUNKS"]),
        "woven": patches(literals["WOVEN"]),
        "text_alike": True,
    }
