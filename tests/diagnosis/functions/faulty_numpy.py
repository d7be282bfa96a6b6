"""NumPy attention functions with a fault, and in brackets what the check must say of it."""

import math

import numpy as np

from tests.diagnosis.functions import scaled_scores, softmax


def wrong_root(q, k, v):
    """Divides by d_k instead of its root. [divided_by_d_k]"""
    return softmax(q @ np.swapaxes(k, -1, -2) / k.shape[-1]) @ v


def scale_of_values(q, k, v):
    """Divides by the root of the width of the values. [divided_by_root_of_d_v]"""
    return softmax(q @ np.swapaxes(k, -1, -2) / math.sqrt(v.shape[-1])) @ v


def unscaled(q, k, v):
    """Forgets the scale. [not_scaled]"""
    return softmax(q @ np.swapaxes(k, -1, -2)) @ v


def scale_by_length(q, k, v):
    """Divides by the root of the number of keys. [divided_by_root_of_n]"""
    return softmax(q @ np.swapaxes(k, -1, -2) / math.sqrt(k.shape[-2])) @ v


def scale_twice(q, k, v, scale=None):
    """Scales the queries and, once more, the scores. [scaled_twice]"""
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    return softmax((q * scale) @ np.swapaxes(k, -1, -2) * scale) @ v


def axis_one(q, k, v):
    """Normalises over axis 1, which are the heads. [softmax_over_heads]"""
    return softmax(scaled_scores(q, k), axis=1) @ v


def no_maximum(q, k, v):
    """Does not subtract the maximum. [exponentials_overflow]"""
    powers = np.exp(scaled_scores(q, k))
    return powers / powers.sum(axis=-1, keepdims=True) @ v


def one_maximum(q, k, v):
    """Subtracts the maximum of the whole array, so distant rows underflow. [maximum_of_all_rows]"""
    scores = scaled_scores(q, k)
    powers = np.exp(scores - scores.max())
    return powers / powers.sum(axis=-1, keepdims=True) @ v


def denominator_plus_one(q, k, v):
    """Adds 1 to the denominator. [plus_one_in_denominator]"""
    powers = np.exp(scaled_scores(q, k))
    return powers / (1 + powers.sum(axis=-1, keepdims=True)) @ v


def denominator_plus_one_late(q, k, v):
    """Subtracts the maximum and adds 1 to the denominator. [plus_one_after_maximum]"""
    powers = np.exp(scaled_scores(q, k) - scaled_scores(q, k).max(axis=-1, keepdims=True))
    return powers / (1 + powers.sum(axis=-1, keepdims=True)) @ v


def epsilon(q, k, v):
    """Adds 0.01 to the denominator. [only their sum is wrong]"""
    powers = np.exp(scaled_scores(q, k) - scaled_scores(q, k).max(axis=-1, keepdims=True))
    return powers / (0.01 + powers.sum(axis=-1, keepdims=True)) @ v


def base_two(q, k, v):
    """Takes powers of two. [powers_of_two]"""
    return softmax(scaled_scores(q, k) * math.log(2)) @ v


def mask_multiplied(q, k, v, mask=None):
    """Multiplies the scores by the mask. [mask_multiplies_scores]"""
    scores = scaled_scores(q, k)
    return softmax(scores if mask is None else scores * mask) @ v


def masked_late(q, k, v, mask=None):
    """Applies the mask after the softmax. [mask_after_softmax]"""
    weights = softmax(scaled_scores(q, k))
    return (weights if mask is None else weights * mask) @ v


def hides_with_ten(q, k, v, mask=None):
    """Hides with -10 instead of minus infinity. [a hidden key has a weight]"""
    scores = scaled_scores(q, k)
    return softmax(scores if mask is None else np.where(mask, scores, -10.0)) @ v


def hides_with_tiny(q, k, v, mask=None):
    """Hides with the smallest positive float, which is about zero. [mask_multiplies_scores]"""
    scores = scaled_scores(q, k)
    return softmax(scores if mask is None else np.where(mask, scores, np.finfo(float).tiny)) @ v


def first_head_mask(q, k, v, mask=None):
    """Uses the first head's mask for all heads. [mask_of_first_head]"""
    scores = scaled_scores(q, k)
    if mask is not None:
        mask = np.broadcast_to(mask, scores.shape)[:, :1]
        scores = np.where(mask, scores, -np.inf)
    return softmax(scores) @ v


def first_sequence_mask(q, k, v, mask=None):
    """Uses the first sequence's mask for all. [mask_of_first_sequence]"""
    scores = scaled_scores(q, k)
    if mask is not None:
        scores = np.where(np.broadcast_to(mask, scores.shape)[:1], scores, -np.inf)
    return softmax(scores) @ v


def mask_or_causal(q, k, v, mask=None, is_causal=False):
    """Lets the causal mask replace the mask. [causal_replaces_mask]"""
    scores = scaled_scores(q, k)
    if is_causal:
        mask = np.tri(*scores.shape[-2:], dtype=bool)
    return softmax(scores if mask is None else np.where(mask, scores, -np.inf)) @ v


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


def mask_unites_causal(q, k, v, mask=None, is_causal=False):
    """Shows what either the mask or the causal mask shows. [mask_or_causal]"""
    scores = scaled_scores(q, k)
    if is_causal:
        causal = np.tri(*scores.shape[-2:], dtype=bool)
        mask = causal if mask is None else mask | causal
    return softmax(scores if mask is None else np.where(mask, scores, -np.inf)) @ v


def looks_ahead(q, k, v, causal=False):
    """Shows the next position. [causal_shows_next_position]"""
    scores = scaled_scores(q, k)
    if causal:
        scores = np.where(np.tri(*scores.shape[-2:], k=1, dtype=bool), scores, -np.inf)
    return softmax(scores) @ v


def reversed_causal(q, k, v, causal=False):
    """Shows later positions. [causal_flipped]"""
    scores = scaled_scores(q, k)
    if causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=bool).T, scores, -np.inf)
    return softmax(scores) @ v


def always_causal(q, k, v, is_causal=False):
    """Is causal without being asked. [causal_without_is_causal]"""
    scores = scaled_scores(q, k)
    return softmax(np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)) @ v


def typo_under_causal(q, k, v, is_causal=False):
    """Has a typo under is_causal. [AttributeError]"""
    scores = scaled_scores(q, k)
    if is_causal:
        scores = np.where(np.tri(*scores.shap[-2:], dtype=bool), scores, -np.inf)
    return softmax(scores) @ v


def divided_by_scale(q, k, v, scale=None):
    """Divides by the scale. [divided_by_scale]"""
    scores = q @ np.swapaxes(k, -1, -2)
    return softmax(scores / scale if scale else scaled_scores(q, k)) @ v


def window_left_only(q, k, v, window=None):
    """Loses the right bound of the window. [window_right_ignored]"""
    scores = scaled_scores(q, k)
    if window is not None:
        distance = np.arange(k.shape[-2]) - np.arange(q.shape[-2])[:, None]
        left = np.inf if window[0] is None else window[0]
        scores = np.where(distance >= -left, scores, -np.inf)
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


def cap_before_scale(q, k, v, scale=None, softcap=None):
    """Caps before scaling. [softcap_before_scale]"""
    scores = q @ np.swapaxes(k, -1, -2)
    if softcap is not None:
        scores = softcap * np.tanh(scores / softcap)
    return softmax(scores * (q.shape[-1] ** -0.5 if scale is None else scale)) @ v


def tiled_value_heads(q, k, v):
    """Repeats key heads but tiles value heads. [value_heads_tiled]"""
    group = q.shape[1] // k.shape[1]
    return softmax(scaled_scores(q, np.repeat(k, group, 1))) @ np.tile(v, (1, group, 1, 1))


def bias_minus(q, k, v, bias=None):
    """Subtracts the bias. [bias_subtracted]"""
    return softmax(scaled_scores(q, k) - (0 if bias is None else bias)) @ v


def keys_twice(q, k, v):
    """Takes the keys for the values if both have the same shape. [keys_as_values]"""
    return softmax(scaled_scores(q, k)) @ (k if k.shape == v.shape else v)


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
