"""What differs between array libraries: namespace, dtypes, devices, and checks of an array.

The mathematics asks here for a namespace, and otherwise uses only names of the Python array API
standard. So it runs on NumPy, CuPy, PyTorch and every library that follows the standard.
"""

import importlib
from functools import cache
from numbers import Real
from types import ModuleType
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device, is_array_api_obj

Array = Any


def ignoring_overflow() -> np.errstate:
    """Silence NumPy's warnings where an overflow is expected and handled.

    A difference like -1e308 - 1e308 is -inf, and exp(-inf) = 0 is the right weight; a product that
    overflows raises an error of our own.
    """
    return np.errstate(over="ignore", invalid="ignore")


def namespace(**arrays: Array) -> ModuleType:
    """Return the one standard namespace of all the named arrays.

    Raises:
        TypeError: if an argument is not an array, or belongs to another library than the first.
        ValueError: if it is on another device than the first.

    >>> namespace(query=np.ones(2), key=np.ones(3)).__name__
    'numpy'
    >>> namespace(query=np.ones(2), key=[1.0, 2.0])
    Traceback (most recent call last):
    TypeError: key is a list; expected an array, for example numpy.asarray(key)
    """
    for name, array in arrays.items():
        check_plain(name, array)
    # The usual case. NumPy follows the standard itself, and its layer in array-api-compat imports
    # all of NumPy, f2py and testing included, which doubles the time that this package takes.
    if all(issubclass(kind, np.ndarray | np.generic) for kind in set(map(type, arrays.values()))):
        return np
    for name, array in arrays.items():
        if array is None:
            raise TypeError(f"{name} is None; expected an array")
        if not is_array_api_obj(array):
            raise TypeError(
                f"{name} is {with_article(array)}; "
                f"expected an array, for example numpy.asarray({name})"
            )
    (first, reference), *others = arrays.items()
    xp = array_namespace(reference)
    for name, array in others:
        if array_namespace(array) is not xp:
            raise TypeError(
                f"{name} is a {library(array)} array; "
                f"expected {library(reference)} to match {first}"
            )
        if device(array) != device(reference):
            raise ValueError(
                f"{name} is on device {device(array)}; "
                f"expected {device(reference)} to match {first}"
            )
    return xp


def check_plain(name: str, array: Array) -> None:
    """Refuse arrays of NumPy that compute in another way: one with a mask would lose it in silence.

    Raises:
        TypeError: if it is a masked array or a `numpy.matrix`.
    """
    # The usual case; to ask for a masked array would import `numpy.ma`.
    if type(array) is np.ndarray or not isinstance(array, np.ndarray):
        return
    if isinstance(array, np.ma.MaskedArray | np.matrix):
        raise TypeError(f"{name} is {with_article(array)}; expected a plain numpy.ndarray")


def with_article(value: object) -> str:
    """Say of what type a value is, for an error.

    >>> with_article(3), with_article([])
    ('an int', 'a list')
    """
    kind = type(value).__name__
    return f"{'an' if kind[0] in 'aeiouAEIOU' else 'a'} {kind}"


def check_library(xp: Any) -> None:
    """Refuse what is no array library, for example its name.

    Raises:
        TypeError: if it makes no arrays.

    >>> check_library("numpy")
    Traceback (most recent call last):
    TypeError: xp is 'numpy'; expected an array library, for example the module numpy
    """
    if not hasattr(xp, "asarray"):
        raise TypeError(f"xp is {xp!r}; expected an array library, for example the module numpy")


def present(**arrays: Array | None) -> dict[str, Array]:
    """Return the optional arrays that are not None, by name.

    >>> present(attn_mask=None)
    {}
    """
    return {name: array for name, array in arrays.items() if array is not None}


def library(array: Array) -> str:
    """Return the name of the library that an array belongs to, as its users know it."""
    return type(array).__module__.partition(".")[0]


def as_real(xp: ModuleType, name: str, array: Array) -> Array:
    """Return a real array; integers become the library's default float.

    Raises:
        TypeError: if the array is boolean or complex.
    """
    kind = dtype_kind(xp, array.dtype)
    if kind == "integral":
        return xp.astype(array, xp.asarray(0.0).dtype)
    if kind != "real floating":
        raise TypeError(f"{name} has dtype {dtype_name(array.dtype)}; expected real numbers")
    return array


@cache
def dtype_kind(xp: ModuleType, dtype: Any) -> str:
    """Return `bool`, `integral`, `real floating` or `complex floating`; `other` for text etc.

    bfloat16 is not one of NumPy's own dtypes, and NumPy's `isdtype` refuses every dtype that is
    not.

    >>> dtype_kind(np, np.dtype("int8"))
    'integral'
    """
    if dtype_name(dtype) == "bfloat16":
        return "real floating"
    kinds = ("bool", "integral", "real floating", "complex floating")
    try:
        return next((kind for kind in kinds if xp.isdtype(dtype, kind)), "other")
    except TypeError:
        return "other"


def is_scalar(value: Any) -> bool:
    """Whether a value is one number of an array library: its scalar, or an array without axes."""
    return is_array_api_obj(value) and value.ndim == 0


def check_finite(xp: ModuleType, name: str, array: Array) -> None:
    """Refuse NaN and infinity: one of them would spread to every output that it touches.

    Raises:
        ValueError: naming the first position that is not finite.
    """
    wrong = ~xp.isfinite(array)
    if xp.count_nonzero(wrong):  # of few numbers NumPy takes far longer for `any`
        raise ValueError(
            f"{name} holds {describe_first(xp, wrong, array)}; expected finite numbers only"
        )


def check_no_overflow(xp: ModuleType, what: str, array: Array) -> None:
    """Refuse a result that overflowed: finite numbers can have a product beyond the largest float.

    Args:
        what: subject and verb of the error message, with the names of the arguments:
            `the scores of query and key hold`.

    Raises:
        ValueError: naming the first position that overflowed.
    """
    wrong = ~xp.isfinite(array)
    if xp.count_nonzero(wrong):
        where = describe_first(xp, wrong, array)
        raise ValueError(f"{what} {where}; expected products that fit {dtype_name(array.dtype)}")


def check_below_infinity(xp: ModuleType, name: str, array: Array, maximum: Array) -> None:
    """Refuse NaN and +inf, given maxima of the array: NaN spreads to them, and no comparison holds.

    Raises:
        ValueError: naming the first position that holds one.
    """
    if xp.count_nonzero(~(maximum < xp.inf)):
        where = describe_first(xp, ~(array < xp.inf), array)
        raise ValueError(f"{name} holds {where}; expected finite numbers or -inf")


def describe_first(xp: ModuleType, wrong: Array, array: Array) -> str:
    """Describe the first element where `wrong` is true: `nan at [0, 1]`.

    >>> describe_first(np, np.asarray([False, True]), np.asarray([1.0, np.inf]))
    'inf at [1]'
    """
    index = tuple(int(axis[0]) for axis in xp.nonzero(wrong)) if array.ndim else ()
    number = int if dtype_kind(xp, array.dtype) == "integral" else float
    return f"{number(array[index])} at {list(index)}"


def check_same_dtype(**arrays: Array) -> None:
    """Refuse arrays of different dtypes, as PyTorch does.

    Raises:
        TypeError: naming the first array that differs.
    """
    (first, reference), *others = arrays.items()
    for name, array in others:
        if array.dtype == reference.dtype:
            continue
        # NumPy's dtypes also differ if only the order of the bytes does, their names do not.
        found, expected = dtype_name(array.dtype), dtype_name(reference.dtype)
        if found != expected:
            raise TypeError(f"{name} has dtype {found}; expected {expected} to match {first}")


def widened(xp: ModuleType, array: Array) -> Array:
    """Return a 16-bit float array as float32, for accurate sums, and any other as it is."""
    return xp.astype(array, xp.float32) if is_16_bit(xp, array.dtype) else array


@cache
def is_16_bit(xp: ModuleType, dtype: Any) -> bool:
    """Whether a dtype is float16 or bfloat16.

    The namespace is there for the cache: dtypes of two libraries can have the same hash, and those
    of array-api-strict warn when they are compared with NumPy's.
    """
    return dtype_name(dtype).endswith("float16")


def largest_float(xp: ModuleType, array: Array) -> float:
    """Return the largest number of the dtype that a real array is computed in."""
    dtype = xp.float32 if is_16_bit(xp, array.dtype) else array.dtype
    return float(xp.finfo(dtype).max)


def dtype_name(dtype: Any) -> str:
    """Return the name of a dtype, the same one in every library.

    >>> dtype_name(np.dtype("float32"))
    'float32'
    """
    return str(getattr(dtype, "name", dtype)).rpartition(".")[2]


def to_numpy(array: Array) -> np.ndarray:
    """Copy an array to the host, for printing."""
    if isinstance(array, np.ndarray | np.generic) or not is_array_api_obj(array):
        return np.asarray(array)
    if hasattr(array, "get"):  # CuPy
        on_host: np.ndarray = array.get()
        return on_host
    return np.from_dlpack(array)


def readable(name: str, array: Array) -> np.ndarray:
    """Copy real numbers or booleans to the host, for printing and drawing.

    bfloat16 becomes float32, which represents each of its numbers and which NumPy knows.

    Raises:
        TypeError: if it holds anything else.
        ValueError: if a whole number is beyond the largest float.
    """
    if is_array_api_obj(array):
        array = widened(namespace(**{name: array}), array)
    try:
        found = to_numpy(array)
    except ValueError:  # lists of different lengths
        raise TypeError(
            f"{name} is {with_article(array)} of unequal rows; expected an array"
        ) from None
    if found.dtype == object and all(isinstance(value, Real) for value in found.flat):
        return _as_floats(name, found)
    if found.dtype.kind not in "biuf":
        raise TypeError(f"{name} has dtype {found.dtype}; expected real numbers or booleans")
    return found


def _as_floats(name: str, array: np.ndarray) -> np.ndarray:
    """Return Python's own integers beyond 64 bits, which NumPy stores as objects, as float64."""
    try:
        return array.astype(float)
    except OverflowError:
        raise ValueError(f"{name} holds more than the largest float64") from None


def backend(name: str) -> ModuleType:
    """Return the namespace of an array library by its name, `numpy` or `cupy`.

    Raises:
        ValueError: if the name is unknown.
        RuntimeError: if the library is not installed or finds no GPU; it says what to do.

    >>> backend("numpy").__name__
    'numpy'
    """
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
