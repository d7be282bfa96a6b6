"""Choose a method from shapes, options and bounds, before any score is computed."""

import math
from collections.abc import Callable
from enum import Enum

from attention_docs.arrays import Array, ignoring_overflow, largest_float
from attention_docs.inputs import Inputs
from attention_docs.kernels import blockwise
from attention_docs.kernels.bounds import UNBOUNDED, Bounds, measure_bounds

SMALL = 128 * 128  # a head with at most this many scores is faster without blocks
SMALL_GROUPED = 1024  # with grouped queries, the formula copies keys and values
LOG2_E = math.log2(math.e)

# With respect to query, key, value and a float mask.
Gradients = tuple[Array, Array, Array, Array | None]


class Method(Enum):
    """How an output is computed.

    Attributes:
        FORMULA: all scores at once, where blocks are unsupported or not worthwhile, and where a
            number could overflow, as only then every score has to be checked.
        BOUNDED: blocks whose exponentials need no shift, because none can overflow.
        ONLINE: blocks shifted by the largest score so far, in all other cases.
    """

    FORMULA = "formula"
    BOUNDED = "bounded"
    ONLINE = "online"


def attend(inputs: Inputs, formula: Callable[[Inputs], Array]) -> Array:
    """Return the (..., m, d_v) output by the fastest method for the inputs.

    Args:
        inputs: arguments whose numbers are not yet checked.
        formula: computes the output from all scores at once, where blocks are not used.

    Raises:
        ValueError: if a number is not finite.
    """
    method = select_method(inputs, check_and_measure(inputs))
    if method is Method.FORMULA:
        return formula(inputs)
    is_bounded = method is Method.BOUNDED
    weight_blocks = blockwise.bounded_weights if is_bounded else blockwise.online_weights
    return blockwise.attend(inputs, weight_blocks)


def differentiate(
    inputs: Inputs, grad_output: Array, formula: Callable[[Inputs], Gradients]
) -> Gradients:
    """Return the gradients of query, key, value and a float mask.

    Args:
        inputs: arguments whose numbers are not yet checked.
        grad_output: (..., m, d_v) gradient with respect to the output.
        formula: computes the gradients from all scores at once, where blocks are not used.

    Raises:
        ValueError: if a number of the inputs is not finite.
    """
    if select_method(inputs, check_and_measure(inputs)) is Method.FORMULA:
        return formula(inputs)
    with ignoring_overflow():
        return blockwise.differentiate(inputs, grad_output)


def check_and_measure(inputs: Inputs) -> Bounds:
    """Check that the inputs are finite, and return their bounds.

    Where only the formula is supported or worthwhile, nothing is measured.
    """
    queries, keys = inputs.query.shape, inputs.key.shape
    is_grouped = inputs.enable_gqa and queries[-3] != keys[-3]
    is_small = queries[-2] * keys[-2] <= (SMALL_GROUPED if is_grouped else SMALL)
    if is_small or not blockwise.is_supported(inputs.xp):
        inputs.check_finite()
        return UNBOUNDED
    return measure_bounds(inputs)


def select_method(inputs: Inputs, bounds: Bounds) -> Method:
    """Choose the method.

    No score is larger than the longest query times the longest key times the scale
    (Cauchy-Schwarz), nor than the softcap. `BOUNDED` requires that no exponential can overflow, nor
    underflow unless a float mask lowers its score. The sums of the weights are checked later; the
    values need at most half of the exponents, as the square of their bound is finite.
    """
    if bounds == UNBOUNDED or 0 in inputs.batch:
        return Method.FORMULA
    scale, softcap = abs(inputs.scale), inputs.softcap or math.inf
    factors = math.prod(max(1, factor) for factor in (bounds.query, bounds.key, scale, LOG2_E))
    largest, bias = largest_float(inputs.xp, inputs.query), float(inputs.max_bias)
    if not 4 * max(factors + bias, bounds.value, inputs.softcap or 0) <= largest:
        return Method.FORMULA
    exponents = math.log2(largest)  # 128 for float32, 1024 for float64
    score = min(bounds.query * bounds.key * scale, softcap) + max(0, bias)
    return Method.BOUNDED if LOG2_E * score <= exponents - 4 else Method.ONLINE
