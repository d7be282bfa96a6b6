"""Upper bounds of scores and weighted sums, from one pass over the arrays."""

import math
from types import ModuleType
from typing import NamedTuple

from array_api_compat import is_cupy_namespace

from attention_docs.arrays import Array, check_finite, ignoring_overflow
from attention_docs.inputs import Inputs


class Bounds(NamedTuple):
    """The Euclidean length of the longest query, key and value; inf if its square overflows."""

    query: float
    key: float
    value: float


UNBOUNDED = Bounds(math.inf, math.inf, math.inf)  # of arrays that were not measured


def measure_bounds(inputs: Inputs) -> Bounds:
    """Return the bounds of query, key and value."""
    xp = inputs.xp
    with ignoring_overflow():
        return Bounds(
            query=longest_row_length(xp, "query", inputs.query),
            key=longest_row_length(xp, "key", inputs.key),
            value=longest_row_length(xp, "value", inputs.value),
        )


def longest_row_length(xp: ModuleType, name: str, rows: Array) -> float:
    """Return the largest Euclidean length of a row, or inf if its square overflows.

    A finite result proves that every number is finite; only this one number is copied to the host.
    """
    if 0 in rows.shape:
        return 0.0
    square = float(squared_lengths(xp, rows).max())
    if not math.isfinite(square):
        check_finite(xp, name, rows)
    return math.sqrt(square)


def squared_lengths(xp: ModuleType, rows: Array) -> Array:
    """Return the dot product of each row with itself.

    array-api-compat's `vecdot` for CuPy is avoided: it computes one matrix product for each row.
    """
    return xp.sum(rows * rows, axis=-1) if is_cupy_namespace(xp) else xp.vecdot(rows, rows)
