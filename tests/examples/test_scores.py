"""The variance of a score, derived independently."""

import math

import numpy as np
import pytest

from tests import loops


def normal_moment(power):
    """Return E x^power of a standard normal x: (power - 1)!! if even, else 0."""
    return 0 if power % 2 else math.prod(range(1, power, 2))


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_fourth_moment_of_a_score_is_three_d_squared_plus_six_d(d):
    """E (sum q_i k_i)^4 as a sum over four indices: each term is a product of moments, squared."""
    total = 0
    for indices in np.ndindex(d, d, d, d):
        powers = np.bincount(indices)
        total += math.prod(normal_moment(int(power)) for power in powers) ** 2
    assert total == 3 * d**2 + 6 * d


def test_standard_deviation_of_sum_of_squared_products():
    pairs, d = 2000, 64
    query, key = np.random.RandomState(0).standard_normal((2, pairs, d))
    sums = [loops.dot(products, products) for products in query * key]
    assert np.std(sums) == pytest.approx(math.sqrt(8 * d), rel=0.15)
