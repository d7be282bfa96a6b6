"""The benchmark: its contenders compute attention too, and its results say where they are from."""

import importlib
import json
import math
from pathlib import Path

import numpy as np
import pytest

from attention_docs import attention_steps

ROOT = Path(__file__).parents[1]


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "scripts")
    return importlib.import_module


def literal(shape, step):
    return (np.arange(1, math.prod(shape) + 1) * step % 1 * 4 - 2).reshape(shape)


QKV = literal((3, 20, 8), 0.618), literal((3, 20, 8), 0.414), literal((3, 20, 5), 0.732)


@pytest.mark.parametrize("causal", [False, True])
def test_the_contenders_attend(script, causal):
    bench = script("bench_attention")
    expected = attention_steps(*QKV, is_causal=causal).output
    np.testing.assert_allclose(bench.plain(*QKV, causal=causal), expected, rtol=0, atol=1e-14)
    if not causal:
        np.testing.assert_allclose(bench.row_by_row(*QKV), expected, rtol=0, atol=1e-14)
    if bench.HAS_TORCH:
        output = bench.theirs(*QKV, causal=causal)().numpy()
        np.testing.assert_allclose(output, expected, rtol=0, atol=1e-14)


def test_the_products_are_those_of_attention_without_its_softmax(script):
    query, key, value = QKV
    expected = query @ key.swapaxes(-1, -2) @ value
    output = script("bench_attention").products(*QKV, causal=False)
    np.testing.assert_allclose(output, expected, rtol=0, atol=1e-12)


def test_a_ratio_is_the_median_of_pairs(script, monkeypatch):
    bench = script("bench_attention")
    times = {"ours": [2.0, 6.0, 4.0], "torch": [1.0, 2.0, 4.0]}
    monkeypatch.setattr(bench, "take_turns", lambda contenders, rounds: times)
    compared = bench.compare(dict.fromkeys(times))
    assert compared == {"seconds": {"ours": 4.0, "torch": 2.0}, "ratio": {"torch": 2.0}}


@pytest.mark.parametrize(
    "options", [{}, {"is_causal": True}, {"window": (4, 2)}, {"scale": 3.0}], ids=str
)
def test_the_reference_of_the_parity_table_is_attention(script, options):
    expected = attention_steps(*QKV, **options).output
    output = script("bench_parity").formula(*QKV, **options)
    np.testing.assert_allclose(output, expected, rtol=0, atol=1e-14)


def test_numbers_are_rounded_to_bfloat16_and_to_even(script):
    rounded = script("bench_parity").rounded
    step = 2.0**-7  # between 1 and 2
    numbers = np.array([1.0, 1 + 0.4 * step, 1 + 0.6 * step, 1 + 0.5 * step, 1 + 1.5 * step])
    expected = [1.0, 1.0, 1 + step, 1.0, 1 + 2 * step]
    np.testing.assert_array_equal(rounded(numbers, "bfloat16"), expected)
    np.testing.assert_array_equal(rounded(-numbers, "bfloat16"), np.negative(expected))


def test_blocking_counts_what_exceeds_50_ms_after_the_first_paint(script):
    tasks = [(0, 100), (90, 60), (200, 130), (400, 50)]
    assert script("bench_reader").blocking(tasks, first_paint=120) == 10 + 80


@pytest.mark.parametrize("name", ["attention", "parity"])
def test_committed_results_name_machine_versions_and_date(name):
    result = json.loads((ROOT / "results" / f"{name}.json").read_text(encoding="utf-8"))
    assert result["machine"]["processor"]
    assert result["machine"]["cores"] >= 1
    assert {"python", "numpy", "torch", "blas"} <= set(result["versions"])
    assert result["date"].count("-") == 2
