"""Softmax saturates: if the largest score leads by far, the gradient almost vanishes.

The scores z are multiplied by 1/4 (division by the square root of d_k = 16), 1 and 4. The Jacobian
of a = softmax(z) is diag(a) - a a^T. A scale changes every gap between two scores by the same
factor, small gaps and large ones alike. The softmax does not: with the factor 1/4 the two small
differences of weights grow and the large one shrinks. `largest_slopes` are derivatives with respect
to the multiplied scores, `largest_slopes_by_z` with respect to z.

>>> show(computed(steps))
z_divided [0.2500 0.5000 1 2]
z_times_four [4 8 16 32]
gaps [1 2 4]
gaps_divided [0.2500 0.5000 1]
ratios [2.7183 7.3891 54.5982]
ratios_divided [1.2840 1.6487 2.7183]
weights_divided [0.0985 0.1264 0.2085 0.5666]
weights [0.0009 0.0024 0.0179 0.9788]
weights_times_four [6.9e-13 3.8e-11 1.1e-07 1.0000]
differences [0.0015 0.0155 0.9608]
differences_divided [0.0280 0.0820 0.3582]
jacobian_divided 4 x 4
[[ 0.0888 -0.0124 -0.0205 -0.0558]
 [-0.0124  0.1104 -0.0264 -0.0716]
 [-0.0205 -0.0264  0.1650 -0.1181]
 [-0.0558 -0.0716 -0.1181  0.2456]]
jacobian 4 x 4
[[  0.0009 -2.2e-06 -1.6e-05 -0.0009]
 [-2.2e-06   0.0024 -4.3e-05 -0.0024]
 [-1.6e-05 -4.3e-05   0.0176 -0.0175]
 [ -0.0009  -0.0024  -0.0175  0.0208]]
jacobian_times_four 4 x 4
[[ 6.9e-13 -2.6e-23 -7.8e-20 -6.9e-13]
 [-2.6e-23  3.8e-11 -4.2e-18 -3.8e-11]
 [-7.8e-20 -4.2e-18  1.1e-07 -1.1e-07]
 [-6.9e-13 -3.8e-11 -1.1e-07  1.1e-07]]
largest_slopes [0.2456 0.0208 1.1e-07]
largest_slopes_by_z [0.0614 0.0208 4.5e-07]
"""

import numpy

from attention_docs.softmax import softmax

TITLE = "Softmax saturation and its gradient"
SOURCE = "002_d7461449c953e4ff.txt, “Understand Attention”"

z = [1, 2, 4, 8]
FACTORS = [0.25, 1, 4]


def steps(xp=numpy):
    """Return the weights and Jacobians of the scores `z`, a quarter of them, and four times them.

    The steps `gaps`, `ratios` and `differences` are taken between neighbouring scores or weights.
    """
    scores = xp.asarray(z, dtype=xp.float64)
    divided, unscaled, times_four = (softmax(factor * scores) for factor in FACTORS)
    jacobians = [jacobian(xp, weights) for weights in (divided, unscaled, times_four)]
    largest_slopes = [xp.max(xp.abs(matrix)) for matrix in jacobians]
    # The softmax takes factor * z, so a derivative with respect to z has the factor as well.
    slopes_by_z = [factor * slope for factor, slope in zip(FACTORS, largest_slopes, strict=True)]
    return {
        "z": scores,
        "z_divided": scores / 4,
        "z_times_four": scores * 4,
        "gaps": scores[1:] - scores[:-1],
        "gaps_divided": scores[1:] / 4 - scores[:-1] / 4,
        "ratios": unscaled[1:] / unscaled[:-1],  # e to the gap
        "ratios_divided": divided[1:] / divided[:-1],
        "weights_divided": divided,
        "weights": unscaled,
        "weights_times_four": times_four,
        "differences": unscaled[1:] - unscaled[:-1],
        "differences_divided": divided[1:] - divided[:-1],
        "jacobian_divided": jacobians[0],
        "jacobian": jacobians[1],
        "jacobian_times_four": jacobians[2],
        "factors": xp.asarray(FACTORS, dtype=xp.float64),
        "largest_slopes": xp.stack(largest_slopes),
        "largest_slopes_by_z": xp.stack(slopes_by_z),
    }


def jacobian(xp, a):
    """Return diag(a) - a a^T, the Jacobian of a softmax with the weights a."""
    return xp.where(xp.eye(a.shape[0]) == 1, a, xp.zeros_like(a)) - a[:, None] * a[None, :]
