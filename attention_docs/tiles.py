"""Tiled attention: the softmax state of some of the keys, and how to merge two states."""

from types import ModuleType
from typing import Any, NamedTuple

from attention_docs.arrays import (
    Array,
    as_real,
    check_below_infinity,
    check_finite,
    check_no_overflow,
    check_same_dtype,
    ignoring_overflow,
    namespace,
    upcast_16_bit,
    with_article,
)


class TileState(NamedTuple):
    """The running softmax state of each query after some of the keys.

    Let s be the scaled and masked scores of these keys, and v their values. The maximum is max s,
    the total is the sum of e^(s - maximum), and `sums` is the sum of e^(s - maximum) v. The state
    of no keys at all, and of keys that are all hidden, is (-inf, 0, 0).

    Attributes:
        maximum: (..., m) largest scores.
        total: (..., m) sums of exponentials.
        sums: (..., m, d_v) sums of values, weighted by exponentials.

    Examples:
        >>> state = attend_tile(np.ones((2, 3)), np.ones((4, 3)), np.ones((4, 5)))
        >>> state.maximum.shape, state.total.shape, state.sums.shape
        ((2,), (2,), (2, 5))
    """

    maximum: Array
    total: Array
    sums: Array

    @property
    def output(self) -> Array:
        """The (..., m, d_v) output, if these were all the keys: the sums over the total."""
        xp = namespace(total=self.total, sums=self.sums)
        # Where all keys are hidden, the sums are 0 and are divided by 1.
        total = xp.where(self.total == 0, xp.ones_like(self.total), self.total)
        return self.sums / total[..., None]


def tile_state(masked: Array, value: Array) -> TileState:
    """Return the state of (..., m, n) masked scores and (..., n, d_v) finite values."""
    xp = namespace(masked=masked, value=value)
    options = {"dtype": masked.dtype, "device": masked.device}
    # With a hidden key added, a tile without keys has a maximum, too.
    hidden = xp.full((*masked.shape[:-1], 1), -xp.inf, **options)
    maximum = xp.max(xp.concat([masked, hidden], axis=-1), axis=-1)  # (..., m)
    with ignoring_overflow():
        exponentials = xp.exp(masked - _finite_or_zero(xp, maximum)[..., None])  # (..., m, n)
        sums = exponentials @ xp.astype(value, masked.dtype, copy=False)  # (..., m, d_v)
    check_no_overflow(xp, "the weighted sums of value hold", sums)
    # Broadcast to the leading axes of the values, which queries and keys may lack.
    zeros = xp.zeros(sums.shape[:-1], **options)
    return TileState(maximum + zeros, xp.sum(exponentials, axis=-1) + zeros, sums)


def merge(one: TileState, other: TileState) -> TileState:
    r"""Merge the states of two sets of keys for the same queries.

    $$\begin{aligned} p &= \max(p_1, p_2) \\
      \ell &= e^{p_1 - p}\, \ell_1 + e^{p_2 - p}\, \ell_2 \\
      u &= e^{p_1 - p}\, u_1 + e^{p_2 - p}\, u_2 \end{aligned}$$

    Here p is a maximum, l a total and u the sums. The merge is associative and commutative but for
    rounding, and the state (-inf, 0, 0) changes nothing.

    Args:
        one: the state of some keys.
        other: the state of other keys, for the same queries.

    Returns:
        The state of all of these keys.

    Raises:
        TypeError: if an array is not real, or libraries or dtypes differ.
        ValueError: if shapes do not fit, a number is not finite (a maximum may be -inf), or a
            merged sum overflows.

    Source: Milakov and Gimelshein 2018, section 3.1; with the sums, Rabe and Staats 2021.

    Examples:
        >>> near = TileState(np.array([1.0]), np.array([2.0]), np.array([[4.0]]))
        >>> far = TileState(np.array([3.0]), np.array([1.0]), np.array([[5.0]]))
        >>> show(merge(near, far).output)
        [[4.3610]]
    """
    xp, dtype, one, other = _validate(one, other)
    maximum = xp.where(one.maximum > other.maximum, one.maximum, other.maximum)  # (..., m)
    with ignoring_overflow():
        shift = _finite_or_zero(xp, maximum)
        factor, other_factor = xp.exp(one.maximum - shift), xp.exp(other.maximum - shift)
        total = factor * one.total + other_factor * other.total  # (..., m)
        sums = factor[..., None] * one.sums + other_factor[..., None] * other.sums
        merged = TileState(
            *(xp.astype(array, dtype, copy=False) for array in (maximum, total, sums))
        )
    check_no_overflow(xp, "the merged totals of one and other hold", merged.total)
    check_no_overflow(xp, "the merged sums of one and other hold", merged.sums)
    return merged


def _finite_or_zero(xp: ModuleType, maximum: Array) -> Array:
    """Replace -inf by 0: where all keys are hidden, -inf - (-inf) would be NaN."""
    return xp.where(maximum == -xp.inf, xp.zeros_like(maximum), maximum)


def _validate(one: TileState, other: TileState) -> tuple[ModuleType, Any, TileState, TileState]:
    """Return the library, the dtype of the result, and both states with 16-bit floats upcast."""
    arrays: dict[str, Array] = {}
    for name, state in (("one", one), ("other", other)):
        if not isinstance(state, TileState):
            raise TypeError(f"{name} is {with_article(state)}; expected a TileState")
        arrays |= {f"{name}.{field}": array for field, array in state._asdict().items()}
    xp = namespace(**arrays)
    arrays = {name: as_real(xp, name, array) for name, array in arrays.items()}
    check_same_dtype(**arrays)
    _check_shapes(arrays)
    dtype = arrays["one.maximum"].dtype
    arrays = {name: upcast_16_bit(xp, array) for name, array in arrays.items()}
    for name, array in arrays.items():
        if name.endswith(".maximum"):
            check_below_infinity(xp, name, array, maximum=array)
        else:
            check_finite(xp, name, array)
    one, other = (
        TileState(*(arrays[f"{name}.{field}"] for field in TileState._fields))
        for name in ("one", "other")
    )
    return xp, dtype, one, other


def _check_shapes(arrays: dict[str, Array]) -> None:
    """Refuse states whose shapes differ."""
    rows = arrays["one.maximum"].shape
    if not rows:
        raise ValueError(f"one.maximum has shape {rows}; expected (..., m)")
    features = arrays["one.sums"].shape[-1:]
    for name, array in arrays.items():
        expected = rows + features if name.endswith(".sums") else rows
        if array.shape != expected:
            raise ValueError(
                f"{name} has shape {array.shape}; expected {expected} to match one.maximum {rows}"
            )
