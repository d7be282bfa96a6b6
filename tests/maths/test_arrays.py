"""Array libraries, including ones that are not installed."""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from attention_docs import arrays
from attention_docs.kernels import blockwise, bounds, exponential


@pytest.mark.parametrize(
    ("library", "is_supported", "is_on_host"),
    [("numpy", True, True), ("cupy", True, False), ("torch", False, False)],
)
@pytest.mark.parametrize("prefix", ["", "array_api_compat."])
def test_libraries_that_support_blocks_and_threads(prefix, library, is_supported, is_on_host):
    xp = ModuleType(prefix + library)
    assert blockwise.is_supported(xp) is is_supported
    assert blockwise.is_on_host(xp) is is_on_host


@pytest.mark.parametrize("is_cupy", [False, True])  # they are computed in another way for CuPy
def test_squared_lengths_of_rows(monkeypatch, is_cupy):
    monkeypatch.setattr(bounds, "is_cupy_namespace", lambda xp: is_cupy)
    rows = np.array([[[3.0, 4.0], [1.0, 2.0]], [[0.0, 5.0], [2.0, 2.0]]])
    lengths = bounds.squared_lengths(np, rows)
    assert lengths.tolist() == [[9 + 16, 1 + 4], [25, 4 + 4]]


def exponents_around_smallest_normal(dtype):
    """Return exponents whose exponentials are normal, subnormal and zero."""
    smallest = np.finfo(dtype).smallest_normal
    around_limit = np.linspace(1.3, 0.7, 4000) * np.log(smallest)
    return np.append(around_limit, [-np.inf, 0, 9]).astype(dtype)


each_dtype = pytest.mark.parametrize("dtype", ["float32", "float64"])


@each_dtype
def test_full_range_exp_flushes_subnormals(dtype):
    exponents = exponents_around_smallest_normal(dtype)
    expected = np.exp(exponents)
    is_subnormal = (expected > 0) & (expected < np.finfo(dtype).smallest_normal)
    assert np.any(is_subnormal)
    expected[is_subnormal] = 0
    np.testing.assert_array_equal(exponential.full_range_exp(np)(exponents), expected)


@each_dtype
def test_full_range_exp_may_overwrite_its_argument(dtype):
    exponents = exponents_around_smallest_normal(dtype)
    expected = exponential.full_range_exp(np)(exponents)
    assert exponential.full_range_exp(np)(exponents, out=exponents) is exponents
    np.testing.assert_array_equal(exponents, expected)


def test_to_numpy_fetches_cupy_arrays(monkeypatch):
    class OnDevice:
        def get(self):
            return np.ones(2)

    monkeypatch.setattr(arrays, "is_array_api_obj", lambda array: isinstance(array, OnDevice))
    np.testing.assert_array_equal(arrays.to_numpy(OnDevice()), np.ones(2))


def test_unknown_backend_is_refused():
    with pytest.raises(ValueError, match=r"^backend is 'jax'; expected 'numpy' or 'cupy'$"):
        arrays.backend("jax")


def test_backend_error_without_cupy_tells_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(RuntimeError) as caught:
        arrays.backend("cupy")
    assert str(caught.value) == (
        "backend 'cupy' needs CuPy: pip install 'attention-docs[cuda12]' "
        "(or [cuda13], to match the driver)"
    )


def test_backend_error_without_gpu_names_the_cause(monkeypatch):
    class DeviceError(Exception):
        pass

    def get_device_count():
        raise DeviceError("no CUDA-capable device is detected")

    runtime = SimpleNamespace(getDeviceCount=get_device_count, CUDARuntimeError=DeviceError)
    cupy = SimpleNamespace(cuda=SimpleNamespace(runtime=runtime))
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    message = "^backend 'cupy' finds no GPU: no CUDA-capable device is detected$"
    with pytest.raises(RuntimeError, match=message):
        arrays.backend("cupy")
