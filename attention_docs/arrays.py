"""All that is known about array libraries: which one, which dtype, which device.

The mathematics asks here for a namespace and then uses names of the Python array
API standard only. So it runs on NumPy, CuPy, PyTorch and whatever follows the standard.
"""

import importlib
import math
from collections.abc import Callable
from functools import cache
from numbers import Real
from types import ModuleType
from typing import Any

import numpy as np
from array_api_compat import (
    array_namespace,
    device,
    is_array_api_obj,
    is_cupy_namespace,
    is_numpy_namespace,
)
from array_api_compat import numpy as numpy_namespace

Array = Any


def ignoring_overflow() -> np.errstate:
    """Silence NumPy's warnings where an overflow is expected and answered.

    A difference like -1e308 - 1e308 is -inf, and exp(-inf) = 0 is the weight wanted; a product
    that overflows meets an error of our own.
    """
    return np.errstate(over="ignore", invalid="ignore")


def namespace(**arrays: Array) -> ModuleType:
    """Return the one standard namespace of all the named arrays.

    Raises:
        TypeError: if an argument is no array, or is of another library than the first.
        ValueError: if it is on another device than the first.

    >>> namespace(query=np.ones(2), key=np.ones(3)).__name__
    'array_api_compat.numpy'
    >>> namespace(query=np.ones(2), key=[1.0, 2.0])
    Traceback (most recent call last):
    TypeError: key is a list; expected an array, for example numpy.asarray(key)
    """
    if all(type(array) is np.ndarray for array in arrays.values()):
        return numpy_namespace  # the usual case, and the questions below cost microseconds
    for name, array in arrays.items():
        if array is None:
            raise TypeError(f"{name} is None; expected an array")
        if not is_array_api_obj(array):
            kind = type(array).__name__
            raise TypeError(
                f"{name} is a {kind}; expected an array, for example numpy.asarray({name})"
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


def given(**arrays: Array | None) -> dict[str, Array]:
    """Return the optional arrays that are there, by name.

    >>> given(attn_mask=None)
    {}
    """
    return {name: array for name, array in arrays.items() if array is not None}


def library(array: Array) -> str:
    """Name the library an array belongs to, as its users know it."""
    return type(array).__module__.partition(".")[0]


def real(xp: ModuleType, name: str, array: Array) -> Array:
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
    """Return `bool`, `integral`, `real floating` or `complex floating`; `other` for text and such.

    bfloat16 is no dtype of NumPy's own, so NumPy's `isdtype` refuses it, and all others that are
    not its own.

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


def finite(xp: ModuleType, name: str, array: Array) -> None:
    """Refuse NaN and infinities: one of them would spread through every output it touches.

    Raises:
        ValueError: naming the first position that is not finite.
    """
    good = xp.isfinite(array)
    if not xp.all(good):
        raise ValueError(
            f"{name} holds {first_where(xp, ~good, array)}; expected finite numbers only"
        )


def fits(xp: ModuleType, what: str, array: Array) -> None:
    """Refuse a result that overflowed: finite numbers can have a product beyond the largest float.

    Args:
        what: the subject and the verb of the complaint, with the names of the arguments:
            `the scores of query and key hold`.

    Raises:
        ValueError: naming the first position that overflowed.
    """
    good = xp.isfinite(array)
    if not xp.all(good):
        where = first_where(xp, ~good, array)
        raise ValueError(f"{what} {where}; expected products that fit {dtype_name(array.dtype)}")


def below_infinity(xp: ModuleType, name: str, array: Array, peak: Array) -> None:
    """Refuse NaN and +inf, given maxima of the array: NaN spreads to them, and is below nothing.

    Raises:
        ValueError: naming the first position that holds one.
    """
    if not xp.all(peak < xp.inf):
        where = first_where(xp, ~(array < xp.inf), array)
        raise ValueError(f"{name} holds {where}; expected finite numbers or -inf")


def first_where(xp: ModuleType, wrong: Array, array: Array) -> str:
    """Describe the first element where `wrong` is true: `nan at [0, 1]`.

    >>> first_where(np, np.asarray([False, True]), np.asarray([1.0, np.inf]))
    'inf at [1]'
    """
    index = tuple(int(axis[0]) for axis in xp.nonzero(wrong)) if array.ndim else ()
    number = int if dtype_kind(xp, array.dtype) == "integral" else float
    return f"{number(array[index])} at {list(index)}"


def same_dtype(**arrays: Array) -> None:
    """Refuse arrays of different dtypes, as PyTorch does.

    Raises:
        TypeError: naming the first array that differs.
    """
    (first, reference), *others = arrays.items()
    for name, array in others:
        if array.dtype != reference.dtype:
            raise TypeError(
                f"{name} has dtype {dtype_name(array.dtype)}; "
                f"expected {dtype_name(reference.dtype)} to match {first}"
            )


def widened(xp: ModuleType, array: Array) -> Array:
    """Return a 16-bit float array as float32, any other as it is: sums need the room."""
    return xp.astype(array, xp.float32) if is_16_bit(xp, array.dtype) else array


@cache
def is_16_bit(xp: ModuleType, dtype: Any) -> bool:
    """Whether a dtype is float16 or bfloat16."""
    return dtype_name(dtype).endswith("float16")


def largest_of_16_bits(xp: ModuleType, array: Array) -> float:
    """Return the largest magnitude in a 16-bit float array of NumPy or CuPy; inf and NaN count.

    But for their sign, floats are in the order of their bits read as whole numbers, infinity
    behind the finite ones and NaN last. So the bits are compared, with a sign for the positive
    numbers and without for the negative ones, and nothing is widened.

    >>> largest_of_16_bits(np, np.asarray([1.5, -2.0], dtype=np.float16))
    2.0
    """
    # In the order of memory: CuPy's quick reductions are for arrays without gaps or turns.
    axes = sorted(range(array.ndim), key=lambda axis: -array.strides[axis])
    flat = array.transpose(axes).reshape(-1)
    signed, unsigned = (int(xp.max(flat.view(whole))) for whole in (xp.int16, xp.uint16))
    bits = max(signed, unsigned & 0x7FFF)
    return float(np.asarray(bits, dtype=np.uint16).view(array.dtype))


def squared_lengths(xp: ModuleType, rows: Array) -> Array:
    """Return the dot product of each row with itself.

    array-api-compat's `vecdot` for CuPy is a batch of matrix products, one for each row.
    """
    return xp.sum(rows * rows, axis=-1) if is_cupy_namespace(xp) else xp.vecdot(rows, rows)


def dtype_name(dtype: Any) -> str:
    """Name a dtype the same way in every library.

    >>> dtype_name(np.dtype("float32"))
    'float32'
    """
    return str(getattr(dtype, "name", dtype)).rpartition(".")[2]


def has_blocks(xp: ModuleType) -> bool:
    """Whether a library has what the blocks need beyond the standard: `out=` of exp and matmul."""
    return is_numpy_namespace(xp) or is_cupy_namespace(xp)


def on_host(xp: ModuleType) -> bool:
    """Whether Python threads over blocks help: on a GPU the device itself is parallel."""
    return is_numpy_namespace(xp)


def has_fused(xp: ModuleType) -> bool:
    """Whether attention can be had in one kernel: cuDNN's, on CuPy's arrays."""
    return is_cupy_namespace(xp) and cudnn() is not None


@cache
def cudnn() -> ModuleType | None:
    """Return cuDNN's front end, or None where it, or the library that it loads, is missing."""
    try:
        front_end = importlib.import_module("cudnn")
        front_end.backend_version()
    except (ImportError, OSError, RuntimeError):
        return None
    return front_end


def power(xp: ModuleType) -> tuple[Callable[..., Array], float]:
    """Return the faster of exp2 and exp, and what a natural exponent is multiplied by for it.

    With vector instructions exp2 takes half the time of exp, without them twice. It is slow
    again where it underflows, so it is for exponents known to be moderate.
    """
    if is_numpy_namespace(xp) and _has_vector_exp2():
        return xp.exp2, math.log2(math.e)
    return xp.exp, 1.0


@cache
def _has_vector_exp2() -> bool:
    """Whether this NumPy, on this processor, runs a version of exp2 above its baseline."""
    versions = np.lib.introspect.opt_func_info(func_name="^exp2$", signature="^float(32|64)")
    chosen = [version["current"] for version in versions.get("exp2", {}).values()]
    return bool(chosen) and not any(name.startswith("baseline") for name in chosen)


def to_numpy(array: Array) -> np.ndarray:
    """Bring an array to the host, for printing."""
    if isinstance(array, np.ndarray | np.generic) or not is_array_api_obj(array):
        return np.asarray(array)
    if hasattr(array, "get"):  # CuPy
        return array.get()
    return np.from_dlpack(array)


def readable(name: str, array: Array) -> np.ndarray:
    """Bring real numbers or booleans to the host, for printing and drawing.

    bfloat16 comes as float32, which holds each of its numbers and which NumPy knows.

    Raises:
        TypeError: if it holds anything else.
        ValueError: if a whole number is beyond the largest float.
    """
    if is_array_api_obj(array):
        array = widened(namespace(**{name: array}), array)
    try:
        found = to_numpy(array)
    except ValueError:  # lists of different lengths
        kind = type(array).__name__
        raise TypeError(f"{name} is a {kind} of unequal rows; expected an array") from None
    if found.dtype == object and all(isinstance(value, Real) for value in found.flat):
        return _as_floats(name, found)
    if found.dtype.kind not in "biuf":
        raise TypeError(f"{name} has dtype {found.dtype}; expected real numbers or booleans")
    return found


def _as_floats(name: str, array: np.ndarray) -> np.ndarray:
    """Return Python's own numbers, which NumPy takes for objects beyond 64 bits, as float64."""
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
    'array_api_compat.numpy'
    """
    if name not in ("numpy", "cupy"):
        raise ValueError(f"backend is {name!r}; expected 'numpy' or 'cupy'")
    if name == "cupy":
        require_cupy()
    return importlib.import_module(f"array_api_compat.{name}")


def require_cupy() -> None:
    """Say in one line what is missing when CuPy cannot run."""
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
