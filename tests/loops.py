"""Attention as slow loops over Python numbers, independent of the package.

The only array operation used here is indexing.
"""

import cmath
import math


def softmax_row(scores):
    """Return the weights of a row of scores, zeros if all of them are -inf."""
    maximum = max(scores)
    if maximum == -math.inf:
        return [0.0 for _ in scores]
    exponentials = [math.exp(score - maximum) for score in scores]
    return [exponential / math.fsum(exponentials) for exponential in exponentials]


def softmax_slopes(scores):
    """Return the derivative of each weight (row) by each score (column)."""
    # Complex-step differentiation: f'(z) is the imaginary part of f(z + ih) / h.
    step = 1e-30
    columns = []
    for changed in range(len(scores)):
        exponentials = []
        for index, score in enumerate(scores):
            shifted = score - max(scores)
            exponentials.append(cmath.exp(shifted + 1j * step if index == changed else shifted))
        total = sum(exponentials)
        columns.append([(exponential / total).imag / step for exponential in exponentials])
    return [list(row) for row in zip(*columns, strict=True)]


def rotate_pairs(row, position, base, interleaved=False):
    """Rotate features i and i + d/2, or if interleaved 2i and 2i + 1, as complex numbers."""
    half = len(row) // 2
    rotated = list(row)
    for i in range(half):
        a, b = (2 * i, 2 * i + 1) if interleaved else (i, i + half)
        z = complex(row[a], row[b]) * cmath.exp(1j * position * base ** (-i / half))
        rotated[a] = z.real
        rotated[b] = z.imag
    return rotated


def dot(a, b):
    return math.fsum(float(x) * float(y) for x, y in zip(a, b, strict=True))


def matmul(a, b):
    columns = list(zip(*b, strict=True))
    return [[dot(row, column) for column in columns] for row in a]


def add(a, b):
    return [[x + y for x, y in zip(*rows, strict=True)] for rows in zip(a, b, strict=True)]


def every_step(query, key, value, allowed=lambda i, j: True, divisor=None):
    """Return the steps of one head by name, with `allowed(i, j)` as the mask."""
    divisor = math.sqrt(len(query[0])) if divisor is None else divisor
    scores = [[dot(q, k) for k in key] for q in query]
    scaled = [[score / divisor for score in row] for row in scores]
    masked = [
        [score if allowed(i, j) else -math.inf for j, score in enumerate(row)]
        for i, row in enumerate(scaled)
    ]
    weights = [softmax_row(row) for row in masked]
    return {
        "scores": scores,
        "scaled": scaled,
        "masked": masked,
        "weights": weights,
        "output": matmul(weights, value),
    }


def attention(query, key, value, allowed=lambda i, j: True, divisor=None):
    steps = every_step(query, key, value, allowed, divisor)
    return steps["weights"], steps["output"]
