"""Choose a method from shapes, options and bounds, before any score is computed."""

import math
from collections.abc import Callable
from enum import Enum

from attention_docs.arrays import Array, ignoring_overflow, largest_float
from attention_docs.inputs import Inputs
from attention_docs.kernels import blockwise
from attention_docs.kernels.bounds import UNBOUNDED, Bounds, measure_bounds

# A head with at most this many scores is faster without blocks. With grouped queries it must be
# smaller, because the formula copies keys and values.
MAX_SCORES_AT_ONCE = 128 * 128
MAX_GROUPED_SCORES_AT_ONCE = 1024
LOG2_E = math.log2(math.e)
# How far below the largest float a bound must stay, because rounding can raise what it bounds.
ROUNDING_FACTOR = 4.0
ROUNDING_POWERS = 4  # the same for an exponent of two

# The gradients with respect to query, key, value and a float mask, if there is one.
Gradients = tuple[Array, Array, Array, Array | None]


class Method(Enum):
    """How an output is computed.

    Attributes:
        FORMULA: all scores at once. Used where blocks are unsupported or slower, and where a score
            could overflow, because only the formula checks every score.
        BOUNDED: in blocks, with exponentials of the scores themselves, because none can overflow.
        ONLINE: in blocks, with exponentials shifted by the largest score so far.
    """

    FORMULA = "formula"
    BOUNDED = "bounded"
    ONLINE = "online"


def attend(inputs: Inputs, formula: Callable[[Inputs], Array]) -> Array:
    """Return the (..., m, d_v) output, by the formula where blocks are not used."""
    method = select_method(inputs, check_and_measure(inputs))
    if method is Method.FORMULA:
        return formula(inputs)
    is_bounded = method is Method.BOUNDED
    weight_blocks = blockwise.bounded_weights if is_bounded else blockwise.online_weights
    return blockwise.attend(inputs, weight_blocks)


def differentiate(
    inputs: Inputs, grad_output: Array, formula: Callable[[Inputs], Gradients]
) -> Gradients:
    """Return the gradients from that of the (..., m, d_v) output, likewise."""
    if select_method(inputs, check_and_measure(inputs)) is Method.FORMULA:
        return formula(inputs)
    with ignoring_overflow():
        return blockwise.differentiate(inputs, grad_output)


def check_and_measure(inputs: Inputs) -> Bounds:
    """Check that the inputs are finite, and return their bounds.

    Where the formula is used for another reason than the bounds, they are not measured, and the
    result is `UNBOUNDED`.
    """
    query_shape, key_shape = inputs.query.shape, inputs.key.shape
    is_grouped = inputs.enable_gqa and query_shape[-3] != key_shape[-3]
    max_scores = MAX_GROUPED_SCORES_AT_ONCE if is_grouped else MAX_SCORES_AT_ONCE
    is_small = query_shape[-2] * key_shape[-2] <= max_scores
    if is_small or not blockwise.is_supported(inputs.xp):
        inputs.check_finite()
        return UNBOUNDED
    return measure_bounds(inputs)


def select_method(inputs: Inputs, bounds: Bounds) -> Method:
    """Choose the method by the largest possible score.

    No score is larger than the longest query times the longest key times the scale
    (Cauchy-Schwarz), nor than the softcap. `BOUNDED` requires that no exponential can overflow, nor
    underflow unless a float mask lowers its score. Whether sums of the weights are too large or too
    small is checked later, by `blockwise`, which relies on values of at most the square root of the
    largest float. That holds if their bound is finite, because its square is.
    """
    if bounds == UNBOUNDED or 0 in inputs.batch:
        return Method.FORMULA
    scale = abs(inputs.scale)
    max_bias = float(inputs.max_bias)
    max_float = largest_float(inputs.xp, inputs.query)
    # Factors below 1 are left out, because the others may be multiplied first and overflow.
    max_product = math.prod(max(1, factor) for factor in (bounds.query, bounds.key, scale, LOG2_E))
    max_number = max(max_product + max_bias, bounds.value, inputs.softcap or 0)
    # The comparison is negated, because it is false for NaN, too.
    if not ROUNDING_FACTOR * max_number <= max_float:
        return Method.FORMULA
    max_score = min(bounds.query * bounds.key * scale, inputs.softcap or math.inf)
    max_exponent = LOG2_E * (max_score + max(0, max_bias))
    has_no_overflow = max_exponent <= math.log2(max_float) - ROUNDING_POWERS
    return Method.BOUNDED if has_no_overflow else Method.ONLINE
