"""Sums and caches in few bits: numbers rounded by NumPy's dtypes, and by Python's `round`."""

import math

import numpy as np

from tests import loops
from tests.examples.comparison import independent

HALF = np.float16


def bfloat16(x):
    """Round to eight significant binary digits."""
    fraction, exponent = math.frexp(x)
    return math.ldexp(round(math.ldexp(fraction, 8)), exponent - 8)


def merged(states, to=HALF):
    """Merge states (maximum, total, sums) one after another, each rounded by `to`."""
    maximum, total, sums = states[0]
    for other_maximum, other_total, other_sums in states[1:]:
        largest = max(maximum, other_maximum)
        old, new = (math.exp(float(m) - float(largest)) for m in (maximum, other_maximum))
        total = to(old * float(total) + new * float(other_total))
        pairs = zip(sums, other_sums, strict=True)
        sums = [to(old * float(a) + new * float(b)) for a, b in pairs]
        maximum = largest
    return maximum, total, sums


@independent("split_sums", "NumPy's float16 and float32", fixed=["NUMBERS", "PIECES"])
def split_sums(literals):
    a, b, c, d = (HALF(number) for number in literals["NUMBERS"])
    q, keys, values = literals["Q"][0][0], literals["K"], literals["V"]
    scores = [float(q) * float(key[0]) for key in keys]

    def state(piece, to):
        """Return the state of a range of keys."""
        maximum = max(scores[j] for j in piece)
        powers = [math.exp(scores[j] - maximum) for j in piece]
        columns = zip(*(values[j] for j in piece), strict=True)
        sums = [to(loops.dot(powers, column)) for column in columns]
        return to(maximum), to(math.fsum(powers)), sums

    def states(size, to=HALF):
        return [state(range(start, start + size), to) for start in range(0, 8, size)]

    def output(state, to=HALF):
        _, total, sums = state
        return [float(to(float(x) / float(total))) for x in sums]

    def outputs(state_format, to):
        in_pieces = [merged(states(size, state_format), state_format) for size in (8, 4, 2, 1)]
        return [output(state, to) for state in in_pieces]

    return {
        "forward": float(((a + b) + c) + d),
        "in_pairs": float((a + b) + (c + d)),
        "backward": float(a + (b + (c + d))),
        "exact": loops.matmul([loops.softmax_row(scores)], values)[0],
        "outputs": outputs(HALF, HALF),
        "totals": [float(merged(states(size))[1]) for size in (8, 4, 2, 1)],
        "last_first": output(merged(states(2)[::-1])),
        "bfloat16_outputs": outputs(bfloat16, bfloat16),
        "mixed_outputs": outputs(np.float32, bfloat16),
    }


@independent("quantised_cache", "one number at a time", fixed=["BITS"])
def quantised_cache(literals):
    q, keys, values = literals["Q"][0], literals["K"], literals["V"]
    levels = 2 ** (literals["BITS"][0] - 1) - 1

    def scale(numbers):
        return max(map(abs, numbers)) / levels

    def restored(numbers):
        return [round(x / scale(numbers)) * scale(numbers) for x in numbers]

    channels = list(zip(*keys, strict=True))
    scales = list(map(scale, channels))
    codes = [[round(x / s) for x, s in zip(key, scales, strict=True)] for key in keys]
    keys_by_channel = list(zip(*map(restored, channels), strict=True))
    keys_by_token = list(map(restored, keys))
    values_by_token = list(map(restored, values))

    def scores(key_rows):
        return [loops.dot(q, key) / 2 for key in key_rows]

    def largest_error(key_rows):
        return max(abs(a - b) for a, b in zip(scores(key_rows), scores(keys), strict=True))

    caches = [(keys, values), (keys_by_channel, values_by_token), (keys_by_token, values_by_token)]
    weights = [loops.softmax_row(scores(key_rows)) for key_rows, _ in caches]
    outputs = [
        loops.matmul([row], value_rows)[0]
        for row, (_, value_rows) in zip(weights, caches, strict=True)
    ]
    epsilon = loops.dot(map(abs, q), scales) / 4
    sizes = [loops.dot(weights[0], map(abs, column)) for column in zip(*values, strict=True)]
    largest_rounding = max(map(scale, values)) / 2
    return {
        "levels": [levels],
        "scales": scales,
        "codes": codes,
        "K_by_channel": keys_by_channel,
        "K_by_token": keys_by_token,
        "V_by_token": values_by_token,
        "weights": weights,
        "outputs": outputs,
        "epsilon": epsilon,
        "score_error": largest_error(keys_by_channel),
        "epsilon_by_token": max(map(scale, keys)) * math.fsum(map(abs, q)) / 4,
        "score_error_by_token": largest_error(keys_by_token),
        "output_error": [abs(a - b) for a, b in zip(outputs[0], outputs[1], strict=True)],
        "output_bound": [(math.exp(2 * epsilon) - 1) * size + largest_rounding for size in sizes],
    }
