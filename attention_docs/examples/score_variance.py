"""How large is a score? Many dot products of random vectors, for several d.

Each entry of a step belongs to one d: 8000 pairs of a query and a key with independent standard
normal features. Their score s has mean 0 and variance d. A product p of two features has the fourth
moment E p^4 = 9, and two different products p and r have E p^2 r^2 = 1, so

    E s^4 = 9 d + 3 d (d - 1) = 3 d^2 + 6 d.

So the excess kurtosis is 6 / d (a normal has 0), and the standard error of the variance of N scores
is the root of (E s^4 - d^2) / N = (2 d^2 + 6 d) / N. `mean_errors_away` and `variance_errors_away`
are the differences between measured and proved values, in standard errors.

>>> show(computed(steps))
d [4 16 64 256]
mean [0.0176 -0.0064 -0.0618 -0.0188]
mean_error [0.0224 0.0447 0.0894 0.1789]
mean_errors_away [0.7874 -0.1434 -0.6911 -0.1053]
variance [4.0596 16.3101 63.5917 253.2686]
variance_error [0.0837 0.2757 1.0354 4.0714]
variance_errors_away [0.7123 1.1248 -0.3943 -0.6709]
variance_of_scaled [1.0149 1.0194 0.9936 0.9893]
kurtosis [1.4929 0.4379 0.0262 0.1150]
kurtosis_exact [1.5000 0.3750 0.0938 0.0234]
"""

import numpy

TITLE = "Mean and variance of a score, measured"
SOURCE = "002_d7461449c953e4ff.txt, “Why Divided by √d_k”"

D = (4, 16, 64, 256)
PAIRS = 8000
SEED = 0

FORMULAS = {
    "d": "the numbers of features that are tried",
    "pairs": "how many queries and keys are drawn for each d",
    "mean": "the mean of the scores s = q · k",
    "mean_error": "√(d / pairs)",
    "mean_errors_away": "mean / mean_error",
    "variance": "the mean of (s − mean)²",
    "variance_error": "√((2 d² + 6 d) / pairs)",
    "variance_errors_away": "(variance − d) / variance_error",
    "variance_of_scaled": "the variance of s / √d",
    "kurtosis": "the mean of (s − mean)⁴, divided by variance², − 3",
    "kurtosis_exact": "6 / d",
}


def steps(xp=numpy):
    """Measure moments of scores for each d, beside their exact values."""
    random_state = numpy.random.RandomState(SEED)
    d = xp.asarray(D, dtype=xp.float64)
    draws = [random_state.standard_normal((2, PAIRS, width)) for width in D]
    scores = [xp.sum(xp.asarray(query) * xp.asarray(key), axis=1) for query, key in draws]
    s = xp.stack(scores)  # (len(D), PAIRS)
    mean = xp.mean(s, axis=1)
    mean_error = xp.sqrt(d / PAIRS)
    squares = (s - mean[:, None]) ** 2
    variance = xp.mean(squares, axis=1)
    variance_error = xp.sqrt((2 * d**2 + 6 * d) / PAIRS)
    return {
        "d": d,
        "pairs": xp.asarray(PAIRS),
        "mean": mean,
        "mean_error": mean_error,
        "mean_errors_away": mean / mean_error,
        "variance": variance,
        "variance_error": variance_error,
        "variance_errors_away": (variance - d) / variance_error,
        "variance_of_scaled": xp.var(s / xp.sqrt(d)[:, None], axis=1),
        "kurtosis": xp.mean(squares**2, axis=1) / variance**2 - 3,
        "kurtosis_exact": 6 / d,
    }
