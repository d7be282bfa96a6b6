"""The benchmarked functions compute attention."""

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
def import_script(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "scripts" / "benchmarks")
    return importlib.import_module


QKV = literal((3, 20, 8), 0.618), literal((3, 20, 8), 0.414), literal((3, 20, 5), 0.732)


@pytest.mark.parametrize("causal", [False, True])
def test_benchmarked_functions_compute_attention(import_script, causal):
    bench = import_script("attention")
    expected = attention_steps(*QKV, is_causal=causal).output
    np.testing.assert_allclose(
        bench.plain_attention(*QKV, causal=causal), expected, rtol=0, atol=1e-14
    )
    if not causal:
        np.testing.assert_allclose(bench.row_by_row(*QKV), expected, rtol=0, atol=1e-14)
    if bench.HAS_TORCH:
        output = bench.torch_attention(*QKV, causal=causal)().numpy()
        np.testing.assert_allclose(output, expected, rtol=0, atol=1e-14)


def test_products_equal_attention_without_softmax(import_script):
    query, key, value = QKV
    expected = query @ key.swapaxes(-1, -2) @ value
    output = import_script("attention").products(*QKV, causal=False)
    np.testing.assert_allclose(output, expected, rtol=0, atol=1e-12)


def test_floor_equals_attention_without_mask_or_shift(import_script):
    query, key, value = QKV
    expected = attention_steps(query, key, value).output
    output, total = import_script("attention").floor(query / 8**0.5, key, value, False, np.exp)
    np.testing.assert_allclose(output / total, expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("causal", [False, True])
def test_products_and_floor_use_the_blocks_of_attention(import_script, monkeypatch, causal):
    bench, block = import_script("attention"), (8, 6)
    monkeypatch.setattr(bench, "block_size", lambda inputs, weight_blocks: block)
    shapes = []

    def work(rows, keys):
        shapes.append((QKV[0][rows].shape[0], QKV[1][keys].shape[0]))

    bench.in_blocks(work, *QKV, causal, bounded_weights)
    head = prepare_inputs(*(array[0] for array in QKV), is_causal=causal).check_finite()
    starts = [(start, min(start + 8, 20)) for start in (16, 8, 0)]
    block_shapes = [
        scores.shape
        for start, stop in starts
        for scores, *_ in _score_blocks(head, start, stop, np.empty(block), 1.0, bool)
    ]
    assert sorted(shapes) == sorted(3 * block_shapes)


@pytest.mark.parametrize(
    "options", [{}, {"is_causal": True}, {"window": (4, 2)}, {"scale": 3.0}], ids=str
)
def test_parity_reference_equals_attention(import_script, options):
    expected = attention_steps(*QKV, **options).output
    output = import_script("parity").formula(*QKV, **options)
    np.testing.assert_allclose(output, expected, rtol=0, atol=1e-14)


@pytest.mark.thorough
@pytest.mark.skipif(importlib.util.find_spec("cupy") is not None, reason="CuPy is installed")
def test_gpu_option_without_cupy_fails_with_one_line():
    command = [sys.executable, "-m", "pytest", "--gpu", "-p", "no:cacheprovider", __file__]
    process = subprocess.run(
        command,
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        env=environment_of_an_inner_pytest(),
    )
    assert process.returncode == pytest.ExitCode.USAGE_ERROR
    assert process.stderr.startswith("ERROR: --gpu: backend 'cupy' needs CuPy: pip install ")
