"""Differences between array libraries (namespaces, dtypes, devices) and checks of arrays.

The mathematics gets its namespace here and otherwise uses only names of the Python array API
standard, so it runs on NumPy, CuPy, PyTorch and every other library that follows the standard.
"""

import importlib
from functools import cache
from numbers import Real
from types import ModuleType
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device, is_array_api_obj, is_torch_array

Array = Any
SMALL_FLOATS = ("float4_", "float6_", "float8_")  # the beginnings of their dtypes' names


def ignoring_overflow() -> np.errstate:
    """Silence expected overflow: exp(-inf) = 0 is right, and products are checked."""
    return np.errstate(over="ignore", invalid="ignore")


def namespace(**arrays: Array) -> ModuleType:
    """Return the standard namespace that all the named arrays share.

    >>> namespace(query=np.ones(2), key=np.ones(3)).__name__
    'numpy'
    >>> namespace(query=np.ones(2), key=[1.0, 2.0])
    Traceback (most recent call last):
    TypeError: key is a list; expected an array, for example numpy.asarray(key)
    """
    types = set(map(type, arrays.values()))
    if types == {np.ndarray}:  # fast path
        return np
    for name, array in arrays.items():
        # Not for plain arrays, because `numpy.ma` would be imported.
        if type(array) is np.ndarray or not isinstance(array, np.ndarray):
            continue
        if isinstance(array, np.ma.MaskedArray | np.matrix):
            kind = "numpy.matrix" if isinstance(array, np.matrix) else "numpy.ma.MaskedArray"
            raise TypeError(f"{name} is a {kind}; expected a plain numpy.ndarray")
    # NumPy follows the standard itself, and its wrapper in array-api-compat imports all of NumPy,
    # f2py and testing included, which doubles this package's import time.
    if all(issubclass(cls, np.ndarray | np.generic) for cls in types):
        return np
    for name, array in arrays.items():
        if array is None:
            raise TypeError(f"{name} is None; expected an array")
        if not is_array_api_obj(array):
            raise TypeError(
                f"{name} is {with_article(array)}; "
                f"expected an array, for example numpy.asarray({name})"
            )
    first_name, first = next(iter(arrays.items()))
    xp = array_namespace(first)
    for name, array in arrays.items():
        if array_namespace(array) is not xp:
            raise TypeError(
                f"{name} is an array of {library_name(array)}; "
                f"expected {library_name(first)} to match {first_name}"
            )
        if is_torch_array(array) and array.layout != xp.strided:
            raise TypeError(
                f"{name} has layout {array.layout}; expected a dense tensor, "
                f"for example {name}.to_dense()"
            )
        if device(array) != device(first):
            raise ValueError(
                f"{name} is on device {device(array)}; "
                f"expected {device(first)} to match {first_name}"
            )
    return xp


def with_article(value: object) -> str:
    """Return the type of a value with its article, for an error message."""
    type_name = type(value).__name__
    return f"{'an' if type_name[0] in 'aeiouAEIOU' else 'a'} {type_name}"


def check_library(xp: Any) -> None:
    """Refuse a value that is not an array library, such as the name of one."""
    if not hasattr(xp, "asarray"):
        raise TypeError(f"xp is {xp!r}; expected an array library, for example the module numpy")


def drop_none(**arrays: Array | None) -> dict[str, Array]:
    """Return the arrays that are not None, by name."""
    return {name: array for name, array in arrays.items() if array is not None}


def library_name(array: Array) -> str:
    return type(array).__module__.partition(".")[0]


def as_real(xp: ModuleType, name: str, array: Array) -> Array:
    """Return an array of real numbers; integers become the library's default float."""
    kind = dtype_kind(xp, array.dtype)
    if kind == "integral":
        return xp.astype(array, xp.asarray(0.0).dtype)
    if kind != "real floating":
        dtype = dtype_name(array.dtype)
        is_small = dtype.startswith(SMALL_FLOATS)
        expected = "floats of at least 16 bits" if is_small else "real numbers"
        raise TypeError(f"{name} has dtype {dtype}; expected {expected}")
    return array


@cache
def dtype_kind(xp: ModuleType, dtype: Any) -> str:
    """Return the array standard's name for the kind of a dtype, such as `integral`, or `other`.

    bfloat16 is handled here, because NumPy's `isdtype` accepts only NumPy's own dtypes, and floats
    of fewer bits, because PyTorch stores them but cannot compute with them.
    """
    if dtype_name(dtype) == "bfloat16":
        return "real floating"
    if dtype_name(dtype).startswith(SMALL_FLOATS):
        return "other"
    kinds = ("bool", "integral", "real floating", "complex floating")
    try:
        return next((kind for kind in kinds if xp.isdtype(dtype, kind)), "other")
    except TypeError:
        return "other"


def check_finite(xp: ModuleType, name: str, array: Array) -> None:
    """Refuse NaN and infinity, which would spread to every output they touch."""
    invalid = ~xp.isfinite(array)
    if xp.count_nonzero(invalid):  # for small arrays NumPy's `any` is far slower
        raise ValueError(
            f"{name} holds {describe_first(xp, invalid, array)}; expected finite numbers only"
        )


def check_no_overflow(xp: ModuleType, subject: str, array: Array) -> None:
    """Refuse a result that overflowed, with a message that begins with `subject`."""
    invalid = ~xp.isfinite(array)
    if xp.count_nonzero(invalid):
        element = describe_first(xp, invalid, array)
        dtype = dtype_name(array.dtype)
        raise ValueError(f"{subject} {element}; expected products that fit {dtype}")


def check_below_infinity(xp: ModuleType, name: str, array: Array, maximum: Array) -> None:
    """Refuse NaN and +inf; `maximum` is that of the array, or the array itself."""
    if xp.count_nonzero(~(maximum < xp.inf)):
        element = describe_first(xp, ~(array < xp.inf), array)
        raise ValueError(f"{name} holds {element}; expected finite numbers or -inf")


def check_positive(xp: ModuleType, **arrays: Array) -> None:
    """Refuse numbers that are no sizes, by the names of their arrays."""
    for name, array in arrays.items():
        invalid = ~((array > 0) & (array < xp.inf))
        if xp.count_nonzero(invalid):
            element = describe_first(xp, invalid, array)
            raise ValueError(f"{name} holds {element}; expected positive numbers")


def describe_first(xp: ModuleType, invalid: Array, array: Array) -> str:
    """Describe the first element where `invalid` is true: `nan at [0, 1]`."""
    index = tuple(int(axis[0]) for axis in xp.nonzero(invalid)) if array.ndim else ()
    convert = int if dtype_kind(xp, array.dtype) == "integral" else float
    return f"{convert(array[index])} at {list(index)}"


def check_same_dtype(**arrays: Array) -> None:
    """Refuse arrays of different dtypes, as PyTorch does."""
    first_name, first = next(iter(arrays.items()))
    for name, array in arrays.items():
        if array.dtype == first.dtype:
            continue
        # Compare names: NumPy's dtypes also differ where only the byte order does.
        actual, expected = dtype_name(array.dtype), dtype_name(first.dtype)
        if actual != expected:
            raise TypeError(f"{name} has dtype {actual}; expected {expected} to match {first_name}")


def upcast_16_bit(xp: ModuleType, array: Array) -> Array:
    """Return a 16-bit float array as float32, for accurate sums, and any other unchanged."""
    return xp.astype(array, xp.float32) if is_16_bit(xp, array.dtype) else array


@cache
def is_16_bit(xp: ModuleType, dtype: Any) -> bool:
    """Whether a dtype is float16 or bfloat16."""
    # `xp` is part of the cache key: dtypes of two libraries can have the same hash, and
    # array-api-strict's dtypes warn when compared with NumPy's.
    return dtype_name(dtype).endswith("float16")


def largest_float(xp: ModuleType, array: Array) -> float:
    """Return the largest number of an array's dtype after 16-bit floats are upcast to float32."""
    dtype = xp.float32 if is_16_bit(xp, array.dtype) else array.dtype
    return float(xp.finfo(dtype).max)


def dtype_name(dtype: Any) -> str:
    """Return the name of a dtype, which is the same in every library."""
    return str(getattr(dtype, "name", dtype)).rpartition(".")[2]


def to_numpy(array: Array) -> np.ndarray:
    """Copy an array of any library to the host."""
    if isinstance(array, np.ndarray | np.generic) or not is_array_api_obj(array):
        return np.asarray(array)
    if hasattr(array, "get"):  # CuPy
        host_array: np.ndarray = array.get()
        return host_array
    return np.from_dlpack(array)


def to_displayable(name: str, array: Array) -> np.ndarray:
    """Copy real numbers or booleans to the host; bfloat16 as float32, which holds it exactly."""
    if is_array_api_obj(array):
        array = upcast_16_bit(namespace(**{name: array}), array)
    try:
        host_array = to_numpy(array)
    except ValueError:  # lists of different lengths
        raise TypeError(
            f"{name} is {with_article(array)} of unequal rows; expected an array"
        ) from None
    except (BufferError, RuntimeError) as error:  # PyTorch does not export every tensor
        raise TypeError(f"{name} cannot be copied to NumPy: {error}") from None
    if host_array.dtype == object and all(isinstance(value, Real) for value in host_array.flat):
        try:  # NumPy stores integers beyond 64 bits as objects
            return host_array.astype(float)
        except OverflowError:
            maximum = f"{np.finfo(float).max:.2g}"
            raise ValueError(
                f"{name} holds an integer beyond float64; expected at most {maximum}"
            ) from None
    if host_array.dtype.kind not in "biuf":
        raise TypeError(f"{name} has dtype {host_array.dtype}; expected real numbers or booleans")
    return host_array


def backend(name: str) -> ModuleType:
    """Return the namespace of an array library by its name, `numpy` or `cupy`."""
    if name not in ("numpy", "cupy"):
        raise ValueError(f"backend is {name!r}; expected 'numpy' or 'cupy'")
    if name == "numpy":
        return np
    try:
        cupy = importlib.import_module("cupy")
    except ImportError:
        raise RuntimeError(
            "backend 'cupy' needs CuPy: pip install 'attention-docs[cuda12]' "
            "(or [cuda13], to match the driver)"
        ) from None
    try:
        cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise RuntimeError(f"backend 'cupy' finds no GPU: {error}") from None
    return importlib.import_module("array_api_compat.cupy")
