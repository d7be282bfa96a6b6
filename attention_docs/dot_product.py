"""Scaled dot-product attention: with every step to read, or the output alone."""

import math
from collections.abc import Sequence
from types import ModuleType
from typing import NamedTuple

from attention_docs.arrays import (
    Array,
    dtype_name,
    finite,
    first_where,
    ignoring_overflow,
    namespace,
    real,
    same_dtype,
    widened,
)
from attention_docs.masks import causal_mask, window_mask
from attention_docs.softmax import softmax


class AttentionSteps(NamedTuple):
    """Every intermediate of one attention call.

    For 16-bit inputs all but the output are float32, as computed.

    Attributes:
        scores: (..., m, n) products of queries and keys.
        scaled: (..., m, n) scores after the scale and, if there is one, the softcap.
        masked: (..., m, n) scaled scores; -inf where a position takes no part.
        weights: (..., m, n) softmax of each row of `masked`.
        output: (..., m, d_v) weighted sums of the values.

    Examples:
        >>> steps = attention_steps(np.ones((2, 3)), np.ones((4, 3)), np.ones((4, 5)))
        >>> steps.weights.shape, steps.output.shape
        ((2, 4), (2, 5))
    """

    scores: Array
    scaled: Array
    masked: Array
    weights: Array
    output: Array


def attention_steps(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    *,
    window: tuple[int | None, int | None] | None = None,
    softcap: float | None = None,
) -> AttentionSteps:
    r"""Attend, and return every step on the way.

    $$O = \mathrm{softmax}\left(\frac{Q K^\top}{\sqrt{d_k}} + M\right) V$$

    Letters: `m` queries, `n` keys, `d_k` and `d_v` the dimensions of a key and of a value.

    Args:
        query: (..., m, d_k) queries.
        key: (..., n, d_k) keys.
        value: (..., n, d_v) values.
        attn_mask: broadcasts to (..., m, n). Boolean: True takes part. Float: added to the
            scaled scores, -inf for a position that takes no part.
        dropout_p: 0; nothing here is random.
        is_causal: a query sees no later position; not together with `attn_mask`.
        scale: what the scores are multiplied by; 1/sqrt(d_k) if left out.
        enable_gqa: each key and value head, (..., heads, n, d), serves several query heads.
        window: (left, right), how far a query sees to either side; None on a side: all of it.
        softcap: c in c tanh(s/c), which bounds the scaled scores s before the mask.

    Returns:
        The steps. A query that may see no key gets zero weights and a zero output.

    Raises:
        TypeError: if an argument is no real array, or its library or dtype differs.
        ValueError: if shapes do not fit, a number is not finite, or the scores overflow.

    Source: Vaswani et al. 2017, section 3.2.1; arguments as in PyTorch's
    `scaled_dot_product_attention`.

    Examples:
        >>> query, key = np.array([[2.0, 0.0]]), np.array([[0.0, 2.0], [2.0, 0.0]])
        >>> steps = attention_steps(query, key, value=np.array([[2.0, 0.0, 1.0], [0.0, 2.0, 1.0]]))
        >>> show(steps.scaled)
        [[0 2.8284]]
        >>> show(steps.weights)
        [[0.0558 0.9442]]
        >>> show(steps.output)
        [[0.1116 1.8884 1]]
    """
    xp = namespace(query=query, key=key, value=value, attn_mask=attn_mask)
    query, key, value = _checked_arrays(xp, query, key, value)
    scale = _checked_options(query, attn_mask, dropout_p, is_causal, scale, window, softcap)
    dtype = query.dtype
    query, key, value = (widened(xp, array) for array in (query, key, value))
    if enable_gqa:
        key, value = _shared_heads(xp, query, key, value)
    _check_shapes(query, key, value)

    with ignoring_overflow():
        scores = query @ xp.matrix_transpose(key)  # (..., m, n)
        scaled = scores * scale
    _check_overflow(xp, scaled)
    if softcap is not None:
        scaled = softcap * xp.tanh(scaled / softcap)
    masked = _masked(xp, scaled, attn_mask, is_causal, window)
    weights = softmax(masked)
    output = xp.astype(weights @ value, dtype, copy=False)  # (..., m, d_v)
    return AttentionSteps(scores, scaled, masked, weights, output)


def scaled_dot_product_attention(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    *,
    window: tuple[int | None, int | None] | None = None,
    softcap: float | None = None,
) -> Array:
    r"""Attend, and return the output only; a drop-in for PyTorch's function of this name.

    $$O = \mathrm{softmax}\left(\frac{Q K^\top}{\sqrt{d_k}} + M\right) V$$

    Arguments and errors are those of [`attention_steps`][attention_docs.attention_steps].

    Returns:
        (..., m, d_v) array, same library, device and dtype as `query`.

    Source: Vaswani et al. 2017, section 3.2.1.

    Examples:
        >>> x = np.array([[2.0, 0.0], [0.0, 2.0]])
        >>> show(scaled_dot_product_attention(x, x, x))
        [[1.8884 0.1116]
         [0.1116 1.8884]]
    """
    return attention_steps(
        query,
        key,
        value,
        attn_mask,
        dropout_p,
        is_causal,
        scale,
        enable_gqa,
        window=window,
        softcap=softcap,
    ).output


def _checked_arrays(xp: ModuleType, *arrays: Array) -> list[Array]:
    named = dict(zip(("query", "key", "value"), arrays, strict=True))
    named = {name: real(xp, name, array) for name, array in named.items()}
    same_dtype(**named)
    for name, array in named.items():
        if array.ndim < 2:
            raise ValueError(
                f"{name} has shape {array.shape}; expected at least two axes, (..., length, dim)"
            )
        finite(xp, name, array)
    return list(named.values())


def _checked_options(query, attn_mask, dropout_p, is_causal, scale, window, softcap) -> float:
    """Return the scale, after refusing options that have no meaning here."""
    if dropout_p != 0:
        raise ValueError(f"dropout_p is {dropout_p}; expected 0, nothing here is random")
    if is_causal and attn_mask is not None:
        raise ValueError(
            "attn_mask and is_causal were both given; "
            "expected one, for example attn_mask & causal_mask(m, n)"
        )
    if window is not None and not (isinstance(window, Sequence) and len(window) == 2):
        raise ValueError(f"window is {window!r}; expected a pair (left, right)")
    if softcap is not None and not 0 < softcap < math.inf:
        raise ValueError(f"softcap is {softcap}; expected a positive number")
    if scale is None:
        if query.shape[-1] == 0:
            raise ValueError(f"query has shape {query.shape}; expected d_k of 1 or more")
        return 1 / math.sqrt(query.shape[-1])
    if not math.isfinite(scale):
        raise ValueError(f"scale is {scale}; expected a finite number")
    return scale


def _shared_heads(xp: ModuleType, query: Array, key: Array, value: Array) -> list[Array]:
    """Repeat the heads of key and value, (..., heads, n, d), to as many as query has."""
    shared = []
    for name, array in (("key", key), ("value", value)):
        if query.ndim < 3 or array.ndim < 3 or not array.shape[-3]:
            raise ValueError(f"{name} has shape {array.shape}; expected (..., heads, n, d)")
        heads, remainder = divmod(query.shape[-3], array.shape[-3])
        if remainder:
            raise ValueError(
                f"{name} has {array.shape[-3]} heads; "
                f"expected a divisor of the {query.shape[-3]} heads of query"
            )
        shared.append(xp.repeat(array, heads, axis=-3))
    return shared


def _check_shapes(query: Array, key: Array, value: Array) -> None:
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
    batch = query.shape[:-2]
    for name, array in (("key", key), ("value", value)):
        if (batch := _broadcast(batch, array.shape[:-2])) is None:
            raise ValueError(
                f"{name} has shape {array.shape}; "
                f"expected leading axes that broadcast with query {query.shape}"
            )


def _broadcast(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return the shape that two shapes broadcast to, or None."""
    length = max(len(one), len(other))
    pairs = [(1,) * (length - len(shape)) + tuple(shape) for shape in (one, other)]
    if any(a != b and 1 not in (a, b) for a, b in zip(*pairs, strict=True)):
        return None
    return tuple(b if a == 1 else a for a, b in zip(*pairs, strict=True))


def _check_overflow(xp: ModuleType, scaled: Array) -> None:
    """Finite queries and keys can still have a product beyond the largest float."""
    if not xp.all(xp.isfinite(scaled)):
        where = first_where(xp, ~xp.isfinite(scaled), scaled)
        raise ValueError(
            f"the scores of query and key hold {where}; "
            f"expected products that fit {dtype_name(scaled)}"
        )


def _masked(xp: ModuleType, scaled: Array, attn_mask, is_causal: bool, window) -> Array:
    """Put -inf where a position takes no part, or add a float mask."""
    queries, keys = scaled.shape[-2:]
    library = {"xp": xp, "device": scaled.device}
    masked = scaled
    if attn_mask is not None:
        masked = _with_mask(xp, scaled, attn_mask)
    if is_causal:
        masked = _hidden(xp, masked, causal_mask(queries, keys, **library))
    if window is not None:
        left, right = window
        masked = _hidden(xp, masked, window_mask(queries, keys, left=left, right=right, **library))
    return masked


def _with_mask(xp: ModuleType, scaled: Array, attn_mask: Array) -> Array:
    shape = tuple(scaled.shape)
    if _broadcast(tuple(attn_mask.shape), shape) != shape:
        raise ValueError(
            f"attn_mask has shape {attn_mask.shape}; expected one that broadcasts to {shape}"
        )
    if xp.isdtype(attn_mask.dtype, "bool"):
        return _hidden(xp, scaled, attn_mask)
    if not xp.isdtype(attn_mask.dtype, "real floating"):
        raise TypeError(
            f"attn_mask has dtype {dtype_name(attn_mask)}; "
            "expected bool (True takes part) or float (added to the scores)"
        )
    wrong = xp.isnan(attn_mask) | (attn_mask == xp.inf)
    if xp.any(wrong):
        raise ValueError(
            f"attn_mask holds {first_where(xp, wrong, attn_mask)}; expected finite numbers or -inf"
        )
    return scaled + xp.astype(attn_mask, scaled.dtype)


def _hidden(xp: ModuleType, scores: Array, mask: Array) -> Array:
    return xp.where(mask, scores, xp.asarray(-xp.inf, dtype=scores.dtype, device=scores.device))
