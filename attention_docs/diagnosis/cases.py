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
        isolates: the aspect that a wrong result points at.
        call: the arguments.
        dtype: of the arrays; the widest that the library has if None.
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
        and the mask, whose numbers count towards S, round the score three more times. An error of
        at most e in all scores changes a weight by at most the factor exp(2 e), and normalising
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
        largest = float(scores.max()) * max(1.0, abs(self.call.scale or d**-0.5))
        if self.call.bias is not None:
            largest += float(np.abs(self.call.bias[np.isfinite(self.call.bias)]).max())
        bound = float((2 * (d + 5) * largest + n + 4) * unit * value.max())
        return bound * (n + d) * float(query.max() + key.max()) if self.gradients else bound


def expected_steps(call: Call) -> AttentionSteps:
    """Return every step of attention, computed by this package in float64."""
    return attention_steps(call.query, call.key, call.value, **options(call))


def options(call: Call) -> dict[str, Any]:
    """Return the options of a call as arguments of this package."""
    mask, is_causal = call.bias if call.mask is None else call.mask, call.is_causal
    if call.mask is not None and is_causal:  # the package does not combine them
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
    matrices = {f"W_{letter}": matrix for letter, matrix in call.weights.items()}
    biases = {f"b_{letter}": bias for letter, bias in call.biases.items()}
    layer = MultiHeadAttention(**matrices, **biases, num_heads=call.heads)
    output: Array = layer(call.query, call.key, call.key, is_causal=call.is_causal)
    return output


def layer_tolerance(call: LayerCall, unit: float) -> float:
    """Bound the rounding error of a layer: projection, attention, output projection."""
    width = call.query.shape[-1]
    row_sum = float(np.abs(call.key).max()) * width
    weight = max(float(np.abs(matrix).max()) for matrix in call.weights.values())
    bias = max([0.0, *(float(np.abs(b).max()) for b in call.biases.values())])
    projected = row_sum * weight + bias
    scores = projected**2 * width / call.heads
    return float((4 * width * scores + 2 * width) * unit * projected * weight * width)


def gradients(call: Call) -> dict[str, Array]:
    """Return the gradients of `sum(output * output_gradient)`."""
    result = attention_backward(
        output_gradient(call), call.query, call.key, call.value, **options(call)
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
    """Return the call of the example `distinct_sizes`."""
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


# Neither the mask nor its inverse hides all keys from a query.
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
FULLY_MASKED_ROW = ("nan_for_hidden_row", "mean_for_hidden_row", "unmasked_for_hidden_row")


def all_cases() -> Iterator[Case]:
    """Yield the cases, simplest first; most share a shape, because JAX compiles once per shape."""
    example, other, square = example_call(), sized_call(3, 6, 5, 2), sized_call(5, 5, 5, 5)
    yield Case("distinct_sizes", "the formula itself; cross-attention; d_v ≠ d_k", example)
    yield Case("other_sizes", "sizes that the code took for granted", other)
    yield Case("square", "arguments that are swapped and still fit", square)
    yield from scale_cases(example, square)
    yield from causal_cases(square, other)
    yield from mask_cases(example, square)
    yield from padding_cases(sized_call(5, 5, 3, 2, b=2))
    yield from number_cases(example)
    yield from head_cases()
    yield from window_cases(square)
    yield Case("softcap", "bounded scores", replace(example, softcap=0.75))
    capped = replace(square, softcap=3.0, is_causal=True)
    yield Case("softcap_causal", "bounded scores, then a mask", capped)
    yield Case("gradients", "the backward pass", example, gradients=True)
    yield Case(
        "gradients_causal",
        "the backward pass through a causal mask",
        replace(square, is_causal=True),
        gradients=True,
    )
    yield from layer_cases()


def scale_cases(example: Call, square: Call) -> Iterator[Case]:
    yield Case("scale", "a scale that is given", replace(example, scale=0.25))
    negative = replace(square, scale=-1.0, is_causal=True)
    isolates = "a scale below zero with a causal mask"
    yield Case("negative_scale", isolates, negative, conventions=("root_of_scale",))
    yield Case("large_scores", "exponentials that overflow", with_shifted_scores(square))


def causal_cases(square: Call, fewer: Call) -> Iterator[Case]:
    causal, aligned = replace(square, is_causal=True), ("bottom_right",)
    yield Case("causal", "a causal mask, m = n", causal)
    more = sized_call(5, 3, 4, 2)
    isolates = "the corner of a causal mask"
    yield Case(
        "causal_fewer_queries",
        f"{isolates}, m < n",
        replace(fewer, is_causal=True),
        conventions=aligned,
    )
    hidden = ("bottom_right", *FULLY_MASKED_ROW)
    yield Case(
        "causal_more_queries",
        f"{isolates}, m > n",
        replace(more, is_causal=True),
        conventions=hidden,
    )


def mask_cases(example: Call, square: Call) -> Iterator[Case]:
    inverted = ("true_hides",)
    yield Case(
        "boolean_mask", "what True means", replace(example, mask=MASK[:4]), conventions=inverted
    )
    yield Case(
        "boolean_mask_square",
        "the axes of a mask",
        replace(square, mask=MASK),
        conventions=inverted,
    )
    yield Case(
        "causal_mask",
        "a causal mask that is passed",
        replace(example, mask=causal_mask(4, 5)),
        conventions=inverted,
    )
    added = quarters(4, 5, start=6) * (np.arange(5) != 1)
    yield Case(
        "float_mask",
        "numbers that are added",
        replace(example, bias=added),
        conventions=("boolean_only",),
    )
    both = replace(square, mask=MASK_WITH_DIAGONAL, is_causal=True)
    yield Case("mask_and_causal", "a mask beside a causal one", both)
    infinite = np.where(MASK[:4], 0.0, -np.inf)
    yield Case(
        "infinite_mask",
        "a float mask that hides",
        replace(example, bias=infinite),
        conventions=("boolean_only",),
    )
    hidden = MASK[:4] & (np.arange(4) != 1)[:, None]
    yield Case(
        "fully_masked_row",
        "a query that sees no key",
        replace(example, mask=hidden),
        conventions=FULLY_MASKED_ROW,
    )


def padding_cases(batch: Call) -> Iterator[Case]:
    is_token = np.arange(5) < np.array([3, 5])[:, None]  # lengths 3 and 5
    padded = replace(batch, mask=is_token[:, None, None, :])
    inverted = ("true_hides",)
    yield Case("padding", "a mask for each sequence", padded, conventions=inverted)
    causal, windowed = replace(padded, is_causal=True), replace(padded, window=(2, 1))
    yield Case("padding_causal", "padding beside a causal mask", causal)
    yield Case("padding_window", "padding beside a window", windowed)


def number_cases(example: Call) -> Iterator[Case]:
    for dtype in ("float32", "float16", "bfloat16"):
        yield Case(dtype, f"numbers of {dtype}", example, dtype=dtype)
    integers = replace(
        example, query=4 * example.query, key=4 * example.key, value=2 * example.value, scale=None
    )
    yield Case("integers", "whole numbers", integers, dtype="int64")
    yield Case("not_contiguous", "views of other arrays", example, strided=True)


def head_cases() -> Iterator[Case]:
    yield Case("batch_and_heads", "axes of batch and heads", sized_call(4, 5, 6, 7, b=2, h=3))
    yield Case(
        "grouped_heads", "heads that share keys", sized_call(3, 5, 2, 4, b=2, h=6, group_size=2)
    )


def window_cases(square: Call) -> Iterator[Case]:
    yield Case("window", "how far a query sees", replace(square, window=(1, 2)))
    single = replace(square, window=(0, 0))
    yield Case("window_of_one", "a query that sees its own position only", single)
    before, after = replace(square, window=(None, 0)), replace(square, window=(0, None))
    yield Case("window_before", "a window without a left limit", before)
    yield Case("window_after", "a window without a right limit", after)


def layer_cases() -> Iterator[Case]:
    yield Case("layer", "projections, and splitting and merging heads", layer_call())
    yield Case("layer_with_biases", "biases", layer_call(biased=True))
    yield Case("layer_cross", "cross-attention in a layer", layer_call(biased=True, cross=True))
    yield Case("layer_causal", "a causal layer", replace(layer_call(), is_causal=True))


CASES = {case.name: case for case in all_cases()}
