"""How large is a score? Many dot products of random vectors, for several d.

Each entry of a step belongs to one d: 8000 pairs of a query and a key with independent standard
normal features. Their score s has mean 0 and variance d. A product p of two features has the fourth
moment E p^4 = 9, and two different products p and r have E p^2 r^2 = 1, so

    E s^4 = 9 d + 3 d (d - 1) = 3 d^2 + 6 d.

So the excess kurtosis is 6 / d (a normal has 0), and the standard error of the variance of N scores
is the root of (E s^4 - d^2) / N = (2 d^2 + 6 d) / N. `mean_errors_away` and `variance_errors_away`
are the differences between measured and proved values, in standard errors.

`beyond_3` is the share of scores more than three standard deviations from the mean. Its exact value
follows from

    q k = (u^2 - v^2) / 2 with u = (q + k) / sqrt(2) and v = (q - k) / sqrt(2), independent too,

so s is the difference T_1 - T_2 of two waiting times, each for d / 2 arrivals at rate 1. It exceeds
t if fewer than d / 2 of the first arrivals come by time t, and all d / 2 of the second come before
the rest of the first.

With features of standard deviation 2 (each score four times as large) the variance is 2^4 d. With
keys k = rho q + sqrt(1 - rho^2) noise, noise of variance 1, so correlated by rho = 1/2 with their
queries, it is (1 + rho^2) d around the mean rho d: the proofs need independence.

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
kurtosis_error_of_a_normal 0.0548
beyond_3 [0.0115 0.0056 0.0026 0.0039]
beyond_3_exact [0.0099 0.0049 0.0033 0.0029]
beyond_3_of_a_normal 0.0027
variance_sigma_2 [64.9536 260.9616 1017.4680 4052.2980]
variance_sigma_2_exact [64 256 1024 4096]
mean_correlated [1.9928 7.9791 31.9329 127.8292]
mean_correlated_exact [2 8 32 128]
variance_correlated [5.0381 20.2901 78.7424 316.9966]
variance_correlated_exact [5 20 80 320]
"""

import math
from functools import cache

import numpy

TITLE = "Mean and variance of a score, measured"
SOURCE = "002_d7461449c953e4ff.txt, “Why Divided by √d_k”"

D = (4, 16, 64, 256)
PAIRS = 8000
SEED = 0
SIGMA = 2.0
RHO = 0.5

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
    "kurtosis_error_of_a_normal": f"√({math.factorial(4)} / pairs)",
    "beyond_3": "the share of scores with |s| > 3 √d",
    "beyond_3_exact": "twice the probability that a score exceeds 3 √d",
    "beyond_3_of_a_normal": "erfc(3 / √2)",
    "variance_sigma_2": "the variance of 2² s",
    "variance_sigma_2_exact": "2⁴ d",
    "mean_correlated": f"the mean of the scores of keys k = ρ q + √(1 − ρ²) noise, with ρ = {RHO}",
    "mean_correlated_exact": f"ρ d, with ρ = {RHO}",
    "variance_correlated": "the variance of the same scores",
    "variance_correlated_exact": f"(1 + ρ²) d, with ρ = {RHO}",
}


def steps(xp=numpy):
    """Measure moments and tails of scores for each d, beside their exact values.

    Steps with `sigma_2` in their name have features of standard deviation 2, and steps with
    `correlated` have keys that are correlated with their queries.
    """
    d = xp.asarray(D, dtype=xp.float64)
    s, correlated = draw_scores(xp, D, PAIRS)  # (len(D), PAIRS) each
    mean, variance, kurtosis = moments(xp, s)
    mean_error = xp.sqrt(d / PAIRS)
    variance_error = xp.sqrt((2 * d**2 + 6 * d) / PAIRS)
    is_beyond_3 = xp.abs(s) > 3 * xp.sqrt(d)[:, None]
    correlated_mean, correlated_variance, _ = moments(xp, correlated)
    return {
        "d": d,
        "pairs": xp.asarray(PAIRS),
        "mean": mean,
        "mean_error": mean_error,
        "mean_errors_away": mean / mean_error,
        "variance": variance,
        "variance_error": variance_error,
        "variance_errors_away": (variance - d) / variance_error,
        "variance_of_scaled": moments(xp, s / xp.sqrt(d)[:, None])[1],
        "kurtosis": kurtosis,
        "kurtosis_exact": 6 / d,
        "kurtosis_error_of_a_normal": xp.sqrt(
            xp.asarray(math.factorial(4) / PAIRS, dtype=xp.float64)
        ),
        "beyond_3": xp.mean(xp.astype(is_beyond_3, xp.float64), axis=1),
        "beyond_3_exact": xp.asarray([2 * probability_above(n, 3 * math.sqrt(n)) for n in D]),
        "beyond_3_of_a_normal": xp.asarray(math.erfc(3 / math.sqrt(2)), dtype=xp.float64),
        "variance_sigma_2": moments(xp, SIGMA**2 * s)[1],
        "variance_sigma_2_exact": SIGMA**4 * d,
        "mean_correlated": correlated_mean,
        "mean_correlated_exact": RHO * d,
        "variance_correlated": correlated_variance,
        "variance_correlated_exact": (1 + RHO**2) * d,
    }


@cache
def draw_scores(xp, widths, pairs):
    """Return (len(widths), pairs) scores of independent and of correlated keys."""
    random_state = numpy.random.RandomState(SEED)
    independent, correlated = [], []
    for d in widths:
        query = xp.asarray(random_state.standard_normal((pairs, d)))
        noise = xp.asarray(random_state.standard_normal((pairs, d)))
        independent.append(xp.sum(query * noise, axis=1))
        # The dot product of the query with the key rho q + sqrt(1 - rho^2) noise.
        squares = xp.sum(query**2, axis=1)
        correlated.append(RHO * squares + math.sqrt(1 - RHO**2) * independent[-1])
    return xp.stack(independent), xp.stack(correlated)


def probability_above(d, t):
    """Return the probability that a score of d features, an even number, exceeds t.

    A score is the difference of two waiting times, each for d / 2 arrivals. So this is the sum over
    i < d / 2 of the probability that i arrivals of the first kind come by time t, times the
    probability that all d / 2 of the second kind then come before the rest of the first.
    """
    half = d // 2
    arrivals_by_t = [math.exp(-t) * t**i / math.factorial(i) for i in range(half)]
    # Entry j: exactly j arrivals of the first kind come before the last one of the second kind.
    overtakings = [math.comb(half - 1 + j, j) / 2 ** (half + j) for j in range(half)]
    return math.fsum(p * math.fsum(overtakings[: half - i]) for i, p in enumerate(arrivals_by_t))


def moments(xp, s):
    """Return the mean, the variance and the excess kurtosis of each row."""
    mean = xp.mean(s, axis=1)
    squares = (s - mean[:, None]) ** 2
    variance = xp.mean(squares, axis=1)
    return mean, variance, xp.mean(squares**2, axis=1) / variance**2 - 3
