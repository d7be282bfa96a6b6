"""Public bugs, replayed: each function has the fault of one thread in a few lines of our own.

A docstring names project and number, what went wrong and, in brackets, the mistake of the catalogue
or the words that the report must have. Then come a part of the code and what mends it. `options`
are those of the check, if it needs any.
"""

import math

import numpy as np

from functions import softmax


def scaled(query, key):
    # In float16, the product may overflow if the scale comes after it.
    return query * query.shape[-1] ** -0.5 @ key.swapaxes(-1, -2)


def hide(scores, visible):
    return np.where(visible, scores, -np.inf)


def annotated_deep_learning_paper_implementations_146(q, k, v):
    """labmlai/annotated_deep_learning_paper_implementations#146: The softmax runs over the queries of scores with the axes b, i, j, h. [softmax_over_queries]

    `axis=1` -> `axis=2`
    """
    scores = np.einsum("bihd,bjhd->bijh", q, k) * q.shape[-1] ** -0.5
    return np.einsum("bijh,bjhd->bihd", softmax(scores, axis=1), v)


def attention_is_all_you_need_keras_36(q, k, v, mask=None):
    """lsdefine/attention-is-all-you-need-keras#36: Heads come before sequences, but each mask is repeated for its neighbours. [mask_in_sequence_order]

    `np.repeat(masks, h, axis=0)` -> `np.tile(masks, (h, 1, 1))`
    """
    (b, h, m, _), n = q.shape, k.shape[-2]
    scores = scaled(q, k).swapaxes(0, 1).reshape(h * b, m, n)
    if mask is not None:
        masks = np.broadcast_to(mask, (b, 1, m, n))[:, 0]
        scores = hide(scores, np.repeat(masks, h, axis=0))
    return softmax(scores).reshape(h, b, m, n).swapaxes(0, 1) @ v


def cs249r_book_1785(q, k, v, is_causal=False):
    """harvard-edge/cs249r_book#1785: A mask of zeros and -inf goes to code that expects ones and zeros. [same score]

    `np.triu(np.full((m, n), -np.inf), k=1)` -> `np.tri(m, n)`
    """
    scores, m, n = scaled(q, k), q.shape[-2], k.shape[-2]
    if is_causal:
        mask = np.triu(np.full((m, n), -np.inf), k=1)
        scores = scores + ((1 - mask) * -1e9).astype(q.dtype)
    return softmax(scores) @ v


def former_10(q, k, v, causal=False):
    """pbloem/former#10: The causal mask hides the own position, so the first row sees nothing. [causal_hides_own_position]

    `k=-1` -> `k=0`
    """
    scores = scaled(q, k)
    if causal:
        scores = hide(scores, np.tri(*scores.shape[-2:], k=-1, dtype=bool))
    with np.errstate(invalid="ignore"):
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True) @ v


def fuxictr_30(x, W_Q, W_K, W_V, W_O, num_heads):
    """reczoo/FuxiCTR#30: Heads are split by a reshape without the transpose. [heads_split_without_transpose]

    `rows.reshape(b * num_heads, n, -1)` -> `rows.reshape(b, n, num_heads, -1).swapaxes(1, 2).reshape(b * num_heads, n, -1)`
    """
    b, n, d_model = x.shape

    def split(rows):
        return rows.reshape(b * num_heads, n, -1)

    out = softmax(scaled(split(x @ W_Q), split(x @ W_K))) @ split(x @ W_V)
    merged = out.reshape(b, num_heads, n, -1).swapaxes(1, 2)
    return merged.reshape(b, n, d_model) @ W_O


def jax_32300(q, k, v, mask=None, is_causal=False, window=None):
    """jax-ml/jax#32300: The window is ignored if there is no mask. [window_ignored]

    `if mask is None and not is_causal:` -> `if mask is None and not is_causal and window is None:`
    """
    scores = scaled(q, k)
    if mask is None and not is_causal:
        return softmax(scores) @ v
    distance = np.arange(k.shape[-2]) - np.arange(q.shape[-2])[:, None]
    visible = (distance <= 0) | (not is_causal)
    if window is not None:
        left, right = (np.inf if side is None else side for side in window)
        visible = visible & (-left <= distance) & (distance <= right)
    if mask is not None:
        visible = visible & mask
    return softmax(hide(scores, visible)) @ v


def jax_39576(q, k, v, local_window_size=None):
    """jax-ml/jax#39576: A window without keys to the right loses this bound, so the whole future is seen. [window_right_ignored]

    `right = right or np.inf` -> `pass`
    """
    scores = scaled(q, k)
    if local_window_size is not None:
        left, right = (np.inf if side is None else side for side in local_window_size)
        right = right or np.inf
        distance = np.arange(k.shape[-2]) - np.arange(q.shape[-2])[:, None]
        scores = hide(scores, (-left <= distance) & (distance <= right))
    return softmax(scores) @ v


def lighthouse_77(q, k, v, mask=None):
    """line/lighthouse#77: Sequences come before heads, but the masks are tiled. [mask_in_head_order]

    `np.tile(masks, (h, 1, 1))` -> `np.repeat(masks, h, axis=0)`
    """
    (b, h, m, _), n = q.shape, k.shape[-2]
    scores = scaled(q, k).reshape(b * h, m, n)
    if mask is not None:
        masks = np.broadcast_to(mask, (b, 1, m, n))[:, 0]
        scores = hide(scores, np.tile(masks, (h, 1, 1)))
    return softmax(scores).reshape(b, h, m, n) @ v


def llms_from_scratch_1062(q, k, v, is_causal=False):
    """rasbt/LLMs-from-scratch#1062: A mask in which True hides goes to code in which True keeps. [mask_flipped]

    `later = ` -> `later = ~`
    """
    scores = scaled(q, k)
    if is_causal:
        later = np.triu(np.ones(scores.shape[-2:], dtype=bool), k=1)
        scores = hide(scores, later)
    return softmax(scores) @ v


def mlx_1725(q, k, v, is_causal=False):
    """ml-explore/mlx#1725: In float16 the large number that hides is infinite, and times zero it is NaN. [mask_times_infinity]

    `later * q.dtype.type(-1e9)` -> `np.where(later, q.dtype.type(-np.inf), 0)`
    """
    scores = scaled(q, k)
    with np.errstate(invalid="ignore", over="ignore"):
        if is_causal:
            later = np.triu(np.ones(scores.shape[-2:], q.dtype), k=1)
            scores = scores + later * q.dtype.type(-1e9)
        return softmax(scores) @ v


def mlx_lm_390(q, k, v, causal=False, window=None):
    """ml-explore/mlx-lm#390: The comparison with the width of the window includes one key too many. [window_left_too_wide]

    `rows <= columns + width` -> `rows < columns + width`
    """
    scores = scaled(q, k)
    rows, columns = np.arange(q.shape[-2])[:, None], np.arange(k.shape[-2])
    visible = (columns <= rows) | (not causal)
    if window is not None:
        left, right = (np.inf if side is None else side for side in window)
        width = left + 1
        visible = visible & (rows <= columns + width) & (columns <= rows + right)
    return softmax(hide(scores, visible)) @ v


def mmdetection_12351(q, k, v, mask=None):
    """open-mmlab/mmdetection#12351: Filling a boolean mask with -inf makes all of it True, so nothing is hidden. [mask_ignored]

    `mask.copy()` -> `mask.astype(q.dtype)`
    """
    scores = scaled(q, k)
    if mask is not None:
        filled = mask.copy()
        filled[filled == 0] = -np.inf
        scores = scores + filled
    return softmax(scores) @ v


mmdetection_12351.options = {"mask": "keep"}


def ng_video_lecture_6(x, W_Q, W_K, W_V, W_O, num_heads):
    """karpathy/ng-video-lecture#6: The scale is the root of the channels of the input, not of a head. [divided_by_root_of_d_model]

    `x.shape[-1] ** -0.5` -> `q.shape[-1] ** -0.5`
    """
    q, k, v = (np.stack(np.split(x @ W, num_heads, axis=-1), axis=1) for W in (W_Q, W_K, W_V))
    weights = softmax(q @ k.swapaxes(-1, -2) * x.shape[-1] ** -0.5)
    return np.concatenate(list((weights @ v).swapaxes(0, 1)), axis=-1) @ W_O


def onnx_7274(q, k, v):
    """onnx/onnx#7274: Key heads are tiled, so neighbouring query heads do not share one. [heads_tiled]

    `np.tile(k, (1, group, 1, 1)), np.tile(v, (1, group, 1, 1))` -> `np.repeat(k, group, axis=1), np.repeat(v, group, axis=1)`
    """
    group = q.shape[1] // k.shape[1]
    k, v = np.tile(k, (1, group, 1, 1)), np.tile(v, (1, group, 1, 1))
    return softmax(scaled(q, k)) @ v


def onnx_7865(q, k, v, mask=None, softcap=None):
    """onnx/onnx#7865: The softcap follows the mask, so hidden keys keep a finite score. [softcap_after_mask]

    `cap(hide(scores, visible))` -> `hide(cap(scores), visible)`
    """

    def cap(scores):
        return scores if softcap is None else softcap * np.tanh(scores / softcap)

    scores, visible = scaled(q, k), True if mask is None else mask
    return softmax(cap(hide(scores, visible))) @ v


RANDOM = np.random.RandomState(0)


def pytorch_124464(q, k, v):
    """pytorch/pytorch#124464: Dropout stays on, because nothing tells the function that training is over. [differs from call to call]

    `dropout = 0.1` -> `dropout = 0.0`
    """
    dropout = 0.1
    weights = softmax(scaled(q, k))
    kept = RANDOM.uniform(size=weights.shape) >= dropout
    return weights * kept / (1 - dropout) @ v


def pytorch_181133(q, k, v):
    """pytorch/pytorch#181133: The memory of permuted arrays is read as if they were contiguous. [look at how it uses strides]

    `np.frombuffer(a.tobytes(order="A"), a.dtype).reshape(a.shape)` -> `np.ascontiguousarray(a)`
    """
    q, k, v = (np.frombuffer(a.tobytes(order="A"), a.dtype).reshape(a.shape) for a in (q, k, v))
    return softmax(scaled(q, k)) @ v


def rten_1321(q, k, v, mask=None):
    """robertknight/rten#1321: A query that sees no key gives NaN, where ONNX and PyTorch give zeros. [fully masked row gives NaN]

    `scores.max(axis=-1, keepdims=True)` -> `np.maximum(scores.max(axis=-1, keepdims=True), -1e300)`
    """
    scores = scaled(q, k)
    scores = scores if mask is None else hide(scores, mask)
    with np.errstate(invalid="ignore", divide="ignore"):
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        total = powers.sum(axis=-1, keepdims=True)
        return powers / np.where(total == 0, 1, total) @ v


rten_1321.options = {"expect": "onnx"}


def tiny_flash_attention_12(q, k, v):
    """66RING/tiny-flash-attention#12: The last block is padded with zeros that are not hidden. [block_padding_not_hidden]

    `scores = scaled(q, k)` -> `scores = np.where(np.arange(k.shape[-2]) < n, scaled(q, k), -np.inf)`
    """
    n = k.shape[-2]
    rest = [(0, 0)] * (k.ndim - 2) + [(0, -n % 16), (0, 0)]
    k, v = np.pad(k, rest), np.pad(v, rest)
    scores = scaled(q, k)
    return softmax(scores) @ v


def tinyllm_17(q, k, v, causal=False):
    """Mikyx-1/TinyLLM#17: The causal mask is left out as soon as there are earlier keys. [causal_ignored]

    `causal and m == n` -> `causal`
    """
    scores, m, n = scaled(q, k), q.shape[-2], k.shape[-2]
    if causal and m == n:
        scores = hide(scores, np.tri(m, n, n - m, dtype=bool))
    return softmax(scores) @ v


def transformer_40(q, k, v, padding_mask=None):
    """hyunwoongko/transformer#40: The padding mask lies on the axis of the queries. [padding_on_query_axis]

    `[:, None, :, None]` -> `[:, None, None, :]`
    """
    scores = scaled(q, k)
    if padding_mask is not None:
        scores = np.where(padding_mask[:, None, :, None], scores, -10000.0)
    return softmax(scores) @ v


def transformer_from_scratch_6(x, W_Q, W_K, W_V, W_O, num_heads):
    """jsbaan/transformer-from-scratch#6: Heads are merged by a reshape without the transpose. [heads_merged_without_transpose]

    `(weights @ v).reshape` -> `(weights @ v).swapaxes(1, 2).reshape`
    """
    b, n, d_model = x.shape
    q, k, v = ((x @ W).reshape(b, n, num_heads, -1).swapaxes(1, 2) for W in (W_Q, W_K, W_V))
    weights = softmax(scaled(q, k))
    return (weights @ v).reshape(b, n, d_model) @ W_O


def transformer_various_positional_encoding_1(x, W_Q, W_K, W_V, W_O, num_heads):
    """gazelle93/Transformer-Various-Positional-Encoding#1: The axes of sequences and heads are exchanged before the heads are merged. [sequences_and_heads_exchanged]

    `out.reshape(num_heads, b, n, -1)` -> `out.reshape(b, num_heads, n, -1)`
    """
    b, n, d_model = x.shape

    def split(rows):
        return rows.reshape(b, n, num_heads, -1).swapaxes(1, 2).reshape(b * num_heads, n, -1)

    out = softmax(scaled(split(x @ W_Q), split(x @ W_K))) @ split(x @ W_V)
    merged = out.reshape(num_heads, b, n, -1).swapaxes(1, 2)
    return merged.reshape(b, n, d_model) @ W_O


def transformers_38094(q, k, v, attn_mask=None):
    """huggingface/transformers#38094: A float mask of zeros and the smallest number is read as boolean, which inverts it. [mask_flipped]

    `hide(scores, attn_mask.astype(bool))` -> `scores + attn_mask`
    """
    scores = scaled(q, k)
    if attn_mask is None:
        return softmax(scores) @ v
    return softmax(hide(scores, attn_mask.astype(bool))) @ v


transformers_38094.options = {"mask": "additive"}


def tt_metal_33304(q, k, v, scale=None):
    """tenstorrent/tt-metal#33304: The scale that is passed is ignored. [scale_ignored]

    `factor = q.shape[-1] ** -0.5` -> `factor = q.shape[-1] ** -0.5 if scale is None else scale`
    """
    factor = q.shape[-1] ** -0.5
    return softmax(q @ k.swapaxes(-1, -2) * factor) @ v


def tt_metal_42891(q, k, v, attn_bias=None):
    """tenstorrent/tt-metal#42891: The float mask is scaled with the scores. [bias_before_scale]

    `(scores + attn_bias) * q.shape[-1] ** -0.5` -> `scores * q.shape[-1] ** -0.5 + attn_bias`
    """
    scores, attn_bias = q @ k.swapaxes(-1, -2), 0.0 if attn_bias is None else attn_bias
    return softmax((scores + attn_bias) * q.shape[-1] ** -0.5) @ v


def tt_metal_56789(q, k, v):
    """tenstorrent/tt-metal#56789: The scale is the root of the number of heads, not of their features. [divided_by_root_of_heads]

    `math.sqrt(q.shape[1])` -> `math.sqrt(q.shape[-1])`
    """
    return softmax(q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[1])) @ v


def ultralytics_24990(q, k, v):
    """ultralytics/ultralytics#24990: Products exceed the range of float16, because the scale follows them. [exceed the range of float16]

    `q @ k.swapaxes(-1, -2) * q.shape[-1] ** -0.5` -> `q * q.shape[-1] ** -0.5 @ k.swapaxes(-1, -2)`
    """
    with np.errstate(over="ignore", invalid="ignore"):
        scores = q @ k.swapaxes(-1, -2) * q.shape[-1] ** -0.5
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return powers / powers.sum(axis=-1, keepdims=True) @ v


ultralytics_24990.options = {"expect": "torch"}


def x_transformers_160(q, k, v, mask=None):
    """lucidrains/x-transformers#160: A mask in which True keeps goes to code in which True hides. [True hides a key]

    `~mask` -> `mask`
    """
    scores = scaled(q, k)
    return softmax(scores if mask is None else hide(scores, ~mask)) @ v


x_transformers_160.options = {"expect": "torch"}
