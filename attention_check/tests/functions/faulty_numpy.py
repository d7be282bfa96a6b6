"""NumPy attention functions with a fault, and in brackets what the check must say of it."""

import numpy as np

from functions import scaled_scores, softmax


def epsilon(q, k, v):
    """Adds 0.01 to the denominator. [only their sum is wrong]"""
    powers = np.exp(scaled_scores(q, k) - scaled_scores(q, k).max(axis=-1, keepdims=True))
    return powers / (0.01 + powers.sum(axis=-1, keepdims=True)) @ v


def in_place(q, k, v):
    """Scales the caller's queries in place. [changes its input q]"""
    q *= q.shape[-1] ** -0.5
    return softmax(q @ np.swapaxes(k, -1, -2)) @ v


def one_query(q, k, v):
    """Squeezes, which drops the axis of a single query. [has shape]"""
    return (softmax(scaled_scores(q, k)) @ v).squeeze()


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


def causal_in_whole_blocks(q, k, v, causal=False):
    """Hides later blocks of 16 keys, and nothing in a query's own block. [a hidden key has a weight]"""
    scores = scaled_scores(q, k)
    if causal:
        rows, columns = np.arange(q.shape[-2])[:, None] // 16, np.arange(k.shape[-2]) // 16
        scores = np.where(columns <= rows, scores, -np.inf)
    return softmax(scores) @ v


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


def bias_of_other_heads(q, k, v, bias=None):
    """Gives the heads their biases in reversed order. [float_mask_per_head]"""
    scores = scaled_scores(q, k)
    return softmax(scores if bias is None else scores + bias[..., ::-1, :, :]) @ v


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


def maximum_of_hidden_zeros(q, k, v, causal=False):
    """Takes hidden scores for zeros in the maximum. [large_scores_causal]"""
    scores = scaled_scores(q, k)
    visible = np.tri(*scores.shape[-2:], dtype=bool) | (not causal)
    scores = scores - np.where(visible, scores, 0).max(axis=-1, keepdims=True)
    powers = np.where(visible, np.exp(scores), 0)
    return powers / powers.sum(axis=-1, keepdims=True) @ v


def output_not_rescaled(q, k, v):
    """Merges blocks of 64 keys, and rescales their sums but not their outputs. [length_130]"""
    total, output, maximum = 0, 0, np.full((*q.shape[:-1], 1), -np.inf)
    for start in range(0, k.shape[-2], 64):
        scores = scaled_scores(q, k[..., start : start + 64, :])
        new = np.maximum(maximum, scores.max(axis=-1, keepdims=True))
        powers = np.exp(scores - new)
        total = total * np.exp(maximum - new) + powers.sum(axis=-1, keepdims=True)
        output = output + powers @ v[..., start : start + 64, :]
        maximum = new
    return output / total


PADDING = {}


def keeps_padding(q, k, v, padding_mask=None):
    """Keeps the first padding mask of a shape. [padding_again]"""
    scores = scaled_scores(q, k)
    if padding_mask is not None:
        kept = PADDING.setdefault(padding_mask.shape, padding_mask.copy())
        scores = np.where(kept[:, None, None, :], scores, -np.inf)
    return softmax(scores) @ v


def window_beside_causal(q, k, v, window_size=None, causal=True):
    """Hides what both the window and the causal mask hide. [a hidden key has a weight]"""
    scores = scaled_scores(q, k)
    distance = np.arange(k.shape[-2]) - np.arange(q.shape[-2])[:, None]
    hidden = distance > 0 if causal else distance > np.inf
    if window_size is not None:
        hidden = hidden & (distance <= -window_size)
    return softmax(np.where(hidden, -np.inf, scores)) @ v


def backward_without_row_term(d_out, q, k, v):
    """Forgets the sum over a row in the gradient of the softmax. [lacks the row term]"""
    weights, scale = softmax(scaled_scores(q, k)), q.shape[-1] ** -0.5
    of_scores = weights * (d_out @ np.swapaxes(v, -1, -2)) * scale
    return of_scores @ k, np.swapaxes(of_scores, -1, -2) @ q, np.swapaxes(weights, -1, -2) @ d_out
