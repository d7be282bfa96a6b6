"""Rules by which models stretch rotary positions, as in transformers, for a head of 16 features.

- `schemes` are the inverse frequencies of the eight pairs by each rule, and `ratios` are these
  divided by the plain ones of the first row. The configurations call the rules default, linear,
  dynamic, yarn, llama3, longrope (with short and with long factors) and proportional.
- `wavelengths` are the positions in which a pair turns once. `bands` counts the pairs that llama3
  leaves alone, blends and divides in Llama 3.1 8B and in Llama 3.2 1B, and `llama` has the features
  of a head and the factor in these models.
- `attention_factor` is what longrope multiplies cosines and sines by.
- `exchanged` is llama3 with the low and the high factor exchanged, and `new_context` compares the
  wavelengths with the stretched length. Both are divided by the plain frequencies.
- `layers` are the scores of q with k at five distances: in a layer with a window (base 10,000), in
  one that sees all (base 1,000,000, positions divided by 8), and in one without positions.
- `fresh` are the scores of the last of several positions with all of them by dynamic, if the keys
  are turned by the present base, and `cached`, if each was turned by the base of its time.
- `pairings` are the scores by proportional if features i and i + 8 form a pair, and i and i + 4.

>>> show(computed(steps))
wavelengths [6.2832 12.5664 25.1327 50.2655 100.5310 201.0619 402.1239 804.2477]
schemes 8 x 8
[[     1 0.5000 0.2500 0.1250 0.0625 0.0312 0.0156 0.0078]
 [0.2500 0.1250 0.0625 0.0312 0.0156 0.0078 0.0039 0.0020]
 [     1 0.3466 0.1201 0.0416 0.0144 0.0050 0.0017 0.0006]
 [     1 0.4062 0.1562 0.0547 0.0156 0.0078 0.0039 0.0020]
 [     1 0.5000 0.1592 0.0398 0.0156 0.0078 0.0039 0.0020]
 [     1 0.5000 0.2500 0.1238 0.0619 0.0306 0.0152 0.0076]
 [0.9091 0.3846 0.1562 0.0625 0.0250 0.0104 0.0043 0.0020]
 [     1 0.5000 0.2500 0.1250      0      0      0      0]]
ratios 8 x 8
[[     1      1      1      1      1      1      1      1]
 [0.2500 0.2500 0.2500 0.2500 0.2500 0.2500 0.2500 0.2500]
 [     1 0.6932 0.4805 0.3331 0.2309 0.1601 0.1110 0.0769]
 [     1 0.8125 0.6250 0.4375 0.2500 0.2500 0.2500 0.2500]
 [     1      1 0.6366 0.3183 0.2500 0.2500 0.2500 0.2500]
 [     1      1      1 0.9901 0.9901 0.9804 0.9709 0.9709]
 [0.9091 0.7692 0.6250 0.5000 0.4000 0.3333 0.2778 0.2500]
 [     1      1      1      1      0      0      0      0]]
attention_factor [1.1547]
llama [[128 8] [64 32]]
bands [[29 6 29] [15 3 14]]
exchanged [1 1 0.2500 0.2500 0.2500 0.2500 0.2500 0.2500]
new_context [1 1 1 1 0.6366 0.3183 0.2500 0.2500]
layers 3 x 5
[[9.6000 9.0964 6.3521 3.6260 3.2499]
 [9.6000 9.7058 9.7689 9.7877 9.7613]
 [9.6000 9.6000 9.6000 9.6000 9.6000]]
fresh [0.7053 7.8120 6.9148 7.1301 9.6000]
cached [0.7053 5.5083 8.7463 7.5241 9.6000]
pairings [[9.6000 9.1359 6.5302 4.1356 4.2932] [9.6000 10.0636 8.1478 6.0987 6.2109]]
"""

import math

import numpy

from attention_docs.arrays import check_positive

TITLE = "RoPE scaling: the rules of configurations"
SOURCE = "our own example"

BASE, PAIRS = 256, 8
FACTOR, TRAINED, LENGTH = [4], [64], [256]
LOW, HIGH = [1], [4]  # the factors of llama3
BETAS = [1, 8]  # the bounds of YaRN, in turns
SHORT = [1, 1, 1, 1.01, 1.01, 1.02, 1.03, 1.03]
LONG = [1.1, 1.3, 1.6, 2, 2.5, 3, 3.6, 4]
TURNED = 4  # pairs in proportional
Q = [2, 1, 0, 1, 1, 0, 2, 1, 1, 0, 1, 2, 0, 1, 1, 0]
K = [1.3, 0, 2, 1, 0, 1, 1, 0, 0, 2, 0, 1, 1, 0, 2, 1]
LAYER_BASES, LAYER_SCALE = (10000, 1000000), 8  # of Gemma 3: windows, and layers that see all
POSITIONS = (0, 32, 64, 96, 127)
LLAMA = ((128, 8), (64, 32))  # features of a head and factor: Llama 3.1 8B, Llama 3.2 1B

RULES = ["default", "linear", "dynamic", "yarn", "llama3"]
RULES += ["longrope, short", "longrope, long", "proportional"]
PAIR_NAMES = [str(pair) for pair in range(PAIRS)]
DISTANCES = [str(distance) for distance in range(5)]
LABELS = {
    "schemes ratios": (RULES, PAIR_NAMES),
    "wavelengths exchanged new_context": (PAIR_NAMES,),
    "llama": (["Llama 3.1 8B", "Llama 3.2 1B"], ["features", "factor"]),
    "bands": (["Llama 3.1 8B", "Llama 3.2 1B"], ["unchanged", "blended", "divided"]),
    "layers": (["window", "all keys", "no positions"], DISTANCES),
    "fresh cached": ([f"position {position}" for position in POSITIONS],),
    "pairings": (["i and i + 8", "i and i + 4"], DISTANCES),
}


def steps(xp=numpy):
    """Return the frequencies of each rule, and scores of a query with keys at several positions.

    The docstring of the module explains each step.
    """
    return {**frequency_steps(xp), **score_steps(xp)}


def inverse_frequencies(xp, base, pairs=PAIRS):
    """Return how far each pair turns from one position to the next."""
    return 1 / base ** (xp.arange(pairs, dtype=xp.float64) / pairs)


def llama3(xp, frequencies, factor, trained, low, high):
    """Return the frequencies by the rule llama3, with the comparisons of transformers."""
    wavelengths = 2 * math.pi / frequencies
    smooth = (trained / wavelengths - low) / (high - low)
    blended = (1 - smooth) * frequencies / factor + smooth * frequencies
    short_or_blended = xp.where(wavelengths < trained / high, frequencies, blended)
    return xp.where(wavelengths > trained / low, frequencies / factor, short_or_blended)


def yarn(xp, frequencies, factor, trained, betas):
    """Return the frequencies by YaRN; the ramp runs from pair to pair, between whole pairs."""
    zero = xp.asarray(0.0, dtype=xp.float64)
    bounds = xp.log(trained / (betas * 2 * math.pi)) * PAIRS / math.log(BASE)
    last, first = xp.ceil(bounds[:1]), xp.maximum(-xp.ceil(-bounds[1:]), zero)
    ramp = xp.maximum((xp.arange(PAIRS, dtype=xp.float64) - first) / (last - first), zero)
    divided = 1 - xp.maximum(1 - ramp, zero)
    return frequencies / factor * divided + frequencies * (1 - divided)


def dynamic_base(xp, factor, trained, length):
    """Return the base of dynamic NTK for a text of some length."""
    features = 2 * PAIRS
    stretch = factor * xp.maximum(length, trained) / trained - (factor - 1)
    return BASE * stretch ** (features / (features - 2))


def frequency_steps(xp):
    """Return the frequencies by each rule, the bands of llama3 and two mistakes in it."""
    lists = (FACTOR, TRAINED, LENGTH, LOW, HIGH, BETAS, SHORT, LONG)
    arrays = [xp.asarray(numbers, dtype=xp.float64) for numbers in lists]
    factor, trained, length, low, high, betas, short, long = arrays
    check_positive(xp, factor=factor)
    base = xp.asarray(float(BASE), dtype=xp.float64)
    plain = inverse_frequencies(xp, base)
    turns = xp.arange(PAIRS, dtype=xp.float64) < TURNED
    schemes = xp.stack(
        [
            plain,
            plain / factor,
            inverse_frequencies(xp, dynamic_base(xp, factor, trained, length)),
            yarn(xp, plain, factor, trained, betas),
            llama3(xp, plain, factor, trained, low, high),
            plain / short,
            plain / long,
            xp.where(turns, plain, xp.zeros_like(plain)),
        ]
    )
    return {
        "factor": factor,
        "trained": trained,
        "length": length,
        "wavelengths": 2 * math.pi / plain,
        "schemes": schemes,
        "ratios": schemes / plain,
        "attention_factor": xp.sqrt(1 + xp.log(factor) / xp.log(trained)),
        "llama": xp.asarray(LLAMA),
        "bands": xp.stack([llama_bands(xp, *sizes) for sizes in LLAMA]),
        "exchanged": llama3(xp, plain, factor, trained, high, low) / plain,
        "new_context": llama3(xp, plain, factor, trained * factor, low, high) / plain,
    }


def llama_bands(xp, features, factor):
    """Count the pairs that keep their frequency, are blended and are divided in a Llama model."""
    base, trained = (xp.asarray(number, dtype=xp.float64) for number in (500000.0, 8192.0))
    plain = inverse_frequencies(xp, base, features // 2)
    ratio = llama3(xp, plain, factor, trained, 1, 4) / plain
    one, zero = xp.ones_like(plain), xp.zeros_like(plain)
    kept = xp.sum(xp.where(ratio > 1 - 1e-9, one, zero))
    divided = xp.sum(xp.where(ratio < 1 / factor + 1e-9, one, zero))
    return xp.stack([kept, features // 2 - kept - divided, divided])


def scores_at(xp, angles, q, k, pairs=PAIRS):
    """Return the scores of q with copies of k that are turned further than q by angles.

    The angles are (n, pairs). Features i and i + pairs are a pair; the last may be in none.
    """
    first, second = slice(0, pairs), slice(pairs, 2 * pairs)
    even = q[first] * k[first] + q[second] * k[second]
    odd = q[second] * k[first] - q[first] * k[second]
    scores = xp.cos(angles) @ even + xp.sin(angles) @ odd
    return scores + xp.sum(q[2 * pairs :] * k[2 * pairs :]) if pairs < PAIRS else scores


def score_steps(xp):
    """Return scores in three kinds of layers, with a cache, and with two kinds of pairs."""
    q, k = (xp.asarray(numbers, dtype=xp.float64) for numbers in (Q, K))
    factor, trained = (xp.asarray(numbers, dtype=xp.float64) for numbers in (FACTOR, TRAINED))
    distances = xp.arange(len(DISTANCES), dtype=xp.float64)[:, None]
    window, everywhere = (
        inverse_frequencies(xp, xp.asarray(float(base), dtype=xp.float64)) for base in LAYER_BASES
    )
    kinds = [window, everywhere / LAYER_SCALE, xp.zeros_like(window)]
    positions = xp.asarray(POSITIONS, dtype=xp.float64)[:, None]
    base_of_key = dynamic_base(xp, factor, trained, positions + 1)
    of_key = inverse_frequencies(xp, base_of_key)
    of_query = of_key[-1:, :]
    last = positions[-1:, :]
    plain = inverse_frequencies(xp, xp.asarray(float(BASE), dtype=xp.float64))
    turned = distances * plain[None, :TURNED]
    still = xp.zeros_like(turned)
    return {
        "q": q,
        "k": k,
        "layers": xp.stack([scores_at(xp, distances * kind, q, k) for kind in kinds]),
        "fresh": scores_at(xp, (positions - last) * of_query, q, k),
        "cached": scores_at(xp, positions * of_key - last * of_query, q, k),
        "pairings": xp.stack(
            [
                scores_at(xp, xp.concat([turned, still], axis=1), q, k),
                scores_at(xp, turned, q, k, TURNED),
            ]
        ),
    }
