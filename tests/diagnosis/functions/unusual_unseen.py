"""More correct NumPy functions, in the forms that users bring."""

import numpy as np

from tests.diagnosis.functions import scaled_scores, softmax


def packed_layer(x, W_qkv, W_o, b_q, b_k, b_v, b_o, n_head):
    """Is a layer with packed weights and separate biases."""
    b, n, d = x.shape
    q, k, v = np.split(x @ W_qkv + np.concatenate([b_q, b_k, b_v]), 3, axis=-1)
    q, k, v = (rows.reshape(b, n, n_head, -1).swapaxes(1, 2) for rows in (q, k, v))
    return (softmax(scaled_scores(q, k)) @ v).swapaxes(1, 2).reshape(b, n, d) @ W_o + b_o


class Attention:
    """Is an object with `__call__`."""

    def __init__(self, scale=None):
        self.scale = scale

    def __call__(self, query, key, value, mask=None):
        scores = scaled_scores(query, key)
        return softmax(scores if mask is None else np.where(mask, scores, -np.inf)) @ value


object_with_call = Attention()


def causal_blocks(q, k, v, causal=False):
    """Skips the blocks of keys that a causal mask hides."""
    rows = []
    for start in range(0, q.shape[-2], 16):
        stop = min(start + 16, q.shape[-2])
        seen = min(stop, k.shape[-2]) if causal else k.shape[-2]
        scores = scaled_scores(q[..., start:stop, :], k[..., :seen, :])
        if causal:
            visible = np.arange(seen) <= np.arange(start, stop)[:, None]
            scores = np.where(visible, scores, -np.inf)
        rows.append(softmax(scores) @ v[..., :seen, :])
    return np.concatenate(rows, axis=-2)


def grouped_by_einsum(q, k, v):
    """Shares key heads by an axis of groups, without repeating them."""
    (b, m, h, d), heads = q.shape, k.shape[2]
    grouped = q.reshape(b, m, heads, h // heads, d)
    weights = softmax(np.einsum("bmkgd,bnkd->bkgmn", grouped, k) * d**-0.5)
    return np.einsum("bkgmn,bnkd->bmkgd", weights, v).reshape(b, m, h, -1)


def keyword_arguments(q, k, v, **options):
    """Takes options that it does not name."""
    scores = scaled_scores(q, k)
    if options.get("causal"):
        scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
    return softmax(scores) @ v


def with_log_sum(q, k, v):
    """Returns the output and the logarithms of the sums."""
    scores = scaled_scores(q, k)
    sums = np.log(np.exp(scores - scores.max(axis=-1, keepdims=True)).sum(axis=-1))
    return softmax(scores) @ v, sums + scores.max(axis=-1)


def additive_only(q, k, v, attn_mask=None):
    """Adds its mask, and takes no boolean one."""
    if attn_mask is not None and attn_mask.dtype == bool:
        raise TypeError("attn_mask must hold numbers to add")
    scores = scaled_scores(q, k)
    return softmax(scores if attn_mask is None else scores + attn_mask) @ v


def three_dimensions_with_mask(q, k, v, mask=None):
    """Takes (b, n, d) and a mask (b, m, n)."""
    scores = np.einsum("bmd,bnd->bmn", q, k) / np.sqrt(q.shape[-1])
    if mask is not None:
        scores = np.where(np.broadcast_to(mask, scores.shape), scores, -np.inf)
    return softmax(scores) @ v


def centred_keys(q, k, v):
    """Subtracts the mean of the keys, which shifts all scores of a query alike."""
    return softmax(scaled_scores(q, k - k.mean(axis=-2, keepdims=True))) @ v


def in_logarithms(q, k, v):
    """Normalises by subtracting the logarithm of the sum."""
    scores = scaled_scores(q, k)
    maximum = scores.max(axis=-1, keepdims=True)
    return np.exp(scores - maximum - np.log(np.exp(scores - maximum).sum(-1, keepdims=True))) @ v


def tokens_first(q, k, v):
    """Takes (n, h, d), as packed sequences do."""
    weights = softmax(np.einsum("mhd,nhd->hmn", q, k) * q.shape[-1] ** -0.5)
    return np.einsum("hmn,nhd->mhd", weights, v)


def full_masks(q, k, v, mask=None, is_causal=False):
    """Loops over sequences and heads, and takes no mask that broadcasts."""
    output = np.zeros((*q.shape[:-1], v.shape[-1]), q.dtype)
    for i, j in np.ndindex(q.shape[:2]):
        scores = scaled_scores(q[i, j], k[i, j])
        if mask is not None:
            scores = np.where(mask[i, j], scores, -np.inf)
        if is_causal:
            scores = np.where(np.tri(*scores.shape, dtype=bool), scores, -np.inf)
        output[i, j] = softmax(scores) @ v[i, j]
    return output


def folded_groups(q, k, v, is_causal=False):
    """Folds a group of heads into the rows, and repeats the causal mask for them."""
    m, n = q.shape[2], k.shape[2]
    scores = scaled_scores(q.reshape(*k.shape[:2], -1, q.shape[-1]), k)
    if is_causal:
        causal = np.tile(np.tri(m, n, dtype=bool), (q.shape[1] // k.shape[1], 1))
        scores = np.where(causal, scores, -np.inf)
    return (softmax(scores) @ v).reshape(*q.shape[:-1], -1)


def reciprocal_softcap(q, k, v, softcap=None):
    """Divides one by the softcap, which raises for 0."""
    scores = scaled_scores(q, k)
    if softcap is not None:
        scores = softcap * np.tanh(scores * (1 / softcap))
    return softmax(scores) @ v


def window_of_one_number(q, k, v, window_size=None):
    """Takes the number of keys that a query sees, up to its own position."""
    scores = scaled_scores(q, k)
    if window_size is not None:
        distance = np.arange(k.shape[-2]) - np.arange(q.shape[-2])[:, None]
        scores = np.where((distance <= 0) & (distance > -window_size), scores, -np.inf)
    return softmax(scores) @ v


def compares_mask_with_zero(q, k, v, mask=None):
    """Hides where the mask is 0, of any dtype."""
    scores = scaled_scores(q, k)
    return softmax(scores if mask is None else np.where(mask == 0, -np.inf, scores)) @ v
