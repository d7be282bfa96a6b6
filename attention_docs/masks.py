"""Masks: which keys each query may see. True takes part, False does not, as in PyTorch."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy

from attention_docs.arrays import (
    Array,
    check_library,
    describe_first,
    dtype_kind,
    dtype_name,
    namespace,
    with_article,
)
from attention_docs.inputs import broadcast_shapes
from attention_docs.scalars import count, size


def causal_mask(
    queries: int, keys: int | None = None, *, xp: ModuleType = numpy, device: Any = None
) -> Array:
    r"""Let each query see its own position and those before it.

    $$M_{ij} = [\,j \le i\,]$$

    The first query is aligned with the first key, also when there are more keys than queries.

    Args:
        queries: m, the number of queries.
        keys: n, the number of keys; `queries` if left out.
        xp: the array library of the result.
        device: where to put it; the library's default if left out.

    Returns:
        (m, n) boolean array.

    Raises:
        TypeError: if a count is not an integer, or `xp` is not an array library.
        ValueError: if a count is negative or larger than an array can be.

    Source: Vaswani et al. 2017, section 3.2.3.

    Examples:
        >>> show(causal_mask(3))
        [[True False False]
         [True  True False]
         [True  True  True]]
    """
    return window_mask(queries, keys, right=0, xp=xp, device=device)


def window_mask(
    queries: int,
    keys: int | None = None,
    *,
    left: int | None = None,
    right: int | None = None,
    xp: ModuleType = numpy,
    device: Any = None,
) -> Array:
    r"""Let each query see its own position, `left` before it and `right` after it.

    $$M_{ij} = [\,i - \text{left} \le j \le i + \text{right}\,]$$

    Args:
        queries: m, the number of queries.
        keys: n, the number of keys; `queries` if left out.
        left: how many positions before its own a query sees; all of them if left out.
        right: how many positions after its own it sees; all of them if left out.
        xp: the array library of the result.
        device: where to put it; the library's default if left out.

    Returns:
        (m, n) boolean array.

    Raises:
        TypeError: if a count is not an integer, or `xp` is not an array library.
        ValueError: if a count is negative or larger than an array can be.

    Source: Beltagy et al. 2020 (Longformer), section 3.1.

    Examples:
        >>> show(window_mask(4, left=1, right=1))
        [[ True  True False False]
         [ True  True  True False]
         [False  True  True  True]
         [False False  True  True]]
    """
    check_library(xp)
    queries = size("queries", queries)
    keys = queries if keys is None else size("keys", keys)
    query = xp.arange(queries, device=device)[:, None]  # (m, 1)
    key = xp.arange(keys, device=device)[None, :]  # (1, n)
    mask = xp.ones((queries, keys), dtype=xp.bool, device=device)  # (m, n)
    # Clip the window to the sequence: a wider one might not fit the array's integers.
    if left is not None:
        mask = mask & (key >= query - min(count("left", left), queries))
    if right is not None:
        mask = mask & (key <= query + min(count("right", right), keys))
    return mask


def create_mask(
    mask: Callable[[Array, Array], Array],
    queries: int,
    keys: int | None = None,
    *,
    xp: ModuleType = numpy,
    device: Any = None,
) -> Array:
    r"""Turn a function of two positions into a mask.

    $$M_{ij} = \text{mask}(i, j)$$

    Args:
        mask: is called once, with the (m, 1) positions of the queries and the (1, n) positions of
            the keys as integers, and says for each pair whether it takes part.
        queries: m, the number of queries.
        keys: n, the number of keys; `queries` if left out.
        xp: the array library of the result.
        device: where to put it; the library's default if left out.

    Returns:
        (..., m, n) boolean array; the function adds the first axes, if any.

    Raises:
        TypeError: if `mask` is not a function or does not return booleans, a count is not an
            integer, or `xp` is not an array library.
        ValueError: if what `mask` returns does not broadcast to (..., m, n), or a count is negative
            or larger than an array can be.

    Source: `create_mask` of PyTorch's FlexAttention, whose functions also get batch and head.

    Examples:
        >>> document = np.array([0, 0, 0, 1, 1])
        >>> def packed(q, kv):
        ...     return (kv <= q) & (document[q] == document[kv])
        >>> show(create_mask(packed, 5))
        [[ True False False False False]
         [ True  True False False False]
         [ True  True  True False False]
         [False False False  True False]
         [False False False  True  True]]
    """
    check_library(xp)
    if not callable(mask):
        raise TypeError(f"mask is {with_article(mask)}; expected a function of two arrays")
    queries = size("queries", queries)
    keys = queries if keys is None else size("keys", keys)
    every_pair = xp.ones((queries, keys), dtype=xp.bool, device=device)
    query_positions = xp.arange(queries, device=device)
    key_positions = xp.arange(keys, device=device)
    visible = mask(query_positions[:, None], key_positions[None, :])
    dtype = getattr(visible, "dtype", with_article(visible))  # `a bool` where it is no array
    if dtype != every_pair.dtype:
        raise TypeError(f"mask returned {dtype}; expected an array of dtype {every_pair.dtype}")
    shape = broadcast_shapes(tuple(visible.shape), every_pair.shape)
    if shape is None or shape[-2:] != (queries, keys):
        raise ValueError(
            f"mask returned shape {visible.shape}; "
            f"expected one that broadcasts to (..., {queries}, {keys})"
        )
    return visible & every_pair


def padding_mask(lengths: Array, keys: int) -> Array:
    r"""Let every query see the first `lengths[b]` keys of its sequence and no padding.

    $$M_{bj} = [\,j < \text{length}_b\,]$$

    Args:
        lengths: (...,) integers, the number of real keys in each sequence.
        keys: n, the number of keys with padding.

    Returns:
        (..., 1, n) boolean array: the axis of length 1 stands for all the queries. For scores of
        shape (batch, heads, m, n) pass lengths of shape (batch, 1).

    Raises:
        TypeError: if `lengths` is not an array of integers.
        ValueError: if a length is negative or above `keys`, or `keys` larger than an array can be.

    Examples:
        >>> show(padding_mask(np.array([3, 1]), 4))
        [[[True  True  True False]]
         [[True False False False]]]
    """
    xp = namespace(lengths=lengths)
    keys = size("keys", keys)
    if dtype_kind(xp, lengths.dtype) != "integral":
        raise TypeError(f"lengths has dtype {dtype_name(lengths.dtype)}; expected integers")
    # In int64, because `keys` may not fit the dtype of `lengths`: int8 ends at 127. A uint64 beyond
    # int64 becomes negative and is refused as well.
    int64_lengths = xp.astype(lengths, xp.int64)
    invalid = (int64_lengths < 0) | (int64_lengths > keys)
    if xp.any(invalid):
        raise ValueError(
            f"lengths holds {describe_first(xp, invalid, lengths)}; expected 0 to {keys}"
        )
    key = xp.arange(keys, dtype=xp.int64, device=int64_lengths.device)  # (n,)
    return (key < int64_lengths[..., None])[..., None, :]  # (..., 1, n)
