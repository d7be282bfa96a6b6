"""The array libraries that the tests run on, and the browser if the machine has one."""

import importlib

import array_api_compat
import pytest
from hypothesis import settings

# How long an example takes depends on what else the machine does.
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")

LIBRARIES = ("numpy", "array_api_strict", "torch", "cupy")


@pytest.fixture(params=LIBRARIES)
def xp(request):
    """A namespace of the array API standard, one library after the other."""
    library = pytest.importorskip(request.param, exc_type=ImportError)
    if request.param == "cupy" and not library.cuda.is_available():
        pytest.skip("CuPy finds no GPU")
    if request.param == "array_api_strict":
        return library
    return importlib.import_module(f"array_api_compat.{request.param}")


@pytest.fixture
def torch():
    """PyTorch, the independent engine."""
    return pytest.importorskip("torch", exc_type=ImportError)


def to_numpy(array):
    """Bring an array of any library to the host, by the library's own means."""
    import numpy as np

    if array_api_compat.is_cupy_array(array):
        return array.get()
    return np.asarray(array)
