"""Sums and caches in few bits: numbers rounded by NumPy's float16, and by Python's `round`."""

import math

import numpy as np

from tests import reference
from tests.examples.comparison import independent

HALF = np.float16


def merged(states):
    """Merge states (maximum, total, sums) one after another, each rounded to 16 bits."""
    maximum, total, sums = states[0]
    for other_maximum, other_total, other_sums in states[1:]:
        largest = max(maximum, other_maximum)
        old, new = (math.exp(float(m) - float(largest)) for m in (maximum, other_maximum))
        total = HALF(old * float(total) + new * float(other_total))
        sums = [
            HALF(old * float(a) + new * float(b)) for a, b in zip(sums, other_sums, strict=True)
        ]
        maximum = largest
    return maximum, total, sums


@independent("split_sums", "NumPy's float16", fixed=["NUMBERS", "PIECES"])
def split_sums(literals):
    a, b, c, d = (HALF(number) for number in literals["NUMBERS"])
    q, keys, values = literals["Q"][0][0], literals["K"], literals["V"]
    scores = [float(q) * float(key[0]) for key in keys]

    def state(part):
        maximum = max(scores[j] for j in part)
        powers = [math.exp(scores[j] - maximum) for j in part]
        rows = [values[j] for j in part]
        sums = [HALF(reference.dot(powers, column)) for column in zip(*rows, strict=True)]
        return HALF(maximum), HALF(math.fsum(powers)), sums

    def states(size):
        return [state(range(start, start + size)) for start in range(0, 8, size)]

    def output(of_all):
        return [float(HALF(float(x) / float(of_all[1]))) for x in of_all[2]]

    ends = [merged(states(size)) for size in (8, 4, 2, 1)]
    return {
        "forward": float(((a + b) + c) + d),
        "in_pairs": float((a + b) + (c + d)),
        "backward": float(a + (b + (c + d))),
        "exact": reference.matmul([reference.softmax_row(scores)], values)[0],
        "outputs": [output(end) for end in ends],
        "totals": [float(end[1]) for end in ends],
        "last_first": output(merged(states(2)[::-1])),
    }


@independent("quantised_cache", "one number at a time", fixed=["BITS"])
def quantised_cache(literals):
    q, keys, values = literals["Q"][0], literals["K"], literals["V"]
    levels = 2 ** (literals["BITS"][0] - 1) - 1
    by_channel = [max(abs(key[c]) for key in keys) / levels for c in range(4)]
    by_token = [max(map(abs, key)) / levels for key in keys]
    of_values = [max(map(abs, value)) / levels for value in values]
    codes = [[round(key[c] / by_channel[c]) for c in range(4)] for key in keys]
    channel = [[code[c] * by_channel[c] for c in range(4)] for code in codes]
    token = [[round(x / s) * s for x in key] for key, s in zip(keys, by_token, strict=True)]
    restored = [
        [round(x / t) * t for x in value] for value, t in zip(values, of_values, strict=True)
    ]

    def scores(key_rows):
        return [reference.dot(q, key) / 2 for key in key_rows]

    def largest_error(key_rows):
        return max(abs(a - b) for a, b in zip(scores(key_rows), scores(keys), strict=True))

    weights = [reference.softmax_row(scores(rows)) for rows in (keys, channel, token)]
    outputs = [
        reference.matmul([row], rows)[0]
        for row, rows in zip(weights, (values, restored, restored), strict=True)
    ]
    epsilon = math.fsum(abs(x) * s for x, s in zip(q, by_channel, strict=True)) / 4
    sizes = [
        math.fsum(a * abs(value[feature]) for a, value in zip(weights[0], values, strict=True))
        for feature in range(2)
    ]
    return {
        "levels": [levels],
        "scales": by_channel,
        "codes": codes,
        "K_by_channel": channel,
        "K_by_token": token,
        "V_by_token": restored,
        "weights": weights,
        "outputs": outputs,
        "epsilon": epsilon,
        "score_error": largest_error(channel),
        "epsilon_by_token": max(by_token) * math.fsum(map(abs, q)) / 4,
        "score_error_by_token": largest_error(token),
        "output_error": [abs(a - b) for a, b in zip(outputs[0], outputs[1], strict=True)],
        "output_bound": [(math.exp(2 * epsilon) - 1) * size + max(of_values) / 2 for size in sizes],
    }
