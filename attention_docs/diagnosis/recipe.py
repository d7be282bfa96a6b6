"""Attention in NumPy as a sequence of named steps, of which a mistake replaces one or two.

Letters in shapes: `b` sequences in a batch, `h` heads, `m` queries, `n` keys, `d` features.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from attention_docs.arrays import Array

# Functions that compute steps of attention, by the names of the steps in `CORRECT_STEPS`.
StepFunctions = dict[str, Callable[..., Any]]


@dataclass(frozen=True, eq=False)
class Call:
    """The arguments of attention.

    Attributes:
        query: (b, h, m, d_k) queries.
        key: (b, h or fewer, n, d_k) keys.
        value: (b, h or fewer, n, d_v) values.
        mask: broadcasts to (b, h, m, n); True keeps a key. Keys after its last column are hidden.
        bias: broadcasts to (b, h, m, n); added to the scaled scores.
        is_causal: a query sees no later key.
        scale: the factor of the scores; 1/sqrt(d_k) if None.
        window: the numbers of visible positions before and after the query's own; None is no limit.
        softcap: c in c tanh(s/c), which bounds the scaled scores s before the mask; 0 is none.
        d_model: the number of features of a token before the split into heads; h d_k if None.
    """

    query: Array
    key: Array
    value: Array
    mask: Array | None = None
    bias: Array | None = None
    is_causal: bool = False
    scale: float | None = None
    window: tuple[int | None, int | None] | None = None
    softcap: float | None = None
    d_model: int | None = None

    @cached_property
    def distance(self) -> Array:
        """(m, n) positions of the keys minus positions of the queries."""
        return np.arange(self.key.shape[-2]) - np.arange(self.query.shape[-2])[:, None]

    @property
    def window_limits(self) -> tuple[float, float]:
        """The numbers of visible positions before and after the query's own; inf is no limit."""
        left, right = self.window or (None, None)
        return (math.inf if left is None else left, math.inf if right is None else right)


@dataclass(frozen=True, eq=False)
class LayerCall:
    """The arguments and weights of a multi-head attention layer.

    Attributes:
        query: (b, m, d_model) inputs of the queries.
        key: (b, n, d_model) inputs of the keys and values.
        heads: h.
        weights: (d_model, d_model) matrices by the letters Q, K, V and O; rows times matrix.
        biases: (d_model,) vectors by the same letters; empty without biases.
        is_causal: a query sees no later key.
        key_heads: the number of heads of the keys and values; None if it is h.
        rotation: (n, d) angles by which queries and keys are rotated, features i and i + d/2
            as a pair; None without rotary positions.
    """

    query: Array
    key: Array
    heads: int
    weights: dict[str, Array]
    biases: dict[str, Array] = field(default_factory=dict)
    is_causal: bool = False
    key_heads: int | None = None
    rotation: Array | None = None


def attend(call: Call, changes: StepFunctions | None = None) -> Array:
    """Return the (b, h, m, d_v) output of scaled dot-product attention.

    Args:
        changes: functions that replace steps of `CORRECT_STEPS`.

    >>> x = np.array([[[[2.0, 0.0], [0.0, 2.0]]]])
    >>> print(attend(Call(x, x, x)).round(4).tolist())
    [[[[1.8884, 0.1116], [0.1116, 1.8884]]]]
    """
    steps = CORRECT_STEPS | (changes or {})
    call = steps["arguments"](call)
    call = steps["share_heads"](call)
    with np.errstate(all="ignore"):  # a mistake may overflow or divide by zero
        scores = steps["product"](call.query, call.key) * steps["scale"](call)
        scores = steps["softcap"](scores, call)
        visible = steps["mask"](call) & steps["causal"](call) & steps["window"](call)
        visible = np.broadcast_to(visible, scores.shape)
        scores = steps["add_bias"](scores, call)
        scores = steps["hide"](scores, visible, call)
        weights = steps["softmax"](scores)
        weights = steps["after_softmax"](weights, visible)
        return steps["weighted_sum"](weights, call.value)


def attend_in_heads(call: LayerCall, changes: StepFunctions | None = None) -> Array:
    """Return the (b, m, d_model) output of a layer; without weights O, the merged heads."""
    steps = CORRECT_STEPS | (changes or {})
    weights = steps["weights"](call.weights, call.heads)
    biases = steps["biases"](call.biases)

    def project(rows: Array, letter: str) -> Array:
        return rows @ weights[letter] + biases.get(letter, 0.0)

    key_heads = call.key_heads or call.heads
    q = rotate(steps["split"](project(call.query, "Q"), call.heads), call.rotation)
    k = rotate(steps["split"](project(call.key, "K"), key_heads), call.rotation)
    v = steps["split"](project(call.key, "V"), key_heads)
    split_call = Call(q, k, v, is_causal=call.is_causal, d_model=call.query.shape[-1])
    merged = steps["merge"](attend(split_call, changes))
    return steps["project_out"](merged, project) if "O" in call.weights else merged


def rotate(rows: Array, angles: Array | None) -> Array:
    """Rotate features i and i + d/2 of (..., n, d) rows by the first n angles, as Llama does."""
    if angles is None:
        return rows
    first_half, second_half = np.split(rows, 2, axis=-1)
    quarter_turned = np.concatenate([-second_half, first_half], axis=-1)
    angles = angles[: rows.shape[-2]]
    return rows * np.cos(angles) + quarter_turned * np.sin(angles)


def rounded_steps(bits: int) -> StepFunctions:
    """Return steps whose results are rounded to `bits` significant bits, as in a coarser dtype.

    Overflow and underflow of the dtype are not simulated.
    """

    def rounded(array: Array) -> Array:
        significand, exponent = np.frexp(array)
        return np.ldexp(np.round(significand * 2.0**bits), exponent - bits)

    def rounded_softmax(scores: Array) -> Array:
        maximum = scores.max(axis=-1, keepdims=True)
        shifted = rounded(scores - np.where(np.isneginf(maximum), 0, maximum))
        exponentials = rounded(np.exp(shifted))
        total = rounded(exponentials.sum(axis=-1, keepdims=True))
        return rounded(exponentials / np.where(total == 0, 1, total))

    return {
        "product": lambda query, key: rounded(query @ key.swapaxes(-1, -2)),
        "softcap": lambda scores, call: rounded(apply_softcap(rounded(scores), call)),
        "add_bias": lambda scores, call: rounded(add_bias(scores, call)),
        "softmax": rounded_softmax,
        "weighted_sum": lambda weights, value: rounded(weights @ value),
        # The projection before the split is not a step of its own, so its result is rounded here.
        "split": lambda rows, heads: split_heads(rounded(rows), heads),
        "merge": lambda output: rounded(merge_heads(output)),
        "project_out": lambda merged, project: rounded(project(merged, "O")),
    }


def share_heads(call: Call) -> Call:
    """Repeat each key and value head for its group of neighbouring query heads."""
    group_size = call.query.shape[1] // call.key.shape[1]
    if group_size == 1:
        return call
    key, value = (np.repeat(array, group_size, axis=1) for array in (call.key, call.value))
    return replace(call, key=key, value=value)


def default_scale(call: Call) -> float:
    return 1 / math.sqrt(call.key.shape[-1])


def effective_scale(call: Call) -> float:
    return default_scale(call) if call.scale is None else call.scale


def apply_softcap(scores: Array, call: Call) -> Array:
    """Return c tanh(s / c) for the softcap c of a call, or the scores s if it has none."""
    return call.softcap * np.tanh(scores / call.softcap) if call.softcap else scores


def all_visible(call: Call) -> Array:
    """Return an (m, n) boolean mask that hides no key."""
    return np.ones_like(call.distance, dtype=bool)


def padded_mask(call: Call, padding: bool = False) -> Array:
    """Return the mask of a call, with `padding` in a column for each key that it lacks."""
    if call.mask is None:
        return all_visible(call)
    *leading, columns = call.mask.shape
    if columns == 1:  # it broadcasts to all keys
        return call.mask
    padding_columns = np.full((*leading, call.key.shape[-2] - columns), padding)
    return np.concatenate([call.mask, padding_columns], axis=-1)


def causal_mask(call: Call) -> Array:
    return call.distance <= 0 if call.is_causal else all_visible(call)


def window_mask(call: Call) -> Array:
    """Return which keys lie in the window of each query; all of them if there is no window."""
    return is_in_window(call.distance, *call.window_limits)


def is_in_window(distance: Array, left: float, right: float) -> Array:
    return (-left <= distance) & (distance <= right)


def add_bias(scores: Array, call: Call) -> Array:
    return scores if call.bias is None else scores + call.bias


def hide(scores: Array, visible: Array, call: Call) -> Array:
    """Set the scores of hidden keys to -inf; a replacement of this step may need the call."""
    return np.where(visible, scores, -np.inf)


def softmax(scores: Array, axis: int | tuple[int, ...] = -1) -> Array:
    """Return the softmax over one or more axes, with zeros where every score is -inf."""
    maximum = scores.max(axis=axis, keepdims=True)
    exponentials = np.exp(scores - np.where(maximum == -np.inf, 0.0, maximum))
    total = exponentials.sum(axis=axis, keepdims=True)
    return exponentials / np.where(total == 0, 1.0, total)


def split_heads(rows: Array, heads: int) -> Array:
    """Reshape (b, n, h d) rows to (b, h, n, d)."""
    split = rows.reshape(*rows.shape[:-1], heads, -1)
    return split.swapaxes(-3, -2)


def merge_heads(output: Array) -> Array:
    """Reshape (b, h, n, d) to (b, n, h d) rows."""
    rows = output.swapaxes(-3, -2)
    return rows.reshape(*rows.shape[:-2], -1)


CORRECT_STEPS: StepFunctions = {
    "arguments": lambda call: call,
    "share_heads": share_heads,
    "product": lambda query, key: query @ key.swapaxes(-1, -2),
    "scale": effective_scale,
    "softcap": apply_softcap,
    "mask": padded_mask,
    "causal": causal_mask,
    "window": window_mask,
    "add_bias": add_bias,
    "hide": hide,
    "softmax": softmax,
    "after_softmax": lambda weights, visible: weights,
    "weighted_sum": lambda weights, value: weights @ value,
    "weights": lambda weights, heads: weights,
    "biases": lambda biases: biases,
    "split": split_heads,
    "merge": merge_heads,
    "project_out": lambda merged, project: project(merged, "O"),
}
