r"""Attention in blocks: the scores are never in memory all at once.

The softmax of a row needs the sum of the whole row, but it can wait for it. Each query keeps a
running total and a running output, and takes up one block of keys after the other:

$$t \leftarrow t + \sum_j w_j \qquad o \leftarrow o + \sum_j w_j v_j \qquad O = o / t$$

The weights $w_j = e^{s_j - p}$ may use any shift $p$, as it cancels in $o / t$. The *bounded* path
takes $p = 0$, where it is certain that no power overflows or vanishes. The *online* path takes
the largest score so far; when that grows, what was summed before fades by the difference.

Source: Milakov and Gimelshein 2018 (online softmax); Rabe and Staats 2021; Dao et al. 2022.
"""

import itertools
import math
import threading
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from attention_docs import fused
from attention_docs.arrays import (
    Array,
    dtype_kind,
    has_blocks,
    ignoring_overflow,
    is_16_bit,
    on_host,
    power,
)
from attention_docs.inputs import Inputs, in_float32
from attention_docs.threads import parallel

SMALL = 128 * 128  # a head with this many scores or fewer is faster in one piece
HOST_BLOCK = 256, 512  # queries and keys: 0.5 MB of float32 scores stay in a core's cache
DEVICE_BLOCK = 2048, 4096  # a GPU needs large products; no speed was measured on one yet
LOG2_E = math.log2(math.e)

# A block of keys for a block of queries:
Block = tuple[Array, Array | None, Array]  # scores (b, c), which count (None: all), values (c, d_v)
Weights = tuple[Array, Array | None, Array]  # weights (b, c), what earlier sums keep, values


def path(inputs: Inputs) -> str:
    r"""Choose how to compute: `formula`, `fused`, `bounded` or `online`.

    No score is larger than the longest query times the longest key times the scale
    (Cauchy-Schwarz), nor than the softcap. So what can happen is known before any product:

    - `formula`, all scores at once: where blocks do not apply or do not pay, and where a number
      could leave the range of the dtype, as only there every score has to be looked at;
    - `fused`: 16-bit arrays on a GPU, as far as cuDNN has a kernel;
    - `bounded`: if no power of two needs more than a quarter of the exponents of the dtype, and
      the sums with the values no more than half;
    - `online`: everything else, and each float mask, as that has no lower bound.
    """
    xp, keys = inputs.xp, inputs.key.shape[-2]
    if not has_blocks(xp) or inputs.query.shape[-2] * keys <= SMALL or 0 in inputs.batch:
        return "formula"
    query, key, value = inputs.longest
    scale, softcap = abs(inputs.scale), inputs.softcap or math.inf
    factors = math.prod(max(1, factor) for factor in (query, key, scale, LOG2_E))
    dtype = xp.float32 if is_16_bit(xp, inputs.query.dtype) else inputs.query.dtype
    largest = float(xp.finfo(dtype).max)
    if not 4 * max(factors + inputs.top_bias, value, inputs.softcap or 0) <= largest:
        return "formula"
    if fused.serves(inputs):
        return "fused"
    exponents = math.log2(largest)  # 128 for float32, 1024 for float64
    exponent = LOG2_E * min(query * key * scale, softcap)
    if _is_bias(inputs) or exponent > exponents / 4 or keys * value > 2 ** (exponents / 2):
        return "online"
    return "bounded"


def _is_bias(inputs: Inputs) -> bool:
    mask = inputs.attn_mask
    return mask is not None and dtype_kind(inputs.xp, mask.dtype) != "bool"


def attend_in_blocks(inputs: Inputs, bounded: bool, block: tuple[int, int] | None = None) -> Array:
    """Return the (..., m, d_v) output; on NumPy each core takes whole blocks of queries."""
    inputs = in_float32(inputs)
    xp, queries = inputs.xp, inputs.query.shape[-2]
    rows, columns = block or (HOST_BLOCK if on_host(xp) else DEVICE_BLOCK)
    shape = (*inputs.batch, queries, inputs.value.shape[-1])
    output = xp.empty(shape, dtype=inputs.dtype, device=inputs.query.device)
    own = (
        threading.local()
    )  # in each thread, room for the scores of one block, used again and again

    def work(job: tuple[tuple[int, ...], int]) -> None:
        index, start = job
        stop = min(start + rows, queries)
        head = _head(inputs, index)
        if not hasattr(own, "room"):
            own.room = xp.empty((rows, columns), dtype=head.query.dtype, device=output.device)
        output[(*index, slice(start, stop))] = _attend_rows(head, start, stop, own.room, bounded)

    # Head by head, as its keys are in the cache then; of a causal head the long jobs first.
    starts = reversed(range(0, queries, rows))
    jobs = list(itertools.product(np.ndindex(inputs.batch), starts))
    parallel(work, jobs) if on_host(xp) else list(map(work, jobs))
    return output


def _head(inputs: Inputs, index: tuple[int, ...]) -> Inputs:
    """Return the inputs of one head: matrices, as views."""
    mask, scores = inputs.attn_mask, (inputs.query.shape[-2], inputs.key.shape[-2])
    if mask is not None:
        mask = inputs.xp.broadcast_to(mask, (*mask.shape[:-2], *scores))
        mask = _matrix(mask, index, inputs.batch)
    query, key, value = (
        _matrix(array, index, inputs.batch) for array in (inputs.query, inputs.key, inputs.value)
    )
    return inputs._replace(query=query, key=key, value=value, attn_mask=mask)


def _matrix(array: Array, index: tuple[int, ...], batch: tuple[int, ...]) -> Array:
    """Return the matrix of (..., rows, columns) that serves the output at `index`.

    An axis of length 1 serves all; 2 heads serve 8 query heads four each, neighbours together.
    """
    missing = len(batch) - (array.ndim - 2)
    axes = zip(index[missing:], array.shape, batch[missing:], strict=False)
    return array[tuple(i * length // full for i, length, full in axes)]


def _attend_rows(head: Inputs, start: int, stop: int, room: Array, bounded: bool) -> Array:
    """Return the (b, d_v) output of the queries `start` to `stop` of one head.

    The scores of each block are written to the start of `room`, (b, c): memory taken anew for
    each would go back to the system and come empty from it, up to a tenth of a call's time.
    """
    xp = head.xp
    like = {"dtype": head.query.dtype, "device": head.query.device}
    ones = xp.ones((room.shape[-1], 1), **like)  # a product with them sums rows faster than `sum`
    total = xp.zeros((stop - start, 1), **like)
    output = xp.zeros((stop - start, head.value.shape[-1]), **like)
    with ignoring_overflow():
        for weights, fade, value in (_bounded if bounded else _online)(head, start, stop, room):
            if fade is not None:
                total *= fade
                output *= fade
            total += weights @ ones[: weights.shape[-1]]
            output += weights @ value
        return output / xp.where(total == 0, xp.ones_like(total), total)


def _bounded(head: Inputs, start: int, stop: int, room: Array) -> Iterator[Weights]:
    """Weigh with p = 0: each weight is known to be an ordinary number."""
    exp, unit = power(head.xp)
    for scores, seen, value in _blocks(head, start, stop, room, unit, seen_as=head.query.dtype):
        weights = exp(scores, out=scores)
        if seen is not None:
            weights *= seen
        yield weights, None, value


def _online(head: Inputs, start: int, stop: int, room: Array) -> Iterator[Weights]:
    """Weigh with p = the largest score so far; no score is below the lowest float."""
    xp, dtype = head.xp, head.query.dtype
    like = {"dtype": dtype, "device": head.query.device}
    peak = xp.full((stop - start, 1), xp.finfo(dtype).min, **like)
    for scores, seen, value in _blocks(head, start, stop, room, 1.0, seen_as=xp.bool):
        if seen is not None:
            scores = xp.where(seen, scores, xp.asarray(-xp.inf, **like))
        higher = xp.maximum(peak, xp.max(scores, axis=-1, keepdims=True))
        scores -= higher
        yield xp.exp(scores, out=scores), xp.exp(peak - higher), value
        peak = higher


def _blocks(
    head: Inputs, start: int, stop: int, room: Array, unit: float, seen_as: Any
) -> Iterator[Block]:
    """Go through the keys that the queries `start` to `stop` may see; scores in `unit`s."""
    xp, softcap, keys = head.xp, head.softcap, head.key.shape[-2]
    query = head.query[start:stop, :] * (head.scale * (unit if softcap is None else 1.0))
    left, right = _reach(head)
    rows, last = slice(start, stop), int(min(keys, stop + right))
    columns = room.shape[-1]
    for first in range(int(max(0, start - left)), last, columns):
        these = slice(first, min(first + columns, last))
        shape = (stop - start, these.stop - first)
        # Without gaps: rows a power of two apart push each other out of the cache.
        scores = xp.reshape(xp.reshape(room, (-1,))[: math.prod(shape)], shape)
        xp.matmul(query, xp.matrix_transpose(head.key[these, :]), out=scores)
        if softcap is not None:
            scores = xp.tanh(scores / softcap) * (softcap * unit)
        if head.attn_mask is not None and _is_bias(head):
            scores += xp.astype(head.attn_mask[rows, these], scores.dtype, copy=False)
        yield scores, _seen(head, rows, these, seen_as), head.value[these, :]


def _seen(head: Inputs, rows: slice, keys: slice, dtype: Any) -> Array | None:
    """Return which of the keys each query sees, (b, c) or None if it is all of them.

    A band comes in the dtype wanted, as 0 and 1 or as booleans: to turn it into numbers for each
    product takes as long as the product.
    """
    seen = None if head.attn_mask is None or _is_bias(head) else head.attn_mask[rows, keys]
    left, right = _reach(head)
    if rows.stop - 1 - keys.start <= left and keys.stop - 1 - rows.start <= right:
        return seen
    offset, shape = rows.start - keys.start, (rows.stop - rows.start, keys.stop - keys.start)
    # On a GPU it is made anew: two streams may not share it without waiting for each other.
    band_of = _kept_band if on_host(head.xp) else _band
    band = band_of(head.xp, head.query.device, shape, offset, left, right, dtype)
    return band if seen is None else seen * band


def _band(xp, device, shape: tuple[int, int], offset: int, left: float, right: float, dtype):
    """Return which keys lie in reach; the blocks along a diagonal all have the same answer."""
    query = xp.arange(shape[0], device=device)[:, None] + offset
    key = xp.arange(shape[1], device=device)[None, :]
    return xp.astype((key >= query - left) & (key <= query + right), dtype)


_kept_band = lru_cache(maxsize=16)(_band)


def _reach(inputs: Inputs) -> tuple[float, float]:
    """Return how far a query sees to the left and to the right."""
    left, right = (math.inf if far is None else far for far in (inputs.left, inputs.right))
    return left, right
