"""Rotary positions as models use them: in a part of the head, stretched by YaRN, and for images.

`speeds` say how fast each of eight pairs turns compared with plain rotary positions: if only half
of the head turns; for a text `factor` times as long as in training, if all pairs are interpolated,
with another base (NTK-aware), and with YaRN as in the paper and as in its authors' code. `turns`
are the turns of each pair over the `trained` positions. In YaRN a pair keeps its speed above the
larger of two `bounds`, is interpolated below the smaller, and mixed in between; `kept_paper` and
`kept_code` are the parts of the plain speed.

`temperature` is YaRN's m, which multiplies queries and keys. `once` are the weights of `row` with
m^2, `plain` without, `only_queries` with m, `twice` with m^4.

`partial` are scores of q and k at five distances if the first four of six features turn, `of_head`
if their frequencies are taken from all six. `on_scores` multiplies these scores by m^2, `on_turned`
only the features that turn.

`chunks` and `woven` are the scores of the last patch of an image with each of its 2 x 3 patches, if
pairs are divided among time, height and width in one piece each, or in turn. `text_alike` says
whether words have the same scores in both, and as with plain rotary positions.

>>> show(steps())
factor 1
[4]
trained 1
[64]
bounds 2
[1 8]
turns 8
[10.1859 5.0930 2.5465 1.2732 0.6366 0.3183 0.1592 0.0796]
kept_paper 8
[1 0.5847 0.2209 0.0390 0 0 0 0]
kept_code 8
[1 0.7500 0.5000 0.2500 0 0 0 0]
speeds 5 x 8
[[     1 0.5000 0.2500 0.1250      0      0      0      0]
 [0.2500 0.2500 0.2500 0.2500 0.2500 0.2500 0.2500 0.2500]
 [     1 0.8203 0.6730 0.5520 0.4529 0.3715 0.3048 0.2500]
 [     1 0.6885 0.4157 0.2793 0.2500 0.2500 0.2500 0.2500]
 [     1 0.8125 0.6250 0.4375 0.2500 0.2500 0.2500 0.2500]]
temperature 1
[1.1386]
row 4
[3 2 1 0]
plain 4
[0.6439 0.2369 0.0871 0.0321]
only_queries 4
[0.6870 0.2200 0.0705 0.0226]
once 4
[0.7306 0.1998 0.0546 0.0149]
twice 4
[0.8148 0.1517 0.0283 0.0053]
q 6
[2 1 0 -1 1 3]
k 6
[1.3000 -1 2 1 0 2]
partial 5
[6.6000 2.0545 -0.6570 1.0005 5.5726]
of_head 5
[6.6000 2.1011 -0.4743 1.3982 6.2471]
on_scores 5
[8.5567 2.6636 -0.8518 1.2972 7.2247]
on_turned 5
[6.7779 0.8848 -2.6306 -0.4817 5.4458]
patch_q 16
[2 1 0 1 1 0 2 1 1 0 1 2 0 1 1 0]
patch_k 16
[1.3000 0 2 1 0 1 1 0 0 2 0 1 1 0 2 1]
chunks 2 x 3
[[9.7386 9.6854 9.6312]
 [9.7074 9.6542 9.6000]]
woven 2 x 3
[[9.6000 10.0953 10.6213]
 [8.5787  9.0739  9.6000]]
text_alike number
True
"""

import math
from types import ModuleType

import numpy

from attention_docs.arrays import Array
from attention_docs.positions import rotary
from attention_docs.softmax import softmax

TITLE = "Rotary positions: parts, YaRN, images"
SOURCE = "our own example"

BASE, PAIRS = 256, 8
FACTOR, TRAINED, BOUNDS = [4], [64], [1, 8]
ROW = [3, 2, 1, 0]
Q, K = [2, 1, 0, -1, 1, 3], [1.3, -1, 2, 1, 0, 2]
PARTIAL_BASE, TURNED = 64, 4
PATCH_Q = [2, 1, 0, 1, 1, 0, 2, 1, 1, 0, 1, 2, 0, 1, 1, 0]
PATCH_K = [1.3, 0, 2, 1, 0, 1, 1, 0, 0, 2, 0, 1, 1, 0, 2, 1]
# The axis of each pair: time, height or width.
CHUNKS, WOVEN = (0, 0, 0, 0, 1, 1, 2, 2), (0, 1, 2, 0, 1, 2, 0, 0)
ROWS, COLUMNS, TIME = 2, 3, 5

SPEEDS = ["half of the head", "interpolated", "NTK-aware", "YaRN, paper", "YaRN, code"]
PAIR_NAMES = [str(pair) for pair in range(PAIRS)]
DISTANCES = [str(distance) for distance in range(5)]
LABELS = {
    "speeds": (SPEEDS, PAIR_NAMES),
    **dict.fromkeys(("turns", "kept_paper", "kept_code"), (PAIR_NAMES,)),
    **dict.fromkeys(("partial", "of_head", "on_scores", "on_turned"), (DISTANCES,)),
    **dict.fromkeys(
        ("chunks", "woven"), (["row 0", "row 1"], ["column 0", "column 1", "column 2"])
    ),
}


def turn(x: Array, angles: Array, xp: ModuleType) -> Array:
    """Turn the pairs of x, which are features of its two halves, by the angles, (..., d / 2)."""
    a, b = x[:PAIRS], x[PAIRS:]
    cosines, sines = xp.cos(angles), xp.sin(angles)
    return xp.concat([a * cosines - b * sines, a * sines + b * cosines], axis=-1)


def kept_speed(turns: Array, bounds: Array, trained: Array, xp: ModuleType) -> list[Array]:
    """Return the part of its plain speed that each pair keeps in YaRN, in the paper and the code.

    The paper goes from 0 to 1 in equal steps of turns, the code in equal steps of pairs.
    """
    paper = (turns - bounds[0]) / (bounds[1] - bounds[0])
    pair_at = xp.log(trained / (bounds * 2 * math.pi)) / math.log(BASE) * PAIRS
    zero = xp.asarray(0.0, dtype=xp.float64)
    first, last = xp.maximum(-xp.ceil(-pair_at[1:]), zero), xp.ceil(pair_at[0])
    code = 1 - (xp.arange(PAIRS, dtype=xp.float64) - first) / (last - first)
    return [1 - xp.maximum(1 - xp.maximum(part, zero), zero) for part in (paper, code)]


def steps(xp: ModuleType = numpy) -> dict[str, Array]:
    factor, trained, bounds, row = (
        xp.asarray(numbers, dtype=xp.float64) for numbers in (FACTOR, TRAINED, BOUNDS, ROW)
    )
    pair = xp.arange(PAIRS, dtype=xp.float64)
    base = xp.asarray(float(BASE), dtype=xp.float64)
    frequencies = base ** (-pair / PAIRS)
    turns = trained * frequencies / (2 * math.pi)
    kept = kept_speed(turns, bounds, trained, xp)
    half = base ** (-2 * pair / PAIRS) / frequencies
    half = xp.where(pair < PAIRS / 2, half, xp.zeros_like(pair))
    interpolated = xp.ones_like(pair) / factor
    ntk = factor ** (-pair / (PAIRS - 1))
    yarn = [part + (1 - part) / factor for part in kept]
    temperature = 1 + xp.log(factor) / 10

    q, k = (xp.asarray(numbers, dtype=xp.float64) for numbers in (Q, K))
    keys = xp.arange(5, dtype=xp.float64)

    def turned_scores(base: float) -> Array:
        """Return the part of the scores that comes from the features that turn."""
        rows = xp.repeat(k[None, :TURNED], 5, axis=0)
        return rotary(rows, keys, base) @ q[:TURNED]

    turned, rest = turned_scores(PARTIAL_BASE), k[TURNED:] @ q[TURNED:]

    patch_q, patch_k = (xp.asarray(numbers, dtype=xp.float64) for numbers in (PATCH_Q, PATCH_K))

    def score_between(axes: tuple[int, ...], query: list[int], key: list[int]) -> Array:
        """Return the score of two positions, each a time, a height and a width."""
        positions = [xp.asarray([position[axis] for axis in axes]) for position in (query, key)]
        turned_q, turned_k = (
            turn(x, xp.astype(position, xp.float64) * frequencies, xp)
            for x, position in zip((patch_q, patch_k), positions, strict=True)
        )
        return xp.sum(turned_q * turned_k)

    def patch_scores(axes: tuple[int, ...]) -> Array:
        """Return the scores of the last patch with every patch of the image, (rows, columns)."""
        last = [TIME, ROWS - 1, COLUMNS - 1]
        scores = [
            [score_between(axes, last, [TIME, h, w]) for w in range(COLUMNS)] for h in range(ROWS)
        ]
        return xp.stack([xp.stack(line) for line in scores])

    words = [
        xp.stack([score_between(axes, [4] * 3, [t] * 3) for t in range(5)])
        for axes in (CHUNKS, WOVEN, (0,) * PAIRS)
    ]
    return {
        "factor": factor,
        "trained": trained,
        "bounds": bounds,
        "turns": turns,
        "kept_paper": kept[0],
        "kept_code": kept[1],
        "speeds": xp.stack([half, interpolated, ntk, *yarn]),
        "temperature": temperature,
        "row": row,
        "plain": softmax(row),
        "only_queries": softmax(temperature * row),
        "once": softmax(temperature**2 * row),
        "twice": softmax(temperature**4 * row),
        "q": q,
        "k": k,
        "partial": turned + rest,
        "of_head": turned_scores(PARTIAL_BASE ** (TURNED / len(Q))) + rest,
        "on_scores": temperature**2 * (turned + rest),
        "on_turned": temperature**2 * turned + rest,
        "patch_q": patch_q,
        "patch_k": patch_k,
        "chunks": patch_scores(CHUNKS),
        "woven": patch_scores(WOVEN),
        "text_alike": xp.all((words[0] == words[1]) & (words[1] == words[2])),
    }
