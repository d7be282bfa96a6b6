"""What the reader's function is called with, what is right there, and how near is near enough.

All numbers are multiples of a quarter, so every dtype holds them exactly.
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

# The unit roundoff: half the distance from 1 to the next larger number.
ROUNDOFF = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}


@dataclass(frozen=True, eq=False)
class Case:
    """One call that isolates one thing.

    Attributes:
        name: what it is called, also in `--json`.
        isolates: what a difference here points at.
        call: the arguments.
        dtype: of the arrays; the widest that the library has if left out.
        gradients: whether the gradients are compared in place of the output.
        strided: whether the arrays are views that are not contiguous in memory.
        conventions: names of the conventions that may differ here on purpose.
    """

    name: str
    isolates: str
    call: Call | LayerCall
    dtype: str | None = None
    gradients: bool = False
    strided: bool = False
    conventions: tuple[str, ...] = ()

    @cache  # noqa: B019 -- there are few cases, and they are kept for good
    def right(self) -> dict[str, Array]:
        """Return the right result by name: the output, or the gradient of each input."""
        if isinstance(self.call, LayerCall):
            return {"output": layer_output(self.call)}
        if self.gradients:
            return gradients(self.call)
        return {"output": steps(self.call).output}

    @cache  # noqa: B019 -- likewise
    def tolerance(self, dtype: str) -> float:
        """Return how far a right result may be from the exact one.

        A sum of d products is off by at most (d + 2) u times the sum S of their sizes, where u is
        the unit roundoff, in any order of summation, and so is each score; the scale and the mask,
        whose numbers count among S, round it three times more. An error e of all scores changes a
        weight by at most the factor exp(2 e), and the n weights that are added up round n + 4
        times. So to first order the output, an average of values, is off by at most
        (2 (d + 5) S + n + 4) u max|V|. A layer projects twice, so it has twice the sums; a
        gradient adds up m or n such terms.
        """
        unit = ROUNDOFF.get(dtype, ROUNDOFF["float64"])
        if isinstance(self.call, LayerCall):
            return layer_tolerance(self.call, unit)
        query, key, value = (np.abs(a) for a in (self.call.query, self.call.key, self.call.value))
        n, d = key.shape[-2:]
        times = query.shape[1] // key.shape[1]
        scores = query @ np.repeat(key, times, axis=1).swapaxes(-1, -2)
        largest = float(scores.max()) * max(1.0, abs(self.call.scale or d**-0.5))
        if self.call.bias is not None:
            largest += float(np.abs(self.call.bias[np.isfinite(self.call.bias)]).max())
        bound = float((2 * (d + 5) * largest + n + 4) * unit * value.max())
        return bound * (n + d) * float(query.max() + key.max()) if self.gradients else bound


def steps(call: Call) -> AttentionSteps:
    """Return every step of the right answer, computed by this package in float64."""
    return attention_steps(call.query, call.key, call.value, **options(call))


def options(call: Call) -> dict[str, Any]:
    """Return the options of a call as this package takes them."""
    mask, is_causal = call.bias if call.mask is None else call.mask, call.is_causal
    if call.mask is not None and is_causal:  # of which one call takes either
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
    """Bound the rounding of a layer: projections of d sums, attention, and a projection again."""
    width = call.query.shape[-1]
    rows = float(np.abs(call.key).max()) * width
    largest = max(float(np.abs(matrix).max()) for matrix in call.weights.values())
    projected = rows * largest + max([0.0, *(float(np.abs(b).max()) for b in call.biases.values())])
    scores = projected**2 * width / call.heads
    return float((4 * width * scores + 2 * width) * unit * projected * largest * width)


def gradients(call: Call) -> dict[str, Array]:
    """Return the gradients of the sum of output times `output_gradient`."""
    by = attention_backward(
        output_gradient(call), call.query, call.key, call.value, **options(call)
    )
    return {"query": by.query, "key": by.key, "value": by.value}


def with_equal_widths(case: Case) -> Case:
    """Return the case with values that are as wide as keys, for functions that take no others."""
    call = case.call
    if isinstance(call, LayerCall) or call.value.shape[-1] == call.key.shape[-1]:
        return case
    return replace(case, call=replace(call, value=numbers(*call.key.shape, start=3)))


def output_gradient(call: Call) -> Array:
    """Return what arrives at the output in the backward pass, of any size and sign."""
    return numbers(*call.query.shape[:-1], call.value.shape[-1], start=9)


def numbers(*shape: int, start: float) -> Array:
    """Return multiples of a quarter between -2 and 2, in no pattern that a mistake could share."""
    waves: Array = 8 * np.sin(start + 1.3 * np.arange(np.prod(shape)))
    return waves.round().reshape(shape) / 4


def arrays(m: int, n: int, d_k: int, d_v: int, b: int = 1, h: int = 1, shared: int = 1) -> Call:
    """Return queries, keys and values of these sizes; `shared` query heads have one key head."""
    return Call(
        numbers(b, h, m, d_k, start=1),
        numbers(b, h // shared, n, d_k, start=2),
        numbers(b, h // shared, n, d_v, start=3),
    )


def from_example() -> Call:
    """Return the example in which all sizes are distinct."""
    example = distinct_sizes.steps()
    query, key, value = (example[name][None, None] for name in "QKV")
    return Call(query, key, value, d_model=example["X_q"].shape[-1])


def with_shifted_scores(square: Call) -> Call:
    """Return scores near a thousand for the first queries and near minus a thousand for the others.

    The first feature shifts each row of scores by a number of its own. A softmax does not depend on
    it, but an exponential without the row maximum overflows, or every one of them becomes zero.
    """
    query, key = square.query.copy(), square.key.copy()
    query[..., 0], key[..., 0] = [1024, 2048, 0, -1024, -2048], 1
    return replace(square, query=query, key=key)


def layer_call(biased: bool = False, cross: bool = False) -> LayerCall:
    """Return a layer of three heads of two features; the rows are a batch of two sequences."""
    key = numbers(2, 5, 6, start=5)
    weights = {letter: numbers(6, 6, start=10 + i) / 2 for i, letter in enumerate("QKVO")}
    biases = {letter: numbers(6, start=20 + i) for i, letter in enumerate("QKVO")}
    query = numbers(2, 4, 6, start=4) if cross else key
    return LayerCall(query, key, 3, weights, biases if biased else {})


# Neither it nor its opposite hides all keys from a query.
PATTERN = np.array(
    [
        [True, False, True, True, False],
        [False, True, True, False, False],
        [True, True, False, False, True],
        [False, False, False, True, True],
        [True, False, False, True, False],
    ]
)


# Each query sees its own position, so a causal mask beside it hides nobody's last key.
SEEN_BEFORE = PATTERN | np.eye(5, dtype=bool)


# What others give for a query that sees no key.
HIDDEN_ROW = ("nan_for_hidden_row", "mean_for_hidden_row", "unmasked_for_hidden_row")


def all_cases() -> Iterator[Case]:
    """Yield the cases, the plainest first; most share a shape, because JAX compiles for each."""
    example, other, square = from_example(), arrays(3, 6, 5, 2), arrays(5, 5, 5, 5)
    yield Case("distinct_sizes", "the formula itself; cross-attention; d_v ≠ d_k", example)
    yield Case("other_sizes", "sizes that the code took for granted", other)
    yield Case("square", "arguments that are swapped and still fit", square)
    yield from scale_cases(example, square)
    yield from causal_cases(square, other)
    yield from mask_cases(example, square)
    yield from padding_cases(arrays(5, 5, 3, 2, b=2))
    yield from number_cases(example)
    yield from head_cases()
    yield from window_cases(square)
    yield Case("softcap", "bounded scores", replace(example, softcap=0.75))
    capped = replace(square, softcap=3.0, is_causal=True)
    yield Case("softcap_causal", "bounded, then masked", capped)
    yield Case("gradients", "the way back", example, gradients=True)
    yield Case(
        "gradients_causal",
        "the way back through a mask",
        replace(square, is_causal=True),
        gradients=True,
    )
    yield from layer_cases()


def scale_cases(example: Call, square: Call) -> Iterator[Case]:
    yield Case("scale", "a scale that is given", replace(example, scale=0.25))
    negative = replace(square, scale=-1.0, is_causal=True)
    words = "a scale below zero with a causal mask"
    yield Case("negative_scale", words, negative, conventions=("root_of_scale",))
    yield Case("large_scores", "exponentials that overflow", with_shifted_scores(square))


def causal_cases(square: Call, fewer: Call) -> Iterator[Case]:
    causal, aligned = replace(square, is_causal=True), ("bottom_right",)
    yield Case("causal", "a causal mask, m = n", causal)
    more = arrays(5, 3, 4, 2)
    words = "the corner of a causal mask"
    yield Case(
        "causal_fewer_queries",
        f"{words}, m < n",
        replace(fewer, is_causal=True),
        conventions=aligned,
    )
    hidden = ("bottom_right", *HIDDEN_ROW)
    yield Case(
        "causal_more_queries", f"{words}, m > n", replace(more, is_causal=True), conventions=hidden
    )


def mask_cases(example: Call, square: Call) -> Iterator[Case]:
    flipped = ("true_hides",)
    yield Case(
        "boolean_mask", "what True means", replace(example, mask=PATTERN[:4]), conventions=flipped
    )
    yield Case(
        "boolean_mask_square",
        "the axes of a mask",
        replace(square, mask=PATTERN),
        conventions=flipped,
    )
    yield Case(
        "causal_mask",
        "a causal mask that is passed",
        replace(example, mask=causal_mask(4, 5)),
        conventions=flipped,
    )
    added = numbers(4, 5, start=6) * (np.arange(5) != 1)
    yield Case(
        "float_mask",
        "numbers that are added",
        replace(example, bias=added),
        conventions=("boolean_only",),
    )
    both = replace(square, mask=SEEN_BEFORE, is_causal=True)
    yield Case("mask_and_causal", "a mask beside a causal one", both)
    infinite = np.where(PATTERN[:4], 0.0, -np.inf)
    yield Case(
        "infinite_mask",
        "a float mask that hides",
        replace(example, bias=infinite),
        conventions=("boolean_only",),
    )
    hidden = PATTERN[:4] & (np.arange(4) != 1)[:, None]
    yield Case(
        "fully_masked_row",
        "a query that sees no key",
        replace(example, mask=hidden),
        conventions=HIDDEN_ROW,
    )


def padding_cases(batch: Call) -> Iterator[Case]:
    seen = np.arange(5) < np.array([3, 5])[:, None]  # the first sequence has three positions
    padded = replace(batch, mask=seen[:, None, None, :])
    flipped = ("true_hides",)
    yield Case("padding", "a mask for each sequence", padded, conventions=flipped)
    causal, windowed = replace(padded, is_causal=True), replace(padded, window=(2, 1))
    yield Case("padding_causal", "padding beside a causal mask", causal)
    yield Case("padding_window", "padding beside a window", windowed)


def number_cases(example: Call) -> Iterator[Case]:
    for dtype in ("float32", "float16", "bfloat16"):
        yield Case(dtype, f"numbers of {dtype}", example, dtype=dtype)
    whole = replace(example, query=4 * example.query, key=4 * example.key, scale=None)
    yield Case("integers", "whole numbers", replace(whole, value=2 * whole.value), dtype="int64")
    yield Case("not_contiguous", "views of other arrays", example, strided=True)


def head_cases() -> Iterator[Case]:
    yield Case("batch_and_heads", "axes of batch and heads", arrays(4, 5, 6, 7, b=2, h=3))
    yield Case("grouped_heads", "heads that share keys", arrays(3, 5, 2, 4, b=2, h=6, shared=2))


def window_cases(square: Call) -> Iterator[Case]:
    yield Case("window", "how far a query sees", replace(square, window=(1, 2)))
    own = replace(square, window=(0, 0))
    yield Case("window_of_one", "a query that sees its own position only", own)
    before, after = replace(square, window=(None, 0)), replace(square, window=(0, None))
    yield Case("window_before", "a window that is open to all before", before)
    yield Case("window_after", "a window that is open to all after", after)


def layer_cases() -> Iterator[Case]:
    yield Case("layer", "weights, and heads split and merged", layer_call())
    yield Case("layer_with_biases", "biases", layer_call(biased=True))
    yield Case("layer_cross", "a layer on two sequences", layer_call(biased=True, cross=True))
    yield Case("layer_causal", "a causal layer", replace(layer_call(), is_causal=True))


CASES = {case.name: case for case in all_cases()}
