"""The choice of a method, made from shapes, options and bounds before any score is computed."""

import math
from collections.abc import Callable
from enum import Enum

from attention_docs.arrays import Array, ignoring_overflow, largest_float
from attention_docs.inputs import Arguments, Inputs, checked_gradient, in_float32
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


def attend(arguments: Arguments, formula: Callable[[Inputs], Array]) -> Array:
    """Check the arguments and return the (..., m, d_v) output by the fastest method for them.

    Args:
        arguments: as they were given.
        formula: computes the output from all scores at once; called where no kernel serves.

    Raises:
        TypeError: what `attention_steps` raises.
        ValueError: likewise.
    """
    inputs, bounds = prepare(arguments)
    method = select(inputs, bounds)
    if method is Method.FORMULA:
        return formula(inputs)
    weigh = blockwise.bounded if method is Method.BOUNDED else blockwise.online
    return blockwise.attend(inputs, weigh)


def differentiate(
    arguments: Arguments, grad_output: Array, formula: Callable[[Inputs, Array], Gradients]
) -> Gradients:
    """Check the arguments and return the gradients of query, key, value and a float mask.

    Args:
        arguments: as they were given.
        grad_output: (..., m, d_v) gradient with respect to the output.
        formula: computes the gradients from all scores at once; called where no kernel serves.

    Raises:
        TypeError: what `attention_backward` raises.
        ValueError: likewise.
    """
    inputs, bounds = prepare(arguments)
    gradient = checked_gradient(inputs, arguments.query, grad_output)
    if select(inputs, bounds) is Method.FORMULA:
        return formula(inputs, gradient)
    with ignoring_overflow():
        return blockwise.differentiate(inputs, gradient)


def prepare(arguments: Arguments) -> tuple[Inputs, Bounds]:
    """Check the arguments, and measure the arrays in the pass that proves their numbers finite.

    16-bit arrays are widened before they are measured. Nothing is measured where only the formula
    applies or pays.
    """
    real = arguments.with_real_arrays()
    dtype = real.query.dtype
    heads, key_heads = (array.shape[-3:-2] for array in (real.query, real.key))
    small = SMALL_IF_SHARED if real.enable_gqa is True and key_heads != heads else SMALL
    is_small = real.query.shape[-2] * real.key.shape[-2] <= small
    if is_small or not blockwise.is_supported(real.xp):
        return real.with_finite_numbers().fitted(dtype), UNBOUNDED
    measured = in_float32(real)
    bounds = bounds_of(measured)
    return measured.fitted(dtype), bounds


def select(inputs: Inputs, bounds: Bounds) -> Method:
    """Choose the method.

    No score is larger than the longest query times the longest key times the scale
    (Cauchy-Schwarz), nor than the softcap. `BOUNDED` requires that no exponential can overflow, nor
    vanish unless a float mask lowers its score, and that the sum of the values needs no more than
    half of the exponents of the dtype. The sums of the weights are checked when they are known.
    """
    if bounds == UNBOUNDED or 0 in inputs.batch:
        return Method.FORMULA
    keys = inputs.key.shape[-2]
    scale, softcap = abs(inputs.scale), inputs.softcap or math.inf
    factors = math.prod(max(1, factor) for factor in (bounds.query, bounds.key, scale, LOG2_E))
    largest, bias = largest_float(inputs.xp, inputs.query), float(inputs.max_bias)
    if not 4 * max(factors + bias, bounds.value, inputs.softcap or 0) <= largest:
        return Method.FORMULA
    exponents = math.log2(largest)  # 128 for float32, 1024 for float64
    score = min(bounds.query * bounds.key * scale, softcap) + max(0, bias)
    ordinary_weights = LOG2_E * score <= exponents - 4
    ordinary_sums = keys * bounds.value <= 2 ** (exponents / 2)
    return Method.BOUNDED if ordinary_weights and ordinary_sums else Method.ONLINE
