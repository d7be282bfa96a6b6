"""The check names the faults of NumPy functions and lets correct but unusual ones pass."""

import numpy as np
import pytest

from attention_check import checking
from attention_check.libraries import LoadError
from faults import assert_faults_are_reported, functions_of
from functions import faulty_numpy, scaled_scores, softmax, unusual_numpy

FAULTY, UNUSUAL = functions_of(faulty_numpy), functions_of(unusual_numpy)


@pytest.mark.thorough
@pytest.mark.parametrize("function", FAULTY.values(), ids=FAULTY.keys())
def test_fault_is_reported(function):
    assert_faults_are_reported(function)


@pytest.mark.thorough
@pytest.mark.parametrize("function", UNUSUAL.values(), ids=UNUSUAL.keys())
def test_unusual_function_passes(function):
    assert checking.check(function).is_correct


def test_query_without_an_axis_of_positions_is_refused():
    def attention_of_one_query(q, k, v):
        weights = softmax(np.einsum("bhd,bhnd->bhn", q, k) * q.shape[-1] ** -0.5)
        return np.einsum("bhn,bhnd->bhd", weights, v)

    with pytest.raises(LoadError, match="cannot be called"):
        checking.check(attention_of_one_query)


def test_attention_with_biases_of_its_own_is_refused():
    def attention(q, k, v):
        alibi = -0.5 * np.abs(np.arange(k.shape[-2]) - np.arange(q.shape[-2])[:, None])
        return softmax(scaled_scores(q, k) + alibi) @ v

    with pytest.raises(LoadError, match="its code has alibi"):
        checking.check(attention)
