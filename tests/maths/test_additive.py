"""Additive scores: compared with a slow loop, their bound, and every error."""

import math

import numpy as np
import pytest

from attention_docs import additive_scores
from tests import loops
from tests.conftest import assert_raises, random_arrays

# m = 2, n = 3, d_q = 4, d_k = 5, 6 hidden units
QUERY, KEY, QUERY_WEIGHT, KEY_WEIGHT, SCORE_WEIGHT = random_arrays(
    (2, 4), (3, 5), (4, 6), (5, 6), (6,)
)
WEIGHTS = (QUERY_WEIGHT, KEY_WEIGHT, SCORE_WEIGHT)
ARRAYS = (QUERY, KEY, *WEIGHTS)


def slow_scores(query, key, query_weight, key_weight, score_weight):
    """Return the score of each query (row) and key (column), in loops over Python numbers."""
    scores = []
    for q in loops.matmul(query, query_weight):
        row = []
        for k in loops.matmul(key, key_weight):
            hidden = [math.tanh(a + b) for a, b in zip(q, k, strict=True)]
            row.append(loops.dot(score_weight, hidden))
        scores.append(row)
    return scores


def test_scores_equal_slow_loop():
    np.testing.assert_allclose(additive_scores(*ARRAYS), slow_scores(*ARRAYS), rtol=1e-13)


def test_batches_broadcast():
    scores = additive_scores(np.stack([QUERY, -QUERY]), KEY, *WEIGHTS)
    assert scores.shape == (2, 2, 3)
    np.testing.assert_array_equal(scores[1], additive_scores(-QUERY, KEY, *WEIGHTS))


def test_overflowing_sum_of_projections_has_tanh_one():
    huge, one = np.array([[1.5e308]]), np.ones((1, 1))
    assert additive_scores(huge, huge, one, one, np.ones(1)) == 1


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"query": np.ones(4)}, ValueError, "query has shape (4,); expected (..., length, dim)"),
        ({"query": np.ones((2, 3, 5))}, ValueError, "query_weight has shape (4, 6); expected (5, 6) to match query and score_weight"),
        ({"key": np.ones((3, 4))}, ValueError, "key_weight has shape (5, 6); expected (4, 6) to match key and score_weight"),
        ({"query_weight": np.ones((4, 5))}, ValueError, "query_weight has shape (4, 5); expected (4, 6) to match query and score_weight"),
        ({"query": np.ones((2, 2, 4)), "key": np.ones((3, 3, 5))}, ValueError, "key has shape (3, 3, 5); expected leading axes that broadcast with query (2, 2, 4)"),
        ({"score_weight": np.full(6, 1.7e308)}, ValueError, "the sums of score_weight hold -inf at [0, 0]; expected products that fit float64"),
        ({"score_weight": np.ones((6, 1))}, ValueError, "score_weight has shape (6, 1); expected one axis"),
    ],
)  # fmt: skip
def test_error_states_argument_expectation_and_value(change, error, message):
    names = ("query", "key", "query_weight", "key_weight", "score_weight")
    arguments = dict(zip(names, ARRAYS, strict=True)) | change
    assert_raises(lambda: additive_scores(**arguments), error, message)


@pytest.mark.parametrize("name", ["query", "key"])
def test_overflow_error_names_factors(name):
    # Unchecked, inf - inf would be a NaN, and inf alone would pass as a tanh of 1.
    arguments = {"query": np.ones((1, 2)), "key": np.ones((1, 2))}
    arguments[name] = np.array([[1e308, -1e308]])
    two = np.full((2, 3), 2.0)
    message = rf"the product of {name} and {name}_weight holds (nan|-?inf) at \[0, 0\]; expected"
    with pytest.raises(ValueError, match=message):
        additive_scores(**arguments, query_weight=two, key_weight=two, score_weight=np.ones(3))
