"""Saturation, matching, the variance of a score, overflow: each against another way."""

import itertools
import math

import numpy as np
import pytest

from attention_docs import examples
from tests import reference

# Weights and outputs that 000_2da5eed0b4267db4.txt prints, in its text and in its code cells.
PRINTED = {
    ("self_attention", "weights"): [[0.106, 0.447, 0.447], [0.447, 0.106, 0.447], [0.211, 0.211, 0.577]],
    ("self_attention", "output"): [[0.894, 1.788], [0.894, 1.788], [1.154, 2.309]],
    ("cross_attention", "weights"): [[0.5, 0, 0.5], [0, 0.5, 0.5]],
    ("cross_attention", "output"): [[2, 1], [1, 2]],
}  # fmt: skip


@pytest.mark.parametrize(("name", "step"), PRINTED)
def test_no_row_of_weights_or_outputs_that_the_first_document_prints_is_right(name, step):
    for printed, right in zip(PRINTED[name, step], examples.steps(name)[step], strict=True):
        assert max(abs(a - b) for a, b in zip(printed, right, strict=True)) > 0.01


def test_what_follows_from_the_printed_weights_equals_a_slow_loop():
    steps, right = examples.steps("printed_weights"), examples.steps("self_attention")
    printed = PRINTED["self_attention", "weights"]
    np.testing.assert_array_equal(steps["weights"], printed)
    np.testing.assert_allclose(steps["row_sums"], [math.fsum(row) for row in printed], rtol=1e-15)
    np.testing.assert_allclose(steps["output"], reference.matmul(printed, right["V"]), rtol=1e-14)


def test_jacobians_are_the_derivatives_of_the_softmax(torch):
    steps = examples.steps("softmax_saturation")
    z = torch.tensor(steps["z"].tolist(), dtype=torch.float64)
    for factor, name in zip((0.25, 1, 4), ("_divided", "", "_times_four"), strict=True):
        expected = torch.autograd.functional.jacobian(lambda s: torch.softmax(s, 0), factor * z)
        np.testing.assert_allclose(steps[f"jacobian{name}"], expected.numpy(), atol=1e-16)
    assert list(steps["largest_slopes"]) == sorted(steps["largest_slopes"], reverse=True)


def test_the_scale_shrinks_every_gap_by_the_same_factor():
    steps = examples.steps("softmax_saturation")
    np.testing.assert_array_equal(steps["gaps"] / steps["gaps_divided"], [4, 4, 4])
    np.testing.assert_allclose(steps["ratios"], np.exp(steps["gaps"]), rtol=1e-14)
    np.testing.assert_allclose(steps["ratios_divided"], np.exp(steps["gaps"] / 4), rtol=1e-14)


def test_differences_of_weights_are_those_of_a_loop():
    steps = examples.steps("softmax_saturation")
    for name, factor in (("differences", 1), ("differences_divided", 0.25)):
        weights = reference.softmax_row([factor * score for score in steps["z"]])
        expected = [b - a for a, b in itertools.pairwise(weights)]
        np.testing.assert_allclose(steps[name], expected, rtol=1e-12)


def test_the_factor_joins_the_slopes_by_the_chain_rule(torch):
    steps = examples.steps("softmax_saturation")
    z = torch.tensor(steps["z"].tolist(), dtype=torch.float64)
    for factor, slope in zip(steps["factors"], steps["largest_slopes_by_z"], strict=True):
        by_z = torch.autograd.functional.jacobian(lambda s, f=factor: torch.softmax(f * s, 0), z)
        assert slope == pytest.approx(float(by_z.abs().max()))


def test_matches_are_what_a_loop_finds():
    steps = examples.steps("score_matching")
    for i, query in enumerate(steps["Q"]):
        for j, key in enumerate(steps["K"]):
            score = reference.dot(query, key)
            assert steps["scores"][i, j] == pytest.approx(score)
            assert steps["matches"][i, j] == ((i == 0) != (j == 2))
    weights, _ = reference.attention(steps["Q"], steps["K"], steps["K"])
    np.testing.assert_allclose(steps["weights"], weights, rtol=1e-13)


def test_what_was_measured_is_within_three_standard_errors_of_what_was_proved():
    steps = examples.steps("score_variance")
    assert np.all(np.abs(steps["mean_errors_away"]) < 3)
    assert np.all(np.abs(steps["variance_errors_away"]) < 3)
    for measured in ("variance_sigma_2", "variance_correlated"):
        np.testing.assert_allclose(steps[measured], steps[f"{measured}_proved"], rtol=0.05)
    np.testing.assert_allclose(steps["mean_correlated"], steps["mean_correlated_proved"], rtol=0.01)


def test_scores_are_sums_of_products_pair_by_pair():
    example = examples.load("score_variance")
    draw = np.random.RandomState(example.SEED)
    query, noise = draw.standard_normal((5, 3)), draw.standard_normal((5, 3))
    independent, correlated = example.scores(np, (3,), 5)
    key = example.RHO * query + math.sqrt(1 - example.RHO**2) * noise
    for pair in range(5):
        assert independent[0, pair] == pytest.approx(reference.dot(query[pair], noise[pair]))
        assert correlated[0, pair] == pytest.approx(reference.dot(query[pair], key[pair]))


def normal_moment(power):
    """Return E x^power of a standard normal x: (power - 1)!! if even, else 0."""
    return 0 if power % 2 else math.prod(range(1, power, 2))


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_the_fourth_moment_of_a_score_expanded_term_by_term(d):
    """E (sum q_i k_i)^4 as a sum over four indices: each term is a product of moments, squared."""
    total = 0
    for indices in np.ndindex(d, d, d, d):
        powers = np.bincount(indices)
        total += math.prod(normal_moment(int(power)) for power in powers) ** 2
    assert total == 3 * d**2 + 6 * d


def test_the_excess_kurtosis_follows_from_the_fourth_moment():
    steps = examples.steps("score_variance")
    d = steps["d"]
    np.testing.assert_allclose((3 * d**2 + 6 * d) / d**2 - 3, steps["kurtosis_proved"])


def test_the_share_beyond_three_deviations_inverts_the_characteristic_function():
    """E e^(i w s) = (1 + w^2)^(-d/2), and P(|s| < t) = 2/pi times the integral of that sin(wt)/w."""
    example, steps = examples.load("score_variance"), examples.steps("score_variance")
    w, step = np.linspace(1e-9, 400, 2_000_001, retstep=True)
    for i, d in enumerate(example.D):
        t = 3 * math.sqrt(d)
        inside = 2 / math.pi * np.trapezoid(np.sin(w * t) / w * (1 + w**2) ** (-d / 2), dx=step)
        proved = steps["beyond_3_proved"][i]
        assert proved == pytest.approx(1 - inside, abs=1e-7)
        error = math.sqrt(proved * (1 - proved) / example.PAIRS)
        assert abs(steps["beyond_3"][i] - proved) < 3 * error
    assert example.above(2, 1.5) == pytest.approx(math.exp(-1.5) / 2)


def test_the_experiment_of_the_source_misses_what_repeats():
    steps = examples.steps("source_experiment")
    draw = np.random.RandomState(0)
    q, k = draw.standard_normal(10_000), draw.standard_normal(10_000)
    assert steps["one_score"] == pytest.approx(reference.dot(q, k))
    squares = reference.dot(q * k, q * k)
    assert steps["source_variance"] == pytest.approx(squares - (reference.dot(q, k) / 1e4) ** 2)
    away = (steps["source_variance"] - steps["d"]) / steps["standard_deviation_of_source_variance"]
    assert abs(away) < 3
    deviation = np.std([reference.dot(x, x) for x in draw.standard_normal((2000, 2, 64)).prod(1)])
    assert deviation == pytest.approx(math.sqrt(8 * 64), rel=0.15)
    assert steps["standard_deviation_of_source_variance"] == pytest.approx(math.sqrt(8e4))
    assert steps["printed_score_deviations"] * 100 == pytest.approx(steps["printed_score"])
    within = steps["printed_variance_deviations"] * math.sqrt(8e4) + 1e4
    assert within == pytest.approx(steps["printed_variance"])
    assert steps["repeated_source_variance"] == pytest.approx(15, rel=0.1)
    assert steps["repeated_variance"] == pytest.approx(256, rel=0.1)


def test_overflow_starts_where_python_says():
    steps = examples.steps("softmax_overflow")
    limit = float(steps["largest_exponent"])
    assert math.isfinite(math.exp(limit - 1e-9))
    with pytest.raises(OverflowError):
        math.exp(limit + 1e-9)
    for row in ("small", "large"):
        expected = reference.softmax_row(list(steps[row]))
        np.testing.assert_allclose(steps[f"{row}_stable"], expected, rtol=1e-13)
    assert np.isnan(steps["large_naive"]).any()
    assert np.isnan(steps["filled_naive"]).all()
    np.testing.assert_array_equal(steps["hidden_stable"], [0, 0, 0])
