"""Test cases: the arguments of a call, the expected results, and the tolerance for rounding.

All numbers are multiples of 1/8 with few bits, so every dtype represents them exactly.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from attention_docs.arrays import Array
from attention_docs.backward import attention_backward
from attention_docs.diagnosis import recipe
from attention_docs.diagnosis.recipe import Call, LayerCall
from attention_docs.dot_product import AttentionSteps, attention_steps
from attention_docs.examples import distinct_sizes
from attention_docs.masks import causal_mask

# Bits of each dtype's significand, the leading one included; the finest dtype is first.
SIGNIFICAND_BITS = {"float64": 53, "float32": 24, "float16": 11, "bfloat16": 8}


@dataclass(frozen=True)
class Limits:
    """The sizes that a function takes.

    Attributes:
        multiple: the number that lengths must be a multiple of.
        widths: the widths of a head that it takes, in ascending order; empty for all.
    """

    equal_widths: bool = False
    equal_lengths: bool = False
    multiple: int = 1
    widths: tuple[int, ...] = ()

    def fit(self, m: int, n: int, d_k: int, d_v: int) -> tuple[int, int, int, int]:
        """Return the nearest sizes within the limits, in the same order.

        Lengths are rounded up. So are widths, but `equal_widths` sets d_v to d_k.
        """
        m, n = self.round_length(m), self.round_length(n)
        if self.equal_lengths:
            m = n = max(m, n)
        d_k = self.round_width(d_k)
        d_v = d_k if self.equal_widths else self.round_width(d_v)
        return m, n, d_k, d_v

    def round_length(self, length: int) -> int:
        """Return the smallest multiple of `multiple` that is not shorter."""
        return math.ceil(length / self.multiple) * self.multiple

    def round_width(self, width: int) -> int:
        """Return the first of `widths` that is not narrower, or else the width itself."""
        return next((allowed for allowed in self.widths if allowed >= width), width)


NO_LIMITS = Limits()


@dataclass(frozen=True, eq=False)
class Case:
    """A call that tests one aspect of attention.

    Attributes:
        feature: the feature of the function that it tests, for `--require` and `--skip`.
        dtype: the dtype of the arrays; None for the one of the settings.
        is_strided: whether the arrays are views that are not contiguous in memory.
        conventions: names of the conventions that may apply to it.
    """

    name: str
    feature: str
    aspect: str
    call: Call | LayerCall
    dtype: str | None = None
    compares_gradients: bool = False
    is_strided: bool = False
    conventions: tuple[str, ...] = ()

    @cache  # noqa: B019 -- the few cases live as long as the program
    def expected(self) -> dict[str, Array]:
        """Return the expected results by name: the output, or the gradient of each input."""
        if isinstance(self.call, LayerCall):
            return {"output": recipe.attend_in_heads(self.call)}
        if self.compares_gradients:
            return gradients(self.call)
        return {"output": recipe.attend(self.call)}

    @cache  # noqa: B019 -- likewise
    def tolerance(self, dtype: str) -> float:
        """Return how far a right result may be off by rounding.

        It is 16 times the largest error of the plain formula with each step rounded to the dtype,
        plus four units in the last place of the largest value, because other orders of summation
        err more or less than this one. The error in float64, in which the formula itself is
        computed, is scaled down from that in float32.
        """
        bits = min(SIGNIFICAND_BITS[dtype], SIGNIFICAND_BITS["float32"])
        if isinstance(self.call, LayerCall):
            exact = recipe.attend_in_heads(self.call)
            rounded = recipe.attend_in_heads(self.call, recipe.rounded_steps(bits))
            largest_value = float(np.abs(exact).max())
        else:
            exact = recipe.attend(self.call)
            rounded = recipe.attend(self.call, recipe.rounded_steps(bits))
            largest_value = float(np.abs(self.call.value).max())
        unit_in_last_place = 2 * largest_value * 2.0**-bits
        error = 16 * float(np.abs(exact - rounded).max()) + 4 * unit_in_last_place
        error *= 2.0 ** (bits - SIGNIFICAND_BITS[dtype])
        if self.compares_gradients:
            assert isinstance(self.call, Call)
            # A gradient adds products with the keys, over n positions or d_k features.
            error *= sum(self.call.key.shape[-2:]) * float(np.abs(self.call.key).max())
        return error


def expected_steps(call: Call) -> AttentionSteps:
    return attention_steps(call.query, call.key, call.value, **attention_options(call))


def attention_options(call: Call) -> dict[str, Any]:
    """Return the options of a call as keyword arguments of `attention_steps`.

    Its `attn_mask` is the boolean mask or the bias of the call, which no case has both of.
    """
    mask = call.bias if call.mask is None else recipe.padded_mask(call)
    is_causal = call.is_causal
    if mask is not None and is_causal:  # `attention_steps` takes only one of the two
        is_causal = False
        visible = causal_mask(call.query.shape[-2], call.key.shape[-2])
        mask = np.where(visible, mask, -np.inf) if call.mask is None else mask & visible
    return {
        "attn_mask": mask,
        "is_causal": is_causal,
        "scale": call.scale,
        "enable_gqa": call.query.shape[1] != call.key.shape[1],
        "window": call.window,
        "softcap": call.softcap or None,  # 0 means none
    }


def gradients(call: Call) -> dict[str, Array]:
    """Return the gradients of `sum(output * output_gradient(call))` by query, key and value."""
    result = attention_backward(
        output_gradient(call), call.query, call.key, call.value, **attention_options(call)
    )
    return {"query": result.query, "key": result.key, "value": result.value}


def output_gradient(call: Call) -> Array:
    """Return an irregular array of the output's shape, as the gradient that reaches the output."""
    return irregular_array(*call.query.shape[:-1], call.value.shape[-1], start=9)


def irregular_array(*shape: int, start: float) -> Array:
    """Return an array of multiples of 1/4 in [-2, 2]: a sine wave that starts at a phase, rounded.

    The numbers look random, are the same in each run, and are exact in every dtype.
    """
    wave: Array = 8 * np.sin(start + 1.3 * np.arange(np.prod(shape)))
    return wave.round().reshape(shape) / 4


def sized_call(
    m: int, n: int, d_k: int, d_v: int, b: int = 1, h: int = 1, group_size: int = 1
) -> Call:
    """Return a call with m queries and n keys; `group_size` query heads share one key head."""
    return Call(
        irregular_array(b, h, m, d_k, start=1),
        irregular_array(b, h // group_size, n, d_k, start=2),
        irregular_array(b, h // group_size, n, d_v, start=3),
    )


def example_call() -> Call:
    """Return the queries, keys and values of the example `distinct_sizes` as a call."""
    example = distinct_sizes.steps()
    query, key, value = (example[name][None, None] for name in "QKV")
    return Call(query, key, value, d_model=example["X_q"].shape[-1])


def with_shifted_scores(call: Call) -> Call:
    """Return a call in which the scores of each query are shifted by a constant, up to ±1000.

    The softmax is invariant to the shift, but without subtracting the row maximum the exponentials
    overflow or all become zero.
    """
    query, key = call.query.copy(), call.key.copy()
    # The first feature of each key is 1, so that the first feature of a query shifts its scores.
    query[..., 0] = np.resize([1024, 2048, 0, -1024, -2048], query.shape[-2])
    key[..., 0] = 1
    return replace(call, query=query, key=key)


def with_huge_scores(call: Call) -> Call:
    """Return a call whose products exceed the range of float16, but whose scaled scores do not.

    The largest scaled score is about 2**15, and its product is the square root of d times as
    large. The largest number of float16 is 65504.
    """
    d = call.key.shape[-1]
    # Each key is half as long as the one before, so that the scores of a query differ.
    factors = 2.0 ** -np.arange(call.key.shape[-2])[:, None]
    query = np.full_like(call.query, 2.0**7)
    key = np.broadcast_to(2.0**8 / d**0.5 * factors, call.key.shape).round()
    return replace(call, query=query, key=key)


def irregular_mask(*shape: int, start: float) -> Array:
    """Return a boolean mask, (..., m, n), without a pattern that a wrong mask could share.

    It shows the keys at which a sine wave is positive. Each query also sees its own position and
    the second key, so no row is fully masked, even if there are more queries than keys.
    """
    wave = np.sin(start + 2.1 * np.arange(np.prod(shape))).reshape(shape)
    queries = np.arange(shape[-2])[:, None]
    keys = np.arange(shape[-1])
    is_own_position = keys == queries
    is_second_key = keys == 1
    return (wave > 0) | is_own_position | is_second_key


def score_shape(call: Call) -> tuple[int, int, int, int]:
    """Return the shape (b, h, m, n) of the scores of a call."""
    b, h, m, _ = call.query.shape
    return b, h, m, call.key.shape[-2]


def make_causal(call: Call) -> Call:
    return replace(call, is_causal=True)


def with_mask(call: Call, start: float) -> Call:
    """Return the call with an irregular (m, n) mask, for all sequences and heads."""
    return replace(call, mask=irregular_mask(*score_shape(call)[-2:], start=start))


def with_bias(call: Call, start: float) -> Call:
    """Return the call with an irregular (m, n) bias, for all sequences and heads."""
    return replace(call, bias=irregular_array(*score_shape(call)[-2:], start=start))


# Conventions for a query that sees no key.
FULLY_MASKED_ROW = (
    "nan_for_fully_masked_row",
    "mean_for_fully_masked_row",
    "unmasked_for_fully_masked_row",
)
# Conventions for a causal mask of fewer or more queries than keys.
CAUSAL_ALIGNMENTS = ("bottom_right", *FULLY_MASKED_ROW, "causal_not_for_one_query")


@cache
def cases_within(limits: Limits) -> tuple[Case, ...]:
    """Return the cases of plain attention, simplest first, in sizes within the limits.

    Most of them share a shape, because JAX compiles once per shape.
    """

    def make_call(m: int, n: int, d_k: int, d_v: int, **sizes: int) -> Call:
        return sized_call(*limits.fit(m, n, d_k, d_v), **sizes)

    example = example_call() if limits == NO_LIMITS else make_call(m=4, n=5, d_k=2, d_v=3)
    square = make_call(m=5, n=5, d_k=5, d_v=5)
    more_keys = make_call(m=3, n=6, d_k=5, d_v=2)
    more_queries = make_call(m=7, n=2, d_k=3, d_v=4)
    one_query = make_call(m=1, n=7, d_k=4, d_v=3)
    batch = make_call(m=4, n=5, d_k=6, d_v=7, b=2, h=3)
    return (
        *formula_cases(example, more_keys, square),
        *length_cases(one_query, more_queries, make_call),
        *scale_cases(example, square),
        *causal_cases(square, more_keys, more_queries, one_query, make_call),
        *mask_cases(example, square, batch),
        *float_mask_cases(example, square, batch),
        *hidden_key_cases(example, square),
        *padding_cases(make_call(m=5, n=5, d_k=3, d_v=2, b=2, h=3)),
        *stride_cases(example, batch),
        *dtype_cases(example, square, make_call(m=4, n=4, d_k=16, d_v=16)),
        *head_cases(batch, make_call),
        *window_cases(square),
        *causal_window_cases(square),
        *window_alignment_cases(one_query, make_call(m=5, n=8, d_k=4, d_v=3)),
        *softcap_cases(example, square),
        *gradient_cases(example, square),
    )


def cases_of(
    feature: str, *rows: tuple[str, str, Call | LayerCall], **options: Any
) -> Iterator[Case]:
    """Yield the case of each (name, aspect, call), all with the same feature and options."""
    for name, aspect, call in rows:
        yield Case(name, feature, aspect, call, **options)


def formula_cases(example: Call, more_keys: Call, square: Call) -> Iterator[Case]:
    yield from cases_of(
        "formula",
        ("distinct_sizes", "the formula itself; cross-attention; d_v ≠ d_k", example),
        ("other_sizes", "hard-coded sizes", more_keys),
        ("square", "swapped arguments, whose shapes fit here", square),
    )


def length_cases(
    one_query: Call, more_queries: Call, make_call: Callable[..., Call]
) -> Iterator[Case]:
    """Yield cases of one query, of few keys, and of so many that blocks of keys do not fit."""
    yield from cases_of(
        "lengths",
        ("one_query", "a single query, as in decoding", one_query),
        ("more_queries", "more queries than keys", more_queries),
    )
    for m in (17, 64, 130):
        call = make_call(m=m, n=m + 3, d_k=4, d_v=3)
        aspect = f"about {m} keys: blocks that do not fit"
        yield Case(f"length_{m}", "lengths", aspect, call)


def scale_cases(example: Call, square: Call) -> Iterator[Case]:
    yield Case("scale", "scale", "an explicit scale", replace(example, scale=0.25))
    shifted = with_shifted_scores(square)
    yield Case("large_scores", "large scores", "exponentials that overflow", shifted)


def causal_cases(
    square: Call,
    more_keys: Call,
    more_queries: Call,
    one_query: Call,
    make_call: Callable[..., Call],
) -> Iterator[Case]:
    """Yield cases of a causal mask: square, in blocks, and with fewer or more queries than keys."""
    long = make_call(m=70, n=70, d_k=4, d_v=3)
    blocks = make_call(m=64, n=64, d_k=4, d_v=3)
    yield from cases_of(
        "causal",
        ("causal", "a causal mask, m = n", make_causal(square)),
        ("causal_long", "a causal mask over blocks that do not fit", make_causal(long)),
        ("causal_blocks", "a causal mask over blocks that fit", make_causal(blocks)),
    )
    aspect = "the alignment of a causal mask"
    yield from cases_of(
        "causal",
        ("causal_fewer_queries", f"{aspect}, m < n", make_causal(more_keys)),
        ("causal_one_query", f"{aspect}, m = 1", make_causal(one_query)),
        ("causal_more_queries", f"{aspect}, m > n", make_causal(more_queries)),
        conventions=CAUSAL_ALIGNMENTS,
    )
    yield Case(
        "negative_scale",
        "scale",
        "a negative scale with a causal mask",
        replace(make_causal(square), scale=-1.0),
        conventions=("root_of_scale", "nan_for_negative_scale"),
    )


def mask_cases(example: Call, square: Call, batch: Call) -> Iterator[Case]:
    causal = replace(example, mask=causal_mask(*score_shape(example)[-2:]))
    b, h, m, n = score_shape(batch)
    mask_per_sequence = irregular_mask(b, 1, m, n, start=6)
    mask_per_head = irregular_mask(b, h, m, n, start=7)
    yield from cases_of(
        "mask",
        ("boolean_mask", "the meaning of True", with_mask(example, start=4)),
        ("boolean_mask_square", "the axes of a mask", with_mask(square, start=5)),
        ("causal_mask", "a causal mask passed as an array", causal),
        ("mask_per_sequence", "a mask per sequence", replace(batch, mask=mask_per_sequence)),
        ("mask_per_head", "a mask for each head", replace(batch, mask=mask_per_head)),
    )


def float_mask_cases(example: Call, square: Call, batch: Call) -> Iterator[Case]:
    bias = irregular_array(*score_shape(example)[-2:], start=6)
    bias[:, 1] = 0.0  # a function that reads the mask as boolean hides this key
    biased = replace(example, bias=bias)
    yield Case("float_mask", "float mask", "a float mask that is added", biased)
    masked_causal = make_causal(with_mask(square, start=5))
    biased_causal = make_causal(with_bias(square, start=6))
    yield from cases_of(
        "mask and causal",
        ("mask_and_causal", "a mask combined with is_causal", masked_causal),
        ("float_mask_causal", "a float mask combined with is_causal", biased_causal),
    )
    bias_per_head = irregular_array(*score_shape(batch), start=6)
    mask = irregular_mask(*score_shape(example)[-2:], start=4)
    infinite_bias = np.where(mask, 0.0, -np.inf)
    yield from cases_of(
        "float mask",
        ("float_mask_per_head", "a float mask for each head", replace(batch, bias=bias_per_head)),
        ("infinite_mask", "a float mask of zeros and -inf", replace(example, bias=infinite_bias)),
    )


def hidden_key_cases(example: Call, square: Call) -> Iterator[Case]:
    """Yield cases of masks that hide all keys of a query, or the keys after the mask's columns."""
    mask = irregular_mask(*score_shape(example)[-2:], start=4)
    mask[1] = False
    yield Case(
        "fully_masked_row",
        "mask",
        "a query that sees no key",
        replace(example, mask=mask),
        conventions=FULLY_MASKED_ROW,
    )
    short_mask = irregular_mask(*score_shape(square)[-2:], start=5)[:, :-1]
    yield Case(
        "short_mask",
        "mask",
        "a mask without a column for the last key, which it hides",
        replace(square, mask=short_mask),
        conventions=("keys_after_mask_visible",),
    )


def padding_cases(batch: Call) -> Iterator[Case]:
    n = batch.key.shape[-2]
    lengths = np.array([n - 2, n])  # only the first sequence has padding
    is_token = np.arange(n) < lengths[:, None]
    padded = replace(batch, mask=is_token[:, None, None, :])
    padded_left = replace(batch, mask=is_token[:, None, None, ::-1])
    yield from cases_of(
        "padding",
        ("padding", "a padding mask for each sequence", padded),
        ("left_padding", "padding before the tokens", padded_left),
        conventions=FULLY_MASKED_ROW,
    )
    causal = make_causal(padded)
    yield Case("padding_causal", "mask and causal", "padding combined with a causal mask", causal)
    windowed = replace(padded, window=(2, 1))
    yield Case("padding_window", "window", "padding combined with a window", windowed)


def stride_cases(example: Call, batch: Call) -> Iterator[Case]:
    aspect = "arrays not contiguous in memory"
    yield Case("not_contiguous", "strides", aspect, example, is_strided=True)
    yield Case("not_contiguous_heads", "strides", aspect, batch, is_strided=True)


def dtype_cases(example: Call, square: Call, wide: Call) -> Iterator[Case]:
    """Yield cases of the dtypes coarser than float64, and a case of the range of float16."""
    masked = with_mask(example, start=4)
    biased = with_bias(example, start=6)
    causal = make_causal(square)
    for dtype in ("float32", "float16", "bfloat16"):
        yield from cases_of(
            dtype,
            (dtype, f"arrays of {dtype}", example),
            (f"{dtype}_mask", f"a mask with {dtype}", masked),
            (f"{dtype}_float_mask", f"a float mask of {dtype}", biased),
            (f"{dtype}_causal", f"a causal mask with {dtype}", causal),
            dtype=dtype,
        )
    yield Case(
        "float16_range",
        "float16",
        "products that exceed the range of float16",
        with_huge_scores(wide),
        dtype="float16",
        conventions=("scaled_late",),
    )


def head_cases(batch: Call, make_call: Callable[..., Call]) -> Iterator[Case]:
    yield Case("batch_and_heads", "heads", "the axes of batch and heads", batch)
    grouped = make_call(m=3, n=5, d_k=2, d_v=4, b=2, h=6, group_size=2)
    square = make_call(m=5, n=5, d_k=2, d_v=4, b=2, h=6, group_size=2)
    b, h, m, n = score_shape(square)
    padded = replace(square, mask=irregular_mask(b, 1, 1, n, start=7))
    masked = replace(square, mask=irregular_mask(b, h, m, n, start=7))
    biased = replace(square, bias=irregular_array(b, h, m, n, start=6))
    windowed = replace(square, window=(1, 2))
    yield from cases_of(
        "grouped heads",
        ("grouped_heads", "heads that share keys (grouped-query attention)", grouped),
        ("grouped_heads_causal", "a causal mask with grouped heads", make_causal(square)),
        ("grouped_heads_padding", "a padding mask with grouped heads", padded),
        ("grouped_heads_mask", "a mask for each head with grouped heads", masked),
        ("grouped_heads_float_mask", "a float mask for each head with grouped heads", biased),
        ("grouped_heads_window", "a window with grouped heads", windowed),
    )


def window_cases(square: Call) -> Iterator[Case]:
    """Yield cases of local windows: how many positions before and after its own a query sees."""
    for name, aspect, window in (
        ("window", "a local window", (1, 2)),
        ("window_of_one", "a query that sees its own position only", (0, 0)),
        ("window_before", "a window without a right limit", (1, None)),
        ("window_after", "a window without a left limit", (None, 1)),
        ("window_to_itself", "a window of all positions up to the query's own", (None, 0)),
        ("window_from_itself", "a window of all positions from the query's own", (0, None)),
    ):
        yield Case(name, "window", aspect, replace(square, window=window))


def causal_window_cases(square: Call) -> Iterator[Case]:
    causal = make_causal(square)
    n = square.key.shape[-2]
    mask_row = np.arange(n)[None, :] != 1
    bias_row = irregular_array(1, n, start=6)
    masked = replace(causal, window=(None, 0), mask=mask_row)
    biased = replace(with_bias(causal, start=6), window=(2, 1))
    biased_by_row = replace(causal, window=(0, None), bias=bias_row)
    yield from cases_of(
        "window",
        ("window_causal", "a window combined with a causal mask", replace(causal, window=(1, 0))),
        (
            "window_mask_causal",
            "a window, a causal mask, and a mask with one row for all queries",
            masked,
        ),
        ("window_bias_causal", "a window, a causal mask, and a float mask", biased),
        (
            "window_bias_row_causal",
            "a window, a causal mask, and a float mask with one row for all queries",
            biased_by_row,
        ),
    )


def window_alignment_cases(one_query: Call, more_keys: Call) -> Iterator[Case]:
    """Yield cases of a window over more keys than queries, which a library may align otherwise."""
    windowed_query = replace(one_query, window=(1, 1))
    windowed_keys = replace(more_keys, window=(1, 1))
    yield from cases_of(
        "window",
        ("window_one_query", "a window around a single query, as in decoding", windowed_query),
        ("window_fewer_queries", "the alignment of a window, m < n", windowed_keys),
        conventions=("window_bottom_right",),
    )


def softcap_cases(example: Call, square: Call) -> Iterator[Case]:
    softcapped = replace(example, softcap=0.75)
    softcapped_square = replace(square, softcap=3.0)
    masked = with_mask(softcapped_square, start=5)
    biased = with_bias(softcapped_square, start=6)
    yield from cases_of(
        "softcap",
        ("softcap", "a softcap, which bounds the scores", softcapped),
        ("softcap_scale", "a softcap after an explicit scale", replace(softcapped, scale=0.25)),
        ("softcap_causal", "a softcap before a causal mask", make_causal(softcapped_square)),
        ("softcap_mask", "a softcap before a mask", masked),
        ("softcap_float_mask", "a softcap before a float mask", biased),
    )
    yield Case(
        "softcap_of_zero",
        "softcap",
        "a softcap of 0, which means none",
        replace(example, softcap=0.0),
        conventions=("zero_is_a_softcap",),
    )


def gradient_cases(example: Call, square: Call) -> Iterator[Case]:
    yield from cases_of(
        "gradients",
        ("gradients", "the backward pass", example),
        ("gradients_causal", "the backward pass through a causal mask", make_causal(square)),
        compares_gradients=True,
    )


def layer_call(has_biases: bool = False, is_cross_attention: bool = False) -> LayerCall:
    """Return a call of a layer with three heads of two features, on two sequences.

    In cross-attention the queries are of sequences that are shorter than those of the keys.
    """
    d_model = 6
    weights = {
        letter: irregular_array(d_model, d_model, start=10 + i) / 2
        for i, letter in enumerate("QKVO")
    }
    biases = {letter: irregular_array(d_model, start=20 + i) for i, letter in enumerate("QKVO")}
    key = irregular_array(2, 5, d_model, start=5)
    query = irregular_array(2, 4, d_model, start=4) if is_cross_attention else key
    return LayerCall(query, key, 3, weights, biases if has_biases else {})


@cache
def layer_cases(layer: LayerCall | None = None) -> tuple[Case, ...]:
    """Return the cases of a layer: with weights that are passed, or with its own.

    Args:
        layer: a call with the weights and sizes of a module; None for weights of ours, which are
            passed as arguments.
    """
    if layer is None:
        with_biases = layer_call(has_biases=True)
        cross_attention = layer_call(has_biases=True, is_cross_attention=True)
        return tuple(basic_layer_cases(layer_call(), with_biases, cross_attention))
    d_model = layer.query.shape[-1]
    long_inputs = irregular_array(2, 17, d_model, start=8)
    other_inputs = irregular_array(3, 4, d_model, start=8)
    long_call = replace(layer, query=long_inputs, key=long_inputs)
    cross_attention = replace(layer, query=other_inputs[:2])
    one_position = other_inputs[:, :1]
    short_call = replace(layer, query=one_position, key=one_position)
    return (
        *basic_layer_cases(layer, long_call, cross_attention),
        Case("layer_one_position", "layer", "a single position", short_call),
    )


def basic_layer_cases(
    layer: LayerCall, with_biases: LayerCall, cross_attention: LayerCall
) -> Iterator[Case]:
    yield from cases_of(
        "layer",
        ("layer", "projections, and splitting and merging heads", layer),
        ("layer_with_biases", "biases of the projections; another length", with_biases),
    )
    yield Case("layer_cross", "cross-attention", "cross-attention in a layer", cross_attention)
    causal = replace(layer, is_causal=True)
    yield Case("layer_causal", "causal", "a causal layer", causal)


CASES = {case.name: case for case in (*cases_within(NO_LIMITS), *layer_cases())}
