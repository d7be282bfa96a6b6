"""Test cases: the arguments of a call, the expected results, and the tolerance for rounding.

All numbers are multiples of 1/64 with few bits, so every dtype represents them exactly. `cases.csv`
has the texts.
"""

import math
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np

from attention_check import recipe, tables
from attention_check.recipe import Array, Call, LayerCall

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
        call: a Call, a LayerCall or a PositionCall.
        feature: the feature of the function that it tests, for `--require` and `--skip`.
        conventions: names of the conventions that may apply to it.
    """

    name: str
    feature: str
    aspect: str
    call: Any
    conventions: tuple[str, ...] = ()

    @property
    def dtype(self) -> str | None:
        """The dtype of the arrays; None for the one of the settings."""
        return self.feature if self.feature in SIGNIFICAND_BITS else None

    @property
    def compares_gradients(self) -> bool:
        return self.feature == "gradients"

    @property
    def is_strided(self) -> bool:
        """Whether the arrays are views that are not contiguous in memory."""
        return self.feature == "strides" or self.name == "gradients_strides"

    @cache  # noqa: B019 -- the few cases live as long as the program
    def expected(self) -> dict[str, Array]:
        """Return the expected results by name: the output, or the gradient of each input."""
        if isinstance(self.call, LayerCall):
            if self.compares_gradients:
                upstream = output_gradient(self.call)
                return {"input": recipe.directional_derivatives(self.call, upstream)}
            return {"output": recipe.attend_in_heads(self.call)}
        if self.compares_gradients:
            return recipe.gradients(self.call, output_gradient(self.call))
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
        if dtype == "float64":  # whose exponential may be less exact than that of NumPy
            error *= 8
            if isinstance(self.call, Call):  # or may be taken of a score minus a logarithm
                scores = recipe.masked_scores(recipe.share_heads(self.call))
                largest_score = float(np.abs(scores[np.isfinite(scores)]).max(initial=0))
                error += largest_score * unit_in_last_place * 2.0**-29
        if self.compares_gradients:
            # A gradient adds products with the keys, over n positions or d_k features.
            error *= sum(self.call.key.shape[-2:]) * float(np.abs(self.call.key).max())
            if isinstance(self.call, LayerCall):  # whose gradients are differences
                error = max(error, 1e-5 * float(np.abs(self.expected()["input"]).max()))
        return error


def output_gradient(call: Call | LayerCall) -> Array:
    """Return an irregular array of the output's shape, as the gradient that reaches the output.

    It is zero where a query sees no key, whatever its output is there.
    """
    if isinstance(call, LayerCall):
        width = call.weights["O" if "O" in call.weights else "V"].shape[1]
        return irregular_array(*call.query.shape[:-1], width, start=9)
    upstream = irregular_array(*call.query.shape[:-1], call.value.shape[-1], start=9)
    sees_a_key = np.isfinite(recipe.masked_scores(recipe.share_heads(call))).any(axis=-1)
    return np.where(sees_a_key[..., None], upstream, 0.0)


def irregular_array(*shape: int, start: float) -> Array:
    """Return multiples of 1/4 in [-2, 2], exact in every dtype: a rounded sine from a phase."""
    wave: Array = 8 * np.sin(start + 1.3 * np.arange(np.prod(shape)))
    return wave.round().reshape(shape) / 4


# Four queries of two features on five keys with values of three, in which no size is another one.
QUERY = [[2, -1], [-1.25, 1.75], [1.5, 1.75], [1, 0.25]]
KEY = [[-0.25, 0.25], [2, -0.5], [1.75, 2.5], [0.25, 0.25], [-0.5, 1.75]]
VALUE = [[0, 4, 1], [0, 6, -2], [6, 0, 6], [-4, 2, -1], [2, -6, 5]]


def example_call() -> Call:
    """Return the call whose sizes all differ; its tokens have six features."""
    query, key, value = (np.array([[rows]], dtype=float) for rows in (QUERY, KEY, VALUE))
    return Call(query, key, value, d_model=6)


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


def with_growing_keys(call: Call) -> Call:
    """Return a call whose keys grow by a sixteenth in each eighth of the length.

    Each block of keys that is merged into the earlier ones then has a new maximum.
    """
    n = call.key.shape[-2]
    return replace(call, key=call.key * (1 + (8 * np.arange(n) // n)[:, None] / 16))


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
# Conventions that may apply, by the names of cases.
CONVENTIONS_OF_CASES = {
    **dict.fromkeys(
        ("causal_fewer_queries", "causal_one_query", "causal_more_queries"),
        ("bottom_right", *FULLY_MASKED_ROW, "causal_not_for_one_query"),
    ),
    **dict.fromkeys(("fully_masked_row", "padding", "left_padding"), FULLY_MASKED_ROW),
    **dict.fromkeys(("layer_mask", "layer_padding", "layer_padding_causal"), FULLY_MASKED_ROW),
    **dict.fromkeys(("window_one_query", "window_fewer_queries"), ("window_bottom_right",)),
    "negative_scale": ("root_of_scale", "nan_for_negative_scale"),
    "short_mask": ("keys_after_mask_visible",),
    "float16_range": ("scaled_late",),
    "softcap_of_zero": ("zero_is_a_softcap",),
}


def cases_of(calls: dict[str, Any]) -> tuple[Case, ...]:
    """Return the cases of calls by their names, in the order of the table."""
    return tuple(
        Case(call=calls[name], conventions=CONVENTIONS_OF_CASES.get(name, ()), **row)
        for row in tables.rows_of("cases.csv")
        if (name := row["name"]) in calls
    )


def sized_call(
    limits: Limits, m: int, n: int, d_k: int, d_v: int, b: int = 1, h: int = 1, group_size: int = 1
) -> Call:
    """Return a call with m queries and n keys, or the nearest sizes within the limits.

    Lengths and widths are rounded up. `group_size` query heads share one key head.
    """
    m, n = limits.round_length(m), limits.round_length(n)
    if limits.equal_lengths:
        m = n = max(m, n)
    d_k = limits.round_width(d_k)
    d_v = d_k if limits.equal_widths else limits.round_width(d_v)
    return Call(
        irregular_array(b, h, m, d_k, start=1),
        irregular_array(b, h // group_size, n, d_k, start=2),
        irregular_array(b, h // group_size, n, d_v, start=3),
    )


@cache
def cases_within(limits: Limits) -> tuple[Case, ...]:
    """Return the cases of plain attention, simplest first, in sizes within the limits.

    Most of them share a shape, because JAX compiles once per shape.
    """
    make_call = partial(sized_call, limits)
    example = example_call() if limits == NO_LIMITS else make_call(m=4, n=5, d_k=2, d_v=3)
    square = make_call(m=5, n=5, d_k=5, d_v=5)
    more_keys = make_call(m=3, n=6, d_k=5, d_v=2)
    more_queries = make_call(m=7, n=2, d_k=3, d_v=4)
    one_query = make_call(m=1, n=7, d_k=4, d_v=3)
    causal_blocks = make_causal(make_call(m=64, n=64, d_k=4, d_v=3))
    batch = make_call(m=4, n=5, d_k=6, d_v=7, b=2, h=3)
    grouped = make_call(m=5, n=5, d_k=2, d_v=4, b=2, h=6, group_size=2)
    differentiated = make_call(m=3, n=4, d_k=3, d_v=2, b=2, h=2)
    return cases_of(
        {
            "distinct_sizes": example,
            "other_sizes": more_keys,
            "square": square,
            "one_query": one_query,
            "more_queries": more_queries,
            # So many keys that blocks of keys do not fit.
            "length_17": make_call(m=17, n=20, d_k=4, d_v=3),
            "length_130": with_growing_keys(make_call(m=130, n=133, d_k=4, d_v=3)),
            "scale": replace(example, scale=0.25),
            "large_scores": with_shifted_scores(square),
            "causal": make_causal(square),
            "causal_blocks": causal_blocks,
            "large_scores_causal": with_shifted_scores(causal_blocks),
            "causal_fewer_queries": make_causal(more_keys),
            "causal_one_query": make_causal(one_query),
            "causal_more_queries": make_causal(more_queries),
            "negative_scale": replace(make_causal(square), scale=-1.0),
            "not_contiguous": example,
            "not_contiguous_heads": batch,
            "batch_and_heads": batch,
            "three_axes": make_call(m=4, n=5, d_k=6, d_v=7, b=2),
            "three_axes_causal": make_causal(make_call(m=5, n=5, d_k=6, d_v=7, b=2)),
            "grouped_heads": grouped,
            "window_one_query": replace(one_query, window=(1, 1)),
            "window_fewer_queries": replace(more_keys, window=(1, 1)),
            "gradients": differentiated,
            "gradients_causal": make_causal(make_call(m=4, n=4, d_k=3, d_v=3, b=2, h=2)),
            "gradients_mask": with_mask(differentiated, start=4),
            "gradients_softcap": replace(differentiated, softcap=2.0),
            "gradients_hidden_row": with_hidden_row(differentiated),
            "gradients_grouped": make_call(m=3, n=4, d_k=3, d_v=2, b=1, h=4, group_size=2),
            "gradients_strides": differentiated,
            **{
                f"width_{width}": make_call(m=6, n=7, d_k=width, d_v=width, h=heads)
                for width, heads in ((64, 12), (128, 1))
                if limits.round_width(width) in (limits.widths or (width,))
            },
            "length_600": with_growing_keys(make_call(m=2, n=600, d_k=4, d_v=3)),
            "causal_520": make_causal(make_call(m=520, n=520, d_k=4, d_v=3)),
            "float16_range": with_huge_scores(make_call(m=4, n=4, d_k=16, d_v=16)),
        }
        | mask_calls(example, square, batch)
        | padding_calls(make_call(m=5, n=5, d_k=3, d_v=2, b=2, h=3))
        | option_calls(example, square, grouped)
    )


def mask_calls(example: Call, square: Call, batch: Call) -> dict[str, Call]:
    """Return calls with masks and float masks by the names of their cases."""
    shape = score_shape(example)[-2:]
    b, h, m, n = score_shape(batch)
    masked_square = with_mask(square, start=5)
    assert masked_square.mask is not None
    mask = irregular_mask(*shape, start=4)
    bias = irregular_array(*shape, start=6)
    bias[:, 1] = 0.0  # a function that reads the mask as boolean hides this key
    in_each_dtype = {
        "": example,
        "_mask": with_mask(example, start=4),
        "_float_mask": with_bias(example, start=6),
        "_causal": make_causal(square),
    }
    return {
        "boolean_mask": with_mask(example, start=4),
        "boolean_mask_square": masked_square,
        "causal_mask": replace(example, mask=np.tri(*shape, dtype=bool)),
        "mask_per_sequence": replace(batch, mask=irregular_mask(b, 1, m, n, start=6)),
        "mask_per_head": replace(batch, mask=irregular_mask(b, h, m, n, start=7)),
        "float_mask": replace(example, bias=bias),
        "mask_and_causal": make_causal(masked_square),
        "float_mask_causal": make_causal(with_bias(square, start=6)),
        "float_mask_per_head": replace(batch, bias=irregular_array(b, h, m, n, start=6)),
        "infinite_mask": replace(example, bias=np.where(mask, 0.0, -np.inf)),
        "fully_masked_row": with_hidden_row(example),
        "short_mask": replace(square, mask=masked_square.mask[:, :-1]),
        **{
            f"{dtype}{suffix}": call
            for dtype in ("float32", "float16", "bfloat16")
            for suffix, call in in_each_dtype.items()
        },
    }


def with_hidden_row(call: Call) -> Call:
    """Return the call with an irregular mask in which the second query sees no key."""
    mask = irregular_mask(*score_shape(call)[-2:], start=4)
    mask[1] = False
    return replace(call, mask=mask)


def padding_calls(batch: Call) -> dict[str, Call]:
    n = batch.key.shape[-2]
    lengths = np.array([n - 2, n])  # only the first sequence has padding
    is_token = np.arange(n) < lengths[:, None]
    padded = replace(batch, mask=is_token[:, None, None, :])
    return {
        "padding": padded,
        "padding_again": replace(padded, mask=is_token[::-1, None, None, :]),
        "left_padding": replace(batch, mask=is_token[:, None, None, ::-1]),
        "padding_causal": make_causal(padded),
        "padding_window": replace(padded, window=(2, 1)),
    }


def option_calls(example: Call, square: Call, grouped: Call) -> dict[str, Call]:
    """Return calls with grouped heads, windows and softcaps by the names of their cases.

    A window is the number of positions before and after its own that a query sees.
    """
    b, h, m, n = score_shape(grouped)
    causal = make_causal(square)
    mask_row = np.arange(square.key.shape[-2])[None, :] != 1
    bias_row = irregular_array(1, square.key.shape[-2], start=6)
    softcapped = replace(example, softcap=0.75)
    softcapped_square = replace(square, softcap=3.0)
    return {
        "grouped_heads_causal": make_causal(grouped),
        "grouped_heads_padding": replace(grouped, mask=irregular_mask(b, 1, 1, n, start=7)),
        "grouped_heads_mask": replace(grouped, mask=irregular_mask(b, h, m, n, start=7)),
        "window": replace(square, window=(1, 2)),
        "window_of_one": replace(square, window=(0, 0)),
        "window_before": replace(square, window=(1, None)),
        "window_after": replace(square, window=(None, 1)),
        "window_to_itself": replace(square, window=(None, 0)),
        "window_from_itself": replace(square, window=(0, None)),
        "window_causal": replace(causal, window=(1, 0)),
        "window_mask_causal": replace(causal, window=(None, 0), mask=mask_row),
        "window_bias_causal": replace(with_bias(causal, start=6), window=(2, 1)),
        "window_bias_row_causal": replace(causal, window=(0, None), bias=bias_row),
        "softcap": softcapped,
        "softcap_scale": replace(softcapped, scale=0.25),
        "softcap_causal": make_causal(softcapped_square),
        "softcap_mask": with_mask(softcapped_square, start=5),
        "softcap_float_mask": with_bias(softcapped_square, start=6),
        "softcap_of_zero": replace(example, softcap=0.0),
    }


def layer_call(has_biases: bool = False, is_cross_attention: bool = False) -> LayerCall:
    """Return a call of a layer with three heads of two features, on two sequences."""
    d_model = 6
    weights = {
        letter: irregular_array(d_model, d_model, start=10 + i) / 2
        for i, letter in enumerate("QKVO")
    }
    biases = {letter: irregular_array(d_model, start=20 + i) for i, letter in enumerate("QKVO")}
    key = irregular_array(2, 5, d_model, start=5)
    query = irregular_array(2, 4, d_model, start=4) if is_cross_attention else key
    return LayerCall(query, key, 3, weights, biases if has_biases else {})


def merged_call() -> LayerCall:
    """Return a call of attention that splits (b, n, h d) queries, keys and values into heads."""
    query, key, value = (irregular_array(2, 5, 12, start=start) for start in (5, 6, 7))
    return LayerCall(query, key, 3, dict.fromkeys("QKV", np.eye(12)), value=value)


@cache
def layer_cases(layer: LayerCall | None = None) -> tuple[Case, ...]:
    """Return the cases of a layer: with weights of ours that are passed, or with its own."""
    calls: dict[str, LayerCall]
    if layer is None:
        layer = layer_call()
        calls = {
            "layer_with_biases": layer_call(has_biases=True),
            "layer_cross": layer_call(has_biases=True, is_cross_attention=True),
            "layer_rotated": replace(layer, rotation=irregular_array(8, 2, start=4)),
        }
    else:
        d_model = layer.query.shape[-1]
        other_inputs = irregular_array(3, 4, d_model, start=8)
        # A norm of inputs may leave out those of the keys.
        calls = (
            {} if "x" in layer.norms else {"layer_cross": replace(layer, query=other_inputs[:2])}
        )
        if layer.value is not None:
            one = {name: getattr(layer, name)[:, :1] for name in ("query", "key", "value")}
            calls["layer_one_position"] = replace(layer, **one)
        if layer.query is layer.key:
            long_inputs = irregular_array(2, 17, d_model, start=8)
            one_position = other_inputs[:, :1]
            calls |= {
                "layer_with_biases": replace(layer, query=long_inputs, key=long_inputs),
                "layer_one_position": replace(layer, query=one_position, key=one_position),
            }
    b, m, _ = layer.query.shape
    n = layer.key.shape[1]
    padding = (np.arange(n) < np.array([n - 2, n])[:, None])[:, None, None, :]
    masked = replace(layer, mask=irregular_mask(b, 1, m, n, start=6))
    padded = replace(layer, mask=padding)
    calls |= {
        "layer": layer,
        "layer_causal": replace(layer, is_causal=True),
        "layer_mask": masked,
        "layer_padding": padded,
        "layer_padding_again": replace(padded, mask=padding[::-1]),
        "layer_padding_causal": replace(padded, is_causal=True),
        "layer_float32": layer,
        **{
            f"layer_{dtype}": recipe.with_rounded_parameters(layer, SIGNIFICAND_BITS[dtype])
            for dtype in ("float16", "bfloat16")
        },
    }
    if layer.query is layer.key:
        calls |= {"layer_gradients": layer, "layer_gradients_padding": padded}
    return cases_of(calls)


CASES = {case.name: case for case in (*cases_within(NO_LIMITS), *layer_cases())}
