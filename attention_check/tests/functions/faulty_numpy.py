"""NumPy attention functions with a fault, and in brackets what the check must say of it."""

import math

import numpy as np

from functions import scaled_scores, softmax


def epsilon(q, k, v):
    """Adds 0.01 to the denominator. [only their sum is wrong]"""
    powers = np.exp(scaled_scores(q, k) - scaled_scores(q, k).max(axis=-1, keepdims=True))
    return powers / (0.01 + powers.sum(axis=-1, keepdims=True)) @ v


def first_head_mask(q, k, v, mask=None):
    """Uses the first head's mask for all heads. [mask_of_first_head]"""
    scores = scaled_scores(q, k)
    if mask is not None:
        mask = np.broadcast_to(mask, scores.shape)[:, :1]
        scores = np.where(mask, scores, -np.inf)
    return softmax(scores) @ v


def rules_joined_by_and(q, k, v, mask=None, is_causal=False):
    """Joins two rules with `and`, so the second decides alone. [mask_replaces_causal]"""
    scores = scaled_scores(q, k)

    def first_rule(i, j):
        return (j <= i) if is_causal else (j >= 0)

    def given_mask(i, j):
        return mask

    rule = first_rule if mask is None else first_rule and given_mask
    shown = rule(*np.ogrid[: scores.shape[-2], : scores.shape[-1]])
    return softmax(np.where(shown, scores, -np.inf)) @ v


def typo_under_causal(q, k, v, is_causal=False):
    """Has a typo under is_causal. [AttributeError]"""
    scores = scaled_scores(q, k)
    if is_causal:
        scores = np.where(np.tri(*scores.shap[-2:], dtype=bool), scores, -np.inf)
    return softmax(scores) @ v


def window_right_too_narrow(q, k, v, window=None):
    """Excludes the last key on the right. [window_right_too_narrow]"""
    scores = scaled_scores(q, k)
    if window is not None:
        distance = np.arange(k.shape[-2]) - np.arange(q.shape[-2])[:, None]
        left, right = (np.inf if side is None else side for side in window)
        shown = (distance >= -left) & (distance < right) | (distance == 0)
        scores = np.where(shown, scores, -np.inf)
    return softmax(scores) @ v


def swapped(k, q, v):
    """Names the keys q and the queries k. [queries_and_keys_swapped]"""
    return softmax(scaled_scores(k, q)) @ v


def in_place(q, k, v):
    """Scales the caller's queries in place. [changes its input q]"""
    q *= q.shape[-1] ** -0.5
    return softmax(q @ np.swapaxes(k, -1, -2)) @ v


def one_query(q, k, v):
    """Squeezes, which drops the axis of a single query. [has shape]"""
    return (softmax(scaled_scores(q, k)) @ v).squeeze()


def block_of_sixteen(q, k, v):
    """Drops the keys of the last incomplete block. [last_block_dropped]"""
    n = k.shape[-2]
    n = n // 16 * 16 if n > 16 else n
    return softmax(scaled_scores(q, k[..., :n, :])) @ v[..., :n, :]


def forgets_rescaling(q, k, v):
    """Merges blocks of 32 keys without rescaling by the new maximum. [look at how blocks of keys are merged]"""
    total, output, maximum = 0, 0, -np.inf
    for start in range(0, k.shape[-2], 32):
        scores = scaled_scores(q, k[..., start : start + 32, :])
        maximum = np.maximum(maximum, scores.max(axis=-1, keepdims=True))
        powers = np.exp(scores - maximum)
        total = total + powers.sum(axis=-1, keepdims=True)
        output = output + powers @ v[..., start : start + 32, :]
    return output / total


def view_of_memory(q, k, v):
    """Reads the memory of transposed arrays in the wrong order. [not_contiguous]"""
    q, k, v = (np.frombuffer(a.tobytes("A"), a.dtype).reshape(a.shape) for a in (q, k, v))
    return softmax(scaled_scores(q, k)) @ v


def raises_in_float32(q, k, v):
    """Raises for float32. [TypeError]"""
    if q.dtype != np.float64:
        q = q + None
    return softmax(scaled_scores(q, k)) @ v


def einsum_over_queries(q, k, v):
    """Sums the values over the queries instead of the keys. [its weights sum to]"""
    weights = softmax(np.einsum("bhmd,bhnd->bhmn", q, k) * q.shape[-1] ** -0.5)
    return np.einsum("bhmn,bhmd->bhnd", weights, weights @ v)


def backwards_in_blocks(q, k, v, causal=False):
    """Begins with the last block, where queries that see no key subtract infinity from itself. [is nan; expected]"""
    total, output, n = 0.0, 0.0, k.shape[-2]
    maximum = np.full((*q.shape[:-1], 1), -np.inf)
    rows = np.arange(q.shape[-2])[:, None]
    with np.errstate(invalid="ignore"):
        for start in reversed(range(0, n, 16)):
            scores = scaled_scores(q, k[..., start : start + 16, :])
            if causal:
                columns = np.arange(start, min(start + 16, n))
                scores = np.where(columns <= rows, scores, -np.inf)
            new = np.maximum(maximum, scores.max(axis=-1, keepdims=True))
            powers, factor = np.exp(scores - new), np.exp(maximum - new)
            total = total * factor + powers.sum(axis=-1, keepdims=True)
            output = output * factor + powers @ v[..., start : start + 16, :]
            maximum = new
        return output / total


def causal_in_whole_blocks(q, k, v, causal=False):
    """Hides later blocks of 16 keys, and nothing in a query's own block. [a hidden key has a weight]"""
    scores = scaled_scores(q, k)
    if causal:
        rows, columns = np.arange(q.shape[-2])[:, None] // 16, np.arange(k.shape[-2]) // 16
        scores = np.where(columns <= rows, scores, -np.inf)
    return softmax(scores) @ v


def half_open_window(q, k, v, window_size=(-1, -1)):
    """Takes -1, which means no limit, for a number if the other side has a limit. [open_window_as_number]"""
    scores = scaled_scores(q, k)
    if window_size != (-1, -1):
        distance = np.arange(k.shape[-2]) - np.arange(q.shape[-2])[:, None]
        left, right = window_size
        scores = np.where((-left <= distance) & (distance <= right), scores, -np.inf)
    return softmax(scores) @ v


def mask_in_place(q, k, v, mask=None, is_causal=False):
    """Joins the causal mask to the caller's mask in place. [changes its input]"""
    scores = scaled_scores(q, k)
    causal = np.tri(*scores.shape[-2:], dtype=bool)
    if mask is None:
        mask = causal if is_causal else np.ones_like(causal)
    elif is_causal:
        mask &= causal
    return softmax(np.where(mask, scores, -np.inf)) @ v


class Cache:
    """The keys and values of earlier calls."""

    def __init__(self):
        self.key = self.value = None


def keeps_keys(q, k, v, cache=Cache()):  # noqa: B008 -- the fault
    """Appends to a cache that is never emptied. [depends on earlier calls]"""
    if cache.key is not None and (cache.key.shape, cache.value.shape) == (k.shape, v.shape):
        k = np.concatenate([cache.key, k], axis=2)
        v = np.concatenate([cache.value, v], axis=2)
    cache.key, cache.value = k, v
    return softmax(scaled_scores(q, k)) @ v


def unpacked_in_other_order(x, W_qkv, W_o, num_heads):
    """Unpacks the keys before the queries. [query_and_key_weights_swapped]"""
    b, n, d = x.shape
    rows = (x @ W_qkv).reshape(b, n, 3, num_heads, -1)
    k, q, v = np.moveaxis(rows, 2, 0).swapaxes(2, 3)
    return (softmax(scaled_scores(q, k)) @ v).swapaxes(1, 2).reshape(b, n, d) @ W_o


def padding_zeroes_values(q, k, v, key_padding_mask=None):
    """Zeroes the values of padding instead of hiding its keys. [mask_after_softmax]"""
    if key_padding_mask is not None:
        v = v * key_padding_mask[:, None, :, None]
    return softmax(scaled_scores(q, k)) @ v


def bottom_right_off_by_one(q, k, v, causal=False):
    """Aligns the causal mask bottom-right, one position too far. [causal_shows_next_position]"""
    scores = scaled_scores(q, k)
    m, n = scores.shape[-2:]
    visible = np.tri(m, n, n - m + 1, dtype=bool) | (not causal)
    return softmax(np.where(visible, scores, -np.inf)) @ v


def bias_of_other_heads(q, k, v, bias=None):
    """Gives the heads their biases in reversed order. [float_mask_per_head]"""
    scores = scaled_scores(q, k)
    return softmax(scores if bias is None else scores + bias[..., ::-1, :, :]) @ v


def bias_lost_under_causal(q, k, v, bias=None, is_causal=False):
    """Lets the causal mask replace the bias. [bias_ignored]"""
    scores = scaled_scores(q, k)
    if is_causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
    elif bias is not None:
        scores = scores + bias
    return softmax(scores) @ v


def in_groups(q, heads):
    b, h, m, d = q.shape
    return q.reshape(b, heads, h // heads, m, d)


def causal_over_folded_groups(q, k, v, is_causal=False):
    """Folds a group into the rows, and masks these as one sequence. [grouped_heads_causal]"""
    scores = scaled_scores(q.reshape(*k.shape[:2], -1, q.shape[-1]), k)
    if is_causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
    return (softmax(scores) @ v).reshape(*q.shape[:-1], -1)


def masks_of_other_groups(q, k, v, mask=None):
    """Reshapes the masks of heads to (group, key head) instead of (key head, group). [grouped_heads_mask]"""
    scores = scaled_scores(in_groups(q, k.shape[1]), k[:, :, None])
    if mask is not None:
        mask = np.broadcast_to(mask, (*q.shape[:3], k.shape[2]))
        mask = mask.reshape(len(q), -1, *scores.shape[1:2], *mask.shape[2:]).swapaxes(1, 2)
        scores = np.where(mask, scores, -np.inf)
    return (softmax(scores) @ v[:, :, None]).reshape(*q.shape[:-1], -1)


def mask_without_axis_of_groups(q, k, v, mask=None):
    """Gives the scores an axis of groups, but not the mask. [ValueError]"""
    grouped = k.shape[1] < q.shape[1]
    scores = (
        scaled_scores(in_groups(q, k.shape[1]), k[:, :, None]) if grouped else scaled_scores(q, k)
    )
    weights = softmax(scores if mask is None else np.where(mask, scores, -np.inf))
    return (weights @ (v[:, :, None] if grouped else v)).reshape(*q.shape[:-1], -1)


def scaled_twice_in_half(q, k, v):
    """Scales queries and scores in float16. [times the right ones]"""
    if q.dtype == np.float16:
        q = q * q.dtype.type(q.shape[-1] ** -0.5)
    return softmax(scaled_scores(q, k)).astype(q.dtype) @ v


def window_over_folded_groups(q, k, v, window=None):
    """Folds a group into the rows, and counts the window over all of them. [grouped_heads_window]"""
    scores = scaled_scores(q.reshape(*k.shape[:2], -1, q.shape[-1]), k)
    if window is not None:
        distance = np.arange(scores.shape[-1]) - np.arange(scores.shape[-2])[:, None]
        left, right = (np.inf if limit is None else limit for limit in window)
        scores = np.where((distance >= -left) & (distance <= right), scores, -np.inf)
    return (softmax(scores) @ v).reshape(*q.shape[:-1], -1)


def bias_of_first_in_group(q, k, v, bias=None):
    """Gives a group of heads the bias of its first one. [grouped_heads_float_mask]"""
    heads = k.shape[1]
    scores = scaled_scores(in_groups(q, heads), k[:, :, None])
    if bias is not None:
        bias = np.broadcast_to(bias, (*q.shape[:3], k.shape[2]))
        scores = scores + bias[:, :: q.shape[1] // heads, None]
    return (softmax(scores) @ v[:, :, None]).reshape(*q.shape[:-1], -1)


def cap_by_default_scale(q, k, v, scale=None, softcap=None):
    """Caps the scores with the default scale, and applies the given one afterwards. [softcap_scale]"""
    scores = scaled_scores(q, k)
    if softcap is not None:
        scores = softcap * np.tanh(scores / softcap)
    return softmax(scores if scale is None else scores * scale * math.sqrt(q.shape[-1])) @ v


def bias_early_in_fewer_bits(q, k, v, bias=None):
    """Adds the bias before the scale, unless in float64. [float32_float_mask]"""
    if bias is not None and q.dtype != np.float64:
        return softmax((q @ np.swapaxes(k, -1, -2) + bias) * q.shape[-1] ** -0.5) @ v
    return softmax(scaled_scores(q, k) if bias is None else scaled_scores(q, k) + bias) @ v
