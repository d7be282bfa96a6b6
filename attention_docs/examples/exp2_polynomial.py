"""Powers of two by a polynomial of the fraction, as FlashAttention 4 computes some of them.

2^x = 2^floor(x) 2^f, where f = x - floor(x), and a polynomial takes the place of 2^f. There is one
for each degree from 1 to 5.

- `errors` are the largest relative errors of the polynomials on 257 fractions from 0 to 1.
- `jumps` are relative errors just below an integer, where the polynomial is taken at 1. At the
  integer there is none.
- `floor`, `fraction`, `power` and `approximate` follow the number `x` with the polynomial of
  degree 3.
- `weights` are those of the first query in `tiles`, computed with degree 3, and `weight_errors`
  their largest relative errors, by degree.

>>> show(computed(steps))
errors [0.0388 0.0021 0.0001 3.0e-06 8.5e-08]
jumps [-0.0388 -0.0021 -0.0001 -2.9e-06 -8.2e-08]
floor [-2]
fraction [0.7500]
power [0.4204]
approximate [0.4205]
weights [0.0367 0.0653 0.0653 0.3693 0.0367 0.0206 0.3693 0.0367]
weight_errors [0.0269 0.0016 0.0001 2.4e-06 7.2e-08]
"""

import math

import numpy

from attention_docs.dot_product import attention_steps
from attention_docs.examples import tiles

TITLE = "Powers of two by a polynomial"
SOURCE = "our own example, with the coefficients of FlashAttention 4"

# A row for each degree, from the constant on.
COEFFICIENTS = [
    [1, 0.922497093677520751953125, 0, 0, 0, 0],
    [1, 0.6657850742340087890625, 0.330107033252716064453125, 0, 0, 0],
    [
        1,
        0.695146143436431884765625,
        0.227564394474029541015625,
        0.077119089663028717041015625,
        0,
        0,
    ],
    [
        *(1, 0.693042695522308349609375, 0.2412912547588348388671875),
        *(5.2225358784198760986328125e-2, 1.3434938155114650726318359375e-2, 0),
    ],
    [
        *(1, 0.693151414394378662109375, 0.24016360938549041748046875),
        *(5.5802188813686370849609375e-2, 9.01452265679836273193359375e-3),
        1.86810153536498546600341796875e-3,
    ],
]
X = [-1.25]
PARTS = 256

DEGREES = [f"degree {degree}" for degree in range(1, 6)]
LABELS = {"coefficients": (DEGREES, []), "errors jumps weight_errors": (DEGREES,)}


def steps(xp=numpy):
    """Return errors and jumps of the polynomials, one power and the weights of a query."""
    coefficients = xp.asarray(COEFFICIENTS, dtype=xp.float64)
    x = xp.asarray(X, dtype=xp.float64)
    fractions = xp.astype(xp.arange(PARTS + 1), xp.float64) / PARTS
    polynomials = evaluate(coefficients, fractions, xp)
    q, k, v = (xp.asarray(rows, dtype=xp.float64) for rows in (tiles.Q[:1], tiles.K, tiles.V))
    exact = attention_steps(q, k, v)
    z = exact.scaled[0, :]
    powers = exp2(coefficients, (z - xp.max(z)) / math.log(2), xp)
    weights = powers / xp.sum(powers, axis=1, keepdims=True)
    degree_3 = 2
    return {
        "coefficients": coefficients,
        "errors": xp.max(xp.abs(polynomials / 2**fractions - 1), axis=1),
        "jumps": polynomials[:, PARTS] / 2 - 1,
        "x": x,
        "floor": floor(x, xp),
        "fraction": x - floor(x, xp),
        "power": 2**x,
        "approximate": exp2(coefficients, x, xp)[degree_3, :],
        "weights": weights[degree_3, :],
        "weight_errors": xp.max(xp.abs(weights / exact.weights - 1), axis=1),
    }


def floor(x, xp):
    """Round down."""
    return -xp.ceil(-x)  # the pages have no `floor`


def evaluate(coefficients, x, xp):
    """Return the values of polynomials (rows) at each x, by Horner's rule."""
    values = xp.zeros((coefficients.shape[0], x.shape[0]), dtype=xp.float64)
    for power in reversed(range(coefficients.shape[1])):
        values = values * x + coefficients[:, power : power + 1]
    return values


def exp2(coefficients, x, xp):
    """Return 2^x by each polynomial (rows)."""
    return 2 ** floor(x, xp) * evaluate(coefficients, x - floor(x, xp), xp)
