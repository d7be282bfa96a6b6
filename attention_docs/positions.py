"""Positional encodings: sinusoidal positions, their rotation, and rotary embeddings."""

import math
from types import ModuleType
from typing import Any

import numpy
from array_api_compat import device as device_of

from attention_docs.arrays import (
    Array,
    as_real,
    check_finite,
    check_library,
    check_no_overflow,
    ignoring_overflow,
    namespace,
    upcast_16_bit,
)
from attention_docs.inputs import broadcast_shapes
from attention_docs.scalars import finite_number, flag, real_number, size, whole_number


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
        TypeError: if a size is not an integer, `base` is not a real number, or `xp` is not an array
            library.
        ValueError: if `length` is negative, `d_model` odd or below 2, one of them larger than an
            array can be, `base` not positive and finite, or an angle overflows.

    Source: Vaswani et al. 2017, section 3.5.

    Examples:
        >>> show(sinusoidal_positions(3, 4))
        [[     0       1      0      1]
         [0.8415  0.5403 0.0100 1.0000]
         [0.9093 -0.4161 0.0200 0.9998]]
    """
    length = size("length", length)
    d_model = _even_size(d_model)
    frequencies = _frequencies(d_model, base, xp, device)  # (d_model / 2,)
    positions = xp.arange(length, dtype=xp.float64, device=device)  # (length,)
    angles = _angles(positions[:, None], frequencies[None, :], xp, problem=f"base is {base}")
    pairs = xp.stack([xp.sin(angles), xp.cos(angles)], axis=-1)  # (length, d_model / 2, 2)
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
        TypeError: if `d_model` is not an integer, `shift` or `base` is not a real number, or `xp`
            is not an array library.
        ValueError: if `d_model` is odd, below 2 or larger than an array can be, `shift` not
            finite, `base` not positive and finite, or an angle overflows.

    Source: the angle addition formulas; stated in Vaswani et al. 2017, section 3.5.

    Examples:
        >>> show(position_rotation(1, 2))
        [[ 0.5403 0.8415]
         [-0.8415 0.5403]]
    """
    d_model = _even_size(d_model)
    frequencies = _frequencies(d_model, base, xp, device)  # (d_model / 2,)
    angles = _angles(finite_number("shift", shift), frequencies, xp, problem=f"shift is {shift}")
    feature = xp.arange(d_model, device=device)
    row, column = feature[:, None], feature[None, :]
    cosines, sines = (xp.repeat(wave, 2)[:, None] for wave in (xp.cos(angles), xp.sin(angles)))
    signs = xp.where(row % 2 == 0, xp.ones_like(sines), -xp.ones_like(sines))
    off_diagonal = (row // 2 == column // 2) & (row != column)
    zeros = xp.zeros((d_model, d_model), dtype=xp.float64, device=device)
    return xp.where(row == column, cosines, xp.where(off_diagonal, signs * sines, zeros))


def rotary(x: Array, positions: Array, base: float = 10000.0, interleaved: bool = False) -> Array:
    r"""Turn each query or key by angles that grow with its position.

    $$\begin{bmatrix} a \\ b \end{bmatrix} \mapsto
      \begin{bmatrix} \cos t\omega_i & -\sin t\omega_i \\
                      \sin t\omega_i & \cos t\omega_i \end{bmatrix}
      \begin{bmatrix} a \\ b \end{bmatrix}, \qquad \omega_i = \text{base}^{-2i/d}$$

    For a given query and key, the dot product after the rotation depends on the difference of
    their positions, not on the positions themselves.

    Args:
        x: (..., n, d) queries or keys, d even.
        positions: t, broadcasts to (..., n); may be negative or between whole numbers.
        base: sets the frequencies, as in `sinusoidal_positions`.
        interleaved: whether the pair i is the neighbours 2i and 2i + 1; if not, it is the
            features i and i + d/2 of the two halves.

    Returns:
        (..., n, d) array, same library, device and dtype as `x`; integers become floats.

    Raises:
        TypeError: if an array is not real, their libraries differ, or `base` is not a real number.
        ValueError: if d is odd or 0, `positions` does not broadcast, a number is not finite,
            `base` is not positive, or a result overflows.

    Source: Su et al. 2021 (RoFormer); `interleaved` as in ONNX's RotaryEmbedding.

    Examples:
        >>> x = np.array([[1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0]])
        >>> show(rotary(x, np.array([0, 1]), base=100, interleaved=True))
        [[      1      2      3      4]
         [-1.1426 1.9221 2.5857 4.2795]]
        >>> show(rotary(x, np.array([0, 1]), base=100))
        [[      1      2      3      4]
         [-1.9841 1.5907 2.4624 4.1797]]
    """
    xp = namespace(x=x, positions=positions)
    x = as_real(xp, "x", x)
    interleaved = flag("interleaved", interleaved)
    features = x.shape[-1] if x.ndim else 0
    if features < 2 or features % 2:
        raise ValueError(f"x has shape {x.shape}; expected (..., d) with an even d of 2 or more")
    angles = _rotation_angles(xp, x, positions, base)  # (..., n, d / 2)
    upcast = upcast_16_bit(xp, x)
    check_finite(xp, "x", upcast)
    cosines, sines = (xp.astype(wave, upcast.dtype) for wave in (xp.cos(angles), xp.sin(angles)))
    if interleaved:
        pairs = xp.reshape(upcast, (*x.shape[:-1], features // 2, 2))  # (..., n, d / 2, 2)
        a, b, axis = pairs[..., 0], pairs[..., 1], -1
    else:
        pairs = xp.reshape(upcast, (*x.shape[:-1], 2, features // 2))  # (..., n, 2, d / 2)
        a, b, axis = pairs[..., 0, :], pairs[..., 1, :], -2
    with ignoring_overflow():
        rotated_pairs = xp.stack([a * cosines - b * sines, a * sines + b * cosines], axis=axis)
        rotated = xp.astype(xp.reshape(rotated_pairs, x.shape), x.dtype, copy=False)
    check_no_overflow(xp, "the rotated x holds", rotated)
    return rotated


def _rotation_angles(xp: ModuleType, x: Array, positions: Array, base: float) -> Array:
    """Return (..., d/2) angles in float64, because float32 is too inexact for large positions."""
    # The converted array is not used, because the default float of a library may be float32.
    as_real(xp, "positions", positions)
    float64_positions = xp.astype(positions, xp.float64)
    check_finite(xp, "positions", float64_positions)
    rows_shape = tuple(x.shape[:-1])
    if broadcast_shapes(tuple(positions.shape), rows_shape) != rows_shape:
        raise ValueError(
            f"positions has shape {positions.shape}; expected one that broadcasts to {rows_shape}, "
            "the shape of x without its features"
        )
    frequencies = _frequencies(x.shape[-1], base, xp, device_of(x))
    problem = f"positions is too large for base {base}"
    return _angles(float64_positions[..., None], frequencies, xp, problem)


def _frequencies(d_model: int, base: float, xp: ModuleType, device: Any) -> Array:
    """Return the (d/2,) frequencies base^(-2i/d)."""
    check_library(xp)
    if not 0 < real_number("base", base) < math.inf:
        raise ValueError(f"base is {base}; expected a positive number")
    exponents = xp.arange(0, d_model, 2, dtype=xp.float64, device=device) / d_model
    with ignoring_overflow():
        frequencies = xp.asarray(float(base), dtype=xp.float64, device=device) ** -exponents
    if not xp.all(xp.isfinite(frequencies)):
        raise ValueError(f"base is {base}; expected frequencies that fit float64")
    return frequencies


def _angles(positions: Array | float, frequencies: Array, xp: ModuleType, problem: str) -> Array:
    """Return positions times frequencies; `problem` begins the message if they overflow."""
    with ignoring_overflow():
        angles = positions * frequencies
    if not xp.all(xp.isfinite(angles)):
        raise ValueError(f"{problem}; expected angles that fit float64")
    return angles


def _even_size(d_model: int) -> int:
    """Return `d_model` as a Python int; refuse a number that is odd, below 2 or too large."""
    features = whole_number("d_model", d_model)
    if features < 2 or features % 2:
        raise ValueError(f"d_model is {features}; expected an even number of 2 or more")
    return size("d_model", features)
