"""The rules of RoPE scaling, one pair at a time, and scores with complex numbers."""

import cmath
import math

from tests.examples.comparison import independent


def plain(base, pairs=8):
    return [base ** (-pair / pairs) for pair in range(pairs)]


def by_turns(frequencies, factor, trained, low, high):
    """Return the frequencies by llama3, from the turns of each pair over the trained length."""
    scaled = []
    for frequency in frequencies:
        turns = trained * frequency / (2 * math.pi)
        if turns < low:
            kept = 0.0
        elif turns > high:
            kept = 1.0
        else:
            kept = (turns - low) / (high - low)
        scaled.append(frequency * (kept + (1 - kept) / factor))
    return scaled


def by_pairs(frequencies, factor, trained, betas):
    """Return the frequencies by YaRN, from the whole pairs at which each bound is met."""
    at_slow, at_fast = (math.log2(trained / (beta * 2 * math.pi)) for beta in betas)
    first, last = max(math.floor(at_fast), 0), math.ceil(at_slow)
    divided = [min(max((pair - first) / (last - first), 0), 1) for pair in range(8)]
    return [f * (1 - part + part / factor) for f, part in zip(frequencies, divided, strict=True)]


def dynamic(factor, trained, length):
    longer = max(length, trained)
    base = 256 * (factor * longer / trained - factor + 1) ** (16 / 14)
    return plain(base)


def quotients(frequencies):
    return [f / g for f, g in zip(frequencies, plain(256), strict=True)]


@independent("rope_scaling", "one pair at a time")
def frequencies_of_rules(literals):
    names = ("FACTOR", "TRAINED", "LENGTH", "LOW", "HIGH")
    factor, trained, length, low, high = (literals[name][0] for name in names)
    frequencies = plain(256)
    schemes = [
        frequencies,
        [frequency / factor for frequency in frequencies],
        dynamic(factor, trained, length),
        by_pairs(frequencies, factor, trained, literals["BETAS"]),
        by_turns(frequencies, factor, trained, low, high),
        [f / part for f, part in zip(frequencies, literals["SHORT"], strict=True)],
        [f / part for f, part in zip(frequencies, literals["LONG"], strict=True)],
        [256 ** (-2 * pair / 16) if pair < 4 else 0.0 for pair in range(8)],
    ]
    # The larger bound is given as the lower one, so no pair lies between them.
    exchanged = [
        frequency / factor if trained * frequency / (2 * math.pi) < high else frequency
        for frequency in frequencies
    ]
    return {
        "wavelengths": [2 * math.pi / frequency for frequency in frequencies],
        "schemes": schemes,
        "ratios": [quotients(row) for row in schemes],
        "attention_factor": [math.sqrt(1 + math.log(factor, trained))],
        "exchanged": quotients(exchanged),
        "new_context": quotients(by_turns(frequencies, factor, factor * trained, low, high)),
    }


@independent("rope_scaling", "solving for the pairs at the bounds", fixed=["LLAMA"])
def bands(literals):
    rows = []
    for pairs in (64, 32):
        # Pair i turns 8192 / 2π * 500000^(-i / pairs) times.
        at_four, at_one = (
            math.log(8192 / (2 * math.pi * turns), 500000) * pairs for turns in (4, 1)
        )
        kept, not_divided = math.floor(at_four) + 1, math.floor(at_one) + 1
        rows.append([kept, not_divided - kept, pairs - not_divided])
    return {"bands": rows}


@independent("rope_scaling", "complex numbers, key by key")
def scores(literals):
    def score(angles_of_query, angles_of_key, other):
        """Return a score if features i and i + other are a pair, for as many pairs as angles."""
        q, k = literals["Q"], literals["K"]
        turned = len(angles_of_key)
        used = {i for pair in range(turned) for i in (pair, pair + other)}
        total = sum(q[i] * k[i] for i in range(16) if i not in used)
        for i in range(turned):
            a = complex(q[i], q[i + other]) * cmath.exp(1j * angles_of_query[i])
            b = complex(k[i], k[i + other]) * cmath.exp(1j * angles_of_key[i])
            total += (a * b.conjugate()).real
        return total

    def at_distances(frequencies, other=8):
        none = [0] * len(frequencies)
        return [score(none, [t * f for f in frequencies], other) for t in range(5)]

    factor, trained = literals["FACTOR"][0], literals["TRAINED"][0]

    def turned(position, length):
        return [position * frequency for frequency in dynamic(factor, trained, length)]

    positions = literals["POSITIONS"]
    last, length = positions[-1], positions[-1] + 1
    query = turned(last, length)
    window, all_keys = literals["LAYER_BASES"]
    return {
        "layers": [
            at_distances(plain(window)),
            at_distances([frequency / 8 for frequency in plain(all_keys)]),
            at_distances([0] * 8),
        ],
        "fresh": [score(query, turned(t, length), 8) for t in positions],
        "cached": [score(query, turned(t, t + 1), 8) for t in positions],
        "pairings": [at_distances(plain(256)[:4]), at_distances(plain(256)[:4], 4)],
    }
