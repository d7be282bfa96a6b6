"""What the published experiment measures, and what it misses.

It draws one query and one key of 10000 features, multiplies them, and prints the sum of the squared
products as the variance. That is one score, `one_score`, and an estimate of d E[(qk)^2] from its
products. It does not measure how scores vary from pair to pair. One (qk)^2 has the variance
9 - 1 = 8, so the estimate has the standard deviation sqrt(8 d).

The repeated case shows the difference. All features of a query are the same number, and so are all
features of its key: the features are no longer independent of each other, the score is d q k, and
its variance is d^2. The published formula, averaged over many pairs, still gives about d.

>>> show(computed(steps))
one_score -78.1205
mean_of_products -0.0078
source_variance 9610.9550
standard_deviation_of_source_variance 282.8427
repeated_source_variance 15.2823
repeated_source_variance_expected 15
repeated_variance 260.8044
repeated_variance_exact 256
"""

import math

import numpy

TITLE = "Why one long dot product does not measure the variance of a score"
SOURCE = "002_d7461449c953e4ff.txt, “Code Example”"

SEED = 0
LENGTH = 10_000
D = 16  # features in the repeated case
PAIRS = 20_000

FORMULAS = {
    "one_score": "the sum of the products q k of all features",
    "mean_of_products": "the mean of q k",
    "source_variance": "the sum of (q k)² − mean_of_products²",
    "d": "the number of features",
    "standard_deviation_of_source_variance": "√(8 d)",
    "repeated_d": "the number of features, all of which are one number",
    "repeated_source_variance": f"the mean of what the publication computes, over {PAIRS} pairs",
    "repeated_source_variance_expected": "repeated_d − 1",
    "repeated_variance": f"the variance of the scores of {PAIRS} pairs",
    "repeated_variance_exact": "repeated_d²",
}


def steps(xp=numpy):
    """Repeat the published experiment, and measure the variance of scores of repeated features."""
    random_state = numpy.random.RandomState(SEED)
    q = xp.asarray(random_state.standard_normal(LENGTH))
    k = xp.asarray(random_state.standard_normal(LENGTH))
    products = q * k
    repeated_q = xp.asarray(random_state.standard_normal((PAIRS, 1)))
    repeated_k = xp.asarray(random_state.standard_normal((PAIRS, 1)))
    repeated_products = xp.broadcast_to(repeated_q * repeated_k, (PAIRS, D))
    # What the publication computes, for each pair.
    source_variances = (
        xp.sum(repeated_products**2, axis=1) - xp.mean(repeated_products, axis=1) ** 2
    )
    return {
        "one_score": xp.sum(products),
        "mean_of_products": xp.mean(products),
        "source_variance": xp.sum(products**2) - xp.mean(products) ** 2,
        "d": xp.asarray(LENGTH),
        "standard_deviation_of_source_variance": xp.asarray(math.sqrt(8 * LENGTH)),
        "repeated_d": xp.asarray(D),
        "repeated_source_variance": xp.mean(source_variances),
        "repeated_source_variance_expected": xp.asarray(D - 1.0),
        "repeated_variance": xp.var(xp.sum(repeated_products, axis=1)),
        "repeated_variance_exact": xp.asarray(D**2),
    }
