"""The benchmark: its contenders compute attention too."""

import importlib.util
import subprocess
import sys

import numpy as np
import pytest

from attention_docs import attention_steps
from attention_docs.inputs import prepare_inputs
from attention_docs.kernels.blockwise import _score_blocks, bounded_weights
from tests.conftest import ROOT, environment_of_an_inner_pytest, literal


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "scripts" / "benchmarks")
    return importlib.import_module


QKV = literal((3, 20, 8), 0.618), literal((3, 20, 8), 0.414), literal((3, 20, 5), 0.732)


@pytest.mark.parametrize("causal", [False, True])
def test_the_contenders_attend(script, causal):
    bench = script("attention")
    expected = attention_steps(*QKV, is_causal=causal).output
    np.testing.assert_allclose(
        bench.plain_attention(*QKV, causal=causal), expected, rtol=0, atol=1e-14
    )
    if not causal:
        np.testing.assert_allclose(bench.row_by_row(*QKV), expected, rtol=0, atol=1e-14)
    if bench.HAS_TORCH:
        output = bench.torch_attention(*QKV, causal=causal)().numpy()
        np.testing.assert_allclose(output, expected, rtol=0, atol=1e-14)


def test_the_products_are_those_of_attention_without_its_softmax(script):
    query, key, value = QKV
    expected = query @ key.swapaxes(-1, -2) @ value
    output = script("attention").products(*QKV, causal=False)
    np.testing.assert_allclose(output, expected, rtol=0, atol=1e-12)


def test_the_floor_is_attention_where_nothing_is_masked_or_shifted(script):
    query, key, value = QKV
    expected = attention_steps(query, key, value).output
    output, total = script("attention").floor(query / 8**0.5, key, value, False, np.exp)
    np.testing.assert_allclose(output / total, expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("causal", [False, True])
def test_products_and_floor_take_the_blocks_of_attention(script, monkeypatch, causal):
    bench, block = script("attention"), (8, 6)
    monkeypatch.setattr(bench, "block_size", lambda inputs, weight_blocks: block)
    shapes = []

    def work(rows, keys):
        shapes.append((QKV[0][rows].shape[0], QKV[1][keys].shape[0]))

    bench.in_blocks(work, *QKV, causal, bounded_weights)
    head = prepare_inputs(*(array[0] for array in QKV), is_causal=causal).check_finite()
    starts = [(start, min(start + 8, 20)) for start in (16, 8, 0)]
    ours = [
        scores.shape
        for start, stop in starts
        for scores, *_ in _score_blocks(head, start, stop, np.empty(block), 1.0, bool)
    ]
    assert sorted(shapes) == sorted(3 * ours)


@pytest.mark.parametrize(
    "options", [{}, {"is_causal": True}, {"window": (4, 2)}, {"scale": 3.0}], ids=str
)
def test_the_reference_of_the_parity_table_is_attention(script, options):
    expected = attention_steps(*QKV, **options).output
    output = script("parity").formula(*QKV, **options)
    np.testing.assert_allclose(output, expected, rtol=0, atol=1e-14)


@pytest.mark.thorough
@pytest.mark.skipif(importlib.util.find_spec("cupy") is not None, reason="CuPy is installed")
def test_tests_on_a_gpu_say_in_one_line_that_cupy_is_missing():
    command = [sys.executable, "-m", "pytest", "--gpu", "-p", "no:cacheprovider", __file__]
    done = subprocess.run(
        command,
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        env=environment_of_an_inner_pytest(),
    )
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert done.stderr.startswith("ERROR: --gpu: backend 'cupy' needs CuPy: pip install ")
