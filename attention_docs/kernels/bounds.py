"""How large scores and weighted sums can become, from one pass over the arrays."""

import math
from types import ModuleType
from typing import NamedTuple

import numpy as np
from array_api_compat import is_cupy_namespace

from attention_docs.arrays import Array, check_finite, ignoring_overflow, is_16_bit, widened
from attention_docs.inputs import Arguments


class Bounds(NamedTuple):
    """Upper bounds of the Euclidean length of a row; inf where a square overflows.

    Attributes:
        query: of the queries.
        key: of the keys.
        value: of the values.
    """

    query: float
    key: float
    value: float


UNBOUNDED = Bounds(math.inf, math.inf, math.inf)  # what is known of arrays that were not measured


def bounds_of(arguments: Arguments) -> Bounds:
    """Measure query, key and value.

    Raises:
        ValueError: naming the first array, and the position in it, that is not finite.
    """
    xp = arguments.xp
    with ignoring_overflow():
        return Bounds(*(longest_row(xp, *named) for named in arguments.arrays().items()))


def longest_row(xp: ModuleType, name: str, rows: Array) -> float:
    """Return the largest Euclidean length of a row, or a bound of it; a square may overflow.

    A finite one proves that every number is finite, and only this one number comes to the host.

    Raises:
        ValueError: naming the first position that is not finite.
    """
    if 0 in rows.shape:
        return 0.0
    if is_16_bit(xp, rows.dtype):
        return _bound_of_16_bit_rows(xp, name, rows)
    square = float(xp.max(squared_lengths(xp, rows)))
    if not math.isfinite(square):
        check_finite(xp, name, rows)
    return math.sqrt(square)


def _bound_of_16_bit_rows(xp: ModuleType, name: str, rows: Array) -> float:
    """Bound the length of a row by its largest number; widening all of them would cost more."""
    largest = largest_of_16_bits(xp, rows)
    if not math.isfinite(largest):
        check_finite(xp, name, widened(xp, rows))
    return math.sqrt(rows.shape[-1]) * largest


def squared_lengths(xp: ModuleType, rows: Array) -> Array:
    """Return the dot product of each row with itself.

    array-api-compat's `vecdot` for CuPy is a batch of matrix products, one for each row.
    """
    return xp.sum(rows * rows, axis=-1) if is_cupy_namespace(xp) else xp.vecdot(rows, rows)


def largest_of_16_bits(xp: ModuleType, array: Array) -> float:
    """Return the largest magnitude in a 16-bit float array of NumPy or CuPy; inf and NaN count.

    Apart from the sign, floats are ordered like their bits read as integers, with infinity after
    the finite numbers and NaN last. So the bits are compared, as signed integers for the positive
    numbers and as unsigned ones for the negative numbers, and nothing is widened.

    >>> largest_of_16_bits(np, np.asarray([1.5, -2.0], dtype=np.float16))
    2.0
    """
    # In memory order: CuPy's fast reductions need contiguous arrays.
    axes = sorted(range(array.ndim), key=lambda axis: -array.strides[axis])
    flat = array.transpose(axes).reshape(-1)
    signed, unsigned = (int(xp.max(flat.view(integer))) for integer in (xp.int16, xp.uint16))
    bits = max(signed, unsigned & 0x7FFF)
    return float(np.asarray(bits, dtype=np.uint16).view(array.dtype))
