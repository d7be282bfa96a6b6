"""The catalogue of mistakes: how each changes attention, and the line that fixes it.

A mistake replaces one or two steps of `recipe.attend`, so mistakes that replace different steps can
be combined. A convention is a replacement that some libraries make on purpose.
"""

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from attention_docs.arrays import Array
from attention_docs.diagnosis import recipe
from attention_docs.diagnosis.recipe import Call, Steps

COMMON = "mechanisms/common_mistakes.md"
MASKS = "mechanisms/mask_mistakes.md"


@dataclass(frozen=True, eq=False)
class Mistake:
    """One way to get attention wrong.

    Attributes:
        name: its name in code and on pages.
        summary: a noun phrase that completes "its output is that of".
        fix: the line that fixes it.
        shows_in: the name of a case whose output it changes.
        changes: the steps of `recipe` that it replaces, by name.
        section: the page and anchor that explain it; None for its row in the catalogue.
    """

    name: str
    summary: str
    fix: str
    shows_in: str
    changes: Steps
    section: str | None = None

    @property
    def anchor(self) -> str:
        """The anchor of its row in the catalogue, on the page of the check."""
        return self.name.replace("_", "-")

    @property
    def address(self) -> str:
        """The link to its explanation, relative to `docs/`."""
        return self.section or f"check.md#{self.anchor}"


@dataclass(frozen=True, eq=False)
class Convention:
    """A deliberate difference between a library and this package.

    Attributes:
        name: its name in code.
        summary: a clause that describes the library's behaviour.
        changes: the steps of `recipe` that it replaces.
    """

    name: str
    summary: str
    changes: Steps


def append_zero_key(call: Call) -> Call:
    """Append an unmasked padding token, all zeros, to keys and values."""

    def pad(array: Array) -> Array:
        return np.concatenate([array, np.zeros_like(array[..., :1, :])], axis=-2)

    def pad_mask(mask: Array | None) -> Array | None:
        if mask is None or mask.shape[-1] == 1:
            return mask
        return np.concatenate([mask, np.ones_like(mask[..., :1])], axis=-1)

    return replace(call, key=pad(call.key), value=pad(call.value), mask=pad_mask(call.mask))


def tile_heads(call: Call) -> Call:
    """Match key heads to query heads with `np.tile` instead of `np.repeat`."""
    group_size = call.query.shape[1] // call.key.shape[1]
    tiles = (1, group_size, 1, 1)
    return replace(call, key=np.tile(call.key, tiles), value=np.tile(call.value, tiles))


def with_default_scale(scale: Callable[[Call], float]) -> Steps:
    """Return the changed steps for another default scale."""
    return {"scale": lambda call: scale(call) if call.scale is None else call.scale}


def with_causal_mask(visible: Callable[[Call], Array]) -> Steps:
    """Return the changed steps for another causal mask."""
    return {"causal": lambda call: visible(call) if call.is_causal else recipe.all_visible(call)}


def with_bias(add: Callable[[Array, Array], Array]) -> Steps:
    """Return the changed steps for another way to add a float mask."""
    return {
        "add_bias": lambda scores, call: scores if call.bias is None else add(scores, call.bias)
    }


def with_fully_masked_weights(weight: Callable[[Array], float]) -> Steps:
    """Return the changed steps for other weights in fully masked rows."""
    return {
        "after_softmax": lambda weights, visible: np.where(
            visible.any(axis=-1, keepdims=True), weights, weight(visible)
        )
    }


def inverted_mask(call: Call) -> Array:
    return recipe.all_visible(call) if call.mask is None else ~call.mask


def transposed_mask(call: Call) -> Array:
    return recipe.all_visible(call) if call.mask is None else call.mask.swapaxes(-1, -2)


def mask_of_first_sequence(call: Call) -> Array:
    return recipe.all_visible(call) if call.mask is None else call.mask[:1]


def mask_of_first_head(call: Call) -> Array:
    mask = recipe.boolean_mask(call)
    return mask[:, :1] if mask.ndim == 4 else mask


def with_narrower_window(by: int) -> Steps:
    """Return the changed steps for a window that is narrower by some positions on both sides."""

    def narrow(limit: int | None) -> int | None:
        return None if limit is None else limit - by

    def window(call: Call) -> Array:
        if call.window is not None:
            before, after = call.window
            call = replace(call, window=(narrow(before), narrow(after)))
        return recipe.window_mask(call)

    return {"window": window}


def reversed_window(call: Call) -> Array:
    if call.window is not None:
        before, after = call.window
        call = replace(call, window=(after, before))
    return recipe.window_mask(call)


def add_mask_times_infinity(scores: Array, visible: Array, call: Call) -> Array:
    """Add (1 - mask) * -inf to the scores, which is NaN where the mask is 1."""
    return scores if visible.all() else scores + np.where(visible, np.nan, -np.inf)


def mask_in_head_order(call: Call) -> Array:
    """Return the masks of sequences, tiled as if heads came before sequences."""
    b, h = call.query.shape[:2]
    if call.mask is None or call.mask.ndim < 4:
        return recipe.boolean_mask(call)
    masks = np.broadcast_to(call.mask, (b, h, *call.mask.shape[2:]))
    tiled: Array = np.tile(masks[:, 0], (h, 1, 1)).reshape(masks.shape)
    return tiled


def mask_in_sequence_order(call: Call) -> Array:
    """Return the masks of sequences, each repeated for its neighbours, though heads come first."""
    b, h = call.query.shape[:2]
    if call.mask is None or call.mask.ndim < 4:
        return recipe.boolean_mask(call)
    masks = np.broadcast_to(call.mask, (b, h, *call.mask.shape[2:]))
    repeated: Array = np.repeat(masks[:, 0], h, axis=0)
    return repeated.reshape(h, b, *masks.shape[2:]).swapaxes(0, 1)


def padding_on_queries(call: Call) -> Array:
    """Return a mask of keys alone as one of queries alone."""
    if call.mask is None or call.mask.shape[-2] != 1:
        return recipe.boolean_mask(call)
    return call.mask.swapaxes(-1, -2)


def mask_or_causal(call: Call) -> Array:
    if call.mask is None or not call.is_causal:
        return recipe.boolean_mask(call)
    return call.mask | (call.distance <= 0)


def with_causal_and_mask(mask: Callable[[Call], Array], causal: Callable[[Call], Array]) -> Steps:
    """Return the changed steps for another combination of a mask with a causal mask."""

    def is_both(call: Call) -> bool:
        return call.mask is not None and call.is_causal

    return {
        "mask": lambda call: mask(call) if is_both(call) else recipe.boolean_mask(call),
        "causal": lambda call: causal(call) if is_both(call) else recipe.causal_mask(call),
    }


def with_window(change: Callable[[float, float], tuple[float, float]]) -> Steps:
    """Return the changed steps for a window with other limits, of which inf means none."""

    def window(call: Call) -> Array:
        if call.window is None:
            return recipe.all_visible(call)
        before, after = change(*(math.inf if limit is None else limit for limit in call.window))
        return (call.distance >= -before) & (call.distance <= after)

    return {"window": window}


def bottom_right_window(call: Call) -> Array:
    """Return a window around positions that are counted from the end."""
    m, n = call.query.shape[-2], call.key.shape[-2]
    last = replace(call, query=np.resize(call.query, (*call.query.shape[:2], max(m, n), 1)))
    return recipe.window_mask(last)[-m:]


def softmax_with_one_maximum(scores: Array) -> Array:
    powers = np.exp(scores - scores.max())
    weights: Array = powers / powers.sum(axis=-1, keepdims=True)
    return weights


def softmax_plus_one(scores: Array) -> Array:
    powers = np.exp(scores)
    weights: Array = powers / (1 + powers.sum(axis=-1, keepdims=True))
    return weights


def softcap_before_scale(scores: Array, call: Call) -> Array:
    scale = recipe.effective_scale(call)
    return scale * recipe.apply_softcap(scores / scale, call)


def tile_value_heads(call: Call) -> Call:
    """Repeat key heads in groups, but tile value heads."""
    return replace(recipe.share_heads(call), value=tile_heads(call).value)


def drop_incomplete_block(block: int) -> Callable[[Call], Call]:
    """Return a change that drops the keys after the last complete block."""

    def drop(call: Call) -> Call:
        n = call.key.shape[-2]
        n = n // block * block if n > block else n
        mask = None if call.mask is None else call.mask[..., :n]
        return replace(call, key=call.key[..., :n, :], value=call.value[..., :n, :], mask=mask)

    return drop


def append_zeros_to_block(block: int) -> Callable[[Call], Call]:
    """Return a change that fills the last block with keys and values of zeros."""

    def fill(call: Call) -> Call:
        for _ in range(-call.key.shape[-2] % block):
            call = append_zero_key(call)
        return call

    return fill


def exchange_sequences_and_heads(output: Array) -> Array:
    """Merge heads as if their axis came before that of the sequences."""
    b, h, n, d = output.shape
    return output.reshape(h, b, n, d).swapaxes(1, 2).reshape(b, n, h * d)


def unpack_by_head(weights: dict[str, Array], heads: int) -> dict[str, Array]:
    """Unpack columns (3, heads, d) in the order (heads, 3, d)."""
    packed = np.concatenate([weights[letter] for letter in "QKV"], axis=1)
    columns = packed.reshape(len(packed), heads, 3, -1)
    return weights | {
        letter: columns[:, :, i].reshape(len(packed), -1) for i, letter in enumerate("QKV")
    }


def with_exchanged_weights(**sources: str) -> Steps:
    """Return the changed steps for weights of other projections: `K="Q"` projects keys by W_Q."""

    def exchange(weights: dict[str, Array], heads: int) -> dict[str, Array]:
        return weights | {letter: weights[source] for letter, source in sources.items()}

    return {"weights": exchange}


MISTAKES = [
    Mistake(
        name="divided_by_d_k",
        summary="scores divided by d_k instead of its square root",
        fix="scores / math.sqrt(d_k)",
        shows_in="distinct_sizes",
        changes=with_default_scale(lambda call: 1 / call.key.shape[-1]),
        section=f"{COMMON}#divided-by-d-k",
    ),
    Mistake(
        name="divided_by_root_of_d_model",
        summary="scores divided by the square root of the model width instead of the head width",
        fix="scores / math.sqrt(key.shape[-1])  # after the heads are split",
        shows_in="batch_and_heads",
        changes=with_default_scale(
            lambda call: 1 / math.sqrt(call.d_model or call.query.shape[1] * call.key.shape[-1])
        ),
        section=f"{COMMON}#divided-by-the-root-of-the-model-width",
    ),
    Mistake(
        name="divided_by_root_of_d_v",
        summary="scores divided by the square root of d_v, the width of a value, instead of d_k",
        fix="scores / math.sqrt(key.shape[-1])",
        shows_in="distinct_sizes",
        changes=with_default_scale(lambda call: 1 / math.sqrt(call.value.shape[-1])),
    ),
    Mistake(
        name="divided_by_root_of_n",
        summary="scores divided by the square root of the number of keys",
        fix="scores / math.sqrt(key.shape[-1])  # features, the last axis",
        shows_in="distinct_sizes",
        changes=with_default_scale(lambda call: 1 / math.sqrt(call.key.shape[-2])),
    ),
    Mistake(
        name="not_scaled",
        summary="unscaled scores",
        fix="scores / math.sqrt(d_k)",
        shows_in="distinct_sizes",
        changes=with_default_scale(lambda call: 1.0),
        section=f"{COMMON}#not-scaled",
    ),
    Mistake(
        name="divided_by_root_of_heads",
        summary="scores divided by the square root of the number of heads",
        fix="scores / math.sqrt(key.shape[-1])  # features, the last axis",
        shows_in="batch_and_heads",
        changes=with_default_scale(lambda call: 1 / math.sqrt(call.query.shape[1])),
    ),
    Mistake(
        name="multiplied_by_root_of_d_k",
        summary="scores multiplied by the square root of d_k instead of divided by it",
        fix="scores / math.sqrt(d_k)",
        shows_in="distinct_sizes",
        changes=with_default_scale(lambda call: math.sqrt(call.key.shape[-1])),
    ),
    Mistake(
        name="scale_ignored",
        summary="the default scale in place of the one that was passed",
        fix="scores * (1 / math.sqrt(d_k) if scale is None else scale)",
        shows_in="scale",
        changes={"scale": recipe.default_scale},
    ),
    Mistake(
        name="scale_on_top_of_default",
        summary="the passed scale multiplied by the default one",
        fix="scores * (1 / math.sqrt(d_k) if scale is None else scale)",
        shows_in="scale",
        changes={
            "scale": lambda call: (
                recipe.default_scale(call) * (1.0 if call.scale is None else call.scale)
            )
        },
    ),
    Mistake(
        name="divided_by_scale",
        summary="scores divided by the passed scale instead of multiplied by it",
        fix="scores * scale",
        shows_in="scale",
        changes={
            "scale": lambda call: (
                recipe.default_scale(call) if call.scale is None else 1 / call.scale
            )
        },
    ),
    Mistake(
        name="softmax_over_queries",
        summary="a softmax over the queries",
        fix="softmax(scores, axis=-1)",
        shows_in="distinct_sizes",
        changes={"softmax": lambda scores: recipe.softmax(scores, axis=-2)},
        section=f"{COMMON}#softmax-over-the-other-axis",
    ),
    Mistake(
        name="softmax_over_heads",
        summary="a softmax over the heads",
        fix="softmax(scores, axis=-1)",
        shows_in="batch_and_heads",
        changes={"softmax": lambda scores: recipe.softmax(scores, axis=-3)},
    ),
    Mistake(
        name="softmax_over_all_pairs",
        summary="a single softmax over all queries and keys together",
        fix="softmax(scores, axis=-1)",
        shows_in="distinct_sizes",
        changes={"softmax": lambda scores: recipe.softmax(scores, axis=(-1, -2))},
    ),
    Mistake(
        name="weights_not_normalised",
        summary="unnormalised weights: exponentials that are not divided by their sum",
        fix="powers / powers.sum(axis=-1, keepdims=True)",
        shows_in="distinct_sizes",
        changes={"softmax": np.exp},
    ),
    Mistake(
        name="exponentials_overflow",
        summary="exponentials that overflow because the row maximum is not subtracted",
        fix="np.exp(scores - scores.max(axis=-1, keepdims=True))",
        shows_in="large_scores",
        changes={
            "softmax": lambda scores: np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
        },
        section="mechanisms/softmax_overflow.md",
    ),
    Mistake(
        name="no_softmax",
        summary="scores used as weights, without a softmax",
        fix="softmax(scores, axis=-1) @ value",
        shows_in="distinct_sizes",
        changes={"softmax": lambda scores: np.where(np.isneginf(scores), 0.0, scores)},
    ),
    Mistake(
        name="powers_of_two",
        summary="a softmax with base 2 instead of e",
        fix="np.exp(scores)  # or np.exp2(scores * math.log2(math.e))",
        shows_in="distinct_sizes",
        changes={"softmax": lambda scores: recipe.softmax(scores * math.log(2))},
    ),
    Mistake(
        name="softmax_twice",
        summary="the softmax applied twice",
        fix="softmax(scores, axis=-1) @ value",
        shows_in="distinct_sizes",
        changes={"softmax": lambda scores: recipe.softmax(recipe.softmax(scores))},
    ),
    Mistake(
        name="padding_not_hidden",
        summary="an unmasked padding token, whose key and value are zero",
        fix="mask = padding_mask(lengths, keys)",
        shows_in="distinct_sizes",
        changes={"arguments": append_zero_key},
        section=f"{MASKS}#padding-that-is-not-hidden",
    ),
    Mistake(
        name="mask_ignored",
        summary="an ignored mask",
        fix="np.where(mask, scores, -np.inf)",
        shows_in="boolean_mask",
        changes={"mask": recipe.all_visible},
        section=f"{MASKS}#padding-that-is-not-hidden",
    ),
    Mistake(
        name="mask_flipped",
        summary="a flipped mask",
        fix="~mask  # True takes part",
        shows_in="causal_mask",
        changes={"mask": inverted_mask, **with_causal_mask(lambda call: call.distance > 0)},
        section=f"{MASKS}#a-flipped-mask",
    ),
    Mistake(
        name="causal_flipped",
        summary="a reversed causal mask, which shows each query its own position and later ones",
        fix="np.tril(np.ones((m, n), dtype=bool))",
        shows_in="causal",
        changes=with_causal_mask(lambda call: call.distance >= 0),
        section=f"{MASKS}#a-flipped-mask",
    ),
    Mistake(
        name="mask_transposed",
        summary="a transposed mask, in which queries and keys are swapped",
        fix="mask  # (m, n): a row for each query",
        shows_in="boolean_mask_square",
        changes={"mask": transposed_mask},
    ),
    Mistake(
        name="mask_of_first_sequence",
        summary="the mask of the first sequence applied to the whole batch",
        fix="mask[:, None, None, :]  # (b, 1, 1, n)",
        shows_in="padding",
        changes={"mask": mask_of_first_sequence},
    ),
    Mistake(
        name="mask_after_softmax",
        summary="a mask applied after the softmax",
        fix="weights = softmax(np.where(mask, scores, -np.inf))",
        shows_in="causal_mask",
        changes={
            "hide": lambda scores, visible, call: scores,
            "after_softmax": lambda weights, visible: np.where(visible, weights, 0.0),
        },
        section=f"{MASKS}#a-mask-after-the-softmax",
    ),
    Mistake(
        name="mask_multiplies_scores",
        summary="scores multiplied by the mask, so that hidden ones are zero and still take part",
        fix="np.where(mask, scores, -np.inf)",
        shows_in="boolean_mask",
        changes={"hide": lambda scores, visible, call: scores * visible},
    ),
    Mistake(
        name="mask_times_infinity",
        summary="(1 - mask) * -inf added to the scores, which is NaN where the mask is 1",
        fix="np.where(mask, scores, -np.inf)",
        shows_in="boolean_mask",
        changes={"hide": add_mask_times_infinity},
    ),
    Mistake(
        name="scaled_after_mask",
        summary="a scale applied after the mask",
        fix="scaled = scores * scale; masked = np.where(mask, scaled, -np.inf)",
        shows_in="negative_scale",
        changes={
            "hide": lambda scores, visible, call: np.where(
                visible, scores, -np.inf * recipe.effective_scale(call)
            ),
        },
        section=f"{MASKS}#a-scale-after-the-mask",
    ),
    Mistake(
        name="causal_ignored",
        summary="attention without a causal mask, although is_causal is set",
        fix="np.where(causal_mask(m, n), scores, -np.inf)",
        shows_in="causal",
        changes={"causal": recipe.all_visible},
    ),
    Mistake(
        name="causal_without_is_causal",
        summary="a causal mask, although is_causal is not set",
        fix="if is_causal: scores = np.where(causal_mask(m, n), scores, -np.inf)",
        shows_in="distinct_sizes",
        changes={"causal": lambda call: call.distance <= 0},
    ),
    Mistake(
        name="causal_hides_own_position",
        summary="a causal mask that is off by one and hides each query's own position",
        fix="np.tril(np.ones((m, n), dtype=bool))  # k=0",
        shows_in="causal",
        changes=with_causal_mask(lambda call: call.distance <= -1),
    ),
    Mistake(
        name="causal_shows_next_position",
        summary="a causal mask that is off by one and shows each query the next position",
        fix="np.tril(np.ones((m, n), dtype=bool))  # k=0",
        shows_in="causal",
        changes=with_causal_mask(lambda call: call.distance <= 1),
    ),
    Mistake(
        name="bias_ignored",
        summary="an ignored float mask",
        fix="scores + attn_mask",
        shows_in="float_mask",
        changes={"add_bias": lambda scores, call: scores},
    ),
    Mistake(
        name="bias_subtracted",
        summary="a float mask that is subtracted instead of added",
        fix="scores + attn_mask",
        shows_in="float_mask",
        changes=with_bias(lambda scores, bias: scores - bias),
    ),
    Mistake(
        name="bias_multiplied",
        summary="a float mask that is multiplied instead of added",
        fix="scores + attn_mask",
        shows_in="float_mask",
        changes=with_bias(lambda scores, bias: scores * bias),
    ),
    Mistake(
        name="bias_before_scale",
        summary="a float mask that is added before scaling instead of after it",
        fix="scores * scale + attn_mask",
        shows_in="float_mask",
        changes={
            "add_bias": lambda scores, call: (
                scores if call.bias is None else scores + call.bias * recipe.effective_scale(call)
            )
        },
    ),
    Mistake(
        name="window_ignored",
        summary="an ignored window",
        fix="np.where(window_mask(m, n, left=left, right=right), scores, -np.inf)",
        shows_in="window",
        changes={"window": recipe.all_visible},
        section="mechanisms/local_window.md",
    ),
    Mistake(
        name="window_too_narrow",
        summary="a window that is one position too narrow on both sides",
        fix="(i - left <= j) & (j <= i + right)",
        shows_in="window",
        changes=with_narrower_window(by=1),
        section="mechanisms/local_window.md",
    ),
    Mistake(
        name="window_too_wide",
        summary="a window that is one position too wide on both sides",
        fix="(i - left <= j) & (j <= i + right)",
        shows_in="window",
        changes=with_narrower_window(by=-1),
        section="mechanisms/local_window.md",
    ),
    Mistake(
        name="window_reversed",
        summary="a window with left and right swapped",
        fix="(i - left <= j) & (j <= i + right)",
        shows_in="window",
        changes={"window": reversed_window},
        section="mechanisms/local_window.md",
    ),
    Mistake(
        name="softcap_ignored",
        summary="an ignored softcap",
        fix="softcap * np.tanh(scores / softcap)",
        shows_in="softcap",
        changes={"softcap": lambda scores, call: scores},
    ),
    Mistake(
        name="softcap_not_scaled_back",
        summary="a softcap that is not multiplied back after the tanh",
        fix="softcap * np.tanh(scores / softcap)",
        shows_in="softcap",
        changes={
            "softcap": lambda scores, call: (
                scores if call.softcap is None else np.tanh(scores / call.softcap)
            )
        },
    ),
    Mistake(
        name="softcap_after_mask",
        summary="a softcap applied after the mask, which makes hidden scores finite",
        fix="capped = softcap * np.tanh(scores / softcap); np.where(mask, capped, -np.inf)",
        shows_in="softcap_causal",
        changes={
            "softcap": lambda scores, call: scores,
            "hide": lambda scores, visible, call: recipe.apply_softcap(
                recipe.hide(scores, visible, call), call
            ),
        },
    ),
    Mistake(
        name="queries_and_keys_swapped",
        summary="swapped queries and keys",
        fix="attention(query=Q, key=K, value=V)",
        shows_in="square",
        changes={"arguments": lambda call: replace(call, query=call.key, key=call.query)},
        section=f"{COMMON}#swapped-arguments",
    ),
    Mistake(
        name="keys_and_values_swapped",
        summary="swapped keys and values",
        fix="attention(query=Q, key=K, value=V)",
        shows_in="square",
        changes={"arguments": lambda call: replace(call, key=call.value, value=call.key)},
        section=f"{COMMON}#swapped-arguments",
    ),
    Mistake(
        name="queries_and_values_swapped",
        summary="swapped queries and values",
        fix="attention(query=Q, key=K, value=V)",
        shows_in="square",
        changes={"arguments": lambda call: replace(call, query=call.value, value=call.query)},
        section=f"{COMMON}#swapped-arguments",
    ),
    Mistake(
        name="keys_as_values",
        summary="keys passed as the values too",
        fix="weights @ value",
        shows_in="square",
        changes={"arguments": lambda call: replace(call, value=call.key)},
        section=f"{COMMON}#swapped-arguments",
    ),
    Mistake(
        name="heads_tiled",
        summary="key heads in tiled order, so that neighbouring query heads do not share one",
        fix="np.repeat(key, query_heads // key_heads, axis=1)  # not np.tile",
        shows_in="grouped_heads",
        changes={"share_heads": tile_heads},
    ),
    Mistake(
        name="first_head_shared",
        summary="the first head of keys and values shared by all query heads",
        fix="np.repeat(key, query_heads // key_heads, axis=1)",
        shows_in="grouped_heads",
        changes={
            "share_heads": lambda call: recipe.share_heads(
                replace(call, key=call.key[:, :1], value=call.value[:, :1])
            )
        },
    ),
    Mistake(
        name="scaled_twice",
        summary="scores scaled twice",
        fix="scores / math.sqrt(d_k)  # or query / d_k**0.25 and key / d_k**0.25",
        shows_in="scale",
        changes={"scale": lambda call: recipe.effective_scale(call) ** 2},
    ),
    Mistake(
        name="maximum_of_all_rows",
        summary="exponentials that underflow because one maximum is subtracted from all rows",
        fix="np.exp(scores - scores.max(axis=-1, keepdims=True))",
        shows_in="large_scores",
        changes={"softmax": softmax_with_one_maximum},
        section="mechanisms/softmax_overflow.md",
    ),
    Mistake(
        name="plus_one_in_denominator",
        summary="a denominator with an additional 1",
        fix="powers / powers.sum(axis=-1, keepdims=True)",
        shows_in="distinct_sizes",
        changes={"softmax": softmax_plus_one},
    ),
    Mistake(
        name="mask_of_first_head",
        summary="the mask of the first head applied to all heads",
        fix="mask  # (b, h, m, n)",
        shows_in="mask_per_head",
        changes={"mask": mask_of_first_head},
    ),
    Mistake(
        name="mask_in_head_order",
        summary="masks of sequences repeated as if heads came before sequences",
        fix="np.repeat(mask, heads, axis=0)  # for (b h, m, n), not np.tile",
        shows_in="mask_per_sequence",
        changes={"mask": mask_in_head_order},
    ),
    Mistake(
        name="mask_in_sequence_order",
        summary="masks of sequences repeated for neighbours, although heads come first",
        fix="np.tile(mask, (heads, 1, 1))  # for (h b, m, n), not np.repeat",
        shows_in="mask_per_sequence",
        changes={"mask": mask_in_sequence_order},
    ),
    Mistake(
        name="padding_on_query_axis",
        summary="a padding mask on the axis of the queries",
        fix="mask[:, None, None, :]  # (b, 1, 1, n)",
        shows_in="padding",
        changes={"mask": padding_on_queries},
    ),
    Mistake(
        name="causal_replaces_mask",
        summary="a mask that is ignored beside is_causal",
        fix="mask & causal",
        shows_in="mask_and_causal",
        changes=with_causal_and_mask(recipe.all_visible, recipe.causal_mask),
    ),
    Mistake(
        name="mask_replaces_causal",
        summary="is_causal ignored beside a mask",
        fix="mask & causal",
        shows_in="mask_and_causal",
        changes=with_causal_and_mask(recipe.boolean_mask, recipe.all_visible),
    ),
    Mistake(
        name="mask_or_causal",
        summary="a mask joined with the causal mask by or",
        fix="mask & causal",
        shows_in="mask_and_causal",
        changes=with_causal_and_mask(mask_or_causal, recipe.all_visible),
    ),
    Mistake(
        name="window_right_ignored",
        summary="a window without its right limit",
        fix="(i - left <= j) & (j <= i + right)",
        shows_in="window",
        changes=with_window(lambda before, after: (before, math.inf)),
        section="mechanisms/local_window.md",
    ),
    Mistake(
        name="window_left_ignored",
        summary="a window without its left limit",
        fix="(i - left <= j) & (j <= i + right)",
        shows_in="window",
        changes=with_window(lambda before, after: (math.inf, after)),
        section="mechanisms/local_window.md",
    ),
    Mistake(
        name="window_left_too_wide",
        summary="a window that is one position too wide on the left",
        fix="i - left <= j  # left + 1 positions with the own one",
        shows_in="window",
        changes=with_window(lambda before, after: (before + 1, after)),
        section="mechanisms/local_window.md",
    ),
    Mistake(
        name="window_left_too_narrow",
        summary="a window that is one position too narrow on the left",
        fix="i - left <= j  # left + 1 positions with the own one",
        shows_in="window",
        changes=with_window(lambda before, after: (max(before - 1, 0), after)),
        section="mechanisms/local_window.md",
    ),
    Mistake(
        name="window_right_too_wide",
        summary="a window that is one position too wide on the right",
        fix="j <= i + right",
        shows_in="window",
        changes=with_window(lambda before, after: (before, after + 1)),
        section="mechanisms/local_window.md",
    ),
    Mistake(
        name="window_right_too_narrow",
        summary="a window that is one position too narrow on the right",
        fix="j <= i + right",
        shows_in="window",
        changes=with_window(lambda before, after: (before, max(after - 1, 0))),
        section="mechanisms/local_window.md",
    ),
    Mistake(
        name="open_window_as_number",
        summary="a window in which -1, for no limit, is taken for a number",
        fix="left = math.inf if left < 0 else left",
        shows_in="window_before",
        changes=with_window(
            lambda before, after: (
                -1 if before == math.inf else before,
                -1 if after == math.inf else after,
            )
        ),
        section="mechanisms/local_window.md",
    ),
    Mistake(
        name="softcap_before_scale",
        summary="a softcap applied before the scale",
        fix="softcap * np.tanh(scores * scale / softcap)",
        shows_in="softcap",
        changes={"softcap": softcap_before_scale},
    ),
    Mistake(
        name="value_heads_tiled",
        summary="key heads repeated in groups, but value heads in tiled order",
        fix="np.repeat(value, query_heads // key_heads, axis=1)  # not np.tile",
        shows_in="grouped_heads",
        changes={"share_heads": tile_value_heads},
    ),
    Mistake(
        name="last_block_dropped",
        summary="keys that are lost because the last block of 16 is incomplete",
        fix="range(0, n, block)  # and mask what lies beyond n",
        shows_in="length_17",
        changes={"arguments": drop_incomplete_block(16)},
    ),
    Mistake(
        name="last_block_of_32_dropped",
        summary="keys that are lost because the last block of 32 is incomplete",
        fix="range(0, n, block)  # and mask what lies beyond n",
        shows_in="length_64",
        changes={"arguments": drop_incomplete_block(32)},
    ),
    Mistake(
        name="block_padding_not_hidden",
        summary="unmasked zeros that fill the last block of 16 keys",
        fix="scores = np.where(position < n, scores, -np.inf)",
        shows_in="distinct_sizes",
        changes={"arguments": append_zeros_to_block(16)},
    ),
    Mistake(
        name="block_of_64_padding_not_hidden",
        summary="unmasked zeros that fill the last block of 64 keys",
        fix="scores = np.where(position < n, scores, -np.inf)",
        shows_in="distinct_sizes",
        changes={"arguments": append_zeros_to_block(64)},
    ),
    Mistake(
        name="heads_without_transpose",
        summary="heads split and merged without the transpose",
        fix="rows.reshape(b, n, h, d).swapaxes(1, 2)",
        shows_in="layer",
        changes={
            "split": lambda rows, heads: rows.reshape(len(rows), heads, rows.shape[1], -1),
            "merge": lambda out: out.reshape(len(out), out.shape[2], -1),
        },
        section=f"{COMMON}#heads-without-the-transpose",
    ),
    Mistake(
        name="heads_split_without_transpose",
        summary="heads split without the transpose",
        fix="rows.reshape(b, n, h, d).swapaxes(1, 2)",
        shows_in="layer",
        changes={"split": lambda rows, heads: rows.reshape(len(rows), heads, rows.shape[1], -1)},
        section=f"{COMMON}#heads-without-the-transpose",
    ),
    Mistake(
        name="heads_merged_without_transpose",
        summary="heads merged without the transpose",
        fix="output.swapaxes(1, 2).reshape(b, m, h * d)",
        shows_in="layer",
        changes={"merge": lambda out: out.reshape(len(out), out.shape[2], -1)},
        section=f"{COMMON}#heads-without-the-transpose",
    ),
    Mistake(
        name="sequences_and_heads_exchanged",
        summary="heads merged as if their axis came before that of the sequences",
        fix="output.reshape(b, h, m, d).swapaxes(1, 2).reshape(b, m, h * d)",
        shows_in="layer",
        changes={"merge": exchange_sequences_and_heads},
    ),
    Mistake(
        name="features_interleaved",
        summary="heads that take every h-th feature instead of consecutive ones",
        fix="rows.reshape(b, n, h, d)  # not (b, n, d, h)",
        shows_in="layer",
        changes={
            "split": lambda rows, heads: np.moveaxis(
                rows.reshape(*rows.shape[:-1], -1, heads), -1, 1
            )
        },
    ),
    Mistake(
        name="weights_transposed",
        summary="transposed weight matrices",
        fix="rows @ W  # PyTorch's Linear keeps W.T",
        shows_in="layer",
        changes={
            "weights": lambda weights, heads: {name: matrix.T for name, matrix in weights.items()}
        },
    ),
    Mistake(
        name="output_weights_transposed",
        summary="a transposed output weight matrix",
        fix="merged @ W_O  # PyTorch's Linear keeps W_O.T",
        shows_in="layer",
        changes={"weights": lambda weights, heads: weights | {"O": weights["O"].T}},
    ),
    Mistake(
        name="query_and_key_weights_swapped",
        summary="swapped query and key weights",
        fix="Q, K = x_q @ W_Q, x_kv @ W_K",
        shows_in="layer",
        changes=with_exchanged_weights(Q="K", K="Q"),
    ),
    Mistake(
        name="key_and_value_weights_swapped",
        summary="swapped key and value weights",
        fix="K, V = x_kv @ W_K, x_kv @ W_V",
        shows_in="layer",
        changes=with_exchanged_weights(K="V", V="K"),
    ),
    Mistake(
        name="keys_projected_with_query_weights",
        summary="keys projected with the query weights",
        fix="K = x_kv @ W_K",
        shows_in="layer",
        changes=with_exchanged_weights(K="Q"),
    ),
    Mistake(
        name="weights_unpacked_by_head",
        summary="packed weights unpacked by head: Q, K and V of the first head, then of the next",
        fix="Q, K, V = np.split(x @ W_packed, 3, axis=-1)  # then split the heads",
        shows_in="layer",
        changes={"weights": unpack_by_head},
    ),
    Mistake(
        name="biases_ignored",
        summary="projections without their biases",
        fix="x @ W_Q + b_Q",
        shows_in="layer_with_biases",
        changes={"biases": lambda biases: {}},
    ),
    Mistake(
        name="output_bias_ignored",
        summary="an output projection without its bias",
        fix="merged @ W_O + b_O",
        shows_in="layer_with_biases",
        changes={"biases": lambda biases: {k: v for k, v in biases.items() if k != "O"}},
    ),
    Mistake(
        name="no_output_projection",
        summary="heads merged without the output projection",
        fix="merged @ W_O + b_O",
        shows_in="layer",
        changes={"project_out": lambda merged, project: merged},
    ),
]

TRUE_HIDES = Convention(
    name="true_hides",
    summary="True hides a key, as in PyTorch's MultiheadAttention",
    changes={"mask": inverted_mask},
)
MASK_ADDED = Convention(
    name="mask_added",
    summary="masks are added to the scores, so True adds 1",
    changes={"mask": recipe.all_visible, "add_bias": lambda scores, call: scores + call.mask},
)
CONVENTIONS = [
    TRUE_HIDES,
    Convention(
        name="bottom_right",
        summary="its causal mask is aligned bottom-right, as in FlashAttention",
        changes=with_causal_mask(
            lambda call: call.distance <= call.key.shape[-2] - call.query.shape[-2]
        ),
    ),
    Convention(
        name="window_bottom_right",
        summary="its window is aligned bottom-right, as in FlashAttention",
        changes={"window": bottom_right_window},
    ),
    Convention(
        name="causal_not_for_one_query",
        summary="is_causal hides nothing from a single query, which counts as the last one",
        changes={
            "causal": lambda call: (
                recipe.all_visible(call) if call.query.shape[-2] == 1 else recipe.causal_mask(call)
            )
        },
    ),
    Convention(
        name="nan_for_negative_scale",
        summary="a negative scale beside a mask gives NaN, because it is applied after the mask",
        changes={
            "hide": lambda scores, visible, call: np.where(
                visible, scores, -np.inf * recipe.effective_scale(call)
            ),
        },
    ),
    Convention(
        name="root_of_scale",
        summary="it multiplies queries and keys by the square root of the scale, as in ONNX",
        changes={"scale": lambda call: np.sqrt(recipe.effective_scale(call)) ** 2},
    ),
    Convention(
        name="nan_for_fully_masked_row",
        summary="a fully masked row gives NaN, as in the plain formula",
        changes=with_fully_masked_weights(lambda visible: np.nan),
    ),
    Convention(
        name="mean_for_fully_masked_row",
        summary="a fully masked row gives the mean of all values, as with -1e9 in place of -inf",
        changes=with_fully_masked_weights(lambda visible: 1 / visible.shape[-1]),
    ),
    Convention(
        name="unmasked_for_fully_masked_row",
        summary="a fully masked row counts as unmasked, as where -1e9 is added in place of -inf",
        changes={
            "hide": lambda scores, visible, call: recipe.hide(
                scores, visible | ~visible.any(axis=-1, keepdims=True), call
            )
        },
    ),
]


def compatible_pairs() -> Iterator[tuple[Mistake, Mistake]]:
    """Yield each pair of mistakes that change different steps."""
    for first, second in itertools.combinations(MISTAKES, 2):
        if not first.changes.keys() & second.changes.keys():
            yield first, second


def mistake_named(name: str) -> Mistake:
    """Return a mistake by its name.

    >>> mistake_named("not_scaled").fix
    'scores / math.sqrt(d_k)'
    """
    return next(mistake for mistake in MISTAKES if mistake.name == name)
