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
        changes: the steps of `recipe` that it replaces.
        section: the page and anchor that explain it; None: its row in the catalogue.
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


def first_of_batch(array: Array | None) -> Array | None:
    return array if array is None else array[:1]


def with_default_scale(scale: Callable[[Call], float]) -> Steps:
    """Return the change that replaces the default scale."""
    return {"scale": lambda call: scale(call) if call.scale is None else call.scale}


def with_causal_mask(visible: Callable[[Call], Array]) -> Steps:
    """Return the change that replaces the causal mask."""
    return {"causal": lambda call: visible(call) if call.is_causal else recipe.everything(call)}


def with_bias(add: Callable[[Array, Array], Array]) -> Steps:
    """Return the change that replaces the addition of a float mask."""
    return {
        "add_bias": lambda scores, call: scores if call.bias is None else add(scores, call.bias)
    }


def with_hidden_row_weights(weight: Callable[[Array], float]) -> Steps:
    """Return the change that sets the weights of fully masked rows."""
    return {
        "after_softmax": lambda weights, visible: np.where(
            visible.any(axis=-1, keepdims=True), weights, weight(visible)
        )
    }


def inverted_mask(call: Call) -> Array:
    return recipe.everything(call) if call.mask is None else ~call.mask


def with_narrower_window(before: int, after: int) -> Steps:
    """Return the change that narrows the window on either side, or widens it if negative."""

    def window(call: Call) -> Array:
        if call.window:
            sides = zip(call.window, (before, after), strict=True)
            left, right = (None if limit is None else limit - n for limit, n in sides)
            call = replace(call, window=(left, right))
        return recipe.within_window(call)

    return {"window": window}


def mask_times_infinity(scores: Array, visible: Array, call: Call) -> Array:
    """Add (1 - mask) * -inf, which is NaN where the mask is 1."""
    return scores if visible.all() else scores + np.where(visible, np.nan, -np.inf)


def float_mask_as_boolean(call: Call) -> Array:
    """Convert a float mask to boolean: nonzero is True."""
    return recipe.given_mask(call) if call.bias is None else call.bias != 0


def read_packed_by_head(weights: dict[str, Array], heads: int) -> dict[str, Array]:
    """Unpack columns (3, heads, d) in the order (heads, 3, d)."""
    packed = np.concatenate([weights[letter] for letter in "QKV"], axis=1)
    columns = packed.reshape(len(packed), heads, 3, -1)
    return weights | {
        letter: columns[:, :, i].reshape(len(packed), -1) for i, letter in enumerate("QKV")
    }


def with_weights_of(**sources: str) -> Steps:
    """Return the change that replaces weights by those of other letters: target=source."""
    return {
        "weights": lambda weights, heads: (
            weights | {target: weights[source] for target, source in sources.items()}
        )
    }


MISTAKES = [
    Mistake(
        "divided_by_d_k",
        "scores divided by d_k instead of its root",
        "scores / math.sqrt(d_k)",
        "distinct_sizes",
        with_default_scale(lambda call: 1 / call.key.shape[-1]),
        f"{COMMON}#divided-by-d-k",
    ),
    Mistake(
        "divided_by_root_of_d_model",
        "scores divided by the root of the model width instead of that of the head",
        "scores / math.sqrt(key.shape[-1])  # after the heads are split",
        "batch_and_heads",
        with_default_scale(
            lambda call: 1 / math.sqrt(call.d_model or call.query.shape[1] * call.key.shape[-1])
        ),
        f"{COMMON}#divided-by-the-root-of-the-model-width",
    ),
    Mistake(
        "divided_by_root_of_d_v",
        "scores divided by the root of d_v, the width of a value, instead of d_k",
        "scores / math.sqrt(key.shape[-1])",
        "distinct_sizes",
        with_default_scale(lambda call: 1 / math.sqrt(call.value.shape[-1])),
    ),
    Mistake(
        "divided_by_root_of_n",
        "scores divided by the root of the number of keys",
        "scores / math.sqrt(key.shape[-1])  # features, the last axis",
        "distinct_sizes",
        with_default_scale(lambda call: 1 / math.sqrt(call.key.shape[-2])),
    ),
    Mistake(
        "not_scaled",
        "scores that are not scaled",
        "scores / math.sqrt(d_k)",
        "distinct_sizes",
        with_default_scale(lambda call: 1.0),
        f"{COMMON}#not-scaled",
    ),
    Mistake(
        "multiplied_by_root_of_d_k",
        "scores multiplied by the root of d_k instead of divided",
        "scores / math.sqrt(d_k)",
        "distinct_sizes",
        with_default_scale(lambda call: math.sqrt(call.key.shape[-1])),
    ),
    Mistake(
        "scale_ignored",
        "the default scale, although another one was given",
        "scores * (1 / math.sqrt(d_k) if scale is None else scale)",
        "scale",
        {"scale": recipe.default_scale},
    ),
    Mistake(
        "scale_on_top_of_default",
        "the given scale times the default one",
        "scores * (1 / math.sqrt(d_k) if scale is None else scale)",
        "scale",
        {
            "scale": lambda call: (
                recipe.default_scale(call) * (1.0 if call.scale is None else call.scale)
            )
        },
    ),
    Mistake(
        "divided_by_scale",
        "scores divided by the given scale instead of multiplied",
        "scores * scale",
        "scale",
        {
            "scale": lambda call: (
                recipe.default_scale(call) if call.scale is None else 1 / call.scale
            )
        },
    ),
    Mistake(
        "softmax_over_queries",
        "a softmax over the queries",
        "softmax(scores, axis=-1)",
        "distinct_sizes",
        {"softmax": lambda scores: recipe.softmax(scores, axis=-2)},
        f"{COMMON}#softmax-over-the-other-axis",
    ),
    Mistake(
        "softmax_over_heads",
        "a softmax over the heads",
        "softmax(scores, axis=-1)",
        "batch_and_heads",
        {"softmax": lambda scores: recipe.softmax(scores, axis=-3)},
    ),
    Mistake(
        "softmax_over_all_pairs",
        "a softmax over all pairs of a query and a key at once",
        "softmax(scores, axis=-1)",
        "distinct_sizes",
        {"softmax": lambda scores: recipe.softmax(scores, axis=(-1, -2))},
    ),
    Mistake(
        "weights_not_normalised",
        "exponentials that are not divided by their sum",
        "powers / powers.sum(axis=-1, keepdims=True)",
        "distinct_sizes",
        {"softmax": np.exp},
    ),
    Mistake(
        "exponentials_overflow",
        "exponentials without the row maximum taken off, which overflow",
        "np.exp(scores - scores.max(axis=-1, keepdims=True))",
        "large_scores",
        {"softmax": lambda scores: np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)},
        "mechanisms/softmax_overflow.md",
    ),
    Mistake(
        "no_softmax",
        "scores used as weights, without a softmax",
        "softmax(scores, axis=-1) @ value",
        "distinct_sizes",
        {"softmax": lambda scores: np.where(np.isneginf(scores), 0.0, scores)},
    ),
    Mistake(
        "powers_of_two",
        "powers of two instead of e",
        "np.exp(scores)  # or np.exp2(scores * math.log2(math.e))",
        "distinct_sizes",
        {"softmax": lambda scores: recipe.softmax(scores * math.log(2))},
    ),
    Mistake(
        "softmax_twice",
        "two softmaxes, one after the other",
        "softmax(scores, axis=-1) @ value",
        "distinct_sizes",
        {"softmax": lambda scores: recipe.softmax(recipe.softmax(scores))},
    ),
    Mistake(
        "padding_not_hidden",
        "one more key and value, all zeros, that no mask hides",
        "mask = padding_mask(lengths, keys)",
        "distinct_sizes",
        {"arguments": append_zero_key},
        f"{MASKS}#padding-that-is-not-hidden",
    ),
    Mistake(
        "mask_ignored",
        "no mask at all",
        "np.where(mask, scores, -np.inf)",
        "boolean_mask",
        {"mask": recipe.everything},
        f"{MASKS}#padding-that-is-not-hidden",
    ),
    Mistake(
        "mask_flipped",
        "a flipped mask",
        "~mask  # True takes part",
        "causal_mask",
        {"mask": inverted_mask, **with_causal_mask(lambda call: call.distance > 0)},
        f"{MASKS}#a-flipped-mask",
    ),
    Mistake(
        "causal_flipped",
        "a causal mask that shows each query itself and what comes after it",
        "np.tril(np.ones((m, n), dtype=bool))",
        "causal",
        with_causal_mask(lambda call: call.distance >= 0),
        f"{MASKS}#a-flipped-mask",
    ),
    Mistake(
        "mask_transposed",
        "a mask whose queries and keys are swapped",
        "mask  # (m, n): a row for each query",
        "boolean_mask_square",
        {
            "mask": lambda call: (
                recipe.everything(call) if call.mask is None else call.mask.swapaxes(-1, -2)
            )
        },
    ),
    Mistake(
        "mask_of_first_sequence",
        "the mask of the first sequence, for the whole batch",
        "mask[:, None, None, :]  # (b, 1, 1, n)",
        "padding",
        {
            "mask": lambda call: recipe.given_mask(replace(call, mask=first_of_batch(call.mask))),
        },
    ),
    Mistake(
        "mask_after_softmax",
        "a mask after the softmax",
        "weights = softmax(np.where(mask, scores, -np.inf))",
        "causal_mask",
        {
            "hide": lambda scores, visible, call: scores,
            "after_softmax": lambda weights, visible: np.where(visible, weights, 0.0),
        },
        f"{MASKS}#a-mask-after-the-softmax",
    ),
    Mistake(
        "mask_multiplies_scores",
        "scores multiplied by the mask, so that hidden ones are zero and still take part",
        "np.where(mask, scores, -np.inf)",
        "boolean_mask",
        {"hide": lambda scores, visible, call: scores * visible},
    ),
    Mistake(
        "mask_times_infinity",
        "a mask times infinity, where zero times infinity is not a number",
        "np.where(mask, scores, -np.inf)",
        "boolean_mask",
        {"hide": mask_times_infinity},
    ),
    Mistake(
        "scaled_after_mask",
        "a scale after the mask",
        "scaled = scores * scale; masked = np.where(mask, scaled, -np.inf)",
        "negative_scale",
        {
            "hide": lambda scores, visible, call: np.where(
                visible, scores, -np.inf * recipe.given_scale(call)
            ),
        },
        f"{MASKS}#a-scale-after-the-mask",
    ),
    Mistake(
        "causal_ignored",
        "attention that is not causal, although it was asked to be",
        "np.where(causal_mask(m, n), scores, -np.inf)",
        "causal",
        {"causal": recipe.everything},
    ),
    Mistake(
        "causal_unasked",
        "a causal mask that nobody asked for",
        "if is_causal: scores = np.where(causal_mask(m, n), scores, -np.inf)",
        "distinct_sizes",
        {"causal": lambda call: call.distance <= 0},
    ),
    Mistake(
        "causal_hides_own_position",
        "a causal mask that hides each query's own position",
        "np.tril(np.ones((m, n), dtype=bool))  # k=0",
        "causal",
        with_causal_mask(lambda call: call.distance <= -1),
    ),
    Mistake(
        "causal_shows_next_position",
        "a causal mask that shows each query the position after its own",
        "np.tril(np.ones((m, n), dtype=bool))  # k=0",
        "causal",
        with_causal_mask(lambda call: call.distance <= 1),
    ),
    Mistake(
        "bias_ignored",
        "no float mask at all",
        "scores + attn_mask",
        "float_mask",
        {"add_bias": lambda scores, call: scores},
    ),
    Mistake(
        "bias_subtracted",
        "a float mask that is subtracted",
        "scores + attn_mask",
        "float_mask",
        with_bias(lambda scores, bias: scores - bias),
    ),
    Mistake(
        "bias_multiplied",
        "a float mask that is multiplied",
        "scores + attn_mask",
        "float_mask",
        with_bias(lambda scores, bias: scores * bias),
    ),
    Mistake(
        "bias_before_scale",
        "a float mask that is added before the scale",
        "scores * scale + attn_mask",
        "float_mask",
        {
            "add_bias": lambda scores, call: (
                scores if call.bias is None else scores + call.bias * recipe.given_scale(call)
            )
        },
    ),
    Mistake(
        "window_ignored",
        "no window at all",
        "np.where(window_mask(m, n, left=left, right=right), scores, -np.inf)",
        "window",
        {"window": recipe.everything},
        "mechanisms/local_window.md",
    ),
    Mistake(
        "window_too_narrow",
        "a window that is one position too narrow on either side",
        "(i - left <= j) & (j <= i + right)",
        "window",
        with_narrower_window(1, 1),
        "mechanisms/local_window.md",
    ),
    Mistake(
        "window_too_wide",
        "a window that is one position too wide on either side",
        "(i - left <= j) & (j <= i + right)",
        "window",
        with_narrower_window(-1, -1),
        "mechanisms/local_window.md",
    ),
    Mistake(
        "window_reversed",
        "a window with left and right swapped",
        "(i - left <= j) & (j <= i + right)",
        "window",
        {
            "window": lambda call: recipe.within_window(
                replace(call, window=call.window and call.window[::-1])
            )
        },
        "mechanisms/local_window.md",
    ),
    Mistake(
        "softcap_ignored",
        "no softcap at all",
        "softcap * np.tanh(scores / softcap)",
        "softcap",
        {"softcap": lambda scores, call: scores},
    ),
    Mistake(
        "softcap_not_scaled_back",
        "a hyperbolic tangent that is not multiplied by the softcap again",
        "softcap * np.tanh(scores / softcap)",
        "softcap",
        {
            "softcap": lambda scores, call: (
                scores if call.softcap is None else np.tanh(scores / call.softcap)
            )
        },
    ),
    Mistake(
        "softcap_after_mask",
        "a softcap after the mask, which makes hidden scores finite",
        "capped = softcap * np.tanh(scores / softcap); np.where(mask, capped, -np.inf)",
        "softcap_causal",
        {
            "softcap": lambda scores, call: scores,
            "hide": lambda scores, visible, call: recipe.softcap(
                recipe.hide(scores, visible, call), call
            ),
        },
    ),
    Mistake(
        "queries_and_keys_swapped",
        "queries and keys that are swapped",
        "attention(query=Q, key=K, value=V)",
        "square",
        {"arguments": lambda call: replace(call, query=call.key, key=call.query)},
        f"{COMMON}#swapped-arguments",
    ),
    Mistake(
        "keys_and_values_swapped",
        "keys and values that are swapped",
        "attention(query=Q, key=K, value=V)",
        "square",
        {"arguments": lambda call: replace(call, key=call.value, value=call.key)},
        f"{COMMON}#swapped-arguments",
    ),
    Mistake(
        "queries_and_values_swapped",
        "queries and values that are swapped",
        "attention(query=Q, key=K, value=V)",
        "square",
        {"arguments": lambda call: replace(call, query=call.value, value=call.query)},
        f"{COMMON}#swapped-arguments",
    ),
    Mistake(
        "keys_blended",
        "keys that are averaged in place of the values",
        "weights @ value",
        "square",
        {"arguments": lambda call: replace(call, value=call.key)},
        f"{COMMON}#swapped-arguments",
    ),
    Mistake(
        "heads_tiled",
        "key heads that are tiled, so that neighbouring query heads do not share one",
        "np.repeat(key, query_heads // key_heads, axis=1)  # not np.tile",
        "grouped_heads",
        {"share": tile_heads},
    ),
    Mistake(
        "first_head_shared",
        "the first head of keys and values, for all heads of queries",
        "np.repeat(key, query_heads // key_heads, axis=1)",
        "grouped_heads",
        {
            "share": lambda call: recipe.share_heads(
                replace(call, key=call.key[:, :1], value=call.value[:, :1])
            )
        },
    ),
    Mistake(
        "heads_without_transpose",
        "heads that were reshaped without the transpose",
        "rows.reshape(b, n, h, d).swapaxes(1, 2)",
        "layer",
        {
            "split": lambda rows, heads: rows.reshape(len(rows), heads, rows.shape[1], -1),
            "merge": lambda out: out.reshape(len(out), out.shape[2], -1),
        },
        f"{COMMON}#heads-without-the-transpose",
    ),
    Mistake(
        "heads_split_without_transpose",
        "heads that were split without the transpose",
        "rows.reshape(b, n, h, d).swapaxes(1, 2)",
        "layer",
        {"split": lambda rows, heads: rows.reshape(len(rows), heads, rows.shape[1], -1)},
        f"{COMMON}#heads-without-the-transpose",
    ),
    Mistake(
        "heads_merged_without_transpose",
        "heads that were merged without the transpose",
        "output.swapaxes(1, 2).reshape(b, m, h * d)",
        "layer",
        {"merge": lambda out: out.reshape(len(out), out.shape[2], -1)},
        f"{COMMON}#heads-without-the-transpose",
    ),
    Mistake(
        "features_interleaved",
        "heads that take every h-th feature instead of neighbouring ones",
        "rows.reshape(b, n, h, d)  # not (b, n, d, h)",
        "layer",
        {
            "split": lambda rows, heads: np.moveaxis(
                rows.reshape(*rows.shape[:-1], -1, heads), -1, 1
            )
        },
    ),
    Mistake(
        "weights_transposed",
        "weights that are transposed",
        "rows @ W  # PyTorch's Linear keeps W.T",
        "layer",
        {"weights": lambda weights, heads: {name: matrix.T for name, matrix in weights.items()}},
    ),
    Mistake(
        "output_weights_transposed",
        "output weights that are transposed",
        "merged @ W_O  # PyTorch's Linear keeps W_O.T",
        "layer",
        {"weights": lambda weights, heads: weights | {"O": weights["O"].T}},
    ),
    Mistake(
        "query_and_key_weights_swapped",
        "query weights and key weights that are swapped",
        "Q, K = x_q @ W_Q, x_kv @ W_K",
        "layer",
        with_weights_of(Q="K", K="Q"),
    ),
    Mistake(
        "key_and_value_weights_swapped",
        "key weights and value weights that are swapped",
        "K, V = x_kv @ W_K, x_kv @ W_V",
        "layer",
        with_weights_of(K="V", V="K"),
    ),
    Mistake(
        "keys_made_with_query_weights",
        "keys that are made with the weights of the queries",
        "K = x_kv @ W_K",
        "layer",
        with_weights_of(K="Q"),
    ),
    Mistake(
        "packed_by_head",
        "packed weights that are read head by head: Q, K and V of the first, then of the next",
        "Q, K, V = np.split(x @ W_packed, 3, axis=-1)  # then split the heads",
        "layer",
        {"weights": read_packed_by_head},
    ),
    Mistake(
        "biases_ignored",
        "projections without their biases",
        "x @ W_Q + b_Q",
        "layer_with_biases",
        {"biases": lambda biases: {}},
    ),
    Mistake(
        "output_bias_ignored",
        "an output projection without its bias",
        "merged @ W_O + b_O",
        "layer_with_biases",
        {"biases": lambda biases: {k: v for k, v in biases.items() if k != "O"}},
    ),
    Mistake(
        "no_output_projection",
        "heads that are merged but not projected",
        "merged @ W_O + b_O",
        "layer",
        {"project_out": lambda merged, project: merged},
    ),
]

TRUE_HIDES = Convention(
    "true_hides",
    "True hides a key here, as in PyTorch's MultiheadAttention",
    {"mask": inverted_mask},
)
MASK_ADDED = Convention(
    "mask_added",
    "masks are added here, so True adds 1",
    {"mask": recipe.everything, "add_bias": lambda scores, call: scores + call.mask},
)
CONVENTIONS = [
    TRUE_HIDES,
    Convention(
        "bottom_right",
        "causal means here that the last query sees the last key, as in FlashAttention",
        with_causal_mask(lambda call: call.distance <= call.key.shape[-2] - call.query.shape[-2]),
    ),
    Convention(
        "boolean_only",
        "a mask is True or False here, so each number but zero counts as True",
        {"mask": float_mask_as_boolean, "add_bias": lambda scores, call: scores},
    ),
    Convention(
        "root_of_scale",
        "the root of the scale multiplies queries and keys here, as in ONNX, so none is negative",
        {"scale": lambda call: np.sqrt(recipe.given_scale(call)) ** 2},
    ),
    Convention(
        "nan_for_hidden_row",
        "a query that sees no key gets NaN here, as from the plain formula",
        with_hidden_row_weights(lambda visible: np.nan),
    ),
    Convention(
        "mean_for_hidden_row",
        "a query that sees no key gets the mean of all values here, as with -1e9 for -inf",
        with_hidden_row_weights(lambda visible: 1 / visible.shape[-1]),
    ),
    Convention(
        "unmasked_for_hidden_row",
        "a query that sees no key sees all of them here, as where -1e9 is added for -inf",
        {
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
