"""Attention in NumPy as a sequence of named steps, of which a mistake replaces one or two.

Letters in shapes: `b` sequences in a batch, `h` heads, `m` queries, `n` keys, `d` features.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

Array = Any
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
        default_scale: the factor of a call without a scale; 1/sqrt(d_k) if None.
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
    default_scale: float | None = None

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
class Norm:
    """A layer norm of the last axis, or an RMS norm, which does not subtract the mean."""

    weight: Array
    bias: Array
    epsilon: float
    subtracts_mean: bool

    def __call__(self, rows: Array) -> Array:
        if self.subtracts_mean:
            rows = rows - rows.mean(axis=-1, keepdims=True)
        mean_square = (rows**2).mean(axis=-1, keepdims=True)
        return rows / np.sqrt(mean_square + self.epsilon) * self.weight + self.bias


@dataclass(frozen=True, eq=False)
class LayerCall:
    """The arguments and weights of a multi-head attention layer.

    Attributes:
        query: (b, m, d_model) inputs of the queries.
        key: (b, n, d_model) inputs of the keys, and of the values if these have none of their own.
        heads: h.
        weights: (d_model, d_model) matrices by the letters Q, K, V and O; rows times matrix.
        biases: (d_model,) vectors by the same letters; empty without biases.
        is_causal: a query sees no later key.
        mask: broadcasts to (b, h, m, n); True keeps a key.
        default_scale: the factor of the scores; 1/sqrt(d_k) if None.
        key_heads: the number of heads of the keys and values; None if it is h.
        rotation: (n, d) angles by which queries and keys are rotated, features i and i + d/2
            as a pair; None without rotary positions.
        norms: norms by what they norm: the inputs `x`, queries Q, keys K, or `out`, the sum of the
            output and the inputs.
        is_residual: whether the inputs, before their norm, are added to the output.
        value: (b, n, d_model) inputs of the values; None if they are those of the keys.
        extra_rows: (rows, d_model) keys and values that every query sees, by K and V.
    """

    query: Array
    key: Array
    heads: int
    weights: dict[str, Array]
    biases: dict[str, Array] = field(default_factory=dict)
    is_causal: bool = False
    mask: Array | None = None
    default_scale: float | None = None
    key_heads: int | None = None
    rotation: Array | None = None
    norms: dict[str, Norm] = field(default_factory=dict)
    is_residual: bool = False
    value: Array | None = None
    extra_rows: dict[str, Array] = field(default_factory=dict)


def with_inputs(call: Any, change: Callable[[Array], Array]) -> Any:
    """Return a call with changed queries, keys and values; in self-attention, these stay one."""
    query = change(call.query)
    key = query if call.key is call.query else change(call.key)
    value = None if call.value is None else change(call.value)
    return replace(call, query=query, key=key, value=value)


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


def masked_scores(call: Call) -> Array:
    """Return the (b, h, m, n) scores of which the softmax is taken: -inf for hidden keys."""
    scores = apply_softcap(call.query @ call.key.swapaxes(-1, -2) * effective_scale(call), call)
    visible = padded_mask(call) & causal_mask(call) & window_mask(call)
    return hide(add_bias(scores, call), np.broadcast_to(visible, scores.shape), call)


# Mistakes of a backward pass, each with what a report says of it.
GRADIENT_MISTAKES = {
    "no row term": "it lacks the row term sum(P * dP) of the softmax",
    "no mask": "its weights are computed again without the mask",
    "no mask beside saved sums": "its weights are computed again without the mask",
    "no softcap": "it lacks the derivative of the softcap, 1 - tanh²",
    "detached": "the weights are detached, so that only the values have a gradient",
}


def gradients(call: Call, upstream: Array, mistake: str = "") -> dict[str, Array]:
    """Return the gradients of `sum(output * upstream)` by query, key and value."""
    shared = share_heads(call)
    if mistake == "no mask":
        shared = replace(shared, mask=None, is_causal=False)
    weights = softmax(masked_scores(shared))
    weights_of_row_term = weights
    if mistake == "no mask beside saved sums":
        all_scores = masked_scores(replace(shared, mask=None, is_causal=False))
        weights = np.exp(all_scores) / np.exp(masked_scores(shared)).sum(axis=-1, keepdims=True)
    of_weights = upstream @ shared.value.swapaxes(-1, -2)
    row_term = (weights_of_row_term * of_weights).sum(axis=-1, keepdims=True)
    row_term *= mistake != "no row term"
    of_scores = weights * (of_weights - row_term) * (mistake != "detached")
    if call.softcap and mistake != "no softcap":
        products = shared.query @ shared.key.swapaxes(-1, -2) * effective_scale(call)
        of_scores = of_scores / np.cosh(products / call.softcap) ** 2
    of_scores = of_scores * effective_scale(call)

    def sum_groups(gradient: Array) -> Array:
        """Add up the gradients of the query heads that share a key head."""
        b, key_heads = call.key.shape[:2]
        return gradient.reshape(b, key_heads, -1, *gradient.shape[2:]).sum(axis=2)

    return {
        "query": of_scores @ shared.key,
        "key": sum_groups(of_scores.swapaxes(-1, -2) @ shared.query),
        "value": sum_groups(weights.swapaxes(-1, -2) @ upstream),
    }


def attend_in_heads(call: LayerCall, changes: StepFunctions | None = None) -> Array:
    """Return the (b, m, d_model) output of a layer; without weights O, the merged heads."""
    steps = CORRECT_STEPS | (changes or {})
    weights = steps["weights"](call.weights, call.heads)
    biases = steps["biases"](call.biases)
    value = call.key if call.value is None else call.value
    norm_inputs: Callable[[Array], Array] = call.norms.get("x") or (lambda rows: rows)
    inputs = {"Q": norm_inputs(call.query), "K": norm_inputs(call.key), "V": norm_inputs(value)}

    def project(rows: Array, letter: str) -> Array:
        return rows @ weights[letter] + biases.get(letter, 0.0)

    rows_by_letter = steps["projections"](
        {letter: project(rows, letter) for letter, rows in inputs.items()}, call.heads
    )

    def heads_of(letter: str) -> Array:
        """Return the (b, heads, n, d) queries, keys or values."""
        rows = rows_by_letter[letter]
        norm = call.norms.get(letter)
        is_of_all_heads = norm is not None and norm.weight.size == rows.shape[-1]
        if norm and is_of_all_heads:
            rows = norm(rows)
        split = steps["split"](rows, call.heads if letter == "Q" else call.key_heads or call.heads)
        if norm and not is_of_all_heads:
            split = norm(split)
        return split if call.rotation is None else steps["rotate"](split, call.rotation, letter)

    q, k, v = map(heads_of, "QKV")
    split_call = Call(
        q, k, v, call.mask, is_causal=call.is_causal, default_scale=call.default_scale,
        d_model=call.query.shape[-1],
    )  # fmt: skip
    if call.extra_rows:
        split_call = with_extra_rows(split_call, call.extra_rows)
    merged = steps["merge"](attend(split_call, changes))
    output = steps["project_out"](merged, project) if "O" in call.weights else merged
    if "out" in call.norms or call.is_residual:
        output = output + call.query
    return call.norms["out"](output) if "out" in call.norms else output


def direction(call: LayerCall) -> Array:
    """Return an irregular array of the shape of a layer's inputs."""
    wave: Array = np.sin(1.0 + 0.7 * np.arange(call.query.size))
    return wave.reshape(call.query.shape)


def directional_derivatives(
    call: LayerCall, upstream: Array, are_weights_detached: bool = False
) -> Array:
    """Return the (b, n) derivatives of `sum(output * upstream)` along each row of `direction`.

    They are central differences, and the call is one of self-attention.
    """
    step = 1e-4
    changes: StepFunctions = {}
    if are_weights_detached:
        kept: list[Array] = []

        def keep(scores: Array) -> Array:
            kept.append(softmax(scores))
            return kept[0]

        attend_in_heads(call, {"softmax": keep})
        changes["softmax"] = lambda scores: kept[0]
    derivatives = np.zeros(call.query.shape[:2])
    for index in np.ndindex(derivatives.shape):
        change = np.zeros_like(call.query)
        change[index] = step * direction(call)[index]
        losses = []
        for inputs in (call.query + change, call.query - change):
            output = attend_in_heads(replace(call, query=inputs, key=inputs), changes)
            losses.append((output * upstream).sum())
        derivatives[index] = (losses[0] - losses[1]) / (2 * step)
    return derivatives


def with_extra_rows(call: Call, extra_rows: dict[str, Array]) -> Call:
    """Append (rows, h d) keys and values, which no mask hides, to those of each sequence."""
    b, heads = call.key.shape[:2]
    key, value = (
        np.concatenate([array, np.repeat(split_heads(extra_rows[letter][None], heads), b, 0)], -2)
        for letter, array in (("K", call.key), ("V", call.value))
    )
    visible = np.broadcast_to(
        padded_mask(call) & causal_mask(call), (*call.query.shape[:3], call.key.shape[-2])
    )
    extra_columns = np.ones((*visible.shape[:-1], key.shape[-2] - visible.shape[-1]), dtype=bool)
    mask = np.concatenate([visible, extra_columns], axis=-1)
    return replace(call, key=key, value=value, mask=mask, is_causal=False)


def rotate(rows: Array, angles: Array) -> Array:
    """Rotate features i and i + d/2 of (..., n, d) rows by the first n angles, as Llama does."""
    first_half, second_half = np.split(rows, 2, axis=-1)
    quarter_turned = np.concatenate([-second_half, first_half], axis=-1)
    angles = angles[: rows.shape[-2]]
    return rows * np.cos(angles) + quarter_turned * np.sin(angles)


def rounded(array: Array, bits: int) -> Array:
    """Round numbers to so many significant bits."""
    significand, exponent = np.frexp(array)
    return np.ldexp(np.round(significand * 2.0**bits), exponent - bits)


def with_rounded_parameters(call: LayerCall, bits: int) -> LayerCall:
    """Return a call with weights and biases as a dtype of so many significant bits holds them."""
    weights, biases = (
        {letter: rounded(array, bits) for letter, array in arrays.items()}
        for arrays in (call.weights, call.biases)
    )
    return replace(call, weights=weights, biases=biases)


def rounded_steps(bits: int) -> StepFunctions:
    """Return steps whose results are rounded to `bits` significant bits, as in a coarser dtype.

    Overflow and underflow of the dtype are not simulated.
    """
    round_to_bits = partial(rounded, bits=bits)

    def rounded_softmax(scores: Array) -> Array:
        maximum = scores.max(axis=-1, keepdims=True)
        shifted = round_to_bits(scores - np.where(np.isneginf(maximum), 0, maximum))
        exponentials = round_to_bits(np.exp(shifted))
        total = round_to_bits(exponentials.sum(axis=-1, keepdims=True))
        return round_to_bits(exponentials / np.where(total == 0, 1, total))

    return {
        "product": lambda query, key: round_to_bits(query @ key.swapaxes(-1, -2)),
        "softcap": lambda scores, call: round_to_bits(apply_softcap(round_to_bits(scores), call)),
        "add_bias": lambda scores, call: round_to_bits(add_bias(scores, call)),
        "softmax": rounded_softmax,
        "weighted_sum": lambda weights, value: round_to_bits(weights @ value),
        # The projection before the split is not a step of its own, so its result is rounded here.
        "split": lambda rows, heads: split_heads(round_to_bits(rows), heads),
        "merge": lambda output: round_to_bits(merge_heads(output)),
        "project_out": lambda merged, project: round_to_bits(project(merged, "O")),
    }


def share_heads(call: Call) -> Call:
    """Repeat each key and value head for its group of neighbouring query heads."""
    group_size = call.query.shape[1] // call.key.shape[1]
    if group_size == 1:
        return call
    key, value = (np.repeat(array, group_size, axis=1) for array in (call.key, call.value))
    return replace(call, key=key, value=value)


def default_scale(call: Call) -> float:
    return call.default_scale or 1 / math.sqrt(call.key.shape[-1])


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
    "projections": lambda rows, heads: rows,
    "rotate": lambda rows, angles, letter: rows if letter == "V" else rotate(rows, angles),
    "split": split_heads,
    "merge": merge_heads,
    "project_out": lambda merged, project: project(merged, "O"),
}
