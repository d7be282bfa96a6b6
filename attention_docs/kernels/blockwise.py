r"""Attention in blocks: the scores are never in memory all at once.

The softmax of a row needs the sum of the whole row, but only at the end. Each query keeps a running
total and a running output, and takes in one block of keys after the other:

$$t \leftarrow t + \sum_j w_j \qquad o \leftarrow o + \sum_j w_j v_j \qquad O = o / t$$

The weights $w_j = e^{s_j - p}$ may use any shift $p$, as it cancels in $o / t$. `bounded` takes
$p = 0$, which is right where no exponential can overflow, unless the sum of a row comes near the
limits of its dtype. `online` takes the largest score so far; when that grows, the sums so far are
rescaled by the difference.

The gradients need a second pass. The first gives the largest score and the total of each row, and
its output; then the weights of any block can be computed again, and the average that a row of
gradients subtracts is rowsum(dO ∘ O).

Source: Milakov and Gimelshein 2018 (online softmax); Rabe and Staats 2021; Dao et al. 2022.
"""

import itertools
import math
import threading
from collections.abc import Callable, Iterator
from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np
from array_api_compat import is_cupy_namespace, is_numpy_namespace

from attention_docs.arrays import Array, ignoring_overflow
from attention_docs.inputs import Inputs
from attention_docs.kernels.exponential import exp_of_any, fastest_exp
from attention_docs.kernels.threads import blas_threads, parallel

SCORES = 2**18  # of a block on the host: 1 MB of float32 stays in a core's cache
LONG, SHORT = 1024, 256  # queries of a job on the host
GRADIENT_BLOCK = SHORT, 512  # queries and keys; there are four arrays of this size at once
DEVICE_BLOCK = 2048, 4096  # a GPU needs large products; no speed was measured on one yet

# For a block of b queries and c keys: the scores (b, c), which of them are visible (None: all; rows
# that are missing at the end see all keys), which queries these are, counted from the first of the
# job, and which keys. Then, in place of the first two, the weights (b, c) and the factor (b, 1) for
# earlier sums (None: 1).
Block = tuple[Array, Array | None, slice, slice]
Weights = tuple[Array, Array | None, slice, slice]
Weigh = Callable[[Inputs, int, int, Array, Array], Iterator[Weights]]


def is_supported(xp: ModuleType) -> bool:
    """Whether a library has what blocks need beyond the standard: `out=` of exp and matmul."""
    return is_numpy_namespace(xp) or is_cupy_namespace(xp)


def on_host(xp: ModuleType) -> bool:
    """Whether Python threads over blocks help: on a GPU the device itself is parallel."""
    return is_numpy_namespace(xp)


def attend(inputs: Inputs, weigh: Weigh, block: tuple[int, int] | None = None) -> Array:
    """Return the (..., m, d_v) output; on NumPy each core takes whole blocks of queries.

    Args:
        inputs: query, key and value of 32 bits or more.
        weigh: `bounded`, where the scores allow it, or `online`.
        block: how many queries and keys to take at a time.
    """
    xp, queries = inputs.xp, inputs.query.shape[-2]
    rows, columns = block or block_for(inputs, weigh)
    like = {"dtype": inputs.query.dtype, "device": inputs.query.device}
    shape = (*inputs.batch, queries, inputs.value.shape[-1])
    output = xp.empty(shape, dtype=inputs.dtype, device=inputs.query.device)
    ones = xp.ones((columns, 1), **like)  # a product with them sums faster than `sum`
    own = threading.local()  # of each thread: a buffer for the scores of one block, reused

    def work(job: tuple[tuple[Inputs, Array], int]) -> None:
        (head, into), start = job
        stop = min(start + rows, queries)
        if not hasattr(own, "buffer"):
            own.buffer = xp.empty((rows, columns), **like)
        into[start:stop, :] = _attend_rows(head, start, stop, own.buffer, ones, weigh)

    # Head by head, while its keys are in the cache; of a causal head the longest jobs first.
    heads = [(_head(inputs, index), output[index]) for index in np.ndindex(inputs.batch)]
    jobs = list(itertools.product(heads, reversed(range(0, queries, rows))))
    with ignoring_overflow():
        parallel(work, jobs) if on_host(xp) else list(map(work, jobs))
    return output


def block_for(inputs: Inputs, weigh: Weigh) -> tuple[int, int]:
    """Return how many queries and keys to take at a time.

    Python's part of a job or a block takes as long as thousands of scores, and only one thread at a
    time can run it, so both are large. Jobs are short where a thread would get less than four
    long ones, and for `online`, because the maximum costs less if rows have more keys.
    """
    if not on_host(inputs.xp):
        return DEVICE_BLOCK
    queries = inputs.query.shape[-2]
    jobs = math.prod(inputs.batch) * queries / LONG
    is_long = weigh is bounded and jobs >= 4 * blas_threads()
    rows = LONG if is_long else min(SHORT, queries)
    return rows, SCORES // rows


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
    """Return the matrix of (..., rows, columns) that belongs to the output at `index`.

    An axis of length 1 is broadcast; 2 heads serve 8 query heads four each, neighbours together.
    """
    missing = len(batch) - (array.ndim - 2)
    axes = zip(index[missing:], array.shape, batch[missing:], strict=False)
    return array[tuple(i * length // full for i, length, full in axes)]


def _attend_rows(
    head: Inputs, start: int, stop: int, buffer: Array, ones: Array, weigh: Weigh
) -> Array:
    """Return the (b, d_v) output of the queries `start` to `stop` of one head."""
    _, total, output = _summed_rows(head, start, stop, buffer, ones, weigh)
    if weigh is bounded and not _are_ordinary(head, total):
        _, total, output = _summed_rows(head, start, stop, buffer, ones, online)
    output /= total
    return output


def _summed_rows(
    head: Inputs, start: int, stop: int, buffer: Array, ones: Array, weigh: Weigh
) -> tuple[Array, Array, Array]:
    """Return of each row the shift p, the total of its weights, and the weighted sum of values.

    The scores of each block are written to the start of the (b, c) buffer: memory allocated for
    each would be returned to the system and fetched again, up to a tenth of a call's time.
    """
    xp, value = head.xp, head.value
    like = {"dtype": value.dtype, "device": value.device}
    shift = xp.zeros((stop - start, 1), **like)
    # Not zero, so that a query which sees no key gets 0 / total.
    total = xp.full((stop - start, 1), xp.finfo(value.dtype).smallest_normal, **like)
    output = xp.zeros((stop - start, value.shape[-1]), **like)
    for weights, rescale, rows, keys in weigh(head, start, stop, buffer, shift):
        totals, outputs = total[rows, :], output[rows, :]  # views
        if rescale is not None:
            totals *= rescale
            outputs *= rescale
        totals += weights @ ones[: weights.shape[-1]]
        outputs += weights @ value[keys, :]
    return shift, total, output


def _are_ordinary(head: Inputs, total: Array) -> bool:
    """Whether sums of `bounded` weights, and of values times weights, kept all their digits.

    No value is above the root of the largest number; half of it leaves room for rounding.
    """
    xp, limits = head.xp, head.xp.finfo(total.dtype)
    extreme = (total < limits.max**-0.25) | (total > limits.max**0.5 / 2)
    if not head.has_float_mask:  # no weight vanishes, so a query without a sum sees no key
        extreme &= total > limits.smallest_normal
    return not bool(xp.any(extreme))


def bounded(head: Inputs, start: int, stop: int, buffer: Array, shift: Array) -> Iterator[Weights]:
    """Weigh with the shift at 0: no exponential can overflow, and only a float mask hides one."""
    xp, dtype = head.xp, head.query.dtype
    exp, unit = (exp_of_any(xp), 1.0) if head.has_float_mask else fastest_exp(xp)
    for scores, visible, rows, keys in _blocks(head, start, stop, buffer, unit, dtype):
        weights = exp(scores, out=scores)
        if visible is not None:
            weights[: visible.shape[0], :] *= visible
        yield weights, None, rows, keys


def online(head: Inputs, start: int, stop: int, buffer: Array, shift: Array) -> Iterator[Weights]:
    """Weigh with the largest score so far, to which the shift is set."""
    xp, exp = head.xp, exp_of_any(head.xp)
    shift[...] = xp.finfo(shift.dtype).min  # no score is lower
    for scores, visible, rows, keys in _blocks(head, start, stop, buffer, 1.0, xp.bool):
        _hide(scores, visible)
        so_far = shift[rows, :]
        larger = xp.maximum(so_far, xp.max(scores, axis=-1, keepdims=True))
        scores -= larger
        yield exp(scores, out=scores), xp.exp(so_far - larger), rows, keys
        shift[rows, :] = larger


def differentiate(
    inputs: Inputs, grad_output: Array, block: tuple[int, int] | None = None
) -> tuple[Array, Array, Array, Array | None]:
    """Return the gradients of query, key, value and a float mask, each in the shape of its array.

    What several heads share is one place in memory, to which each of them adds.

    Args:
        inputs: query, key and value of 32 bits or more.
        grad_output: (..., m, d_v) gradient with respect to the output.
        block: how many queries and keys to take at a time.
    """
    xp, queries = inputs.xp, inputs.query.shape[-2]
    rows, columns = block or (GRADIENT_BLOCK if on_host(xp) else DEVICE_BLOCK)
    like = {"dtype": inputs.query.dtype, "device": inputs.query.device}
    mask = inputs.attn_mask if inputs.has_float_mask else None
    shapes = [array.shape for array in (inputs.query, inputs.key, inputs.value)]
    shapes += [] if mask is None else [(1,) * (2 - mask.ndim) + mask.shape]
    found = [xp.zeros(shape, **like) for shape in shapes]
    buffer, ones = xp.empty((rows, columns), **like), xp.ones((columns, 1), **like)
    for index, start in itertools.product(np.ndindex(inputs.batch), range(0, queries, rows)):
        own = slice(start, min(start + rows, queries))
        into = [_matrix(array, index, inputs.batch) for array in found]
        _add_gradients(_head(inputs, index), grad_output[(*index, own)], into, own, buffer, ones)
    by_mask = None if mask is None else xp.astype(xp.reshape(found[3], mask.shape), mask.dtype)
    return found[0], found[1], found[2], by_mask


def _add_gradients(
    head: Inputs, grad_output: Array, into: list[Array], own: slice, buffer: Array, ones: Array
) -> None:
    """Add what the queries of some rows of one head contribute to the gradients of its arrays."""
    xp, softcap, transpose = head.xp, head.softcap, head.xp.matrix_transpose
    exp = exp_of_any(xp)
    maximum, total, output = _summed_rows(head, own.start, own.stop, buffer, ones, online)
    average = xp.sum(grad_output * (output / total), axis=-1, keepdims=True)
    for scores, visible, rows, keys in _blocks(head, own.start, own.stop, buffer, 1.0, xp.bool):
        queries = slice(own.start + rows.start, own.start + rows.stop)
        slopes = None if softcap is None else _slopes(head, scores, queries, keys)
        _hide(scores, visible)
        weights = exp(scores - maximum[rows, :]) / total[rows, :]
        by_weights = grad_output[rows, :] @ transpose(head.value[keys, :])
        by_scaled = weights * (by_weights - average[rows, :])
        if head.has_float_mask:
            _add_to_mask(into[3], by_scaled, queries, keys)
        if slopes is not None:
            by_scaled *= slopes
        by_scores = by_scaled * head.scale
        into[0][queries, :] += by_scores @ head.key[keys, :]
        into[1][keys, :] += transpose(by_scores) @ head.query[queries, :]
        into[2][keys, :] += transpose(weights) @ grad_output[rows, :]


def _slopes(head: Inputs, scores: Array, rows: slice, keys: slice) -> Array:
    """Return the derivatives of the softcap, 1 - tanh²; `scores` have it and perhaps a mask."""
    xp, softcap = head.xp, head.softcap or 1.0
    if not head.has_float_mask:
        return 1 - (scores / softcap) ** 2
    # Once more without the mask: a large one has rounded the scores away.
    products = head.query[rows, :] @ xp.matrix_transpose(head.key[keys, :])
    return 1 - xp.tanh(products * (head.scale / softcap)) ** 2


def _add_to_mask(into: Array, by_scaled: Array, rows: slice, keys: slice) -> None:
    """Add gradients to those of a mask; along an axis of length 1 it was broadcast."""
    of_rows, of_keys = (size > 1 for size in into.shape)
    axes = tuple(axis for axis, is_own in enumerate((of_rows, of_keys)) if not is_own)
    added = by_scaled.sum(axis=axes, keepdims=True) if axes else by_scaled
    into[rows if of_rows else slice(None), keys if of_keys else slice(None)] += added


def _hide(scores: Array, visible: Array | None) -> None:
    """Put -inf in place of the scores that are not visible."""
    if visible is not None:
        scores[: visible.shape[0], :][~visible] = -math.inf


def _blocks(
    head: Inputs, start: int, stop: int, buffer: Array, unit: float, visible_dtype: Any
) -> Iterator[Block]:
    """Go through the keys that the queries `start` to `stop` may see; scores times `unit`.

    A block has only those of the queries that see one of its keys.
    """
    xp, key, softcap = head.xp, head.key, head.softcap
    mask, is_bias = head.attn_mask, head.has_float_mask
    query = head.query[start:stop, :] * (head.scale * (unit if softcap is None else 1.0))
    left, right = _window(head)
    last = int(min(key.shape[-2], stop + right))
    flat, columns = xp.reshape(buffer, (-1,)), buffer.shape[-1]
    for first in range(int(max(0, start - left)), last, columns):
        end = min(first + columns, last)
        top, bottom = max(start, first - right), min(stop, end + left)
        own, keys = slice(top - start, bottom - start), slice(first, end)
        # Contiguous: rows a power of two apart would evict each other from the cache.
        scores = flat[: (bottom - top) * (end - first)].reshape(bottom - top, end - first)
        xp.matmul(query[own, :], key[keys, :].T, out=scores)
        if softcap is not None:
            scores /= softcap
            scores = xp.tanh(scores, out=scores)
            scores *= softcap * unit
        visible = None if mask is None else mask[top:bottom, keys]
        if is_bias:
            scores += xp.astype(visible, scores.dtype, copy=False)
            visible = None
        if bottom - 1 - first > left or end - 1 - top > right:
            visible = _visible(head, slice(top, bottom), keys, visible, visible_dtype)
        yield scores, visible, own, keys


def _visible(head: Inputs, rows: slice, keys: slice, mask: Array | None, dtype: Any) -> Array:
    """Return which keys each query sees by a window and a boolean mask, without last rows of ones.

    A window is returned in the wanted dtype, as 0 and 1 or as booleans: converting it for each
    product would take as long as the product.
    """
    left, right = _window(head)
    bottom = rows.stop
    if mask is None and bottom - 1 - keys.start <= left:
        bottom = min(bottom, keys.stop - 1 - int(right))
    offset, shape = rows.start - keys.start, (bottom - rows.start, keys.stop - keys.start)
    # Not cached on a GPU: two streams cannot share it without waiting for each other.
    make_band = _cached_band if on_host(head.xp) else _band
    band = make_band(head.xp, head.query.device, shape, offset, left, right, dtype)
    return band if mask is None else mask * band


def _band(
    xp: ModuleType,
    device: Any,
    shape: tuple[int, int],
    offset: int,
    left: float,
    right: float,
    dtype: Any,
) -> Array:
    """Return which keys lie in the window; all blocks along a diagonal have the same answer."""
    query = xp.arange(shape[0], device=device)[:, None] + offset
    key = xp.arange(shape[1], device=device)[None, :]
    return xp.astype((key >= query - left) & (key <= query + right), dtype)


_cached_band = lru_cache(maxsize=16)(_band)


def _window(inputs: Inputs) -> tuple[float, float]:
    """Return how many positions a query sees to the left and to the right, inf for all."""
    left, right = inputs.left, inputs.right
    return math.inf if left is None else left, math.inf if right is None else right
