"""Correct NumPy attention functions with unusual signatures, layouts, dtypes or limits."""

from functools import partial

import numpy as np

from functions import scaled_scores, softmax

try:
    import torch  # not used: the check must see that the functions take NumPy arrays
except ImportError:
    torch = None


def only_16_bits(q, k, v):
    """Takes float16 only."""
    if q.dtype != np.float16:
        raise TypeError(f"expected float16, got {q.dtype}")
    q, k, v = (array.astype(np.float32) for array in (q, k, v))
    return (softmax(scaled_scores(q, k)) @ v).astype(np.float16)


def only_float32(q, k, v):
    """Takes float32 only."""
    assert q.dtype == np.float32, "float32 only"
    return softmax(scaled_scores(q, k)) @ v


def lengths_of_16(q, k, v):
    """Takes lengths in multiples of 16 only."""
    if q.shape[-2] % 16 or k.shape[-2] % 16:
        raise ValueError("lengths must be multiples of 16")
    return softmax(scaled_scores(q, k)) @ v


def two_dimensions(Q, K, V):
    """Takes one head of one sequence, as matrices."""
    scores = Q @ K.T / np.sqrt(K.shape[1])
    powers = np.exp(scores - scores.max(axis=1)[:, None])
    return powers / powers.sum(axis=1)[:, None] @ V


def weights_first(q, k, v):
    """Returns weights and output, in this order."""
    weights = softmax(scaled_scores(q, k))
    return weights, weights @ v


def as_dictionary(q, k, v):
    """Returns a dictionary that begins with the weights."""
    weights = softmax(scaled_scores(q, k))
    return {"weights": weights, "output": weights @ v}


def widened(q, k, v):
    """Returns float64, whatever comes."""
    return softmax(scaled_scores(q, k)).astype(np.float64) @ v


def packed(qkv):
    """Takes (b, n, 3, h, d)."""
    q, k, v = np.moveaxis(qkv, 2, 0).swapaxes(2, 3)
    return (softmax(scaled_scores(q, k)) @ v).swapaxes(1, 2)


def ones_and_zeros(q, k, v, mask=None):
    """Takes a mask of ones and zeros, as numbers."""
    scores = scaled_scores(q, k)
    if mask is not None:
        scores = scores + (1.0 - mask) * np.finfo(scores.dtype).min
    return softmax(scores) @ v


def padding(q, k, v, key_padding_mask=None):
    """Takes a (b, n) mask in which True keeps."""
    scores = scaled_scores(q, k)
    if key_padding_mask is not None:
        scores = np.where(key_padding_mask[:, None, None, :], scores, -np.inf)
    return softmax(scores) @ v


def padding_hides(q, k, v, key_padding_mask=None):
    """Takes a (b, n) mask in which True hides."""
    scores = scaled_scores(q, k)
    if key_padding_mask is not None:
        scores = np.where(key_padding_mask[:, None, None, :], -1e9, scores)
    return softmax(scores) @ v


def lengths(q, k, v, lengths=None):
    """Takes the number of keys of each sequence."""
    scores = scaled_scores(q, k)
    if lengths is not None:
        visible = np.arange(k.shape[-2]) < np.asarray(lengths)[:, None]
        scores = np.where(visible[:, None, None, :], scores, -np.inf)
    return softmax(scores) @ v


def always_causal(q, k, v):
    """Is always causal."""
    scores = scaled_scores(q, k)
    return softmax(np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)) @ v


def causal_by_default(q, k, v, causal=True):
    """Is causal unless told otherwise."""
    scores = scaled_scores(q, k)
    if causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
    return softmax(scores) @ v


def blocks(q, k, v):
    """Computes in blocks of 32 keys."""
    total, output = 0.0, 0.0
    maximum = np.full((*q.shape[:-1], 1), -np.inf)
    for start in range(0, k.shape[-2], 32):
        scores = scaled_scores(q, k[..., start : start + 32, :])
        new = np.maximum(maximum, scores.max(axis=-1, keepdims=True))
        powers, factor = np.exp(scores - new), np.exp(maximum - new)
        total = total * factor + powers.sum(axis=-1, keepdims=True)
        output = output * factor + powers @ v[..., start : start + 32, :]
        maximum = new
    return (output / total).astype(q.dtype)


def configurable(q, k, v, *, scale, causal):
    """Requires its options."""
    scores = q @ np.swapaxes(k, -1, -2) * scale
    if causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
    return softmax(scores) @ v


causal_partial = partial(configurable, scale=0.25, causal=True)


def packed_layer(x, W_qkv, W_o, b_q, b_k, b_v, b_o, n_head):
    """Is a layer with packed weights and separate biases."""
    b, n, d = x.shape
    q, k, v = np.split(x @ W_qkv + np.concatenate([b_q, b_k, b_v]), 3, axis=-1)
    q, k, v = (rows.reshape(b, n, n_head, -1).swapaxes(1, 2) for rows in (q, k, v))
    return (softmax(scaled_scores(q, k)) @ v).swapaxes(1, 2).reshape(b, n, d) @ W_o + b_o


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


def mask_of_each_sequence(q, k, v, mask=None):
    """Takes (b, n, h, d), a mask (b, m, n), and nothing that broadcasts to it."""
    scores = np.einsum("bmhd,bnhd->bhmn", q, k) * q.shape[-1] ** -0.5
    if mask is not None:
        assert mask.ndim == 3
        scores = np.where(mask[:, None], scores, -np.inf)
    return np.einsum("bhmn,bnhd->bmhd", softmax(scores), v)


def sizes_required(q, k, v, d_k, causal):
    """Requires a size, and as many queries as keys under a causal mask."""
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(d_k)
    if causal:
        scores = scores + np.where(np.tri(q.shape[-2], dtype=bool), 0, -np.inf)
    return softmax(scores) @ v


def backward(d_out, q, k, v, mask=None):
    """Is a backward pass."""
    scores = scaled_scores(q, k)
    weights = softmax(scores if mask is None else np.where(mask, scores, -np.inf))
    of_weights = d_out @ np.swapaxes(v, -1, -2)
    row_term = (weights * of_weights).sum(axis=-1, keepdims=True)
    of_scores = weights * (of_weights - row_term) * q.shape[-1] ** -0.5
    return of_scores @ k, np.swapaxes(of_scores, -1, -2) @ q, np.swapaxes(weights, -1, -2) @ d_out
