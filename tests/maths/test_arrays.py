"""What is known about array libraries, also about one that is not installed."""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from attention_docs import arrays
from attention_docs.arrays import (
    check_below_infinity,
    dtype_kind,
    dtype_name,
    to_numpy,
    upcast_16_bit,
)
from attention_docs.kernels import blockwise, bounds, exponential


@pytest.mark.parametrize(
    ("library", "blocks", "host"),
    [("numpy", True, True), ("cupy", True, False), ("torch", False, False)],
)
@pytest.mark.parametrize("prefix", ["", "array_api_compat."])
def test_which_library_takes_blocks_and_which_takes_threads(prefix, library, blocks, host):
    xp = ModuleType(prefix + library)
    assert blockwise.is_supported(xp) is blocks
    assert blockwise.is_on_host(xp) is host


@pytest.mark.parametrize("is_cupy", [False, True])
def test_squared_lengths_are_the_same_by_the_method_for_cupy(monkeypatch, is_cupy):
    monkeypatch.setattr(bounds, "is_cupy_namespace", lambda xp: is_cupy)
    rows = np.array([[[3.0, 4.0], [1.0, 2.0]], [[0.0, 5.0], [2.0, 2.0]]])
    lengths = bounds.squared_lengths(np, rows)
    assert lengths.tolist() == [[25.0, 5.0], [25.0, 8.0]]


def test_a_gpu_uses_exp_and_numpy_the_faster_one(monkeypatch):
    cupy = ModuleType("cupy")
    cupy.exp = object()
    assert exponential.fastest_exp(cupy) == (cupy.exp, 1.0)
    assert exponential.full_range_exp(cupy) is cupy.exp
    monkeypatch.setattr(exponential, "_has_vector_exp2", lambda: False)
    assert exponential.fastest_exp(np) == (np.exp, 1.0)
    monkeypatch.setattr(exponential, "_has_vector_exp2", lambda: True)
    exp2, unit = exponential.fastest_exp(np)
    assert exp2 is np.exp2
    assert exp2(unit) == pytest.approx(np.e, rel=1e-15)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_powers_are_those_of_exp_but_never_subnormal(dtype):
    """Neighbours of the smallest normal power, and far ones, in place and not."""
    smallest = np.finfo(dtype).smallest_normal
    exponents = np.append(np.linspace(-1.3, -0.7, 4000) * -np.log(smallest), [-np.inf, 0, 9])
    exponents = exponents.astype(dtype)
    powers = exponential.full_range_exp(np)(exponents)
    expected = np.exp(exponents)
    assert np.any((expected > 0) & (expected < smallest))
    expected[expected < smallest] = 0
    np.testing.assert_array_equal(powers, expected)
    exponential.full_range_exp(np)(exponents, out=exponents)
    np.testing.assert_array_equal(exponents, expected)
    few = np.ones(3, dtype)  # nothing to cut off
    np.testing.assert_array_equal(exponential.full_range_exp(np)(few), np.exp(few))


@pytest.mark.parametrize(
    ("dtype", "kind"),
    [
        ("bool", "bool"),
        ("int8", "integral"),
        ("uint64", "integral"),
        ("float32", "real floating"),
        ("complex64", "complex floating"),
    ],
)
def test_the_kind_of_a_dtype(xp, dtype, kind):
    assert dtype_kind(xp, getattr(xp, dtype)) == kind


def test_a_dtype_has_one_name_in_every_library_and_byte_order(xp):
    assert dtype_name(xp.asarray([1.0], dtype=xp.float32).dtype) == "float32"
    assert dtype_name(np.dtype(">f4")) == "float32"


def test_an_array_of_any_library_comes_to_the_host(xp):
    host = to_numpy(xp.asarray([1.0, 2.0]))
    assert type(host) is np.ndarray
    np.testing.assert_array_equal(host, [1.0, 2.0])


def test_an_array_of_cupy_is_fetched_and_a_number_becomes_an_array(monkeypatch):
    class OnDevice:
        def get(self):
            return np.ones(2)

    assert to_numpy(2.5) == np.asarray(2.5)
    monkeypatch.setattr(arrays, "is_array_api_obj", lambda array: isinstance(array, OnDevice))
    np.testing.assert_array_equal(to_numpy(OnDevice()), np.ones(2))


def test_a_backend_that_is_unknown_missing_or_without_a_gpu_is_named(monkeypatch):
    class DeviceError(Exception):
        pass

    def count():
        raise DeviceError("no CUDA-capable device is detected")

    def refusal(name):
        with pytest.raises((ValueError, RuntimeError)) as caught:
            arrays.backend(name)
        return str(caught.value)

    assert refusal("jax") == "backend is 'jax'; expected 'numpy' or 'cupy'"
    monkeypatch.setitem(sys.modules, "cupy", None)
    assert refusal("cupy") == (
        "backend 'cupy' needs CuPy: pip install 'attention-docs[cuda12]' "
        "(or [cuda13], to match the driver)"
    )
    runtime = SimpleNamespace(getDeviceCount=count, CUDARuntimeError=DeviceError)
    cupy = SimpleNamespace(cuda=SimpleNamespace(runtime=runtime))
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    assert refusal("cupy") == "backend 'cupy' finds no GPU: no CUDA-capable device is detected"


def test_bfloat16_of_numpy_is_a_real_float_and_becomes_float32():
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    assert dtype_kind(np, np.dtype(bfloat16)) == "real floating"
    assert upcast_16_bit(np, np.ones(1, dtype=bfloat16)).dtype == "float32"


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_has_more_than_16_bits_stays_the_same_array(dtype):
    array = np.ones(1, dtype=dtype)
    assert upcast_16_bit(np, array) is array


def test_minus_infinity_is_below_infinity(xp):
    array = xp.asarray([-xp.inf, 1.0])
    check_below_infinity(xp, "scores", array, xp.max(array))


@pytest.mark.parametrize("bad", ["nan", "inf"])
def test_the_first_that_is_not_below_infinity_is_named(xp, bad):
    array = xp.asarray([1.0, float(bad), float("nan")])
    with pytest.raises(ValueError, match=rf"scores holds {bad} at \[1\]; expected finite"):
        check_below_infinity(xp, "scores", array, xp.max(array))
