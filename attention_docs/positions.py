"""Positions: what attention does not know by itself, and how to add it."""

from types import ModuleType
from typing import Any

import numpy

from attention_docs.arrays import Array


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
        TypeError: if a size is not an integer.
        ValueError: if `length` is negative, `d_model` odd or below 2, or `base` not positive.

    Source: Vaswani et al. 2017, section 3.5.

    Examples:
        >>> show(sinusoidal_positions(3, 4))
        [[     0       1      0      1]
         [0.8415  0.5403 0.0100 1.0000]
         [0.9093 -0.4161 0.0200 0.9998]]
    """
    _check_length(length)
    frequencies = _frequencies(d_model, base, xp, device)
    positions = xp.arange(length, dtype=xp.float64, device=device)
    angles = positions[:, None] * frequencies[None, :]  # (length, d_model / 2)
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
        TypeError: if `d_model` is not an integer.
        ValueError: if `d_model` is odd or below 2, or `base` is not positive.

    Source: the addition theorems; the claim is in Vaswani et al. 2017, section 3.5.

    Examples:
        >>> show(position_rotation(1, 2))
        [[ 0.5403 0.8415]
         [-0.8415 0.5403]]
    """
    angles = shift * _frequencies(d_model, base, xp, device)
    feature = xp.arange(d_model, device=device)
    row, column = feature[:, None], feature[None, :]
    cosines, sines = (xp.repeat(wave, 2)[:, None] for wave in (xp.cos(angles), xp.sin(angles)))
    signs = xp.where(row % 2 == 0, xp.ones_like(sines), -xp.ones_like(sines))
    off_diagonal = (row // 2 == column // 2) & (row != column)
    nothing = xp.zeros((d_model, d_model), dtype=xp.float64, device=device)
    return xp.where(row == column, cosines, xp.where(off_diagonal, signs * sines, nothing))


def _frequencies(d_model: int, base: float, xp: ModuleType, device: Any) -> Array:
    if isinstance(d_model, bool) or not hasattr(d_model, "__index__"):
        raise TypeError(f"d_model is {d_model!r}; expected a whole number")
    if d_model < 2 or d_model % 2:
        raise ValueError(f"d_model is {d_model}; expected an even number of 2 or more")
    if not base > 0:
        raise ValueError(f"base is {base}; expected a positive number")
    exponents = xp.arange(0, d_model, 2, dtype=xp.float64, device=device) / d_model
    return xp.asarray(base, dtype=xp.float64, device=device) ** -exponents


def _check_length(length: int) -> None:
    if isinstance(length, bool) or not hasattr(length, "__index__"):
        raise TypeError(f"length is {length!r}; expected a whole number")
    if length < 0:
        raise ValueError(f"length is {length}; expected 0 or more")
