r"""Blockwise attention: the scores are never all in memory at once.

The softmax of a row needs the sum over the row only at the end. Each query keeps a running total
and a running output, and is updated with one block of keys after the other:

$$t \leftarrow t + \sum_j w_j \qquad o \leftarrow o + \sum_j w_j v_j \qquad O = o / t$$

The weights $w_j = e^{s_j - p}$ may use any shift $p$, as it cancels in $o / t$. `bounded_weights`
uses $p = 0$, which is correct where no exponential can overflow, unless the sum of a row comes near
the limits of its dtype. `online_weights` uses the largest score so far; when that grows, the sums
so far are rescaled by the difference.

The gradients need a second pass. The first computes the largest score, the total and the output of
each row. From these the weights of any block can be recomputed, and the row sum that the gradient
of the softmax subtracts is rowsum(dO ∘ O).

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
from attention_docs.kernels.exponential import fastest_exp, full_range_exp
from attention_docs.kernels.threads import available_threads, run_parallel

BLOCK_SCORES = 2**18  # on the host: 1 MB of float32 stays in a core's cache
LONG_JOB, SHORT_JOB = 1024, 256  # queries of a job on the host
GRADIENT_BLOCK = SHORT_JOB, 512  # queries and keys; four arrays of this size exist at once
DEVICE_BLOCK = 2048, 4096  # a GPU needs large products; not benchmarked on one yet

# A block of b queries and c keys: the scores (b, c), which keys each query sees, the slice of
# queries within the job, and the slice of keys. Where all keys are visible, the visibility is None
# or lacks the last rows.
ScoreBlock = tuple[Array, Array | None, slice, slice]
# The weights (b, c) of a block, the factor (b, 1) that rescales the sums of the blocks before it
# (None: 1), and both slices.
WeightBlock = tuple[Array, Array | None, slice, slice]
WeightBlocks = Callable[[Inputs, int, int, Array, Array], Iterator[WeightBlock]]


def is_supported(xp: ModuleType) -> bool:
    """Whether a library supports `out=` of exp and matmul, which is not in the standard."""
    return is_numpy_namespace(xp) or is_cupy_namespace(xp)


def is_on_host(xp: ModuleType) -> bool:
    """Whether a library keeps its arrays on the host, where Python threads speed up blocks."""
    return is_numpy_namespace(xp)


def attend(
    inputs: Inputs, weight_blocks: WeightBlocks, block: tuple[int, int] | None = None
) -> Array:
    """Return the (..., m, d_v) output; on NumPy each core takes whole blocks of queries.

    The weights are `bounded_weights`, where the scores allow it, or `online_weights`.
    """
    xp = inputs.xp
    queries = inputs.query.shape[-2]
    rows, columns = block or block_size(inputs, weight_blocks)
    options = {"dtype": inputs.query.dtype, "device": inputs.query.device}
    shape = (*inputs.batch, queries, inputs.value.shape[-1])
    output = xp.empty(shape, dtype=inputs.dtype, device=inputs.query.device)
    ones = xp.ones((columns, 1), **options)  # a product with ones is faster than `sum`
    thread = threading.local()  # each thread reuses one buffer for the scores of a block

    def run_job(job: tuple[tuple[Inputs, Array], int]) -> None:
        """Write the output of one head for the queries from `start` on, at most `rows` of them.

        Where the totals of `bounded_weights` are too large or too small, the sums are computed
        again with `online_weights`.
        """
        (head, head_output), start = job
        stop = min(start + rows, queries)
        if not hasattr(thread, "buffer"):
            thread.buffer = xp.empty((rows, columns), **options)
        rows_of_head = head, start, stop, thread.buffer, ones
        _, total, sums = _sum_rows(*rows_of_head, weight_blocks)
        if weight_blocks is bounded_weights and not _are_sums_accurate(head, total):
            _, total, sums = _sum_rows(*rows_of_head, online_weights)
        xp.divide(sums, total, out=head_output[start:stop, :])

    # Head by head, so that its keys stay in the cache. The last queries of a causal head see the
    # most keys, so they come first: a long job at the end would leave the other threads idle.
    indices = itertools.product(*map(range, inputs.batch))
    heads = [(_select_head(inputs, index), output[index]) for index in indices]
    jobs = list(itertools.product(heads, reversed(range(0, queries, rows))))
    with ignoring_overflow():
        if is_on_host(xp):
            run_parallel(run_job, jobs)
        else:
            for job in jobs:
                run_job(job)
    return output


def block_size(inputs: Inputs, weight_blocks: WeightBlocks) -> tuple[int, int]:
    """Return the number of queries and of keys in a block.

    The Python overhead of a job or block costs as much as thousands of scores and holds the GIL, so
    both are large. Jobs have few queries where one of several threads would get fewer than four
    long ones, and for `online_weights`, where a block of many keys has fewer maxima to compare.
    """
    if not is_on_host(inputs.xp):
        return DEVICE_BLOCK
    queries = inputs.query.shape[-2]
    rows = min(SHORT_JOB, queries)
    if queries > SHORT_JOB and weight_blocks is bounded_weights:
        threads = available_threads()  # not fewer during another call, which would change rounding
        if threads == 1 or math.prod(inputs.batch) * queries >= 4 * threads * LONG_JOB:
            rows = min(LONG_JOB, queries)
    return rows, min(BLOCK_SCORES // rows, inputs.key.shape[-2])


def _select_head(inputs: Inputs, index: tuple[int, ...]) -> Inputs:
    """Return the inputs of one head as views, each of them a matrix."""
    mask = inputs.attn_mask
    batch = inputs.batch
    if mask is not None:
        scores_shape = (*mask.shape[:-2], inputs.query.shape[-2], inputs.key.shape[-2])
        mask = _select_matrix(inputs.xp.broadcast_to(mask, scores_shape), index, batch)
    return inputs._replace(
        query=_select_matrix(inputs.query, index, batch),
        key=_select_matrix(inputs.key, index, batch),
        value=_select_matrix(inputs.value, index, batch),
        attn_mask=mask,
    )


def _select_matrix(array: Array, index: tuple[int, ...], batch: tuple[int, ...]) -> Array:
    """Return the matrix of (..., rows, columns) that the output at `index` is computed from.

    An axis of length 1 is broadcast. If 8 query heads share 2 heads of keys, the first of these
    belongs to the query heads 0 to 3, and the second to 4 to 7.
    """
    leading = array.shape[:-2]
    if leading == batch:  # fast path
        return array[index]
    missing = len(batch) - len(leading)
    axes = zip(index[missing:], leading, batch[missing:], strict=True)
    # An axis of length 1 always gives the index 0. Where query heads share keys, the heads of a
    # group give the same index.
    return array[tuple(i * length // batch_length for i, length, batch_length in axes)]


def _sum_rows(
    head: Inputs, start: int, stop: int, buffer: Array, ones: Array, weight_blocks: WeightBlocks
) -> tuple[Array, Array, Array]:
    """Return the shift p, the total weight and the weighted sum of values of each row.

    The scores of each block are written to the start of the (b, c) buffer: allocating memory for
    each block would take up to a tenth of a call's time.
    """
    xp, value = head.xp, head.value
    options = {"dtype": value.dtype, "device": value.device}
    shift = xp.zeros((stop - start, 1), **options)
    # Not zero, so that a fully masked row divides 0 by a positive total.
    total = shift + xp.finfo(value.dtype).smallest_normal
    output = xp.zeros((stop - start, value.shape[-1]), **options)
    for weights, rescale, rows, keys in weight_blocks(head, start, stop, buffer, shift):
        # Views, so that the changes below are made in `total` and `output`.
        block_total = total[rows, :]
        block_output = output[rows, :]
        if rescale is not None:
            block_total *= rescale
            block_output *= rescale
        block_total += weights @ ones[: weights.shape[-1]]
        block_output += weights @ value[keys, :]
    return shift, total, output


def _are_sums_accurate(head: Inputs, total: Array) -> bool:
    """Whether the totals of `bounded_weights` leave the weighted sums of values accurate.

    Let max be the largest float. No value exceeds max^(1/2). If no total does either, no weighted
    sum of values overflows; half of that root leaves room for rounding.

    Weights, and products of weights and values, underflow below about 1/max. Relative to a total of
    max^(-1/4) or more, such a weight is at most max^(-3/4). Even where values are as small as
    max^(-1/2), such a product is at most max^(-1/4) of the result, which is less than the rounding
    of a float: 2e-10 in float32.
    """
    limits = head.xp.finfo(total.dtype)
    lowest, highest = limits.max**-0.25, limits.max**0.5 / 2
    if lowest <= total.min() and total.max() <= highest:
        return True
    is_extreme = (total < lowest) | (total > highest)
    if not head.has_float_mask:
        # No weight underflows, so only a fully masked row keeps its initial total.
        is_extreme &= total > limits.smallest_normal
    return not bool(head.xp.any(is_extreme))


def bounded_weights(
    head: Inputs, start: int, stop: int, buffer: Array, shift: Array
) -> Iterator[WeightBlock]:
    """Yield weights with the shift 0, for scores whose exponentials cannot overflow."""
    if head.has_float_mask:  # the exponentials may underflow
        exp, exp_factor = full_range_exp(head.xp), 1.0
    else:
        exp, exp_factor = fastest_exp(head.xp)
    # The visibility has the dtype of the weights, which are multiplied by it.
    dtype = head.query.dtype
    for scores, visible, rows, keys in _score_blocks(head, start, stop, buffer, exp_factor, dtype):
        weights = exp(scores, out=scores)
        if visible is not None:
            weights[: visible.shape[0], :] *= visible
        yield weights, None, rows, keys


def online_weights(
    head: Inputs, start: int, stop: int, buffer: Array, shift: Array
) -> Iterator[WeightBlock]:
    """Yield weights with the largest score so far as the shift, which is written to `shift`."""
    xp, exp = head.xp, full_range_exp(head.xp)
    shift[...] = xp.finfo(shift.dtype).min  # no finite score is lower
    for scores, visible, rows, keys in _score_blocks(head, start, stop, buffer, 1.0, xp.bool):
        _mask_out(scores, visible)
        maximum = xp.maximum(shift[rows, :], xp.max(scores, axis=-1, keepdims=True))
        rescale = xp.exp(shift[rows, :] - maximum)
        shift[rows, :] = maximum
        scores -= maximum
        yield exp(scores, out=scores), rescale, rows, keys


def differentiate(
    inputs: Inputs, grad_output: Array, block: tuple[int, int] | None = None
) -> tuple[Array, Array, Array, Array | None]:
    """Return the gradients of query, key, value and a float mask, each in the shape of its array.

    `grad_output` has the shape of the output. Heads that share an array add to the same gradient.
    """
    xp = inputs.xp
    queries = inputs.query.shape[-2]
    rows, columns = block or (GRADIENT_BLOCK if is_on_host(xp) else DEVICE_BLOCK)
    options = {"dtype": inputs.query.dtype, "device": inputs.query.device}
    mask = inputs.attn_mask if inputs.has_float_mask else None
    shapes = [inputs.query.shape, inputs.key.shape, inputs.value.shape]
    if mask is not None:
        shapes.append((1,) * (2 - mask.ndim) + mask.shape)
    gradients = [xp.zeros(shape, **options) for shape in shapes]
    buffer = xp.empty((rows, columns), **options)
    ones = xp.ones((columns, 1), **options)  # for row sums, as products with ones
    for index in np.ndindex(inputs.batch):
        head = _select_head(inputs, index)
        head_gradients = [_select_matrix(array, index, inputs.batch) for array in gradients]
        for start in range(0, queries, rows):
            chunk = slice(start, min(start + rows, queries))
            _add_gradients(head, grad_output[(*index, chunk)], head_gradients, chunk, buffer, ones)
    grad_mask = None
    if mask is not None:
        grad_mask = xp.astype(xp.reshape(gradients[3], mask.shape), mask.dtype)
    grad_query, grad_key, grad_value = gradients[:3]
    return grad_query, grad_key, grad_value, grad_mask


def _add_gradients(
    head: Inputs,
    grad_output: Array,
    gradients: list[Array],
    chunk: slice,
    buffer: Array,
    ones: Array,
) -> None:
    """Add what the (b, d_v) gradients of some queries' output contribute to the head's gradients.

    These are of query, key, value and, if there is one, a float mask.
    """
    xp = head.xp
    transpose = xp.matrix_transpose
    exp = full_range_exp(xp)
    grad_query, grad_key, grad_value = gradients[:3]
    maximum, total, output = _sum_rows(head, chunk.start, chunk.stop, buffer, ones, online_weights)
    row_sum = xp.sum(grad_output * (output / total), axis=-1, keepdims=True)
    for scores, visible, rows, keys in _score_blocks(
        head, chunk.start, chunk.stop, buffer, 1.0, xp.bool
    ):
        queries = slice(chunk.start + rows.start, chunk.start + rows.stop)
        slopes = _softcap_slopes(head, scores, queries, keys)
        _mask_out(scores, visible)
        weights = exp(scores - maximum[rows, :]) / total[rows, :]
        grad_weights = grad_output[rows, :] @ transpose(head.value[keys, :])
        grad_scaled = weights * (grad_weights - row_sum[rows, :])
        if head.has_float_mask:
            _add_mask_gradient(gradients[3], grad_scaled, queries, keys)
        grad_scores = grad_scaled * (slopes * head.scale)
        grad_query[queries, :] += grad_scores @ head.key[keys, :]
        grad_key[keys, :] += transpose(grad_scores) @ head.query[queries, :]
        grad_value[keys, :] += transpose(weights) @ grad_output[rows, :]


def _softcap_slopes(head: Inputs, scores: Array, queries: slice, keys: slice) -> Array | float:
    """Return the (b, c) derivatives of the softcap, 1 - tanh², or 1 without a softcap.

    The scores are those after the softcap, with a float mask added.
    """
    if head.softcap is None:
        return 1.0
    if not head.has_float_mask:
        return 1 - (scores / head.softcap) ** 2
    # Recompute the scores without the mask: adding its large numbers has rounded them away.
    products = head.query[queries, :] @ head.xp.matrix_transpose(head.key[keys, :])
    return 1 - head.xp.tanh(products * (head.scale / head.softcap)) ** 2


def _add_mask_gradient(grad_mask: Array, grad_scaled: Array, queries: slice, keys: slice) -> None:
    query_axis, key_axis = 0, 1
    if grad_mask.shape[query_axis] == 1:
        queries = slice(None)
        grad_scaled = grad_scaled.sum(axis=query_axis, keepdims=True)
    if grad_mask.shape[key_axis] == 1:
        keys = slice(None)
        grad_scaled = grad_scaled.sum(axis=key_axis, keepdims=True)
    grad_mask[queries, keys] += grad_scaled


def _mask_out(scores: Array, visible: Array | None) -> None:
    if visible is not None:
        scores[: visible.shape[0], :][~visible] = -math.inf


def _score_blocks(
    head: Inputs, start: int, stop: int, buffer: Array, exp_factor: float, visible_dtype: Any
) -> Iterator[ScoreBlock]:
    """Yield blocks of the scores, times `exp_factor`, of the queries `start` to `stop`.

    A block has only keys that these queries may see, and only queries that see one of its keys. It
    says which keys each query sees if a boolean mask or the edge of the window hides some of them.
    A window is given as numbers of the dtype `visible_dtype`.
    """
    xp = head.xp
    # A softcap is not linear, so its result is multiplied by the factor instead of the query.
    query_factor = head.scale * (exp_factor if head.softcap is None else 1.0)
    scaled_query = head.query[start:stop, :] * query_factor
    left, right = _window(head)
    first_key = int(max(0, start - left))
    end_of_keys = int(min(head.key.shape[-2], stop + right))
    columns = buffer.shape[-1]
    flat_buffer = buffer.reshape(-1)
    for key_start in range(first_key, end_of_keys, columns):
        keys = slice(key_start, min(key_start + columns, end_of_keys))
        queries = slice(max(start, keys.start - right), min(stop, keys.stop + left))
        rows = slice(queries.start - start, queries.stop - start)
        shape = (queries.stop - queries.start, keys.stop - keys.start)
        # Contiguous, because rows a power of two apart would evict each other from the cache.
        scores = flat_buffer[: math.prod(shape)].reshape(shape)
        xp.matmul(scaled_query[rows, :], head.key[keys, :].T, out=scores)
        if head.softcap is not None:
            scores /= head.softcap
            scores = xp.tanh(scores, out=scores)
            scores *= head.softcap * exp_factor
        visible = None if head.attn_mask is None else head.attn_mask[queries, keys]
        if head.has_float_mask:
            scores += xp.astype(visible, scores.dtype, copy=False)
            visible = None
        is_cut_on_left = queries.stop - 1 - keys.start > left
        is_cut_on_right = keys.stop - 1 - queries.start > right
        if is_cut_on_left or is_cut_on_right:
            visible = _visibility(head, queries, keys, visible, visible_dtype)
        yield scores, visible, rows, keys


def _visibility(head: Inputs, queries: slice, keys: slice, mask: Array | None, dtype: Any) -> Array:
    """Return which keys each query sees, given a window and a boolean mask of the block.

    Without a mask, the last rows are left out if they see all keys. The result has the given dtype,
    as 0 and 1 or as booleans: converting it for each product would take as long as the product.
    """
    left, right = _window(head)
    stop = queries.stop
    if mask is None and stop - 1 - keys.start <= left:
        stop = min(stop, keys.stop - 1 - int(right))
    offset = queries.start - keys.start
    shape = (stop - queries.start, keys.stop - keys.start)
    # Not cached on a GPU: two streams would have to synchronise to share it.
    make_band = _cached_band if is_on_host(head.xp) else _band
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
    """Return which keys lie in the window of each query, whose position is `offset` + its row.

    Blocks along a diagonal have the same offset, and so the same band.
    """
    query = xp.arange(shape[0], device=device)[:, None] + offset
    key = xp.arange(shape[1], device=device)[None, :]
    return xp.astype((key >= query - left) & (key <= query + right), dtype)


_cached_band = lru_cache(maxsize=16)(_band)


def _window(inputs: Inputs) -> tuple[float, float]:
    """Return how many positions a query sees on the left and the right, inf for all."""
    left, right = inputs.left, inputs.right
    return math.inf if left is None else left, math.inf if right is None else right
