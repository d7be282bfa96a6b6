"""The benchmarked functions compute attention, and --gpu needs CuPy."""

import importlib.util

import numpy as np
import pytest

from attention_docs import attention_steps
from tests.conftest import ROOT, random_arrays

HEADS, TOKENS, D_K, D_V = 3, 20, 8, 5
QUERY, KEY, VALUE = random_arrays((HEADS, TOKENS, D_K), (HEADS, TOKENS, D_K), (HEADS, TOKENS, D_V))


@pytest.fixture
def import_benchmark(monkeypatch):
    """A function that imports a module of scripts/benchmarks, which is no package."""
    monkeypatch.syspath_prepend(ROOT / "scripts" / "benchmarks")
    return importlib.import_module


@pytest.fixture
def benchmark(import_benchmark):
    return import_benchmark("attention")


def assert_equal(output, expected):
    np.testing.assert_allclose(output, expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("causal", [False, True])
def test_plain_formula_computes_attention(benchmark, causal):
    expected = attention_steps(QUERY, KEY, VALUE, is_causal=causal).output
    assert_equal(benchmark.plain_attention(QUERY, KEY, VALUE, causal=causal), expected)


def test_row_by_row_function_computes_attention(benchmark):
    expected = attention_steps(QUERY, KEY, VALUE).output
    assert_equal(benchmark.row_by_row(QUERY, KEY, VALUE), expected)


@pytest.mark.usefixtures("torch")
@pytest.mark.parametrize("causal", [False, True])
def test_benchmarked_pytorch_function_computes_attention(benchmark, causal):
    expected = attention_steps(QUERY, KEY, VALUE, is_causal=causal).output
    output = benchmark.torch_attention(QUERY, KEY, VALUE, causal=causal)().numpy()
    assert_equal(output, expected)


def test_products_equal_attention_without_softmax(benchmark):
    expected = QUERY @ KEY.swapaxes(-1, -2) @ VALUE
    output = benchmark.matrix_products(QUERY, KEY, VALUE, causal=False)
    # Without a softmax, outputs are not averages and become larger.
    np.testing.assert_allclose(output, expected, rtol=0, atol=1e-12)


def test_floor_equals_attention_without_mask_or_shift(benchmark):
    expected = attention_steps(QUERY, KEY, VALUE).output
    scaled_query = QUERY / D_K**0.5
    output, sums = benchmark.products_and_exponentials(
        scaled_query, KEY, VALUE, causal=False, exp=np.exp
    )
    assert_equal(output / sums, expected)


@pytest.mark.parametrize(
    "options", [{}, {"is_causal": True}, {"window": (4, 2)}, {"scale": 3.0}], ids=str
)
def test_parity_reference_equals_attention(import_benchmark, options):
    expected = attention_steps(QUERY, KEY, VALUE, **options).output
    assert_equal(import_benchmark("parity").formula(QUERY, KEY, VALUE, **options), expected)
