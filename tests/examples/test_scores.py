"""Printed numbers, the variance of a score and overflow: statements of the pages about them."""

import math

import numpy as np
import pytest

from attention_docs import examples
from tests import loops

# Weights and outputs as printed in 000_2da5eed0b4267db4.txt, in its text and its code cells.
PRINTED = {
    ("self_attention", "weights"): [[0.106, 0.447, 0.447], [0.447, 0.106, 0.447], [0.211, 0.211, 0.577]],
    ("self_attention", "output"): [[0.894, 1.788], [0.894, 1.788], [1.154, 2.309]],
    ("cross_attention", "weights"): [[0.5, 0, 0.5], [0, 0.5, 0.5]],
    ("cross_attention", "output"): [[2, 1], [1, 2]],
}  # fmt: skip


@pytest.mark.parametrize(("name", "step"), PRINTED)
def test_every_printed_row_of_first_document_is_wrong(name, step):
    for printed, right in zip(PRINTED[name, step], examples.steps(name)[step], strict=True):
        assert max(abs(a - b) for a, b in zip(printed, right, strict=True)) > 0.01


def test_printed_weights_match_first_document():
    printed = PRINTED["self_attention", "weights"]
    np.testing.assert_array_equal(examples.steps("printed_weights")["weights"], printed)


@pytest.mark.parametrize("statistic", ["mean", "variance"])
def test_measured_statistic_is_within_three_standard_errors(statistic):
    errors = examples.steps("score_variance")[f"{statistic}_errors_away"]
    assert np.all(np.abs(errors) < 3)


@pytest.mark.parametrize(
    ("statistic", "rtol"),
    [("variance_sigma_2", 0.05), ("variance_correlated", 0.05), ("mean_correlated", 0.01)],
)
def test_measured_statistic_is_close_to_the_exact_one(statistic, rtol):
    steps = examples.steps("score_variance")
    np.testing.assert_allclose(steps[statistic], steps[f"{statistic}_exact"], rtol=rtol)


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


def test_share_beyond_three_deviations_matches_theory():
    example, steps = examples.load("score_variance"), examples.steps("score_variance")
    proved = steps["beyond_3_exact"]
    error = np.sqrt(proved * (1 - proved) / example.PAIRS)
    assert np.all(np.abs(steps["beyond_3"] - proved) < 3 * error)


def test_score_of_two_features_is_distributed_exponentially():
    t, probability_above = 1.5, examples.load("score_variance").probability_above
    assert probability_above(2, t) == pytest.approx(math.exp(-t) / 2)


def test_published_variance_is_within_three_standard_deviations():
    steps = examples.steps("source_experiment")
    error = steps["source_variance"] - steps["d"]
    assert abs(error) < 3 * steps["standard_deviation_of_source_variance"]


def test_standard_deviation_of_sum_of_squared_products():
    pairs, d = 2000, 64
    query, key = np.random.RandomState(0).standard_normal((2, pairs, d))
    sums = [loops.dot(products, products) for products in query * key]
    assert np.std(sums) == pytest.approx(math.sqrt(8 * d), rel=0.15)


def test_published_experiment_misses_repeated_features():
    steps = examples.steps("source_experiment")
    of_source, exact = steps["repeated_source_variance_expected"], steps["repeated_variance_exact"]
    assert of_source < exact / 10
    assert steps["repeated_source_variance"] == pytest.approx(of_source, rel=0.1)
    assert steps["repeated_variance"] == pytest.approx(exact, rel=0.1)


def test_largest_exponent_is_the_limit_of_exp():
    limit = float(examples.steps("softmax_overflow")["largest_exponent"])
    assert math.isfinite(math.exp(limit - 1e-9))
    with pytest.raises(OverflowError):
        math.exp(limit + 1e-9)
