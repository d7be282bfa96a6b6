"""Test cases: the arguments of a call, the expected results, and the tolerance for rounding.

All numbers are multiples of 1/4, so every dtype represents them exactly.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from attention_docs.arrays import Array
from attention_docs.backward import attention_backward
from attention_docs.diagnosis.recipe import Call, LayerCall
from attention_docs.dot_product import AttentionSteps, attention_steps
from attention_docs.examples import distinct_sizes
from attention_docs.masks import causal_mask
from attention_docs.multi_head import MultiHeadAttention

# Unit roundoff: half the distance from 1 to the next larger number.
ROUNDOFF = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}


@dataclass(frozen=True, eq=False)
class Case:
    """A call that tests one aspect of attention.

    Attributes:
        name: its name, also in `--json`.
        isolates: the aspect of attention that it tests.
        call: the arguments.
        dtype: the dtype of the arrays; None for the one of the settings.
        gradients: whether the gradients are compared instead of the output.
        strided: whether the arrays are views that are not contiguous in memory.
        conventions: names of the conventions that may apply to it.
    """

    name: str
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
            return {"output": layer_output(self.call)}
        if self.gradients:
            return gradients(self.call)
        return {"output": expected_steps(self.call).output}

    @cache  # noqa: B019 -- likewise
    def tolerance(self, dtype: str) -> float:
        """Return a bound on the rounding error of a correct result.

        In any order of summation, the error of a sum of d products, and so of a score, is at most
        (d + 2) u S, where u is the unit roundoff and S the sum of their absolute values. The scale
        and the mask, whose numbers count towards S, round the score three more times. If all scores
        are off by at most e, a weight changes by at most the factor exp(2 e), and normalising
        n weights rounds n + 4 times. To first order, then, the error of the output, an average of
        values, is at most (2 (d + 5) S + n + 4) u max|V|. A layer also projects twice, which
        doubles the sums; a gradient adds up m or n such terms.
        """
        unit = ROUNDOFF.get(dtype, ROUNDOFF["float64"])
        if isinstance(self.call, LayerCall):
            return layer_tolerance(self.call, unit)
        query, key, value = (np.abs(a) for a in (self.call.query, self.call.key, self.call.value))
        n, d = key.shape[-2:]
        group_size = query.shape[1] // key.shape[1]
        scores = query @ np.repeat(key, group_size, axis=1).swapaxes(-1, -2)
        largest_sum = float(scores.max()) * max(1.0, abs(self.call.scale or d**-0.5))
        if self.call.bias is not None:
            largest_sum += float(np.abs(self.call.bias[np.isfinite(self.call.bias)]).max())
        bound = float((2 * (d + 5) * largest_sum + n + 4) * unit * value.max())
        return bound * (n + d) * float(query.max() + key.max()) if self.gradients else bound


def expected_steps(call: Call) -> AttentionSteps:
    """Return every step of attention, computed by this package in float64."""
    return attention_steps(call.query, call.key, call.value, **attention_options(call))


def attention_options(call: Call) -> dict[str, Any]:
    """Return the options of a call as keyword arguments of `attention_steps`."""
    mask = call.bias if call.mask is None else call.mask
    is_causal = call.is_causal
    if call.mask is not None and is_causal:  # `attention_steps` takes only one of the two
        mask = call.mask & causal_mask(call.query.shape[-2], call.key.shape[-2])
        is_causal = False
    return {
        "attn_mask": mask,
        "is_causal": is_causal,
        "scale": call.scale,
        "enable_gqa": call.query.shape[1] != call.key.shape[1],
        "window": call.window,
        "softcap": call.softcap,
    }


def layer_output(call: LayerCall) -> Array:
    """Return the output of this package's layer for a call."""
    matrices = {f"W_{letter}": matrix for letter, matrix in call.weights.items()}
    biases = {f"b_{letter}": bias for letter, bias in call.biases.items()}
    layer = MultiHeadAttention(**matrices, **biases, num_heads=call.heads)
    # The layer projects keys and values from the same inputs.
    output: Array = layer(call.query, call.key, call.key, is_causal=call.is_causal)
    return output


def layer_tolerance(call: LayerCall, unit: float) -> float:
    """Bound the rounding error of a layer: projection, attention, output projection."""
    width = call.query.shape[-1]
    row_sum = float(np.abs(call.key).max()) * width
    weight = max(float(np.abs(matrix).max()) for matrix in call.weights.values())
    bias = max([float(np.abs(vector).max()) for vector in call.biases.values()], default=0.0)
    projected = row_sum * weight + bias
    scores = projected**2 * width / call.heads
    return float((4 * width * scores + 2 * width) * unit * projected * weight * width)


def gradients(call: Call) -> dict[str, Array]:
    """Return the gradients of `sum(output * output_gradient)` by input."""
    result = attention_backward(
        output_gradient(call), call.query, call.key, call.value, **attention_options(call)
    )
    return {"query": result.query, "key": result.key, "value": result.value}


def with_equal_widths(case: Case) -> Case:
    """Return the case with d_v = d_k, for functions that require it."""
    call = case.call
    if isinstance(call, LayerCall) or call.value.shape[-1] == call.key.shape[-1]:
        return case
    return replace(case, call=replace(call, value=quarters(*call.key.shape, start=3)))


def output_gradient(call: Call) -> Array:
    """Return an upstream gradient for the output."""
    return quarters(*call.query.shape[:-1], call.value.shape[-1], start=9)


def quarters(*shape: int, start: float) -> Array:
    """Return multiples of 1/4 in [-2, 2] without a pattern that could hide a mistake."""
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
    """Shift the scores of each query by a constant, up to plus or minus a thousand.

    The softmax is invariant to the shift, but without subtracting the row maximum the exponentials
    overflow or all become zero.
    """
    query, key = square.query.copy(), square.key.copy()
    query[..., 0], key[..., 0] = [1024, 2048, 0, -1024, -2048], 1
    return replace(square, query=query, key=key)


def layer_call(biased: bool = False, cross: bool = False) -> LayerCall:
    """Return a call of a layer with three heads of two features and a batch of two sequences."""
    key = quarters(2, 5, 6, start=5)
    weights = {letter: quarters(6, 6, start=10 + i) / 2 for i, letter in enumerate("QKVO")}
    biases = {letter: quarters(6, start=20 + i) for i, letter in enumerate("QKVO")}
    query = quarters(2, 4, 6, start=4) if cross else key
    return LayerCall(query, key, 3, weights, biases if biased else {})


# No row or column is all True or all False, so the mask hides all keys from no query, and neither
# does its inverse or its transpose.
MASK = np.array(
    [
        [True, False, True, True, False],
        [False, True, True, False, False],
        [True, True, False, False, True],
        [False, False, False, True, True],
        [True, False, False, True, False],
    ]
)


# Each query sees its own position, so adding a causal mask hides no row fully.
MASK_WITH_DIAGONAL = MASK | np.eye(5, dtype=bool)


# Conventions for a query that sees no key.
FULLY_MASKED_ROW = (
    "nan_for_fully_masked_row",
    "mean_for_fully_masked_row",
    "unmasked_for_fully_masked_row",
)


def all_cases() -> Iterator[Case]:
    """Yield the cases, simplest first; most share a shape, because JAX compiles once per shape."""
    example = example_call()
    other, square = sized_call(m=3, n=6, d_k=5, d_v=2), sized_call(m=5, n=5, d_k=5, d_v=5)
    yield Case("distinct_sizes", "the formula itself; cross-attention; d_v ≠ d_k", example)
    yield Case("other_sizes", "hard-coded sizes", other)
    yield Case("square", "swapped arguments, whose shapes fit here", square)
    yield from scale_cases(example, square)
    yield from causal_cases(square, other)
    yield from mask_cases(example, square)
    yield from padding_cases(sized_call(m=5, n=5, d_k=3, d_v=2, b=2))
    yield from array_cases(example)
    yield from head_cases()
    yield from window_cases(square)
    yield Case("softcap", "a softcap, which bounds the scores", replace(example, softcap=0.75))
    capped = replace(square, softcap=3.0, is_causal=True)
    yield Case("softcap_causal", "a softcap before a mask", capped)
    yield Case("gradients", "the backward pass", example, gradients=True)
    yield Case(
        "gradients_causal",
        "the backward pass through a causal mask",
        replace(square, is_causal=True),
        gradients=True,
    )
    yield from layer_cases()


def scale_cases(example: Call, square: Call) -> Iterator[Case]:
    yield Case("scale", "an explicit scale", replace(example, scale=0.25))
    negative = replace(square, scale=-1.0, is_causal=True)
    isolates = "a negative scale with a causal mask"
    yield Case("negative_scale", isolates, negative, conventions=("root_of_scale",))
    yield Case("large_scores", "exponentials that overflow", with_shifted_scores(square))


def causal_cases(square: Call, fewer: Call) -> Iterator[Case]:
    yield Case("causal", "a causal mask, m = n", replace(square, is_causal=True))
    more = sized_call(m=5, n=3, d_k=4, d_v=2)
    isolates = "the alignment of a causal mask"
    yield Case(
        "causal_fewer_queries",
        f"{isolates}, m < n",
        replace(fewer, is_causal=True),
        conventions=("bottom_right",),
    )
    yield Case(
        "causal_more_queries",
        f"{isolates}, m > n",
        replace(more, is_causal=True),
        conventions=("bottom_right", *FULLY_MASKED_ROW),
    )


def mask_cases(example: Call, square: Call) -> Iterator[Case]:
    inverted = ("true_hides",)
    yield Case(
        "boolean_mask", "the meaning of True", replace(example, mask=MASK[:4]), conventions=inverted
    )
    yield Case(
        "boolean_mask_square",
        "the axes of a mask",
        replace(square, mask=MASK),
        conventions=inverted,
    )
    yield Case(
        "causal_mask",
        "a causal mask passed as an array",
        replace(example, mask=causal_mask(4, 5)),
        conventions=inverted,
    )
    # One column is zero: a function that reads the mask as boolean hides that key.
    added = quarters(4, 5, start=6) * (np.arange(5) != 1)
    yield Case(
        "float_mask",
        "a float mask that is added",
        replace(example, bias=added),
        conventions=("boolean_only",),
    )
    both = replace(square, mask=MASK_WITH_DIAGONAL, is_causal=True)
    yield Case("mask_and_causal", "a mask combined with is_causal", both)
    zeros_and_infinity = np.where(MASK[:4], 0.0, -np.inf)
    yield Case(
        "infinite_mask",
        "a float mask of zeros and -inf",
        replace(example, bias=zeros_and_infinity),
        conventions=("boolean_only",),
    )
    is_second_query = np.arange(4)[:, None] == 1
    yield Case(
        "fully_masked_row",
        "a query that sees no key",
        replace(example, mask=MASK[:4] & ~is_second_query),
        conventions=FULLY_MASKED_ROW,
    )


def padding_cases(batch: Call) -> Iterator[Case]:
    is_token = np.arange(5) < np.array([3, 5])[:, None]  # lengths 3 and 5
    padded = replace(batch, mask=is_token[:, None, None, :])
    yield Case("padding", "a padding mask for each sequence", padded, conventions=("true_hides",))
    causal, windowed = replace(padded, is_causal=True), replace(padded, window=(2, 1))
    yield Case("padding_causal", "padding combined with a causal mask", causal)
    yield Case("padding_window", "padding combined with a window", windowed)


def array_cases(example: Call) -> Iterator[Case]:
    for dtype in ("float32", "float16", "bfloat16"):
        yield Case(dtype, f"arrays of {dtype}", example, dtype=dtype)
    # The queries and keys are multiples of 1/4, the values whole numbers.
    integers = replace(
        example, query=4 * example.query, key=4 * example.key, value=2 * example.value
    )
    yield Case("integers", "arrays of integers", integers, dtype="int64")
    yield Case("not_contiguous", "arrays not contiguous in memory", example, strided=True)


def head_cases() -> Iterator[Case]:
    batch_and_heads = sized_call(m=4, n=5, d_k=6, d_v=7, b=2, h=3)
    yield Case("batch_and_heads", "the axes of batch and heads", batch_and_heads)
    grouped = sized_call(m=3, n=5, d_k=2, d_v=4, b=2, h=6, group_size=2)
    yield Case("grouped_heads", "heads that share keys (grouped-query attention)", grouped)


def window_cases(square: Call) -> Iterator[Case]:
    yield Case("window", "a local window", replace(square, window=(1, 2)))
    single = replace(square, window=(0, 0))
    yield Case("window_of_one", "a query that sees its own position only", single)
    before, after = replace(square, window=(None, 0)), replace(square, window=(0, None))
    yield Case("window_before", "a window without a left limit", before)
    yield Case("window_after", "a window without a right limit", after)


def layer_cases() -> Iterator[Case]:
    yield Case("layer", "projections, and splitting and merging heads", layer_call())
    yield Case("layer_with_biases", "biases of the projections", layer_call(biased=True))
    yield Case("layer_cross", "cross-attention in a layer", layer_call(biased=True, cross=True))
    yield Case("layer_causal", "a causal layer", replace(layer_call(), is_causal=True))


CASES = {case.name: case for case in all_cases()}
