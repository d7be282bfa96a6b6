"""The catalogue of mistakes and conventions: how each changes attention.

A mistake replaces one or two steps of `recipe.attend`, so mistakes that replace different steps can
be combined. A convention is a replacement that some libraries make on purpose. `mistakes.csv` and
`conventions.csv` have the texts.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from attention_check import recipe, tables
from attention_check.recipe import Array, Call, StepFunctions


@dataclass(frozen=True, eq=False)
class Mistake:
    """One way to get attention wrong.

    Attributes:
        summary: a noun phrase that completes "its output is that of".
        changes: the steps of `recipe` that it replaces, by name.
        section: the page and anchor that explain it; "" for its row in the catalogue.
        subject: the heading of its table in the catalogue.
    """

    name: str
    summary: str
    fix: str
    changes: StepFunctions
    section: str = ""
    subject: str = ""

    @property
    def anchor(self) -> str:
        """The anchor of its row in the catalogue."""
        return self.name.replace("_", "-")

    @property
    def address(self) -> str:
        """The link to its explanation, relative to `docs/`."""
        return self.section or f"mechanisms/common_mistakes.md#{self.anchor}"


@dataclass(frozen=True, eq=False)
class Convention:
    """A deliberate difference between a library and this package.

    Attributes:
        summary: a clause that describes the library's behaviour.
    """

    name: str
    summary: str
    changes: StepFunctions


Deviation = TypeVar("Deviation", Mistake, Convention)


def append_zero_key(call: Call) -> Call:
    """Append a padding token, all zeros, to keys and values, which the mask does not hide."""

    def append_zeros(array: Array) -> Array:
        return np.concatenate([array, np.zeros_like(array[..., :1, :])], axis=-2)

    mask = call.mask
    if mask is not None and mask.shape[-1] > 1:  # a single column broadcasts to all keys
        mask = np.concatenate([mask, np.ones_like(mask[..., :1])], axis=-1)
    return replace(call, key=append_zeros(call.key), value=append_zeros(call.value), mask=mask)


def tile_heads(call: Call) -> Call:
    group_size = call.query.shape[1] // call.key.shape[1]
    tiles = (1, group_size, 1, 1)
    return replace(call, key=np.tile(call.key, tiles), value=np.tile(call.value, tiles))


def with_default_scale(default_scale: Callable[[Call], float]) -> StepFunctions:
    """Return a replacement of the step "scale" that changes the scale of calls without one."""
    return {"scale": lambda call: default_scale(call) if call.scale is None else call.scale}


def with_causal_mask(causal_mask: Callable[[Call], Array]) -> StepFunctions:
    """Return a replacement of the step "causal" that changes the mask of causal calls."""
    return {
        "causal": lambda call: causal_mask(call) if call.is_causal else recipe.all_visible(call)
    }


def with_bias_combined(combine: Callable[[Array, Array], Array]) -> StepFunctions:
    """Return a replacement of the step "add_bias" that combines scores and bias in another way."""
    return {
        "add_bias": lambda scores, call: scores if call.bias is None else combine(scores, call.bias)
    }


def with_fully_masked_weights(weight: Callable[[Array], float]) -> StepFunctions:
    """Return a replacement of the step "after_softmax" for queries that see no key."""
    return {
        "after_softmax": lambda weights, visible: np.where(
            visible.any(axis=-1, keepdims=True), weights, weight(visible)
        )
    }


def with_mask(change: Callable[[Array], Array]) -> StepFunctions:
    """Return a replacement of the step "mask" that changes the mask of calls with one."""
    return {
        "mask": lambda call: recipe.all_visible(call) if call.mask is None else change(call.mask)
    }


def with_permuted_masks(order: Callable[[Array, int, int], Array]) -> StepFunctions:
    """Return a replacement of the step "mask" that exchanges the masks of sequences."""

    def permuted_mask(call: Call) -> Array:
        b, h = call.query.shape[:2]
        if call.mask is None or call.mask.ndim < 4:
            return recipe.padded_mask(call)
        sequence_masks = np.broadcast_to(call.mask, (b, h, *call.mask.shape[2:]))[:, 0]
        return sequence_masks[order(np.arange(b), b, h)]

    return {"mask": permuted_mask}


def with_causal_and_mask(
    mask: Callable[[Call], Array], causal_mask: Callable[[Call], Array]
) -> StepFunctions:
    """Return replacements of the steps "mask" and "causal" for calls that have both masks.

    Such a call shows the keys that both functions show. Calls with one of the masks are unchanged.
    """

    def has_both_masks(call: Call) -> bool:
        return call.mask is not None and call.is_causal

    return {
        "mask": lambda call: mask(call) if has_both_masks(call) else recipe.padded_mask(call),
        "causal": lambda call: (
            causal_mask(call) if has_both_masks(call) else recipe.causal_mask(call)
        ),
    }


def with_window(change: Callable[[float, float], tuple[float, float]]) -> StepFunctions:
    """Return a replacement of the step "window" that changes the limits of a window."""

    return {
        "window": lambda call: (
            recipe.all_visible(call)
            if call.window is None
            else recipe.is_in_window(call.distance, *change(*call.window_limits))
        )
    }


def softmax_with_one_maximum(scores: Array) -> Array:
    """Return the softmax with the maximum of all rows subtracted, so that small rows underflow."""
    exponentials = np.exp(scores - scores.max())
    weights: Array = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return weights


def softmax_plus_one(scores: Array) -> Array:
    exponentials = np.exp(scores)
    weights: Array = exponentials / (1 + exponentials.sum(axis=-1, keepdims=True))
    return weights


def softmax_plus_one_after_maximum(scores: Array) -> Array:
    """Return the softmax with a one added to its denominator after the maximum is subtracted.

    As the subtraction divides all exponentials by e^maximum, the right term would be e^-maximum.
    """
    maximum = scores.max(axis=-1, keepdims=True)
    return softmax_plus_one(scores - np.where(maximum == -np.inf, 0.0, maximum))


def drop_incomplete_block(block_size: int) -> Callable[[Call], Call]:
    """Return a function that drops the keys of a call after its last complete block of keys."""

    def drop(call: Call) -> Call:
        n = call.key.shape[-2]
        if n <= block_size:
            return call
        kept = slice(n // block_size * block_size)
        mask = None if call.mask is None else call.mask[..., kept]
        return replace(call, key=call.key[..., kept, :], value=call.value[..., kept, :], mask=mask)

    return drop


def append_zeros_to_block(block_size: int) -> Callable[[Call], Call]:
    """Return a function that fills the last block of keys with keys and values of zeros."""

    def fill(call: Call) -> Call:
        while call.key.shape[-2] % block_size:
            call = append_zero_key(call)
        return call

    return fill


def split_without_transpose(rows: Array, heads: int) -> Array:
    """Reshape (b, n, h d) rows to (b, h, n, d), which mixes positions and heads."""
    return rows.reshape(len(rows), heads, rows.shape[1], -1)


def merge_without_transpose(output: Array) -> Array:
    """Reshape (b, h, n, d) to (b, n, h d) rows, which mixes positions and heads."""
    return output.reshape(len(output), output.shape[2], -1)


def exchange_sequences_and_heads(output: Array) -> Array:
    """Merge (b, h, n, d) outputs as if they were (h, b, n, d), without exchanging the axes."""
    b, h, n, d = output.shape
    return output.reshape(h, b, n, d).swapaxes(1, 2).reshape(b, n, h * d)


def unpack_by_head(rows: dict[str, Array], heads: int) -> dict[str, Array]:
    """Pack rows as (3, h, d) columns and unpack them as if these were (h, 3, d)."""
    packed = np.concatenate([rows[letter] for letter in "QKV"], axis=-1)
    columns = packed.reshape(*packed.shape[:-1], heads, 3, -1)
    return {
        letter: columns[..., i, :].reshape(*packed.shape[:-1], -1) for i, letter in enumerate("QKV")
    }


def split_packed_without_transpose(rows: dict[str, Array], heads: int) -> dict[str, Array]:
    """Pack rows as (b, n, 3 h d) and view them as (b, 3, h, n, d), which mixes the positions."""
    packed = np.concatenate([rows[letter] for letter in "QKV"], axis=-1)
    b, n, width = rows["Q"].shape
    parts = packed.reshape(b, 3, heads, n, width // heads)
    return {letter: recipe.merge_heads(parts[:, i]) for i, letter in enumerate("QKV")}


def with_rotation(angles_of: Callable[[Array, str], Array]) -> StepFunctions:
    """Return a replacement of the step "rotate" that changes the angles of a letter's rows."""
    return {"rotate": lambda rows, angles, letter: recipe.rotate(rows, angles_of(angles, letter))}


def with_replaced_weights(**replacements: str) -> StepFunctions:
    """Return a replacement of the step "weights" in which `K="Q"` projects keys with W_Q."""

    return {
        "weights": lambda weights, heads: (
            weights | {letter: weights[other] for letter, other in replacements.items()}
        )
    }


CHANGES: dict[str, StepFunctions] = {
    "divided_by_d_k": with_default_scale(lambda call: 1 / call.key.shape[-1]),
    "divided_by_root_of_d_model": with_default_scale(
        lambda call: 1 / math.sqrt(call.d_model or call.query.shape[1] * call.key.shape[-1])
    ),
    "divided_by_root_of_d_v": with_default_scale(lambda call: 1 / math.sqrt(call.value.shape[-1])),
    "divided_by_root_of_n": with_default_scale(lambda call: 1 / math.sqrt(call.key.shape[-2])),
    "keys_reshaped": {
        "product": lambda query, key: query @ key.reshape(*key.shape[:-2], key.shape[-1], -1)
    },
    "not_scaled": with_default_scale(lambda call: 1.0),
    "divided_by_root_of_heads": with_default_scale(lambda call: 1 / math.sqrt(call.query.shape[1])),
    "multiplied_by_root_of_d_k": with_default_scale(lambda call: math.sqrt(call.key.shape[-1])),
    "scale_ignored": {"scale": recipe.default_scale},
    "scale_on_top_of_default": {
        "scale": lambda call: (
            recipe.default_scale(call) * (1.0 if call.scale is None else call.scale)
        )
    },
    "divided_by_scale": {
        "scale": lambda call: recipe.default_scale(call) if call.scale is None else 1 / call.scale
    },
    "softmax_over_queries": {"softmax": lambda scores: recipe.softmax(scores, axis=-2)},
    "softmax_over_heads": {"softmax": lambda scores: recipe.softmax(scores, axis=-3)},
    "softmax_over_all_pairs": {"softmax": lambda scores: recipe.softmax(scores, axis=(-1, -2))},
    "weights_not_normalised": {"softmax": np.exp},
    "exponentials_overflow": {
        "softmax": lambda scores: np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
    },
    "no_softmax": {"softmax": lambda scores: np.where(np.isneginf(scores), 0.0, scores)},
    "powers_of_two": {"softmax": lambda scores: recipe.softmax(scores * math.log(2))},
    "softmax_twice": {"softmax": lambda scores: recipe.softmax(recipe.softmax(scores))},
    "padding_not_hidden": {"arguments": append_zero_key},
    "mask_ignored": {"mask": recipe.all_visible},
    "mask_flipped": {
        **with_mask(np.logical_not),
        **with_causal_mask(lambda call: call.distance > 0),
    },
    "causal_flipped": with_causal_mask(lambda call: call.distance >= 0),
    "mask_transposed": with_mask(lambda mask: mask.swapaxes(-1, -2)),
    "mask_of_first_sequence": with_mask(lambda mask: mask[:1]),
    "mask_after_softmax": {
        "hide": lambda scores, visible, call: scores,
        "after_softmax": lambda weights, visible: np.where(visible, weights, 0.0),
    },
    "mask_multiplies_scores": {"hide": lambda scores, visible, call: scores * visible},
    # (1 - mask) * -inf is NaN where the mask is 1. If no key is hidden, there is no mask to add.
    "mask_times_infinity": {
        "hide": lambda scores, visible, call: (
            scores if visible.all() else scores + np.where(visible, np.nan, -np.inf)
        )
    },
    "scaled_after_mask": {
        "hide": lambda scores, visible, call: np.where(
            visible, scores, -np.inf * recipe.effective_scale(call)
        ),
    },
    "causal_ignored": {"causal": recipe.all_visible},
    "causal_without_is_causal": {"causal": lambda call: call.distance <= 0},
    "causal_hides_own_position": with_causal_mask(lambda call: call.distance <= -1),
    "causal_shows_next_position": with_causal_mask(lambda call: call.distance <= 1),
    "bias_ignored": {"add_bias": lambda scores, call: scores},
    "bias_subtracted": with_bias_combined(lambda scores, bias: scores - bias),
    "bias_multiplied": with_bias_combined(lambda scores, bias: scores * bias),
    "bias_before_scale": {
        "add_bias": lambda scores, call: (
            scores if call.bias is None else scores + call.bias * recipe.effective_scale(call)
        )
    },
    "window_ignored": {"window": recipe.all_visible},
    "window_too_narrow": with_window(lambda left, right: (left - 1, right - 1)),
    "window_too_wide": with_window(lambda left, right: (left + 1, right + 1)),
    "window_reversed": with_window(lambda left, right: (right, left)),
    "softcap_ignored": {"softcap": lambda scores, call: scores},
    "softcap_not_scaled_back": {
        "softcap": lambda scores, call: (
            scores if call.softcap is None else np.tanh(scores / call.softcap)
        )
    },
    "softcap_after_mask": {
        "softcap": lambda scores, call: scores,
        "hide": lambda scores, visible, call: recipe.apply_softcap(
            recipe.hide(scores, visible, call), call
        ),
    },
    "weights_transposed_in_sum": {
        "weighted_sum": lambda weights, value: weights.swapaxes(-1, -2) @ value
    },
    "queries_and_keys_swapped": {
        "arguments": lambda call: replace(call, query=call.key, key=call.query)
    },
    "keys_and_values_swapped": {
        "arguments": lambda call: replace(call, key=call.value, value=call.key)
    },
    "queries_and_values_swapped": {
        "arguments": lambda call: replace(call, query=call.value, value=call.query)
    },
    "keys_as_values": {"arguments": lambda call: replace(call, value=call.key)},
    "heads_tiled": {"share_heads": tile_heads},
    "first_head_shared": {
        "share_heads": lambda call: recipe.share_heads(
            replace(call, key=call.key[:, :1], value=call.value[:, :1])
        )
    },
    "scaled_twice": {"scale": lambda call: recipe.effective_scale(call) ** 2},
    "maximum_of_all_rows": {"softmax": softmax_with_one_maximum},
    "plus_one_in_denominator": {"softmax": softmax_plus_one},
    "plus_one_after_maximum": {"softmax": softmax_plus_one_after_maximum},
    "mask_of_first_head": with_mask(lambda mask: mask[:, :1] if mask.ndim == 4 else mask),
    "mask_in_head_order": with_permuted_masks(lambda i, b, h: np.tile(i, h).reshape(b, h)),
    "mask_in_sequence_order": with_permuted_masks(lambda i, b, h: np.repeat(i, h).reshape(h, b).T),
    "padding_on_query_axis": with_mask(
        lambda mask: mask.swapaxes(-1, -2) if mask.shape[-2] == 1 else mask
    ),
    "causal_replaces_mask": with_causal_and_mask(recipe.all_visible, recipe.causal_mask),
    "mask_replaces_causal": with_causal_and_mask(recipe.padded_mask, recipe.all_visible),
    "mask_or_causal": with_causal_and_mask(
        lambda call: recipe.padded_mask(call) | recipe.causal_mask(call), recipe.all_visible
    ),
    "window_right_ignored": with_window(lambda left, right: (left, math.inf)),
    "window_left_ignored": with_window(lambda left, right: (math.inf, right)),
    "window_left_too_wide": with_window(lambda left, right: (left + 1, right)),
    "window_left_too_narrow": with_window(lambda left, right: (max(left - 1, 0), right)),
    "window_right_too_wide": with_window(lambda left, right: (left, right + 1)),
    "window_right_too_narrow": with_window(lambda left, right: (left, max(right - 1, 0))),
    "open_window_as_number": with_window(
        lambda left, right: (-1 if left == math.inf else left, -1 if right == math.inf else right)
    ),
    "softcap_before_scale": {
        "softcap": lambda scores, call: (
            recipe.effective_scale(call)
            * recipe.apply_softcap(scores / recipe.effective_scale(call), call)
        )
    },
    "value_heads_tiled": {
        "share_heads": lambda call: replace(recipe.share_heads(call), value=tile_heads(call).value)
    },
    "last_block_dropped": {"arguments": drop_incomplete_block(16)},
    "last_block_of_32_dropped": {"arguments": drop_incomplete_block(32)},
    "block_padding_not_hidden": {"arguments": append_zeros_to_block(16)},
    "block_of_64_padding_not_hidden": {"arguments": append_zeros_to_block(64)},
    "heads_without_transpose": {
        "split": split_without_transpose,
        "merge": merge_without_transpose,
    },
    "heads_split_without_transpose": {"split": split_without_transpose},
    "heads_merged_without_transpose": {"merge": merge_without_transpose},
    "sequences_and_heads_exchanged": {"merge": exchange_sequences_and_heads},
    "features_interleaved": {
        "split": lambda rows, heads: np.moveaxis(rows.reshape(*rows.shape[:-1], -1, heads), -1, 1)
    },
    "weights_transposed": {
        "weights": lambda weights, heads: {name: matrix.T for name, matrix in weights.items()}
    },
    "output_weights_transposed": {
        "weights": lambda weights, heads: weights | {"O": weights["O"].T}
    },
    "query_and_key_weights_swapped": with_replaced_weights(Q="K", K="Q"),
    "key_and_value_weights_swapped": with_replaced_weights(K="V", V="K"),
    "keys_projected_with_query_weights": with_replaced_weights(K="Q"),
    "weights_unpacked_by_head": {"projections": unpack_by_head},
    "packed_rows_without_transpose": {"projections": split_packed_without_transpose},
    "values_rotated": with_rotation(lambda angles, letter: angles),
    "rotated_backwards": with_rotation(lambda angles, letter: -angles * (letter != "V")),
    "keys_not_rotated": with_rotation(lambda angles, letter: angles * (letter == "Q")),
    "queries_not_rotated": with_rotation(lambda angles, letter: angles * (letter == "K")),
    "positions_ignored": with_rotation(lambda angles, letter: 0 * angles),
    "biases_ignored": {"biases": lambda biases: {}},
    "output_bias_ignored": {"biases": lambda biases: {k: v for k, v in biases.items() if k != "O"}},
    "no_output_projection": {"project_out": lambda merged, project: merged},
}

CONVENTION_CHANGES: dict[str, StepFunctions] = {
    "true_hides": with_mask(np.logical_not),
    "bottom_right": with_causal_mask(
        lambda call: call.distance <= call.key.shape[-2] - call.query.shape[-2]
    ),
    "keys_after_mask_visible": {"mask": lambda call: recipe.padded_mask(call, padding=True)},
    "zero_is_a_softcap": {
        "softcap": lambda scores, call: (
            scores if call.softcap is None else call.softcap * np.tanh(scores / call.softcap)
        )
    },
    # The last query has the position of the last key.
    "window_bottom_right": {
        "window": lambda call: recipe.is_in_window(
            call.distance - (call.key.shape[-2] - call.query.shape[-2]), *call.window_limits
        )
    },
    "window_before_itself": {
        "window": lambda call: recipe.is_in_window(call.distance, call.window[0] + 1, 0)
    },
    "mask_replaces_causal": CHANGES["mask_replaces_causal"],
    "causal_not_for_one_query": {
        "causal": lambda call: (
            recipe.all_visible(call) if call.query.shape[-2] == 1 else recipe.causal_mask(call)
        )
    },
    "nan_for_negative_scale": CHANGES["scaled_after_mask"],
    "root_of_scale": {"scale": lambda call: np.sqrt(recipe.effective_scale(call)) ** 2},
    "nan_for_fully_masked_row": with_fully_masked_weights(lambda visible: np.nan),
    "mean_for_fully_masked_row": with_fully_masked_weights(lambda visible: 1 / visible.shape[-1]),
    "unmasked_for_fully_masked_row": {
        "hide": lambda scores, visible, call: recipe.hide(
            scores, visible | ~visible.any(axis=-1, keepdims=True), call
        )
    },
}


MISTAKES = [Mistake(changes=CHANGES[row["name"]], **row) for row in tables.rows_of("mistakes.csv")]
CONVENTIONS = {
    row["name"]: Convention(changes=CONVENTION_CHANGES[row["name"]], **row)
    for row in tables.rows_of("conventions.csv")
}


def compatible_pairs(deviations: Iterable[Deviation]) -> Iterator[tuple[Deviation, Deviation]]:
    """Yield each pair that has no step in common, so that both can be made."""
    for first, second in itertools.combinations(deviations, 2):
        if not first.changes.keys() & second.changes.keys():
            yield first, second


def mistake_named(name: str) -> Mistake:
    """Return a mistake by its name.

    >>> mistake_named("not_scaled").fix
    'scores / math.sqrt(d_k)  # unless the configuration sets a scale'
    """
    return next(mistake for mistake in MISTAKES if mistake.name == name)
