"""Rotary positions as models use them: in a part of the head, stretched by YaRN, and for images.

- `speeds` is how fast each of eight pairs turns, relative to plain rotary positions. The rows are:
  only half of the head turns; then, for a text `factor` times as long as in training, all pairs
  interpolated, a larger base (NTK-aware), YaRN as in its paper, and YaRN as in its authors' code.
- `turns` is the number of turns of each pair over the `trained` positions. In YaRN, a pair with
  more turns than the larger of two `bounds` keeps its speed, a pair with fewer than the smaller is
  interpolated, and the others mix both. `kept_paper` and `kept_code` are the parts of the plain
  speed in this mix.
- `temperature` is YaRN's m, which multiplies queries and keys. `plain` are the weights of the
  scores `row` without it, `only_queries` with m, `once` with m^2, and `twice` with m^4.
- `partial` are the scores of q and k at five distances if four of their six features turn.
  `of_head` takes the frequencies of all six features. `on_scores` multiplies these scores by m^2,
  and `on_turned` only the part of the features that turn.
- `chunks` and `woven` are the scores of the last patch of an image with each of its 2 x 3 patches.
  The pairs are divided among time, height and width in three blocks, or alternate.
- In `shared`, half of the pairs turn with the row, half with the column, in `shifted` five further.
  `split` has other frequencies for the column; in `rows_only`, a mistake, all turn with the row.

>>> show(computed(steps))
turns [10.1859 5.0930 2.5465 1.2732 0.6366 0.3183 0.1592 0.0796]
kept_paper [1 0.5847 0.2209 0.0390 0 0 0 0]
kept_code [1 0.7500 0.5000 0.2500 0 0 0 0]
speeds 5 x 8
[[     1 0.5000 0.2500 0.1250      0      0      0      0]
 [0.2500 0.2500 0.2500 0.2500 0.2500 0.2500 0.2500 0.2500]
 [     1 0.8203 0.6730 0.5520 0.4529 0.3715 0.3048 0.2500]
 [     1 0.6885 0.4157 0.2793 0.2500 0.2500 0.2500 0.2500]
 [     1 0.8125 0.6250 0.4375 0.2500 0.2500 0.2500 0.2500]]
temperature [1.1386]
plain [0.6439 0.2369 0.0871 0.0321]
only_queries [0.6870 0.2200 0.0705 0.0226]
once [0.7306 0.1998 0.0546 0.0149]
twice [0.8148 0.1517 0.0283 0.0053]
partial [6.6000 2.0545 -0.6570 1.0005 5.5726]
of_head [6.6000 2.1011 -0.4743 1.3982 6.2471]
on_scores [8.5567 2.6636 -0.8518 1.2972 7.2247]
on_turned [6.7779 0.8848 -2.6306 -0.4817 5.4458]
chunks [[9.7386 9.6854 9.6312] [9.7074 9.6542 9.6000]]
woven [[9.6000 10.0953 10.6213] [8.5787 9.0739 9.6000]]
shared [[8.4687 8.4540 7.6648] [10.4039 10.3893 9.6000]]
split [[8.4540 8.1191 7.6648] [10.3893 10.0543 9.6000]]
shifted [[8.4687 8.4540 7.6648] [10.4039 10.3893 9.6000]]
rows_only [[8.4540 8.4540 8.4540] [9.6000 9.6000 9.6000]]
"""

import math

import numpy

from attention_docs.arrays import check_positive
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
# The axis of each pair: time 0, height 1 or width 2.
CHUNKS, WOVEN = (0, 0, 0, 0, 1, 1, 2, 2), (0, 1, 2, 0, 1, 2, 0, 0)
ROWS, COLUMNS, TIME = 2, 3, 5  # an image that follows five words

SPEEDS = ["half of the head", "interpolated", "NTK-aware", "YaRN, paper", "YaRN, code"]
PAIR_NAMES = [str(pair) for pair in range(PAIRS)]
GRID = ["row 0", "row 1"], ["column 0", "column 1", "column 2"]
DISTANCES = [str(distance) for distance in range(5)]
LABELS = {
    "speeds": (SPEEDS, PAIR_NAMES),
    "turns kept_paper kept_code": (PAIR_NAMES,),
    "partial of_head on_scores on_turned": (DISTANCES,),
    "chunks woven shared split shifted rows_only": GRID,
}


def turn(x, angles, xp):
    """Rotate each pair of x, a feature of its first half and one of its second, by an angle."""
    a, b = x[:PAIRS], x[PAIRS:]
    cosines, sines = xp.cos(angles), xp.sin(angles)
    return xp.concat([a * cosines - b * sines, a * sines + b * cosines], axis=-1)


def kept_speed(turns, bounds, trained, xp):
    """Return the part of its plain speed that each pair keeps in YaRN, in the paper and the code.

    Between the bounds, it grows linearly with the turns of a pair in the paper, and falls linearly
    with the index of the pair in the code.
    """
    zero = xp.asarray(0.0, dtype=xp.float64)

    def clip(part):
        """Limit to 0 ... 1, with `maximum` alone, because the pages have no `minimum`."""
        return 1 - xp.maximum(1 - xp.maximum(part, zero), zero)

    paper = (turns - bounds[0]) / (bounds[1] - bounds[0])
    # The pair, a fraction, that would turn as often as each bound says.
    pair_at_bound = xp.log(trained / (bounds * 2 * math.pi)) / math.log(BASE) * PAIRS
    first_pair = xp.maximum(-xp.ceil(-pair_at_bound[1:]), zero)  # floor; the pages have no `floor`
    last_pair = xp.ceil(pair_at_bound[0])
    code = 1 - (pair_indices(xp) - first_pair) / (last_pair - first_pair)
    return clip(paper), clip(code)


def steps(xp=numpy):
    """Return the speeds of pairs, weights with a temperature, and scores of heads and of images.

    The docstring of the module explains each step.
    """
    frequencies = xp.asarray(float(BASE), dtype=xp.float64) ** (-pair_indices(xp) / PAIRS)
    factor = xp.asarray(FACTOR, dtype=xp.float64)
    check_positive(xp, factor=factor)
    temperature = 1 + xp.log(factor) / 10  # as the paper on YaRN recommends
    return {
        **pair_speeds(xp, frequencies, factor),
        **tempered_weights(xp, temperature),
        **partial_scores(xp, temperature),
        **image_scores(xp, frequencies),
    }


def pair_indices(xp):
    return xp.arange(PAIRS, dtype=xp.float64)


def pair_speeds(xp, frequencies, factor):
    """Return the speed of each pair, relative to its frequency in plain rotary positions."""
    trained, bounds = (xp.asarray(numbers, dtype=xp.float64) for numbers in (TRAINED, BOUNDS))
    pairs = pair_indices(xp)
    turns = trained * frequencies / (2 * math.pi)
    kept_paper, kept_code = kept_speed(turns, bounds, trained, xp)
    # Half of the head has PAIRS / 2 pairs, whose frequencies fall twice as fast from pair to pair.
    # The other pairs do not turn.
    half_frequencies = xp.asarray(float(BASE), dtype=xp.float64) ** (-2 * pairs / PAIRS)
    half = xp.where(pairs < PAIRS / 2, half_frequencies / frequencies, xp.zeros_like(pairs))
    interpolated = xp.ones_like(pairs) / factor
    ntk = factor ** (-pairs / (PAIRS - 1))
    yarn_paper = kept_paper + (1 - kept_paper) / factor
    yarn_code = kept_code + (1 - kept_code) / factor
    return {
        "factor": factor,
        "trained": trained,
        "bounds": bounds,
        "turns": turns,
        "kept_paper": kept_paper,
        "kept_code": kept_code,
        "speeds": xp.stack([half, interpolated, ntk, yarn_paper, yarn_code]),
    }


def tempered_weights(xp, temperature):
    """Return the softmax of a row of scores, multiplied by powers of YaRN's temperature m."""
    row = xp.asarray(ROW, dtype=xp.float64)
    return {
        "temperature": temperature,
        "row": row,
        "plain": softmax(row),
        "only_queries": softmax(temperature * row),
        "once": softmax(temperature**2 * row),  # queries and keys
        "twice": softmax(temperature**4 * row),
    }


def partial_scores(xp, temperature):
    """Return the scores of a query at position 0 with keys at five positions.

    Only the first TURNED features turn. `on_scores` applies the temperature to all features, and
    `on_turned` to these alone.
    """
    q, k = (xp.asarray(numbers, dtype=xp.float64) for numbers in (Q, K))
    positions = xp.arange(len(DISTANCES), dtype=xp.float64)

    def turned_scores(base):
        """Return the part of the scores that comes from the features that turn."""
        rows = xp.repeat(k[None, :TURNED], len(DISTANCES), axis=0)
        return rotary(rows, positions, base) @ q[:TURNED]

    turned = turned_scores(PARTIAL_BASE)
    unturned = k[TURNED:] @ q[TURNED:]
    # With this base, the frequencies of the turned pairs are the first of all pairs of the head.
    base_of_head = PARTIAL_BASE ** (TURNED / len(Q))
    return {
        "q": q,
        "k": k,
        "partial": turned + unturned,
        "of_head": turned_scores(base_of_head) + unturned,
        "on_scores": temperature**2 * (turned + unturned),
        "on_turned": temperature**2 * turned + unturned,
    }


def image_scores(xp, frequencies):
    """Return the scores of patches if each pair turns with one axis of the position."""
    halves = (1,) * 4 + (2,) * 4
    shared, split = (xp.concat([frequencies[0::2], frequencies[i::2]]) for i in (0, 1))
    q, k = (xp.asarray(numbers, dtype=xp.float64) for numbers in (PATCH_Q, PATCH_K))

    def turn_at(x, axes, position, frequencies):
        """Rotate each pair of x by its frequency times the coordinate on its axis.

        The position is (time, height, width).
        """
        coordinates = xp.asarray([position[axis] for axis in axes])
        return turn(x, xp.astype(coordinates, xp.float64) * frequencies, xp)

    def patch_scores(axes, frequencies=frequencies, shift=0):
        """Return the scores of the last patch with every patch of the image, (rows, columns)."""
        patches = [[TIME, h + shift, w + shift] for h in range(ROWS) for w in range(COLUMNS)]
        query = turn_at(q, axes, patches[-1], frequencies)
        keys = [turn_at(k, axes, patch, frequencies) for patch in patches]
        return xp.reshape(xp.stack([xp.sum(query * key) for key in keys]), (ROWS, COLUMNS))

    return {
        "patch_q": q,
        "patch_k": k,
        "chunks": patch_scores(CHUNKS),
        "woven": patch_scores(WOVEN),
        "shared": patch_scores(halves, shared),
        "split": patch_scores(halves, split),
        "shifted": patch_scores(halves, shared, shift=5),
        "rows_only": patch_scores((1,) * PAIRS, shared),
    }
