"""The softmax: scores in, weights out."""

from attention_docs.arrays import (
    Array,
    first_where,
    ignoring_overflow,
    namespace,
    real,
    widened,
)


def softmax(scores: Array, axis: int = -1) -> Array:
    r"""Normalise scores to weights that are not negative and sum to one.

    $$\sigma(z)_i = \frac{e^{z_i - \max z}}{\sum_j e^{z_j - \max z}}$$

    Args:
        scores: (..., n) real scores of any size; -inf marks a position that takes no part.
        axis: the axis that sums to one.

    Returns:
        (..., n) weights, same library, device and dtype; all zero where every score is -inf.

    Raises:
        TypeError: if `scores` is no array, or is boolean or complex.
        ValueError: if `scores` holds NaN or +inf, or has no such axis.

    Source: Vaswani et al. 2017, section 3.2.1; subtracting the maximum: folklore.

    Examples:
        >>> show(softmax(np.array([0.0, 2.0, 2.0])))
        [0.0634 0.4683 0.4683]
        >>> show(softmax(np.array([-np.inf, -np.inf])))
        [0 0]
    """
    xp = namespace(scores=scores)
    scores = real(xp, "scores", scores)
    if not -scores.ndim <= axis < scores.ndim:
        raise ValueError(f"scores has shape {scores.shape}; expected an axis {axis}")
    if scores.shape[axis] == 0:
        return scores
    wide = widened(xp, scores)
    peak = xp.max(wide, axis=axis, keepdims=True)
    _check_scores(xp, wide, peak)
    # The maximum goes first: exp overflows above 709. A row of -inf has no finite maximum.
    peak = xp.where(peak == -xp.inf, xp.zeros_like(peak), peak)
    with ignoring_overflow():
        powers = xp.exp(wide - peak)
    total = xp.sum(powers, axis=axis, keepdims=True)
    weights = powers / xp.where(total == 0, xp.ones_like(total), total)
    return xp.astype(weights, scores.dtype, copy=False)


def _check_scores(xp, scores: Array, peak: Array) -> None:
    """Refuse NaN and +inf; looking at the maxima finds both, as NaN spreads to them."""
    if xp.any(xp.isnan(peak) | (peak == xp.inf)):
        wrong = xp.isnan(scores) | (scores == xp.inf)
        raise ValueError(
            f"scores holds {first_where(xp, wrong, scores)}; expected finite numbers or -inf"
        )
