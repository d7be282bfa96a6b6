"""Ten thousand random scores for each of three d, and the softmax of five of them.

The features of queries and keys are independent standard normal numbers. `counts` says how many of
the scores lie in each bin; the first and the last have all beyond, too. `bins` are the widths of
the bins, and `deviations` the standard deviations of the scores, without and with the root.

`choice` selects one d, and `scores` are five of its scores, of which the `SHARES` of all
are less.

>>> show(computed(steps))
roots [2 8 32]
deviations [[1.9677 7.9882 32.2292] [0.9838 0.9985 1.0072]]
bins [[0.8000 3.2000 12.8000] [0.4000 0.4000 0.4000]]
counts 3 x 17
[[46 36  76 194 336 638  983 1602 2011 1655 1067 629 373 168 88 48 50]
 [16 26 114 217 443 750 1113 1486 1644 1479 1181 705 466 222 85 38 15]
 [ 8 35 103 237 439 806 1194 1466 1529 1423 1152 798 446 214 94 44 12]]
scores [-10.1805 -4.0114 0.0615 4.0934 10.2447]
weights_unscaled [1.3e-09 6.4e-07 3.8e-05 0.0021 0.9978]
scaled [-1.2726 -0.5014 0.0077 0.5117 1.2806]
weights [0.0391 0.0846 0.1407 0.2330 0.5026]
"""

from functools import cache

import numpy

from attention_docs.softmax import softmax

TITLE = "Many random scores, and a softmax of five of them"
SOURCE = "our own example"

D = (4, 64, 1024)
PAIRS = 10_000
SEED = 0
BINS, BIN = 17, 0.4  # in units of the root of d
SHARES = (0.1, 0.3, 0.5, 0.7, 0.9)
CHOICE = [False, True, False]

RANKS = ["lowest", "low", "middle", "high", "highest"]
LABELS = {
    "deviations bins": (["without the root", "with the root"], [f"d = {d}" for d in D]),
    "choice selected roots": ([f"d = {d}" for d in D],),
    "scores weights_unscaled scaled weights": (RANKS,),
}


@cache
def draw():
    """Return the root of d, (3,), and the scores of pairs of random vectors, (3, PAIRS)."""
    random_state = numpy.random.RandomState(SEED)
    vectors = (random_state.standard_normal((2, PAIRS, d)) for d in D)
    return numpy.sqrt(D), numpy.stack([numpy.sum(q * k, axis=1) for q, k in vectors])


def steps(xp=numpy):
    """Count the scores in bins, and return the softmax of five with and without the division."""
    roots, drawn = draw()
    scaled = drawn / roots[:, None]
    middles = numpy.clip(numpy.round(scaled / BIN), -(BINS // 2), BINS // 2)
    counts = [[numpy.sum(row == i - BINS // 2) for i in range(BINS)] for row in middles]
    choice = xp.asarray(CHOICE, dtype=xp.bool)
    selected = xp.astype(choice, xp.float64)
    scores = selected @ xp.asarray(numpy.quantile(drawn, SHARES, axis=1).T)
    scores_scaled = scores / (selected @ xp.asarray(roots))
    return {
        "choice": choice,
        "roots": xp.asarray(roots),
        "selected": selected,
        "deviations": xp.asarray([numpy.std(drawn, axis=1), numpy.std(scaled, axis=1)]),
        "bins": xp.asarray([BIN * roots, [BIN, BIN, BIN]]),
        "counts": xp.asarray(counts),
        "scores": scores,
        "weights_unscaled": softmax(scores),
        "scaled": scores_scaled,
        "weights": softmax(scores_scaled),
    }
