"""The softmax: scores in, weights out."""

from types import ModuleType

from attention_docs.arrays import (
    Array,
    as_real,
    check_below_infinity,
    ignoring_overflow,
    namespace,
    upcast_16_bit,
)
from attention_docs.scalars import whole_number


def softmax(scores: Array, axis: int = -1) -> Array:
    r"""Normalise scores to weights that are not negative and sum to one.

    $$\sigma(z)_i = \frac{e^{z_i - \max z}}{\sum_j e^{z_j - \max z}}$$

    Args:
        scores: (..., n) real scores of any size; -inf marks a position that takes no part.
        axis: the axis that sums to one.

    Returns:
        (..., n) weights, same library, device and dtype; all zero where every score is -inf.

    Raises:
        TypeError: if `scores` is not an array of real numbers, or `axis` is not an integer.
        ValueError: if `scores` holds NaN or +inf, or has no such axis.

    Source: Vaswani et al. 2017, section 3.2.1; subtracting the maximum: folklore.

    Examples:
        >>> show(softmax(np.array([0.0, 2.0, 2.0])))
        [0.0634 0.4683 0.4683]
        >>> show(softmax(np.array([-np.inf, -np.inf])))
        [0 0]
    """
    xp = namespace(scores=scores)
    scores = as_real(xp, "scores", scores)
    axis = whole_number("axis", axis)
    if not -scores.ndim <= axis < scores.ndim:
        raise ValueError(f"axis is {axis}; expected an axis of scores {tuple(scores.shape)}")
    upcast = upcast_16_bit(xp, scores)
    check_below_infinity(xp, "scores", upcast, maximum=upcast)
    with ignoring_overflow():
        return xp.astype(_softmax(xp, upcast, axis), scores.dtype, copy=False)


def _softmax(xp: ModuleType, scores: Array, axis: int = -1) -> Array:
    """Return the softmax of scores that are validated and not of 16 bits; 0 in a row of -inf."""
    if scores.shape[axis] == 0:
        return scores
    maximum = xp.max(scores, axis=axis, keepdims=True)  # (..., 1)
    # Subtract the maximum, because exp overflows above 709. In a row of -inf, subtract 0, because
    # -inf - (-inf) is NaN.
    maximum = xp.where(maximum == -xp.inf, xp.zeros_like(maximum), maximum)
    exponentials = xp.exp(scores - maximum)  # (..., n)
    # The largest exponential is 1, so the total is at least 1, except for 0 in a row of -inf.
    total = xp.sum(exponentials, axis=axis, keepdims=True)  # (..., 1)
    return exponentials / xp.maximum(total, xp.ones_like(total))  # (..., n)
