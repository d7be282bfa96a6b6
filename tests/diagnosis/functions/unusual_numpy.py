"""Correct NumPy attention functions with unusual signatures, layouts, dtypes or limits."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from tests.diagnosis.functions import scaled_scores, softmax

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


def head_sizes(q, k, v):
    """Takes head sizes of 16, 32 and 64 only."""
    assert q.shape[-1] in {16, 32, 64}
    assert v.shape[-1] == q.shape[-1]
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


def heads_third(q, k, v, causal=False):
    """Takes (b, n, h, d)."""
    scores = np.einsum("bmhd,bnhd->bhmn", q, k) * q.shape[-1] ** -0.5
    if causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
    return np.einsum("bhmn,bnhd->bmhd", softmax(scores), v)


def weights_first(q, k, v):
    """Returns weights and output, in this order."""
    weights = softmax(scaled_scores(q, k))
    return weights, weights @ v


def as_dictionary(q, k, v):
    """Returns a dictionary that begins with the weights."""
    weights = softmax(scaled_scores(q, k))
    return {"weights": weights, "output": weights @ v}


@dataclass
class Result:
    weights: np.ndarray
    output: np.ndarray


def as_dataclass(q, k, v):
    """Returns a dataclass."""
    weights = softmax(scaled_scores(q, k))
    return Result(weights, weights @ v)


def with_out(q, k, v, out=None):
    """Writes to `out` if it is given."""
    return np.matmul(softmax(scaled_scores(q, k)), v, out=out)


def out_required(q, k, v, out):
    """Writes to `out` and returns nothing."""
    out[...] = softmax(scaled_scores(q, k)) @ v


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
