"""Validation of the arguments of attention, shared by the formula and the kernels."""

import math
from collections.abc import Sequence
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from attention_docs.arrays import (
    Array,
    as_real,
    check_below_infinity,
    check_finite,
    check_same_dtype,
    describe_first,
    drop_none,
    dtype_kind,
    dtype_name,
    largest_float,
    namespace,
    upcast_16_bit,
)
from attention_docs.scalars import count, finite_number, flag, real_number

Shape = tuple[int, ...]
Window = tuple[int | None, int | None]


class Inputs(NamedTuple):
    """The validated arguments of one attention call.

    Attributes:
        dtype: the dtype of the output.
        query: (..., m, d_k) queries; float32 if they were given in 16 bits.
        key: (..., n, d_k) keys of the same dtype, perhaps with fewer heads than the queries.
        value: (..., n, d_v) values, likewise.
        batch: the leading axes of the output.
        attn_mask: broadcasts to the scores; boolean, or float without NaN and +inf.
        max_bias: the largest number of a float mask, as an array without axes, or 0.
        left: how many positions before its own a query sees; None for all.
        right: how many positions after its own it sees; None for all.
    """

    xp: ModuleType
    dtype: Any
    query: Array
    key: Array
    value: Array
    batch: Shape
    attn_mask: Array | None
    max_bias: Array | float
    scale: float
    left: int | None
    right: int | None
    softcap: float | None
    enable_gqa: bool

    @property
    def has_float_mask(self) -> bool:
        """Whether the mask holds numbers to add to the scores."""
        mask = self.attn_mask
        return mask is not None and dtype_kind(self.xp, mask.dtype) != "bool"

    def check_finite(self) -> "Inputs":
        """Refuse NaN and infinity in query, key and value, and return the inputs."""
        check_finite(self.xp, "query", self.query)
        check_finite(self.xp, "key", self.key)
        check_finite(self.xp, "value", self.value)
        return self

    def repeat_kv_heads(self, array: Array) -> Array:
        """Repeat the heads of a key or value, (..., heads, n, d), to match the query's."""
        if not self.enable_gqa or array.shape[-3] == self.query.shape[-3]:
            return array
        return self.xp.repeat(array, self.query.shape[-3] // array.shape[-3], axis=-3)


def prepare_inputs(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    window: Window | None = None,
    softcap: float | None = None,
) -> Inputs:
    """Validate the arguments of `attention_steps`, except that numbers may be NaN or infinite.

    `Inputs.check_finite` refuses these, or a kernel while it reads the arrays for their bounds.
    """
    arrays = {"query": query, "key": key, "value": value}
    xp = namespace(**arrays, **drop_none(attn_mask=attn_mask))
    arrays = {name: as_real(xp, name, array) for name, array in arrays.items()}
    check_same_dtype(**arrays)
    dtype = arrays["query"].dtype
    query, key, value = (upcast_16_bit(xp, array) for array in arrays.values())
    _check_axes(query=query, key=key, value=value)
    if real_number("dropout_p", dropout_p) != 0:
        raise ValueError(
            f"dropout_p is {dropout_p}; expected 0, because dropout is not implemented"
        )
    is_causal = flag("is_causal", is_causal)
    enable_gqa = flag("enable_gqa", enable_gqa)
    if is_causal and attn_mask is not None:
        raise ValueError(
            "attn_mask and is_causal were both given; "
            "expected one, for example attn_mask & causal_mask(m, n)"
        )
    left, right = _resolve_window(is_causal, window)
    scale = _resolve_scale(xp, query, scale)
    softcap = _resolve_softcap(xp, query, softcap)
    scores_shape, batch = _infer_shapes(query, key, value, enable_gqa)
    return Inputs(
        xp=xp,
        dtype=dtype,
        query=query,
        key=key,
        value=value,
        batch=batch,
        attn_mask=attn_mask,
        max_bias=0.0 if attn_mask is None else _max_bias(xp, attn_mask, scores_shape, query),
        scale=scale,
        # Clip the window to the sequence: a wider one might not fit the array's integers.
        left=None if left is None else min(left, scores_shape[-2]),
        right=None if right is None else min(right, scores_shape[-1]),
        softcap=softcap,
        enable_gqa=enable_gqa,
    )


def check_grad_output(inputs: Inputs, query: Array, grad_output: Array) -> Array:
    """Validate a gradient by the caller's `query`, and return it with 16 bits as float32."""
    xp = namespace(query=query, grad_output=grad_output)
    gradient = as_real(xp, "grad_output", grad_output)
    check_same_dtype(query=as_real(xp, "query", query), grad_output=gradient)
    expected = (*inputs.batch, inputs.query.shape[-2], inputs.value.shape[-1])
    if tuple(gradient.shape) != expected:
        raise ValueError(
            f"grad_output has shape {tuple(gradient.shape)}; expected {expected}, as the output"
        )
    gradient = upcast_16_bit(xp, gradient)
    check_finite(xp, "grad_output", gradient)
    return gradient


def _check_axes(**arrays: Array) -> None:
    for name, array in arrays.items():
        if array.ndim < 2:
            raise ValueError(
                f"{name} has shape {array.shape}; expected at least two axes, (..., length, dim)"
            )


def _resolve_window(is_causal: bool, window: Window | None) -> Window:
    """Return how many positions a query sees left and right; None for all, 0 right if causal."""
    left = right = None
    if window is not None:
        if not (isinstance(window, Sequence) and len(window) == 2):
            raise ValueError(f"window is {window!r}; expected a pair (left, right)")
        left, right = (
            side if side is None else count(f"window[{i}]", side) for i, side in enumerate(window)
        )
    return left, 0 if is_causal else right


def _resolve_scale(xp: ModuleType, query: Array, scale: float | None) -> float:
    """Return the scale, by default 1 / sqrt(d_k)."""
    if scale is None:
        if query.shape[-1] == 0:
            raise ValueError(f"query has shape {query.shape}; expected d_k of 1 or more")
        return 1 / math.sqrt(query.shape[-1])
    factor = finite_number("scale", scale)
    if abs(factor) > largest_float(xp, query):
        raise ValueError(f"scale is {scale}; expected a number that fits {dtype_name(query.dtype)}")
    return factor


def _resolve_softcap(xp: ModuleType, query: Array, softcap: float | None) -> float | None:
    """Return the softcap as a float, or None."""
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


def _infer_shapes(query: Array, key: Array, value: Array, enable_gqa: bool) -> tuple[Shape, Shape]:
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
    query_axes = tuple(query.shape[:-2])
    score_axes = _broadcast_leading_axes(query_axes, "key", key, query, enable_gqa)
    output_axes = _broadcast_leading_axes(score_axes, "value", value, query, enable_gqa)
    return (*score_axes, query.shape[-2], key.shape[-2]), output_axes


def _broadcast_leading_axes(
    axes: Shape, name: str, array: Array, query: Array, enable_gqa: bool
) -> Shape:
    """Return the shape that `axes` and the leading axes of a key or value broadcast to."""
    leading = array.shape[:-2]
    if enable_gqa:
        if query.ndim < 3 or array.ndim < 3 or not array.shape[-3]:
            raise ValueError(f"{name} has shape {array.shape}; expected (..., heads, n, d)")
        if query.shape[-3] % array.shape[-3]:
            raise ValueError(
                f"{name} has {array.shape[-3]} heads; "
                f"expected a divisor of the {query.shape[-3]} heads of query"
            )
        leading = (*array.shape[:-3], query.shape[-3])
    broadcast = broadcast_shapes(axes, tuple(leading))
    if broadcast is None:
        raise ValueError(
            f"{name} has shape {array.shape}; "
            f"expected leading axes that broadcast with query {query.shape}"
        )
    return broadcast


def broadcast_shapes(first: Shape, second: Shape) -> Shape | None:
    """Return the shape that two shapes broadcast to, or None if they do not."""
    if first == second:  # fast path
        return first
    try:
        return np.broadcast_shapes(first, second)
    except ValueError:
        return None


def _max_bias(xp: ModuleType, attn_mask: Array, scores_shape: Shape, query: Array) -> Array | float:
    """Validate a mask; return its largest number, or 0 if it is boolean or empty."""
    if broadcast_shapes(tuple(attn_mask.shape), scores_shape) != scores_shape:
        raise ValueError(
            f"attn_mask has shape {attn_mask.shape}; expected one that broadcasts to {scores_shape}"
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
    maximum = xp.max(attn_mask)
    check_below_infinity(xp, "attn_mask", attn_mask, maximum)
    limit = largest_float(xp, query)
    if limit < largest_float(xp, attn_mask):
        # Cast to float32, such numbers of a float64 mask would be -inf and hide their positions.
        invalid = (xp.abs(attn_mask) > limit) & (attn_mask != -xp.inf)
        if xp.any(invalid):
            raise ValueError(
                f"attn_mask holds {describe_first(xp, invalid, attn_mask)}; "
                f"expected numbers that fit {dtype_name(query.dtype)}, or -inf"
            )
    return maximum
