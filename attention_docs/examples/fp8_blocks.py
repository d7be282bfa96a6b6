"""Scores in FP8 with one scale for all, one for each block, and after a rotation.

Four queries and eight keys have four features, and one key has a large one. Both are rounded to FP8
(E4M3, three bits after the leading one, largest number 448) or to signed integers of 8 bits, after
a division by a scale that moves the largest number to the end of the range.

- `rotated` are the keys times the Hadamard matrix `H`, whose rows have length one: queries times
  `H` have the same scores with them.
- `fp8_key` is the large key in FP8 with the scale of all, and `fp8_rotated` the rotated one.
- `errors` are the root mean squares of the errors of the 32 scores: one scale, one for each block
  of two queries or keys, and one for all after the rotation.

>>> show(computed(steps))
H 4 x 4
[[0.5000  0.5000  0.5000  0.5000]
 [0.5000 -0.5000  0.5000 -0.5000]
 [0.5000  0.5000 -0.5000 -0.5000]
 [0.5000 -0.5000 -0.5000  0.5000]]
rotated 8 x 4
[[ 0.5000   0.5000  -1.5000  2.5000]
 [      2        0        2       2]
 [ 1.5000  -1.5000   2.5000 -4.5000]
 [22.5000 -17.5000 -20.5000 19.5000]
 [      1       -1        2       0]
 [      2        0       -3       1]
 [ 0.5000  -2.5000  -1.5000 -0.5000]
 [ 2.5000   2.5000  -0.5000 -2.5000]]
fp8_key [1.9643 0 2.8571 40]
fp8_rotated [22.5000 -17.6786 -20.8929 19.2857]
errors [[1.5026 1.1517 0.2591] [0.3229 0.1529 0.1885]]
"""

import numpy

from attention_docs.examples.split_sums import nearest, round_to

TITLE = "Scores in FP8, with scales and a rotation"
SOURCE = "our own example"

Q = [[2, 1, 1, 3], [1, -2, 0, 4], [0, 1, -2, 2], [-1, 2, 1, 3]]
K = [
    *([1, -2, 0, 2], [3, 1, -1, 1], [-1, 5, 1, -2], [2, 0, 3, 40]),
    *([1, 2, -1, 0], [0, -1, 2, 3], [-2, 1, 0, 2], [1, 1, 4, -1]),
]
HADAMARD = [[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]]
BLOCK, LARGE_KEY = 2, 3
FRACTION_BITS, SMALLEST_NORMAL = 3, 2.0**-6
LARGEST = {"FP8": 448, "INT8": 127}

LABELS = {"errors": (list(LARGEST), ["one scale", "by block", "rotated"])}


def steps(xp=numpy):
    """Return keys in FP8, and the errors of scores from rounded queries and keys."""
    q, k, signs = (xp.asarray(rows, dtype=xp.float64) for rows in (Q, K, HADAMARD))
    h = signs / len(HADAMARD) ** 0.5
    scores = q @ k.T

    def error(number_format, block, q, k):
        rounded_q, rounded_k = (quantise(x, number_format, block, xp) for x in (q, k))
        return xp.sqrt(xp.mean((rounded_q @ rounded_k.T - scores) ** 2))

    errors = [
        xp.stack(
            [
                error(number_format, None, q, k),
                error(number_format, BLOCK, q, k),
                error(number_format, None, q @ h, k @ h),
            ]
        )
        for number_format in LARGEST
    ]
    return {
        "Q": q,
        "K": k,
        "H": h,
        "rotated": k @ h,
        "fp8_key": quantise(k, "FP8", None, xp)[LARGE_KEY, :],
        "fp8_rotated": quantise(k @ h, "FP8", None, xp)[LARGE_KEY, :],
        "errors": xp.stack(errors),
    }


def quantise(x, number_format, block, xp):
    """Round to a format with one scale, or with one for each block of rows."""
    blocks = xp.reshape(x, (1 if block is None else x.shape[0] // block, -1))
    scale = xp.max(xp.abs(blocks), axis=1, keepdims=True) / LARGEST[number_format]
    if number_format == "FP8":
        rounded = round_to(blocks / scale, FRACTION_BITS, SMALLEST_NORMAL, xp)
    else:
        rounded = nearest(blocks / scale, xp)
    return xp.reshape(rounded * scale, x.shape)
