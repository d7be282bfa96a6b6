"""The choice of a method, made from shapes, options and bounds before any score is computed."""

import math
from collections.abc import Callable
from enum import Enum

from attention_docs.arrays import Array, ignoring_overflow, largest_float
from attention_docs.inputs import Inputs
from attention_docs.kernels import blockwise
from attention_docs.kernels.bounds import UNBOUNDED, Bounds, bounds_of

SMALL = 128 * 128  # a head with this many scores or fewer is faster in one piece
SMALL_IF_SHARED = 1024  # the formula copies keys and values for each query head that shares them
LOG2_E = math.log2(math.e)

# By query, key, value and a float mask.
Gradients = tuple[Array, Array, Array, Array | None]


class Method(Enum):
    """How an output is computed.

    Attributes:
        FORMULA: all scores at once, where blocks do not apply or do not pay, and where a number
            could leave the range of the dtype, as only there every score has to be checked.
        BOUNDED: blocks whose exponentials need no shift, because none can overflow.
        ONLINE: blocks shifted by the largest score so far; serves everything else.
    """

    FORMULA = "formula"
    BOUNDED = "bounded"
    ONLINE = "online"


def attend(inputs: Inputs, formula: Callable[[Inputs], Array]) -> Array:
    """Return the (..., m, d_v) output by the fastest method for the inputs.

    Args:
        inputs: those whose numbers were not checked yet.
        formula: computes the output from all scores at once; called where no kernel serves.

    Raises:
        ValueError: if a number is not finite.
    """
    method = select(inputs, measured(inputs))
    if method is Method.FORMULA:
        return formula(inputs)
    weigh = blockwise.bounded if method is Method.BOUNDED else blockwise.online
    return blockwise.attend(inputs, weigh)


def differentiate(
    inputs: Inputs, gradient: Array, formula: Callable[[Inputs], Gradients]
) -> Gradients:
    """Return the gradients of query, key, value and a float mask.

    Args:
        inputs: those whose numbers were not checked yet.
        gradient: (..., m, d_v) gradient with respect to the output.
        formula: computes the gradients from all scores at once; called where no kernel serves.

    Raises:
        ValueError: if a number of the inputs is not finite.
    """
    if select(inputs, measured(inputs)) is Method.FORMULA:
        return formula(inputs)
    with ignoring_overflow():
        return blockwise.differentiate(inputs, gradient)


def measured(inputs: Inputs) -> Bounds:
    """Bound the inputs in the pass that proves their numbers finite.

    Nothing is measured where only the formula applies or pays.
    """
    queries, keys = inputs.query.shape, inputs.key.shape
    shared = inputs.enable_gqa and queries[-3] != keys[-3]
    is_small = queries[-2] * keys[-2] <= (SMALL_IF_SHARED if shared else SMALL)
    if is_small or not blockwise.is_supported(inputs.xp):
        inputs.checked()
        return UNBOUNDED
    return bounds_of(inputs)


def select(inputs: Inputs, bounds: Bounds) -> Method:
    """Choose the method.

    No score is larger than the longest query times the longest key times the scale
    (Cauchy-Schwarz), nor than the softcap. `BOUNDED` requires that no exponential can overflow, nor
    vanish unless a float mask lowers its score. The sums of the weights are checked when they are
    known; values need no more than half of the exponents, as the square of their bound is finite.
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
