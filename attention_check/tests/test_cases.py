"""The cases: their inputs are exact, their gradients right, and their tolerances bound rounding."""

from dataclasses import replace

import numpy as np
import pytest

from attention_check.cases import (
    CASES,
    Limits,
    cases_within,
    output_gradient,
)
from attention_check.recipe import Call, attend

ATTENTION_CASES = [
    case for case in CASES.values() if isinstance(case.call, Call) and not case.compares_gradients
]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_inputs_are_exact_in_16_bits(dtype):
    pytest.importorskip("ml_dtypes")  # registers bfloat16 with NumPy
    for case in CASES.values():
        for name in ("query", "key", "value", "mask", "bias"):
            array = getattr(case.call, name, None)
            if array is not None:
                np.testing.assert_array_equal(array, array.astype(dtype).astype(float), case.name)


def test_batch_and_heads_has_distinct_sizes():
    call = CASES["batch_and_heads"].call
    sizes = [*call.query.shape, *call.value.shape[-2:]]  # b, h, m, d_k, n, d_v
    assert len(set(sizes)) == len(sizes)


@pytest.mark.parametrize("case_name", [name for name in CASES if name.startswith("gradients")])
def test_gradients_equal_finite_differences(case_name):
    case = CASES[case_name]
    step = 1e-6

    def loss(name, array):
        """Return the sum whose gradients the case expects, with one array replaced."""
        call = replace(case.call, **{name: array})
        return (attend(call) * output_gradient(call)).sum()

    for name, gradient in case.expected().items():
        array = getattr(case.call, name)
        for index in np.ndindex(array.shape):
            change = np.zeros_like(array)
            change[index] = step
            difference = loss(name, array + change) - loss(name, array - change)
            assert difference / (2 * step) == pytest.approx(gradient[index], abs=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("case", ATTENTION_CASES, ids=lambda case: case.name)
def test_tolerance_bounds_rounding_of_every_step(case, dtype):
    if dtype == "float16" and case.name in ("large_scores", "large_scores_causal", "float16_range"):
        pytest.skip("float16 rounds its scores by up to 1, or they exceed its range")
    output = attend(case.call, rounding_steps(np.dtype(dtype).type))
    assert np.abs(output - case.expected()["output"]).max() <= case.tolerance(dtype)


def rounding_steps(dtype):
    """Return steps that round every intermediate result to a dtype, even each term of a sum."""

    def product(query, key):
        scores = np.zeros((*query.shape[:-1], key.shape[-2]), dtype=dtype)
        for i in range(query.shape[-1]):
            scores += query[..., :, None, i].astype(dtype) * key[..., None, :, i].astype(dtype)
        return scores

    def softmax(scores):
        scores = scores.astype(dtype)
        maximum = scores.max(axis=-1, keepdims=True)
        exponentials = np.exp(scores - np.where(maximum == -np.inf, dtype(0), maximum))
        total = exponentials.sum(axis=-1, keepdims=True, dtype=dtype)
        return exponentials / np.where(total == 0, dtype(1), total)

    return {
        "product": product,
        "scale": lambda call: dtype(call.scale or call.key.shape[-1] ** -0.5),
        "softmax": softmax,
        "weighted_sum": lambda weights, value: product(weights, value.swapaxes(-1, -2)),
    }


@pytest.mark.parametrize("case", ATTENTION_CASES, ids=lambda case: case.name)
def test_tolerance_is_smaller_than_the_largest_output(case):
    largest = np.abs(case.expected()["output"]).max()
    assert case.tolerance("float64") < 1e-11 * largest
    # bfloat16 rounds the first to multiples of 8; the mean of many keys is small.
    if case.name not in ("large_scores", "large_scores_causal", "length_600"):
        assert case.tolerance("bfloat16") < largest


@pytest.mark.parametrize(
    "limits",
    [
        Limits(equal_widths=True, equal_lengths=True, multiple=16, widths=(16, 32)),
        Limits(equal_widths=True, widths=(64,)),
    ],
)
def test_cases_are_within_limits(limits):
    for case in cases_within(limits):
        m, d_k = case.call.query.shape[-2:]
        n, d_v = case.call.value.shape[-2:]
        assert d_k == d_v
        assert d_k in limits.widths
        assert m % limits.multiple == 0
        assert n % limits.multiple == 0
        assert m == n or not limits.equal_lengths
