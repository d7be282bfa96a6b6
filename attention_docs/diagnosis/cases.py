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

# Bits of a significand, the leading one included.
PRECISION = {"float64": 53, "float32": 24, "float16": 11, "bfloat16": 8}


@dataclass(frozen=True)
class Limits:
    """The sizes that a function takes.

    Attributes:
        equal_widths: whether values must be as wide as keys.
        equal_lengths: whether there must be as many queries as keys.
        multiple: what lengths must be a multiple of.
        widths: the widths of a head that it takes; empty for all.
    """

    equal_widths: bool = False
    equal_lengths: bool = False
    multiple: int = 1
    widths: tuple[int, ...] = ()

    def fit(self, m: int, n: int, d_k: int, d_v: int) -> tuple[int, int, int, int]:
        """Return the nearest larger sizes within the limits."""
        m, n = (math.ceil(length / self.multiple) * self.multiple for length in (m, n))
        if self.equal_lengths:
            m = n = max(m, n)
        d_k, d_v = (min((w for w in self.widths if w >= d), default=d) for d in (d_k, d_v))
        if self.equal_widths:
            d_v = d_k
        return m, n, d_k, d_v


NO_LIMITS = Limits()


@dataclass(frozen=True, eq=False)
class Case:
    """A call that tests one aspect of attention.

    Attributes:
        name: its name, also in `--json`.
        feature: the feature of the function that it tests, for `--require` and `--skip`.
        isolates: the aspect of attention that it tests.
        call: the arguments.
        dtype: the dtype of the arrays; None for the one of the settings.
        gradients: whether the gradients are compared instead of the output.
        strided: whether the arrays are views that are not contiguous in memory.
        conventions: names of the conventions that may apply to it.
    """

    name: str
    feature: str
    isolates: str
    call: Call | LayerCall
    dtype: str | None = None
    gradients: bool = False
    strided: bool = False
    conventions: tuple[str, ...] = ()

    @cache  # noqa: B019 -- the few cases live as long as the program
    def expected(self) -> dict[str, Array]:
        """Return the expected results by name: the output, or the gradient of each input."""
        if isinstance(self.call, LayerCall):
            return {"output": recipe.attend_in_heads(self.call)}
        if self.gradients:
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
        bits = min(PRECISION[dtype], 24)
        steps = recipe.rounded_steps(bits)
        if isinstance(self.call, LayerCall):
            exact, rounded = (recipe.attend_in_heads(self.call, s) for s in ({}, steps))
            largest = float(np.abs(exact).max())
        else:
            exact, rounded = (recipe.attend(self.call, s) for s in ({}, steps))
            largest = float(np.abs(self.call.value).max())
        error = 16 * float(np.abs(exact - rounded).max()) + 8 * largest * 2.0**-bits
        error *= 2.0 ** (bits - PRECISION[dtype])
        if self.gradients:
            assert isinstance(self.call, Call)
            # A gradient adds products with the keys, over n positions or d_k features.
            error *= sum(self.call.key.shape[-2:]) * float(np.abs(self.call.key).max())
        return error


def expected_steps(call: Call) -> AttentionSteps:
    """Return every step of attention, computed by this package in float64."""
    return attention_steps(call.query, call.key, call.value, **attention_options(call))


def attention_options(call: Call) -> dict[str, Any]:
    """Return the options of a call as keyword arguments of `attention_steps`."""
    mask = call.bias if call.mask is None else recipe.padded_mask(call)
    is_causal = call.is_causal
    if mask is not None and is_causal:  # `attention_steps` takes only one of the two
        causal = causal_mask(call.query.shape[-2], call.key.shape[-2])
        mask = np.where(causal, mask, -np.inf) if call.mask is None else mask & causal
        is_causal = False
    return {
        "attn_mask": mask,
        "is_causal": is_causal,
        "scale": call.scale,
        "enable_gqa": call.query.shape[1] != call.key.shape[1],
        "window": call.window,
        "softcap": call.softcap or None,
    }


def gradients(call: Call) -> dict[str, Array]:
    """Return the gradients of `sum(output * output_gradient)` by input."""
    result = attention_backward(
        output_gradient(call), call.query, call.key, call.value, **attention_options(call)
    )
    return {"query": result.query, "key": result.key, "value": result.value}


def output_gradient(call: Call) -> Array:
    """Return an upstream gradient for the output."""
    return quarters(*call.query.shape[:-1], call.value.shape[-1], start=9)


def quarters(*shape: int, start: float) -> Array:
    """Return an irregular array of multiples of 1/4 in [-2, 2]: a sine wave, rounded."""
    waves: Array = 8 * np.sin(start + 1.3 * np.arange(np.prod(shape)))
    return waves.round().reshape(shape) / 4


def sized_call(
    m: int, n: int, d_k: int, d_v: int, b: int = 1, h: int = 1, group_size: int = 1
) -> Call:
    """Return a call with these sizes; `group_size` query heads share one key head."""
    return Call(
        quarters(b, h, m, d_k, start=1),
        quarters(b, h // group_size, n, d_k, start=2),
        quarters(b, h // group_size, n, d_v, start=3),
    )


def example_call() -> Call:
    """Return the queries, keys and values of the example `distinct_sizes` as a call."""
    example = distinct_sizes.steps()
    query, key, value = (example[name][None, None] for name in "QKV")
    return Call(query, key, value, d_model=example["X_q"].shape[-1])


def with_shifted_scores(square: Call) -> Call:
    """Return a call in which the scores of each query are shifted by a constant, up to ±1000.

    The softmax is invariant to the shift, but without subtracting the row maximum the exponentials
    overflow or all become zero.
    """
    query, key = square.query.copy(), square.key.copy()
    shifts = np.resize([1024, 2048, 0, -1024, -2048], query.shape[-2])
    query[..., 0], key[..., 0] = shifts, 1
    return replace(square, query=query, key=key)


def with_huge_scores(square: Call) -> Call:
    """Return a call whose products exceed the range of float16, but whose scaled scores do not.

    The largest scaled score is about 2**15, and its product is the square root of d times as
    large. The largest number of float16 is 65504.
    """
    d = square.key.shape[-1]
    # Each key is half as long as the one before, so that the scores of a query differ.
    halving = 2.0 ** -np.arange(square.key.shape[-2])[:, None]
    query = np.full_like(square.query, 2.0**7)
    key = np.broadcast_to(2.0**8 / d**0.5 * halving, square.key.shape).round()
    return replace(square, query=query, key=key)


def visible_keys(*shape: int, start: float) -> Array:
    """Return a boolean mask that hides about half of the keys.

    A query sees its own position and the second key, so it always sees one.
    """
    wave = np.sin(start + 2.1 * np.arange(np.prod(shape))).reshape(shape)
    return (
        (wave > 0)
        | (np.arange(shape[-1]) == np.arange(shape[-2])[:, None])
        | (np.arange(shape[-1]) == 1)
    )


# Conventions for a query that sees no key.
FULLY_MASKED_ROW = (
    "nan_for_fully_masked_row",
    "mean_for_fully_masked_row",
    "unmasked_for_fully_masked_row",
)
# Conventions for a causal mask of fewer or more queries than keys.
CAUSAL_ALIGNMENTS = ("bottom_right", *FULLY_MASKED_ROW, "causal_not_for_one_query")


FORMULA = "the formula itself; cross-attention; d_v ≠ d_k"


@cache
def cases_within(limits: Limits) -> tuple[Case, ...]:
    """Return the cases of plain attention, simplest first, in sizes within the limits."""

    def sized(m: int, n: int, d_k: int, d_v: int, **sizes: int) -> Call:
        return sized_call(*limits.fit(m, n, d_k, d_v), **sizes)

    example = example_call() if limits == NO_LIMITS else sized(4, 5, 2, 3)
    return tuple(all_cases(example, sized))


def all_cases(example: Call, sized: Callable[..., Call]) -> Iterator[Case]:
    """Yield the cases; most share a shape, because JAX compiles once per shape.

    Args:
        example: the call of the first case.
        sized: takes the sizes of `sized_call`, and returns a call of the nearest sizes within the
            limits of the function.
    """
    other, square = sized(m=3, n=6, d_k=5, d_v=2), sized(m=5, n=5, d_k=5, d_v=5)
    yield Case("distinct_sizes", "formula", FORMULA, example)
    yield Case("other_sizes", "formula", "hard-coded sizes", other)
    yield Case("square", "formula", "swapped arguments, whose shapes fit here", square)
    one, more_queries = sized(m=1, n=7, d_k=4, d_v=3), sized(m=7, n=2, d_k=3, d_v=4)
    yield Case("one_query", "lengths", "a single query, as in decoding", one)
    yield Case("more_queries", "lengths", "more queries than keys", more_queries)
    for length in (17, 64, 130):
        blocks = sized(m=length, n=length + 3, d_k=4, d_v=3)
        isolates = f"about {length} keys: blocks that do not fit"
        yield Case(f"length_{length}", "lengths", isolates, blocks)
    yield from scale_cases(example, square)
    yield from causal_cases(square, other, more_queries, one, sized)
    yield from mask_cases(example, square, sized)
    yield from padding_cases(sized(m=5, n=5, d_k=3, d_v=2, b=2, h=3))
    yield from array_cases(example, sized(m=4, n=4, d_k=16, d_v=16), sized)
    yield from head_cases(sized)
    yield from window_cases(square, sized(m=5, n=8, d_k=4, d_v=3), one)
    yield from softcap_cases(example, square)
    yield from gradient_cases(example, square)


def scale_cases(example: Call, square: Call) -> Iterator[Case]:
    """Yield cases of a given scale and of large scores."""
    yield Case("scale", "scale", "an explicit scale", replace(example, scale=0.25))
    isolates = "exponentials that overflow"
    yield Case("large_scores", "large scores", isolates, with_shifted_scores(square))


def causal_cases(
    square: Call, more_keys: Call, more_queries: Call, one: Call, sized: Callable[..., Call]
) -> Iterator[Case]:
    """Yield cases of a causal mask: square, blocked, and with fewer or more queries than keys."""
    yield Case("causal", "causal", "a causal mask, m = n", replace(square, is_causal=True))
    for name, length, isolates in (
        ("causal_long", 70, "a causal mask over blocks that do not fit"),
        ("causal_blocks", 64, "a causal mask over blocks that fit"),
    ):
        blocks = replace(sized(m=length, n=length, d_k=4, d_v=3), is_causal=True)
        yield Case(name, "causal", isolates, blocks)
    for name, call, isolates in (
        ("causal_fewer_queries", more_keys, "the alignment of a causal mask, m < n"),
        ("causal_one_query", one, "the alignment of a causal mask, m = 1"),
        ("causal_more_queries", more_queries, "the alignment of a causal mask, m > n"),
    ):
        causal = replace(call, is_causal=True)
        yield Case(name, "causal", isolates, causal, conventions=CAUSAL_ALIGNMENTS)
    negative = replace(square, scale=-1.0, is_causal=True)
    isolates = "a negative scale with a causal mask"
    conventions = ("root_of_scale", "nan_for_negative_scale")
    yield Case("negative_scale", "scale", isolates, negative, conventions=conventions)


def mask_cases(example: Call, square: Call, sized: Callable[..., Call]) -> Iterator[Case]:
    """Yield cases of boolean and float masks."""
    m, n = example.query.shape[-2], example.key.shape[-2]
    mask = visible_keys(m, n, start=4)

    def masked(call: Call, mask: Array) -> Call:
        return replace(call, mask=mask)

    yield Case("boolean_mask", "mask", "the meaning of True", masked(example, mask))
    square_size = square.key.shape[-2]
    square_mask = visible_keys(square_size, square_size, start=5)
    yield Case("boolean_mask_square", "mask", "the axes of a mask", masked(square, square_mask))
    causal = causal_mask(m, n)
    yield Case("causal_mask", "mask", "a causal mask passed as an array", masked(example, causal))
    batch = sized(m=4, n=5, d_k=6, d_v=7, b=2, h=3)
    shape = (*batch.query.shape[:3], batch.key.shape[2])
    per_sequence = visible_keys(shape[0], 1, *shape[2:], start=6)
    yield Case("mask_per_sequence", "mask", "a mask per sequence", masked(batch, per_sequence))
    per_head = masked(batch, visible_keys(*shape, start=7))
    yield Case("mask_per_head", "mask", "a mask for each head", per_head)
    # One column is zero: a function that reads the mask as boolean hides that key.
    added = quarters(m, n, start=6) * (np.arange(n) != 1)
    float_mask = replace(example, bias=added)
    isolates = "a float mask that is added"
    yield Case("float_mask", "float mask", isolates, float_mask)
    both = replace(square, mask=square_mask, is_causal=True)
    yield Case("mask_and_causal", "mask and causal", "a mask combined with is_causal", both)
    causal_bias = replace(square, bias=quarters(*square_mask.shape, start=6), is_causal=True)
    isolates = "a float mask combined with is_causal"
    yield Case("float_mask_causal", "mask and causal", isolates, causal_bias)
    biased = replace(batch, bias=quarters(*shape, start=6))
    yield Case("float_mask_per_head", "float mask", "a float mask for each head", biased)
    infinite = replace(example, bias=np.where(mask, 0.0, -np.inf))
    isolates = "a float mask of zeros and -inf"
    yield Case("infinite_mask", "float mask", isolates, infinite)
    hidden_row = masked(example, mask & (np.arange(m)[:, None] != 1))
    isolates = "a query that sees no key"
    yield Case("fully_masked_row", "mask", isolates, hidden_row, conventions=FULLY_MASKED_ROW)
    short, conventions = masked(square, square_mask[:, :-1]), ("keys_after_mask_visible",)
    isolates = "a mask without a column for the last key, which it hides"
    yield Case("short_mask", "mask", isolates, short, conventions=conventions)


def padding_cases(batch: Call) -> Iterator[Case]:
    """Yield cases of padding masks, alone and combined with other masks."""
    n = batch.key.shape[-2]
    lengths = np.array([n - 2, n])  # only the first sequence has padding
    is_token = np.arange(n) < lengths[:, None]
    padded = replace(batch, mask=is_token[:, None, None, :])
    isolates, conventions = "a padding mask for each sequence", FULLY_MASKED_ROW
    yield Case("padding", "padding", isolates, padded, conventions=conventions)
    left = replace(batch, mask=is_token[:, None, None, ::-1])
    isolates = "padding before the tokens"
    yield Case("left_padding", "padding", isolates, left, conventions=conventions)
    causal, windowed = replace(padded, is_causal=True), replace(padded, window=(2, 1))
    isolates = "padding combined with a causal mask"
    yield Case("padding_causal", "mask and causal", isolates, causal)
    yield Case("padding_window", "window", "padding combined with a window", windowed)


def array_cases(example: Call, square: Call, sized: Callable[..., Call]) -> Iterator[Case]:
    """Yield cases of arrays that are strided, or of another dtype."""
    mask = visible_keys(example.query.shape[-2], example.key.shape[-2], start=4)
    isolates = "arrays not contiguous in memory"
    yield Case("not_contiguous", "strides", isolates, example, strided=True)
    batch, equal = sized(m=4, n=5, d_k=6, d_v=7, b=2, h=3), sized(m=5, n=5, d_k=5, d_v=5)
    yield Case("not_contiguous_heads", "strides", isolates, batch, strided=True)
    for dtype in ("float32", "float16", "bfloat16"):
        yield Case(dtype, dtype, f"arrays of {dtype}", example, dtype=dtype)
        masked, causal = replace(example, mask=mask), replace(equal, is_causal=True)
        yield Case(f"{dtype}_mask", dtype, f"a mask with {dtype}", masked, dtype=dtype)
        biased = replace(example, bias=quarters(*mask.shape, start=6))
        yield Case(f"{dtype}_float_mask", dtype, f"a float mask of {dtype}", biased, dtype=dtype)
        yield Case(f"{dtype}_causal", dtype, f"a causal mask with {dtype}", causal, dtype=dtype)
    isolates = "products that exceed the range of float16"
    conventions, huge = ("scaled_late",), with_huge_scores(square)
    yield Case("float16_range", "float16", isolates, huge, dtype="float16", conventions=conventions)


def head_cases(sized: Callable[..., Call]) -> Iterator[Case]:
    """Yield cases of batches and heads, and of grouped-query attention."""
    batch = sized(m=4, n=5, d_k=6, d_v=7, b=2, h=3)
    yield Case("batch_and_heads", "heads", "the axes of batch and heads", batch)
    grouped = sized(m=3, n=5, d_k=2, d_v=4, b=2, h=6, group_size=2)
    isolates = "heads that share keys (grouped-query attention)"
    yield Case("grouped_heads", "grouped heads", isolates, grouped)
    square = sized(m=5, n=5, d_k=2, d_v=4, b=2, h=6, group_size=2)
    shape = (*square.query.shape[:3], square.key.shape[2])
    per_head = visible_keys(*shape, start=7)
    padding = visible_keys(shape[0], 1, 1, shape[3], start=7)
    bias = quarters(*shape, start=6)
    for suffix, option, call in (
        ("causal", "a causal mask", replace(square, is_causal=True)),
        ("padding", "a padding mask", replace(square, mask=padding)),
        ("mask", "a mask for each head", replace(square, mask=per_head)),
        ("float_mask", "a float mask for each head", replace(square, bias=bias)),
        ("window", "a window", replace(square, window=(1, 2))),
    ):
        isolates = f"{option} with grouped heads"
        yield Case(f"grouped_heads_{suffix}", "grouped heads", isolates, call)


def window_cases(square: Call, more_keys: Call, one: Call) -> Iterator[Case]:
    """Yield cases of local windows, alone and combined with other masks."""
    for name, isolates, window in (
        ("window", "a local window", (1, 2)),
        ("window_of_one", "a query that sees its own position only", (0, 0)),
        ("window_before", "a window without a right limit", (1, None)),
        ("window_after", "a window without a left limit", (None, 1)),
        ("window_to_itself", "a window of all positions up to the query's own", (None, 0)),
        ("window_from_itself", "a window of all positions from the query's own", (0, None)),
    ):
        yield Case(name, "window", isolates, replace(square, window=window))
    causal = replace(square, window=(1, 0), is_causal=True)
    yield Case("window_causal", "window", "a window combined with a causal mask", causal)
    mask = np.arange(square.key.shape[-2]) != 1
    masked = replace(causal, window=(None, 0), mask=mask[None, :])
    isolates = "a window, a causal mask, and a mask with one row for all queries"
    yield Case("window_mask_causal", "window", isolates, masked)
    n = square.key.shape[-2]
    biased = replace(causal, window=(2, 1), bias=quarters(n, n, start=6))
    isolates = "a window, a causal mask, and a float mask"
    yield Case("window_bias_causal", "window", isolates, biased)
    biased = replace(causal, window=(0, None), bias=quarters(1, n, start=6))
    isolates = "a window, a causal mask, and a float mask with one row for all queries"
    yield Case("window_bias_row_causal", "window", isolates, biased)
    for name, call, isolates in (
        ("window_one_query", one, "a window around a single query, as in decoding"),
        ("window_fewer_queries", more_keys, "the alignment of a window, m < n"),
    ):
        windowed = replace(call, window=(1, 1))
        yield Case(name, "window", isolates, windowed, conventions=("window_bottom_right",))


def softcap_cases(example: Call, square: Call) -> Iterator[Case]:
    """Yield cases of a softcap, alone and before a mask."""
    isolates = "a softcap, which bounds the scores"
    yield Case("softcap", "softcap", isolates, replace(example, softcap=0.75))
    scaled = replace(example, softcap=0.75, scale=0.25)
    yield Case("softcap_scale", "softcap", "a softcap after an explicit scale", scaled)
    n = square.key.shape[-2]
    for name, isolates, call in (
        ("softcap_causal", "a softcap before a causal mask", replace(square, is_causal=True)),
        (
            "softcap_mask",
            "a softcap before a mask",
            replace(square, mask=visible_keys(n, n, start=5)),
        ),
        (
            "softcap_float_mask",
            "a softcap before a float mask",
            replace(square, bias=quarters(n, n, start=6)),
        ),
    ):
        yield Case(name, "softcap", isolates, replace(call, softcap=3.0))
    uncapped, conventions = replace(example, softcap=0.0), ("zero_is_a_softcap",)
    isolates = "a softcap of 0, which means none"
    yield Case("softcap_of_zero", "softcap", isolates, uncapped, conventions=conventions)


def gradient_cases(example: Call, square: Call) -> Iterator[Case]:
    """Yield cases of the gradients of query, key and value."""
    yield Case("gradients", "gradients", "the backward pass", example, gradients=True)
    causal = replace(square, is_causal=True)
    isolates = "the backward pass through a causal mask"
    yield Case("gradients_causal", "gradients", isolates, causal, gradients=True)


def layer_call(biased: bool = False, cross: bool = False) -> LayerCall:
    """Return a call of a layer with three heads of two features and a batch of two sequences."""
    key = quarters(2, 5, 6, start=5)
    weights = {letter: quarters(6, 6, start=10 + i) / 2 for i, letter in enumerate("QKVO")}
    biases = {letter: quarters(6, start=20 + i) for i, letter in enumerate("QKVO")}
    query = quarters(2, 4, 6, start=4) if cross else key
    return LayerCall(query, key, 3, weights, biases if biased else {})


@cache
def layer_cases(layer: LayerCall | None = None) -> tuple[Case, ...]:
    """Return the cases of a layer: with weights that are passed, or with its own.

    Args:
        layer: a call with the weights and sizes of a module; None for weights of ours.
    """
    if layer:
        d = layer.query.shape[-1]
        long, other = (quarters(b, n, d, start=8) for b, n in ((2, 17), (3, 4)))
        calls = {
            "layer": layer,
            "layer_with_biases": replace(layer, query=long, key=long),
            "layer_cross": replace(layer, query=other[:2]),
            "layer_causal": replace(layer, is_causal=True),
            "layer_one_position": replace(layer, query=other[:, :1], key=other[:, :1]),
        }
    else:
        calls = {
            "layer": layer_call(),
            "layer_with_biases": layer_call(biased=True),
            "layer_cross": layer_call(biased=True, cross=True),
            "layer_causal": replace(layer_call(), is_causal=True),
        }
    isolates = {
        "layer": "projections, and splitting and merging heads",
        "layer_with_biases": "biases of the projections; another length",
        "layer_cross": "cross-attention in a layer",
        "layer_causal": "a causal layer",
        "layer_one_position": "a single position",
    }
    features = {"layer_cross": "cross-attention", "layer_causal": "causal"}
    return tuple(
        Case(name, features.get(name, "layer"), isolates[name], call)
        for name, call in calls.items()
    )


CASES = {case.name: case for case in (*cases_within(NO_LIMITS), *layer_cases())}
