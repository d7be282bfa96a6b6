"""Sinusoidal positions: six of them in four features, and the rotation that shifts by two.

`E` holds one position per row, so the rotation R acts from the right, as R^T. `products` are the
dot products of position 0 with every position. `shifted_scores` are the dot products of each
position, shifted by two, with every position.

>>> show(computed(steps))
frequencies [1 0.1000]
E 6 x 4
[[      0       1      0      1]
 [ 0.8415  0.5403 0.0998 0.9950]
 [ 0.9093 -0.4161 0.1987 0.9801]
 [ 0.1411 -0.9900 0.2955 0.9553]
 [-0.7568 -0.6536 0.3894 0.9211]
 [-0.9589  0.2837 0.4794 0.8776]]
R [[-0.4161 0.9093 0 0] [-0.9093 -0.4161 0 0] [0 0 0.9801 0.1987] [0 0 -0.1987 0.9801]]
shifted 4 x 4
[[ 0.9093 -0.4161 0.1987 0.9801]
 [ 0.1411 -0.9900 0.2955 0.9553]
 [-0.7568 -0.6536 0.3894 0.9211]
 [-0.9589  0.2837 0.4794 0.8776]]
shifted_scores 6 x 6
[[ 0.5639  1.5353       2  1.5353  0.5639 -0.0347]
 [-0.0347  0.5639  1.5353       2  1.5353  0.5639]
 [ 0.2674 -0.0347  0.5639  1.5353       2  1.5353]
 [ 1.1612  0.2674 -0.0347  0.5639  1.5353       2]
 [ 1.7855  1.1612  0.2674 -0.0347  0.5639  1.5353]
 [ 1.5187  1.7855  1.1612  0.2674 -0.0347  0.5639]]
products [2 1.5353 0.5639 -0.0347 0.2674 1.1612]
"""

import numpy

from attention_docs.positions import position_rotation, sinusoidal_positions

TITLE = "Sinusoidal positions, and a shift as a rotation"
SOURCE = "001_7d27211e1d664477.txt, “Positional Encoding”"

LENGTH, D_MODEL, BASE, SHIFT = 6, 4, 100, 2

POSITIONS = [f"position {position}" for position in range(LENGTH)]
CLOCKS = [f"{f} {clock}" for clock in range(D_MODEL // 2) for f in ("sine", "cosine")]
LABELS = {
    "E": (POSITIONS, CLOCKS),
    "shifted": (POSITIONS[SHIFT:], CLOCKS),
    "shifted_scores": (POSITIONS, POSITIONS),
}


def steps(xp=numpy):
    """Return the positions `E`, their rotation by `SHIFT` positions, and their dot products.

    `shifted_scores` are the products of each position with each rotated one.
    """
    e = sinusoidal_positions(LENGTH, D_MODEL, BASE, xp=xp)
    rotation = position_rotation(SHIFT, D_MODEL, BASE, xp=xp)
    return {
        "frequencies": xp.asarray([1.0, BASE**-0.5], dtype=xp.float64),
        "E": e,
        "R": rotation,
        "shifted": e[:-SHIFT, :] @ rotation.T,
        "shifted_scores": e @ rotation.T @ e.T,
        "products": (e @ e.T)[0, :],
    }
