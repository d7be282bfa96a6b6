"""Norms and quantised caches on random inputs: their bounds hold."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_docs import examples
from attention_docs.examples import head_norms, quantised_cache
from attention_docs.examples.head_norms import norm, norm_by_head

NORMS = examples.steps("head_norms")
NORMS_AND_BOUNDS = list(zip((norm_by_head, norm), NORMS["bounds"], strict=True))


def scores_of_heads(query, key):
    """Return the scaled score of each head."""
    products = (query * key).reshape(head_norms.HEADS, head_norms.FEATURES)
    return products.sum(axis=1) / np.sqrt(head_norms.FEATURES)


@pytest.mark.parametrize(("normed", "bound"), NORMS_AND_BOUNDS)
@given(numbers=st.lists(st.integers(-9, 9), min_size=8, max_size=8))
def test_norms_bound_the_scores(normed, bound, numbers):
    query, key = np.array(numbers).reshape(2, 1, 4) + 0.5  # never zero
    scores = scores_of_heads(normed(query, np), normed(key, np))
    rounding = 1e-9
    assert np.abs(scores).max() <= bound + rounding


@pytest.mark.parametrize(("normed", "bound"), NORMS_AND_BOUNDS)
def test_equal_query_and_key_in_one_head_reach_the_bound(normed, bound):
    almost_zero = 1e-9  # the norm of zeros is not defined
    query = key = normed(np.array([[3, 4, almost_zero, almost_zero]]), np)
    head_1, _ = scores_of_heads(query, key)
    np.testing.assert_allclose(head_1, bound)


FOUR_NUMBERS = st.lists(st.integers(-9, 9), min_size=4, max_size=4)


@st.composite
def quantised_steps(draw):
    """Return the steps of `quantised_cache` for random inputs."""
    offsets = [0.5, 0.25, 0.125, 20.5]  # no number is zero, and the last channel is large
    keys = draw(st.lists(FOUR_NUMBERS, min_size=4, max_size=4)) + np.array(offsets)
    literals = {"K": keys.tolist(), "V": (keys[:, 1:3] / 3).tolist()}
    literals |= {"Q": [draw(FOUR_NUMBERS)], "BITS": [draw(st.integers(2, 8))]}
    with patch.multiple(quantised_cache, **literals):
        return quantised_cache.steps()


def is_within(error, bound):
    rounding = 1e-12
    return np.all(error <= bound * (1 + rounding))


@given(quantised_steps())
def test_errors_of_quantised_cache_stay_within_their_bounds(steps):
    exact, by_channel, _ = steps["weights"]
    ratio = by_channel / exact
    assert is_within(np.abs(steps["K"] - steps["K_by_channel"]), steps["scales"] / 2)
    assert is_within(steps["score_error"], steps["epsilon"])
    assert is_within(steps["score_error_by_token"], steps["epsilon_by_token"])
    assert is_within(np.maximum(ratio, 1 / ratio), np.exp(2 * steps["epsilon"]))
    assert is_within(steps["output_error"], steps["output_bound"])
