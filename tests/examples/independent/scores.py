"""Saturation, matching, variance of a score and overflow, by closed forms and the same draws."""

import math
import statistics
from itertools import pairwise

import numpy as np

from tests import loops
from tests.examples.comparison import independent


@independent(
    "softmax_saturation",
    "Python's numbers, and a step in the imaginary direction",
    # One minus a weight near one has eight significant digits.
    rtol=1e-8,
    atol=0,
    fixed=["FACTORS"],
)
def softmax_saturation(literals):
    computed, largest_slopes, largest_slopes_by_z = {}, [], []
    for factor, suffix in ((0.25, "_divided"), (1, ""), (4, "_times_four")):
        scores = [factor * score for score in literals["z"]]
        weights = loops.softmax_row(scores)
        jacobian = loops.softmax_slopes(scores)
        computed[f"z{suffix}"] = scores
        computed[f"weights{suffix}"] = weights
        computed[f"jacobian{suffix}"] = jacobian
        largest_slopes.append(np.abs(jacobian).max())
        largest_slopes_by_z.append(factor * largest_slopes[-1])
        if factor <= 1:  # the example has these steps only without the factor 4
            computed[f"gaps{suffix}"] = [b - a for a, b in pairwise(scores)]
            computed[f"ratios{suffix}"] = [math.exp(b - a) for a, b in pairwise(scores)]
            computed[f"differences{suffix}"] = [b - a for a, b in pairwise(weights)]
    return {
        **computed,
        "largest_slopes": largest_slopes,
        "largest_slopes_by_z": largest_slopes_by_z,
    }


@independent("score_matching", "a slow loop over pairs")
def score_matching(literals):
    q, k = literals["Q"], literals["K"]
    steps = loops.every_step(q, k, k)
    return {
        **{name: steps[name] for name in ("scores", "scaled", "weights")},
        # The first query matches all keys but the third, the other queries only that one.
        "matches": [[True, True, False, True, True], *4 * [[False, False, True, False, False]]],
        "query_1_meets_key_3": [a * b for a, b in zip(q[0], k[2], strict=True)],
    }


@independent("score_variance", "sums over the same draws, and cumulants", fixed=["D"])
def score_variance(literals):
    draw, pairs, d = np.random.RandomState(0), literals["PAIRS"], np.array(literals["D"])
    s = [np.einsum("pi,pi->p", *draw.standard_normal((2, pairs, width))) for width in d]
    mean, variance = np.mean(s, axis=1), np.var(s, axis=1)
    mean_error = np.sqrt(d) / math.sqrt(pairs)
    # A product of two normal numbers has the excess kurtosis 6, and a sum of d of them 6/d.
    variance_error = d * np.sqrt((2 + 6 / d) / pairs)
    return {
        "pairs": pairs,
        "mean": mean,
        "mean_error": mean_error,
        "mean_errors_away": mean / mean_error,
        "variance": variance,
        "variance_error": variance_error,
        "variance_errors_away": (variance - d) / variance_error,
        "variance_of_scaled": variance / d,
        "kurtosis": [np.mean(((row - row.mean()) / row.std()) ** 4) - 3 for row in s],
        "kurtosis_exact": 6 / d,
    }


@independent("random_scores", "sums over the same draws", fixed=["D", "SHARES", "CHOICE"])
def random_scores(literals):
    draw, d = np.random.RandomState(0), np.array(literals["D"])
    s = [np.einsum("pi,pi->p", *draw.standard_normal((2, 10_000, width))) for width in d]
    inner_edges = 0.4 * np.arange(-7.5, 8)
    bins = [np.searchsorted(inner_edges, row / math.sqrt(w)) for row, w in zip(s, d, strict=True)]
    scores = np.percentile(s[1], [10, 30, 50, 70, 90])
    return {
        "deviations": [[row.std() for row in s], [row.std() for row in s] / np.sqrt(d)],
        "roots": np.sqrt(d),
        "bins": [0.4 * np.sqrt(d), [0.4] * 3],
        "counts": [np.bincount(row, minlength=17) for row in bins],
        "choice": literals["CHOICE"],
        "selected": [0, 1, 0],
        "scores": scores,
        "scaled": scores / 8,
        "weights_unscaled": loops.softmax_row(scores),
        "weights": loops.softmax_row(scores / 8),
    }


@independent("source_experiment", "sums over the same draws", rtol=1e-9)
def source_experiment(literals):
    draw, length, pairs = np.random.RandomState(0), 10_000, 20_000
    q, k = draw.standard_normal(length), draw.standard_normal(length)
    products = (q * k).tolist()
    # Each pair of the repeated case is one number, which all 16 features share.
    repeated = draw.standard_normal(pairs) * draw.standard_normal(pairs)
    return {
        "one_score": math.fsum(products),
        "mean_of_products": statistics.fmean(products),
        "source_variance": math.fsum(x**2 for x in products) - statistics.fmean(products) ** 2,
        "d": length,
        "standard_deviation_of_source_variance": math.sqrt(8) * 100,
        "repeated_d": 16,
        # Of 16 equal products p: 16 p^2 - p^2, and the variance of 16 p.
        "repeated_source_variance": 15 * np.mean(repeated**2),
        "repeated_source_variance_expected": 15,
        "repeated_variance": 256 * np.var(repeated),
        "repeated_variance_exact": 256,
    }


@independent("softmax_overflow", "Python's exp, which raises on overflow")
def softmax_overflow(literals):
    def exp(z):
        try:
            return math.exp(z)
        except OverflowError:
            return math.inf

    def naive(row):
        total = sum(exp(z) for z in row)
        if total == 0:
            return [math.nan for _ in row]
        return [math.nan if exp(z) == math.inf else exp(z) / total for z in row]

    small, large, filled = (literals[name] for name in ("SMALL", "LARGE", "FILLED"))
    return {
        "small_naive": naive(small),
        "small_stable": loops.softmax_row(small),
        "large_naive": naive(large),
        "large_stable": loops.softmax_row(large),
        "filled_naive": naive(filled),
        "filled_stable": loops.softmax_row(filled),
        # The largest numbers are 2^1024 (1 - 2^-53) and 2^128 (1 - 2^-24).
        "largest_exponent": 1024 * math.log(2) + math.log1p(-(2**-53)),
        "largest_exponent_float32": 128 * math.log(2) + math.log1p(-(2**-24)),
        "large_powers": [exp(z) for z in large],
        "filled_powers": [0, 0, 0],
        "hidden_stable": [0, 0, 0],
        "beyond_stable": [0, 0, 1],
        "beyond_right": [0, 1, 0],
    }
