"""A convolution written as attention: one head per tap of the kernel, then W_O.

The image has 5 x 4 pixels, the kernel 3 x 3 taps. Queries are the 3 x 2 interior pixels, where the
whole kernel fits; keys are all 20 pixels. The scores of a head depend on positions only:

    2c (p + t) . r - c |r|^2  =  -c |p + t - r|^2 + a number that the softmax cancels

for the query's position p, the head's tap t and the key's position r. A query is (p, 1) times the
W_Q of its head; a key is (r, |r|^2). With c = 1000 the softmax is exactly one at r = p + t, because
every other exponential underflows to zero. The values are the pixels, so each head copies one
neighbour, and W_O, the kernel as a column, adds up the copies with the weights of the kernel. As in
every deep-learning library, the kernel is not flipped.

All products here are multiples of a half, so no sum is rounded. Sums are rounded with a seventh of
the image and a third of the kernel: the copies are still exact (`sevenths_are_copied`), but the sum
of the nine products of a position depends on their order. `first_to_last` is the sum in one order,
and `order_matters` the largest difference from the sum in the reverse order.

>>> show(computed(steps))
taps [[-1 -1] [-1 0] [-1 1] [0 -1] [0 0] [0 1] [1 -1] [1 0] [1 1]]
places [[1 1 1] [1 2 1] [2 1 1] [2 2 1] [3 1 1] [3 2 1]]
W_Q_1 [[2000 0 0] [0 2000 0] [-2000 -2000 -1000]]
Q_1 [[0 0 -1000] [0 2000 -1000] [2000 0 -1000] [2000 2000 -1000] [4000 0 -1000] [4000 2000 -1000]]
K 20 x 3
[[0 0  0]
 [0 1  1]
 [0 2  4]
 [0 3  9]
 [1 0  1]
 [1 1  2]
 [1 2  5]
 [1 3 10]
 [2 0  4]
 [2 1  5]
 [2 2  8]
 [2 3 13]
 [3 0  9]
 [3 1 10]
 [3 2 13]
 [3 3 18]
 [4 0 16]
 [4 1 17]
 [4 2 20]
 [4 3 25]]
V [[3] [1] [0] [2] [0] [5] [1] [4] [2] [2] [6] [0] [1] [0] [3] [7] [4] [1] [2] [1]]
weights_1 6 x 20
[[1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0]
 [0 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0]
 [0 0 0 0 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0]
 [0 0 0 0 0 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0]
 [0 0 0 0 0 0 0 0 1 0 0 0 0 0 0 0 0 0 0 0]
 [0 0 0 0 0 0 0 0 0 1 0 0 0 0 0 0 0 0 0 0]]
head_1 [[3] [1] [0] [5] [2] [2]]
merged 6 x 9
[[3 1 0 0 5 1 2 2 6]
 [1 0 2 5 1 4 2 6 0]
 [0 5 1 2 2 6 1 0 3]
 [5 1 4 2 6 0 0 3 7]
 [2 2 6 1 0 3 4 1 2]
 [2 6 0 0 3 7 1 2 1]]
W_O [[1] [0] [-1] [2] [0.5000] [-2] [0] [-3] [1]]
output [[3.5000 -16.5000] [-5 6] [-9 -15.5000]]
convolution [[3.5000 -16.5000] [-5 6] [-9 -15.5000]]
smallest_pixel 0
largest_pixel 7
sevenths_are_copied True
first_to_last [[0.1667 -0.7857] [-0.2381 0.2857] [-0.4286 -0.7381]]
order_matters 1.1e-16
"""

import numpy

from attention_docs.dot_product import attention_steps

TITLE = "A convolution as nine heads"
SOURCE = "001_7d27211e1d664477.txt, “Self-attention vs CNN”; Cordonnier et al. 2020"

IMAGE = [[3, 1, 0, 2], [0, 5, 1, 4], [2, 2, 6, 0], [1, 0, 3, 7], [4, 1, 2, 1]]
KERNEL = [[1, 0, -1], [2, 0.5, -2], [0, -3, 1]]
TAPS = [(down, right) for down in (-1, 0, 1) for right in (-1, 0, 1)]
SHARPNESS = 1000.0


def steps(xp=numpy):
    """Return the steps of nine heads that convolve the image, and the convolution by definition.

    `places` are the queries (p, 1) before they are multiplied by W_Q.
    """
    image, kernel = (xp.asarray(literal, dtype=xp.float64) for literal in (IMAGE, KERNEL))
    height, width = image.shape
    pixels = positions(xp, range(height), range(width))
    interior = positions(xp, range(1, height - 1), range(1, width - 1))
    output_shape = (height - 2, width - 2)
    places = xp.concat([interior, xp.ones_like(interior[:, :1])], axis=1)
    k = xp.concat([pixels, xp.sum(pixels**2, axis=1, keepdims=True)], axis=1)
    v = xp.reshape(image, (-1, 1))
    heads = [attention_steps(places @ query_matrix(xp, *tap), k, v, scale=1.0) for tap in TAPS]
    merged = xp.concat([head.output for head in heads], axis=1)
    w_o = xp.reshape(kernel, (-1, 1))
    # Floats hold no seventh and no third exactly, so the sums of these products are rounded.
    copies = xp.concat([head.weights @ (v / 7) for head in heads], axis=1)
    products = copies * xp.reshape(kernel / 3, (1, -1))
    first_to_last = sum_in_order(products, range(len(TAPS)))
    last_to_first = sum_in_order(products, reversed(range(len(TAPS))))
    return {
        "image": image,
        "kernel": kernel,
        "taps": xp.asarray(TAPS, dtype=xp.float64),
        "places": places,
        "W_Q_1": query_matrix(xp, *TAPS[0]),
        "Q_1": places @ query_matrix(xp, *TAPS[0]),
        "K": k,
        "V": v,
        "weights_1": heads[0].weights,
        "head_1": heads[0].output,
        "merged": merged,
        "W_O": w_o,
        "output": xp.reshape(merged @ w_o, output_shape),
        "convolution": convolution(xp, image, kernel),
        "smallest_pixel": xp.min(image),
        "largest_pixel": xp.max(image),
        "sevenths_are_copied": xp.all(copies == merged / 7),
        "first_to_last": xp.reshape(first_to_last, output_shape),
        "order_matters": xp.max(xp.abs(first_to_last - last_to_first)),
    }


def positions(xp, rows, columns):
    """Return the coordinates (row, column) of the pixels, row by row, (p, 2)."""
    return xp.asarray([[row, column] for row in rows for column in columns], dtype=xp.float64)


def query_matrix(xp, down, right):
    """Return W_Q of the head for the tap t = (down, right): it maps (p, 1) to (2c (p + t), -c)."""
    matrix = [[2, 0, 0], [0, 2, 0], [2 * down, 2 * right, -1]]
    return SHARPNESS * xp.asarray(matrix, dtype=xp.float64)


def sum_in_order(products, taps):
    """Return the sum of each row of products, (p, 9), adding the taps in the given order."""
    return sum(products[:, tap] for tap in taps)


def convolution(xp, image, kernel):
    """Return the convolution by its definition: the kernel slides over the image."""
    rows, columns = kernel.shape
    height, width = image.shape[0] - rows + 1, image.shape[1] - columns + 1  # of the output
    return sum(
        kernel[i, j] * image[i : i + height, j : j + width]
        for i in range(rows)
        for j in range(columns)
    )
