"""Additive scores: a slow loop, their bound, and every refused input."""

import math

import numpy as np
import pytest

from attention_docs import additive_scores
from tests import reference
from tests.conftest import to_numpy

# m = 2, n = 3, d_q = 4, d_k = 5, 6 hidden units
SHAPES = ((2, 4), (3, 5), (4, 6), (5, 6), (6,))
ARRAYS = [
    (np.arange(1, math.prod(shape) + 1) * step % 1 * 2 - 1).reshape(shape)
    for shape, step in zip(SHAPES, (0.618, 0.414, 0.732, 0.271, 0.577), strict=True)
]


def slow(query, key, query_weight, key_weight, score_weight):
    from_query, from_key = reference.matmul(query, query_weight), reference.matmul(key, key_weight)
    return [
        [
            reference.dot(score_weight, [math.tanh(a + b) for a, b in zip(q, k, strict=True)])
            for k in from_key
        ]
        for q in from_query
    ]


def test_equals_a_slow_loop():
    np.testing.assert_allclose(additive_scores(*ARRAYS), slow(*ARRAYS), rtol=1e-13)


def test_is_bounded_however_large_the_queries_and_keys():
    query, key, *weights = ARRAYS
    scores = additive_scores(query * 1e6, key * 1e6, *weights)
    assert np.abs(scores).max() <= np.abs(weights[-1]).sum()


def test_batches_broadcast():
    query, key, *weights = ARRAYS
    scores = additive_scores(np.stack([query, -query]), key, *weights)
    assert scores.shape == (2, 2, 3)
    np.testing.assert_array_equal(scores[1], additive_scores(-query, key, *weights))


def test_every_library_gives_the_same_numbers(xp):
    scores = additive_scores(*(xp.asarray(a.tolist(), dtype=xp.float64) for a in ARRAYS))
    np.testing.assert_allclose(to_numpy(scores), additive_scores(*ARRAYS), rtol=1e-13)


@pytest.mark.parametrize(
    ("position", "array", "error", "message"),
    [
        (0, [1.0], TypeError, "query is a list; expected an array, for example numpy.asarray(query)"),
        (0, np.ones(4), ValueError, "query has shape (4,); expected (..., length, dim)"),
        (0, np.ones((2, 3, 5)), ValueError, "query_weight has shape (4, 6); expected (5, 6) to match query and score_weight"),
        (1, np.ones((3, 4)), ValueError, "key_weight has shape (5, 6); expected (4, 6) to match key and score_weight"),
        (1, np.ones((3, 5)) > 0, TypeError, "key has dtype bool; expected real numbers"),
        (2, np.ones((4, 5)), ValueError, "query_weight has shape (4, 5); expected (4, 6) to match query and score_weight"),
        (4, np.ones((6, 1)), ValueError, "score_weight has shape (6, 1); expected one axis"),
        (4, np.ones(6, dtype="float32"), TypeError, "score_weight has dtype float32; expected float64 to match query"),
    ],
)  # fmt: skip
def test_refuses_with_the_argument_what_was_expected_and_what_came(position, array, error, message):
    arguments = [*ARRAYS[:position], array, *ARRAYS[position + 1 :]]
    with pytest.raises(error) as caught:
        additive_scores(*arguments)
    assert str(caught.value) == message
