"""Positions: what attention does not know by itself, and how to add it."""

import math
from types import ModuleType
from typing import Any

import numpy

from attention_docs.arrays import Array, check_library, ignoring_overflow
from attention_docs.scalars import finite_number, real_number, size, whole_number


def sinusoidal_positions(
    length: int,
    d_model: int,
    base: float = 10000.0,
    *,
    xp: ModuleType = numpy,
    device: Any = None,
) -> Array:
    r"""Encode the positions 0, 1, 2, ... as sines and cosines of many wavelengths.

    $$E_{t,2i} = \sin(t\,\omega_i), \quad E_{t,2i+1} = \cos(t\,\omega_i), \qquad
      \omega_i = \text{base}^{-2i/d_{\text{model}}}$$

    Args:
        length: the number of positions.
        d_model: the number of features, even: each frequency takes two.
        base: sets the frequencies; the wavelengths grow from 2 pi towards 2 pi base.
        xp: the array library of the result.
        device: where to put it; the library's default if left out.

    Returns:
        (length, d_model) float64 array, one row per position.

    Raises:
        TypeError: if a size is not an integer, `base` no real number, or `xp` no array library.
        ValueError: if `length` is negative, `d_model` odd or below 2, one of them larger than an
            array can be, `base` not positive and finite, or an angle overflows.

    Source: Vaswani et al. 2017, section 3.5.

    Examples:
        >>> show(sinusoidal_positions(3, 4))
        [[     0       1      0      1]
         [0.8415  0.5403 0.0100 1.0000]
         [0.9093 -0.4161 0.0200 0.9998]]
    """
    length, d_model = size("length", length), _even(d_model)
    frequencies = _frequencies(d_model, base, xp, device)
    positions = xp.arange(length, dtype=xp.float64, device=device)
    angles = _angles(f"base is {base}", positions[:, None], frequencies[None, :], xp)
    pairs = xp.stack([xp.sin(angles), xp.cos(angles)], axis=-1)
    return xp.reshape(pairs, (length, d_model))


def position_rotation(
    shift: float,
    d_model: int,
    base: float = 10000.0,
    *,
    xp: ModuleType = numpy,
    device: Any = None,
) -> Array:
    r"""Return the rotation that moves every sinusoidal position by `shift`.

    $$e_{t+s} = R_s\, e_t, \qquad R_s = \mathrm{diag}(B_0, B_1, \dots), \qquad
      B_i = \begin{bmatrix} \cos s\omega_i & \sin s\omega_i \\
                           -\sin s\omega_i & \cos s\omega_i \end{bmatrix}$$

    Here `e_t` is a column; with the positions as rows of `E` it is `E @ R.T`. The rotation
    depends on the shift alone, not on the position t.

    Args:
        shift: s, how many positions to move; may be negative.
        d_model: the number of features, even.
        base: sets the frequencies, as in `sinusoidal_positions`.
        xp: the array library of the result.
        device: where to put it; the library's default if left out.

    Returns:
        (d_model, d_model) float64 array, zero outside the 2 x 2 blocks on its diagonal.

    Raises:
        TypeError: if `d_model` is not an integer, `shift` or `base` no real number, or `xp` no
            array library.
        ValueError: if `d_model` is odd, below 2 or larger than an array can be, `shift` not
            finite, `base` not positive and finite, or an angle overflows.

    Source: the addition theorems; the claim is in Vaswani et al. 2017, section 3.5.

    Examples:
        >>> show(position_rotation(1, 2))
        [[ 0.5403 0.8415]
         [-0.8415 0.5403]]
    """
    d_model = _even(d_model)
    frequencies = _frequencies(d_model, base, xp, device)
    angles = _angles(f"shift is {shift}", finite_number("shift", shift), frequencies, xp)
    feature = xp.arange(d_model, device=device)
    row, column = feature[:, None], feature[None, :]
    cosines, sines = (xp.repeat(wave, 2)[:, None] for wave in (xp.cos(angles), xp.sin(angles)))
    signs = xp.where(row % 2 == 0, xp.ones_like(sines), -xp.ones_like(sines))
    off_diagonal = (row // 2 == column // 2) & (row != column)
    nothing = xp.zeros((d_model, d_model), dtype=xp.float64, device=device)
    return xp.where(row == column, cosines, xp.where(off_diagonal, signs * sines, nothing))


def _frequencies(d_model: int, base: float, xp: ModuleType, device: Any) -> Array:
    check_library(xp)
    if not 0 < real_number("base", base) < math.inf:
        raise ValueError(f"base is {base}; expected a positive number")
    exponents = xp.arange(0, d_model, 2, dtype=xp.float64, device=device) / d_model
    with ignoring_overflow():
        frequencies = xp.asarray(float(base), dtype=xp.float64, device=device) ** -exponents
    if not xp.all(xp.isfinite(frequencies)):
        raise ValueError(f"base is {base}; expected frequencies that fit float64")
    return frequencies


def _angles(argument: str, places: Array, frequencies: Array, xp: ModuleType) -> Array:
    """Return places times frequencies, checked: an infinite angle has no sine."""
    with ignoring_overflow():
        angles = places * frequencies
    if not xp.all(xp.isfinite(angles)):
        raise ValueError(f"{argument}; expected angles that fit float64")
    return angles


def _even(d_model: int) -> int:
    number = whole_number("d_model", d_model)
    if number < 2 or number % 2:
        raise ValueError(f"d_model is {number}; expected an even number of 2 or more")
    return size("d_model", number)
