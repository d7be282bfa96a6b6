"""The layers of a block of today's models other than attention: RMS norm and SwiGLU."""

from attention_docs.arrays import (
    Array,
    as_real,
    check_finite,
    check_no_overflow,
    check_same_dtype,
    ignoring_overflow,
    namespace,
    upcast_16_bit,
)
from attention_docs.scalars import real_number


def rms_norm(x: Array, weight: Array, epsilon: float = 1e-5) -> Array:
    r"""Divide each row by the root of its mean square, and scale each feature.

    $$y_i = g_i\, \frac{x_i}{\sqrt{\frac{1}{d} \sum_j x_j^2 + \epsilon}}$$

    Args:
        x: (..., d) rows of features.
        weight: (d,) the scale g of each feature.
        epsilon: keeps the divisor of a row of zeros above zero.

    Returns:
        (..., d) array, same library, device and dtype as `x`; integers become floats.

    Raises:
        TypeError: if an array is not real, their libraries or dtypes differ, or `epsilon` is not
            a real number.
        ValueError: if `weight` does not fit, a number is not finite, `epsilon` is not positive,
            or a result overflows.

    Source: Zhang and Sennrich 2019, section 3.

    Examples:
        >>> x = np.array([[3.0, 4.0], [30.0, 40.0]])
        >>> show(rms_norm(x, np.array([1.0, 2.0])))
        [[0.8485 2.2627]
         [0.8485 2.2627]]
    """
    xp = namespace(x=x, weight=weight)
    x = as_real(xp, "x", x)
    weight = as_real(xp, "weight", weight)
    check_same_dtype(x=x, weight=weight)
    if x.ndim < 1 or not x.shape[-1]:
        raise ValueError(f"x has shape {x.shape}; expected (..., d) with a d of 1 or more")
    if tuple(weight.shape) != (x.shape[-1],):
        raise ValueError(f"weight has shape {weight.shape}; expected ({x.shape[-1]},) to match x")
    if not 0 < real_number("epsilon", epsilon) < float("inf"):
        raise ValueError(f"epsilon is {epsilon}; expected a positive number")
    rows = upcast_16_bit(xp, x)
    scale = upcast_16_bit(xp, weight)
    check_finite(xp, "x", rows)
    check_finite(xp, "weight", scale)
    # A smaller epsilon may be zero in float32, and zeros divided by zero are no numbers.
    epsilon = max(float(epsilon), float(xp.finfo(rows.dtype).smallest_normal))
    with ignoring_overflow():
        mean_square = xp.mean(rows * rows, axis=-1, keepdims=True)  # (..., 1)
        check_no_overflow(xp, "the squares of x hold", mean_square)
        normed = xp.astype(scale * (rows / xp.sqrt(mean_square + epsilon)), x.dtype)
    check_no_overflow(xp, "the normed rows times weight hold", normed)
    return normed


def swiglu(x: Array, W_gate: Array, W_up: Array, W_down: Array) -> Array:
    r"""Apply a feed-forward network with gated hidden features (SwiGLU) to each row.

    $$y = \big(\mathrm{SiLU}(x W_{\text{gate}}) \circ x W_{\text{up}}\big)\, W_{\text{down}},
      \qquad \mathrm{SiLU}(a) = \frac{a}{1 + e^{-a}}$$

    Args:
        x: (..., n, d) rows of features.
        W_gate: (d, d_ff) computes the gate.
        W_up: (d, d_ff) computes the hidden features.
        W_down: (d_ff, d_out) projects them to the output width.

    Returns:
        (..., n, d_out) array, same library, device and dtype as `x`; integers become floats.

    Raises:
        TypeError: if an array is not real, or its library or dtype differs.
        ValueError: if the shapes do not fit, a number is not finite, or a result overflows.

    Source: Shazeer 2020 (GLU Variants Improve Transformer), section 2.

    Examples:
        >>> x, W_gate = np.array([[1.0, 2.0]]), np.eye(2)
        >>> W_up = np.array([[3.0, 0.0], [0.0, 1.0]])
        >>> W_down = np.array([[1.0], [1.0]])
        >>> show(swiglu(x, W_gate, W_up, W_down))
        [[5.7164]]
    """
    arrays = {"x": x, "W_gate": W_gate, "W_up": W_up, "W_down": W_down}
    xp = namespace(**arrays)
    arrays = {name: as_real(xp, name, array) for name, array in arrays.items()}
    check_same_dtype(**arrays)
    _check_shapes(**arrays)
    dtype = arrays["x"].dtype
    arrays = {name: upcast_16_bit(xp, array) for name, array in arrays.items()}
    for name, array in arrays.items():
        check_finite(xp, name, array)
    with ignoring_overflow():
        gate = arrays["x"] @ arrays["W_gate"]  # (..., n, d_ff)
        check_no_overflow(xp, "the products of x and W_gate hold", gate)
        gate = gate / (1 + xp.exp(-gate))  # -0 where exp overflows
        hidden = gate * (arrays["x"] @ arrays["W_up"])  # (..., n, d_ff)
        output = xp.astype(hidden @ arrays["W_down"], dtype)  # (..., n, d_out)
    check_no_overflow(xp, "the products of x with W_gate, W_up and W_down hold", output)
    return output


def _check_shapes(x: Array, W_gate: Array, W_up: Array, W_down: Array) -> None:
    if x.ndim < 2:
        raise ValueError(f"x has shape {x.shape}; expected (..., n, d)")
    if W_gate.ndim != 2:
        raise ValueError(f"W_gate has shape {W_gate.shape}; expected (d, d_ff)")
    if W_gate.shape[0] != x.shape[-1]:
        raise ValueError(
            f"W_gate has shape {W_gate.shape}; expected ({x.shape[-1]}, d_ff) to match x"
        )
    if W_up.shape != W_gate.shape:
        raise ValueError(f"W_up has shape {W_up.shape}; expected {W_gate.shape} to match W_gate")
    if W_down.ndim != 2 or W_down.shape[0] != W_gate.shape[1]:
        raise ValueError(
            f"W_down has shape {W_down.shape}; expected ({W_gate.shape[1]}, d_out) to match W_gate"
        )
