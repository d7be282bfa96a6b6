"""The arguments of attention, checked once for both doors: the steps and the blocks."""

import math
from collections.abc import Sequence
from types import ModuleType
from typing import Any, NamedTuple

from attention_docs.arrays import (
    Array,
    below_infinity,
    dtype_kind,
    dtype_name,
    finite,
    first_where,
    given,
    has_fused,
    ignoring_overflow,
    is_16_bit,
    largest_of_16_bits,
    namespace,
    real,
    same_dtype,
    squared_lengths,
    widened,
)
from attention_docs.scalars import count, finite_number, flag, real_number


class Inputs(NamedTuple):
    """One attention call whose arguments fit together.

    Attributes:
        xp: the array library.
        dtype: what the output is to be. 16-bit arrays are float32 here already, except where a
            fused kernel may take them as they are: `in_float32` widens those.
        query: (..., m, d_k) finite queries.
        key: (..., n, d_k) finite keys, perhaps of fewer heads than the queries.
        value: (..., n, d_v) finite values, likewise.
        longest: the largest Euclidean length of a query, of a key and of a value, or a bound of
            it; inf where a square overflows.
        batch: the leading axes of the output.
        attn_mask: broadcasts to the scores; boolean, or float without NaN and +inf.
        top_bias: the largest number of a float mask, or 0.
        scale: what the scores are multiplied by.
        left: how many positions before its own a query sees; None for all.
        right: how many after its own; None for all.
        softcap: c in c tanh(s/c), or None.
        enable_gqa: whether a head of key and value serves several query heads.
    """

    xp: ModuleType
    dtype: Any
    query: Array
    key: Array
    value: Array
    longest: tuple[float, ...]
    batch: tuple[int, ...]
    attn_mask: Array | None
    top_bias: float
    scale: float
    left: int | None
    right: int | None
    softcap: float | None
    enable_gqa: bool


def checked_inputs(
    query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa, window, softcap
) -> Inputs:
    """Return the arguments of `attention_steps` ready for use, or raise what it promises."""
    xp = namespace(query=query, key=key, value=value, **given(attn_mask=attn_mask))
    dtype, arrays = _checked_arrays(xp, query=query, key=key, value=value)
    if is_16_bit(xp, dtype) and not (attn_mask is None and softcap is None and has_fused(xp)):
        arrays = {name: widened(xp, array) for name, array in arrays.items()}
    query, key, value = arrays.values()
    with ignoring_overflow():
        longest = tuple(_longest(xp, name, array) for name, array in arrays.items())
    if real_number("dropout_p", dropout_p) != 0:
        raise ValueError(f"dropout_p is {dropout_p}; expected 0, nothing here is random")
    is_causal, enable_gqa = flag("is_causal", is_causal), flag("enable_gqa", enable_gqa)
    if is_causal and attn_mask is not None:
        raise ValueError(
            "attn_mask and is_causal were both given; "
            "expected one, for example attn_mask & causal_mask(m, n)"
        )
    left, right = _checked_reach(is_causal, window)
    scale = _checked_scale(xp, query, scale)
    softcap = _checked_softcap(xp, query, softcap)
    scores, batch = _checked_shapes(query, key, value, enable_gqa)
    # A reach beyond the sequence is the whole of it, and may be too large for the array's integers.
    left = None if left is None else min(left, scores[-2])
    right = None if right is None else min(right, scores[-1])
    top_bias = 0.0 if attn_mask is None else _checked_bias(xp, attn_mask, scores, query)
    return Inputs(
        xp,
        dtype,
        query,
        key,
        value,
        longest,
        batch,
        attn_mask,
        top_bias,
        scale,
        left,
        right,
        softcap,
        enable_gqa,
    )


def in_float32(inputs: Inputs) -> Inputs:
    """Return the inputs with 16-bit arrays as float32."""
    xp = inputs.xp
    if not is_16_bit(xp, inputs.query.dtype):
        return inputs
    query, key, value = (widened(xp, a) for a in (inputs.query, inputs.key, inputs.value))
    return inputs._replace(query=query, key=key, value=value)


def _checked_arrays(xp: ModuleType, **arrays: Array) -> tuple[Any, dict[str, Array]]:
    """Return the dtype of the arrays, and the arrays; integers are floats from here on."""
    named = {name: real(xp, name, array) for name, array in arrays.items()}
    same_dtype(**named)
    for name, array in named.items():
        if array.ndim < 2:
            raise ValueError(
                f"{name} has shape {array.shape}; expected at least two axes, (..., length, dim)"
            )
    return named["query"].dtype, named


def _longest(xp: ModuleType, name: str, rows: Array) -> float:
    """Return the largest Euclidean length of a row, or a bound of it.

    A finite one proves that each number is. One number comes to the host for it. A square may
    overflow.
    """
    if 0 in rows.shape:
        return 0.0
    if is_16_bit(xp, rows.dtype):
        return _longest_of_16_bits(xp, name, rows)
    square = float(xp.max(squared_lengths(xp, rows)))
    if not math.isfinite(square):
        finite(xp, name, rows)
    return math.sqrt(square)


def _longest_of_16_bits(xp: ModuleType, name: str, rows: Array) -> float:
    """Bound the length of a row by its largest number; widening all of them would cost more."""
    largest = largest_of_16_bits(xp, rows)
    if not math.isfinite(largest):
        finite(xp, name, widened(xp, rows))
    return math.sqrt(rows.shape[-1]) * largest


def _checked_reach(is_causal: bool, window) -> tuple[int | None, int | None]:
    """Return how far a query sees to either side."""
    if window is not None and not (isinstance(window, Sequence) and len(window) == 2):
        raise ValueError(f"window is {window!r}; expected a pair (left, right)")
    left, right = (None, None) if window is None else window
    left, right = (
        side if side is None else count(name, side)
        for name, side in (("left", left), ("right", right))
    )
    return left, 0 if is_causal else right


def _checked_scale(xp: ModuleType, query: Array, scale: float | None) -> float:
    if scale is None:
        if query.shape[-1] == 0:
            raise ValueError(f"query has shape {query.shape}; expected d_k of 1 or more")
        return 1 / math.sqrt(query.shape[-1])
    factor = finite_number("scale", scale)
    if abs(factor) > _greatest(xp, query):
        raise ValueError(f"scale is {scale}; expected a number that fits {dtype_name(query.dtype)}")
    return factor


def _checked_softcap(xp: ModuleType, query: Array, softcap: float | None) -> float | None:
    if softcap is None:
        return None
    limits = xp.finfo(query.dtype)
    bound = real_number("softcap", softcap)
    if not 0 < bound < math.inf:
        raise ValueError(f"softcap is {softcap}; expected a positive number")
    if not float(limits.smallest_normal) <= bound <= float(limits.max):
        raise ValueError(
            f"softcap is {softcap}; expected a number that fits {dtype_name(query.dtype)}"
        )
    return bound


def _checked_shapes(query: Array, key: Array, value: Array, enable_gqa: bool):
    """Return the shape of the scores and the leading axes of the output."""
    if key.shape[-1] != query.shape[-1]:
        raise ValueError(
            f"key has shape {key.shape}; "
            f"expected (..., n, {query.shape[-1]}) to match query {query.shape}"
        )
    if value.shape[-2] != key.shape[-2]:
        raise ValueError(
            f"value has shape {value.shape}; "
            f"expected (..., {key.shape[-2]}, d_v) to match key {key.shape}"
        )
    leading = [tuple(query.shape[:-2])]
    for name, array in (("key", key), ("value", value)):
        heads = _served_heads(name, query, array) if enable_gqa else array.shape[:-2]
        if (batch := broadcast(leading[-1], tuple(heads))) is None:
            raise ValueError(
                f"{name} has shape {array.shape}; "
                f"expected leading axes that broadcast with query {query.shape}"
            )
        leading.append(batch)
    _, of_scores, of_output = leading
    return (*of_scores, query.shape[-2], key.shape[-2]), of_output


def _served_heads(name: str, query: Array, array: Array) -> tuple[int, ...]:
    """Return the leading axes after each head of (..., heads, n, d) serves its query heads."""
    if query.ndim < 3 or array.ndim < 3 or not array.shape[-3]:
        raise ValueError(f"{name} has shape {array.shape}; expected (..., heads, n, d)")
    if query.shape[-3] % array.shape[-3]:
        raise ValueError(
            f"{name} has {array.shape[-3]} heads; "
            f"expected a divisor of the {query.shape[-3]} heads of query"
        )
    return (*array.shape[:-3], query.shape[-3])


def broadcast(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return the shape that two shapes broadcast to, or None.

    >>> broadcast((2, 1), (3,))
    (2, 3)
    """
    if one == other:
        return one
    length = max(len(one), len(other))
    pairs = [(1,) * (length - len(shape)) + shape for shape in (one, other)]
    if any(a != b and 1 not in (a, b) for a, b in zip(*pairs, strict=True)):
        return None
    return tuple(b if a == 1 else a for a, b in zip(*pairs, strict=True))


def _checked_bias(xp: ModuleType, attn_mask: Array, scores: tuple[int, ...], query: Array) -> float:
    """Return the largest number of a float mask, 0 for a boolean one."""
    if broadcast(tuple(attn_mask.shape), scores) != scores:
        raise ValueError(
            f"attn_mask has shape {attn_mask.shape}; expected one that broadcasts to {scores}"
        )
    kind = dtype_kind(xp, attn_mask.dtype)
    if kind == "bool":
        return 0.0
    if kind != "real floating":
        raise TypeError(
            f"attn_mask has dtype {dtype_name(attn_mask.dtype)}; "
            "expected bool (True takes part) or float (added to the scores)"
        )
    if not math.prod(attn_mask.shape):
        return 0.0
    peak = xp.max(attn_mask)
    below_infinity(xp, "attn_mask", attn_mask, peak)
    _check_bias_fits(xp, attn_mask, query)
    return float(peak)


def _check_bias_fits(xp: ModuleType, attn_mask: Array, query: Array) -> None:
    """Refuse a float64 mask beyond float32: as -inf, a number would hide its position."""
    limit = _greatest(xp, query)
    if limit >= _greatest(xp, attn_mask):
        return
    wrong = (xp.abs(attn_mask) > limit) & (attn_mask != -xp.inf)
    if xp.any(wrong):
        raise ValueError(
            f"attn_mask holds {first_where(xp, wrong, attn_mask)}; "
            f"expected numbers that fit {dtype_name(query.dtype)}, or -inf"
        )


def _greatest(xp: ModuleType, array: Array) -> float:
    """Return the largest number of an array's dtype, in which sums of 16 bits are float32."""
    dtype = xp.float32 if is_16_bit(xp, array.dtype) else array.dtype
    return float(xp.finfo(dtype).max)
