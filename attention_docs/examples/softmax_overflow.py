"""Where a softmax without the maximum overflows, and what a fill value of -1e9 does.

`largest_exponent` is the logarithm of the largest float64: above it exp is infinite, and infinity
over infinity is NaN. Steps that end in `_naive` use the plain formula. Steps that end in `_stable`
subtract the maximum c first, which gives the same fractions, because e^(z - c) / sum e^(z - c)
cancels e^c.

`filled` masks all of three scores by -1e9. The naive softmax then divides zero by zero, and the
stable one finds three equal scores: uniform weights over keys that should be hidden. `beyond` is a
row whose two visible scores lie below the fill value of the third: the hidden position gets all the
weight. `beyond_right` has minus infinity in its place.

>>> show(computed(steps))
largest_exponent 709.7827
largest_exponent_float32 88.7228
small_naive [0.6652 0.2447 0.0900]
small_stable [0.6652 0.2447 0.0900]
large_powers [inf inf 8.2184e+307]
large_naive [nan nan 0]
large_stable [0.6652 0.2447 0.0900]
filled_powers [0 0 0]
filled_naive [nan nan nan]
filled_stable [0.3333 0.3333 0.3333]
hidden_stable [0 0 0]
beyond_stable [0 0 1]
beyond_right [0 1 0]
"""

import numpy

from attention_docs.softmax import softmax

TITLE = "Overflow of the softmax, and fill values"
SOURCE = "003_e3f694db51754fdb.txt, “Function for Attention computation”"

SMALL = [1, 0, -1]
LARGE = [711, 710, 709]
FILL = -1e9
FILLED = [FILL, FILL, FILL]
BEYOND = [-3e9, -2e9, FILL]


def steps(xp=numpy):
    """Compare the plain softmax with the stable one, and a fill value with minus infinity.

    `beyond` has two scores below the fill value of the third, whose key is hidden.
    """
    small, large = (xp.asarray(row, dtype=xp.float64) for row in (SMALL, LARGE))
    filled, beyond = (xp.asarray(row, dtype=xp.float64) for row in (FILLED, BEYOND))
    hidden = xp.full_like(filled, -xp.inf)
    return {
        "largest_exponent": xp.log(xp.asarray(xp.finfo(xp.float64).max, dtype=xp.float64)),
        "largest_exponent_float32": xp.log(
            xp.asarray(float(xp.finfo(xp.float32).max), dtype=xp.float64)
        ),
        "small": small,
        "small_naive": naive_softmax(xp, small),
        "small_stable": softmax(small),
        "large": large,
        "large_powers": exponentials(xp, large),
        "large_naive": naive_softmax(xp, large),
        "large_stable": softmax(large),
        "filled": filled,
        "filled_powers": exponentials(xp, filled),
        "filled_naive": naive_softmax(xp, filled),
        "filled_stable": softmax(filled),
        "hidden_stable": softmax(hidden),
        "beyond": beyond,
        "beyond_stable": softmax(beyond),
        "beyond_right": softmax(xp.concat([beyond[:2], hidden[2:]])),
    }


def exponentials(xp, z):
    """Return e to each score, or infinity where that is larger than the largest float."""
    with numpy.errstate(over="ignore"):
        return xp.exp(z)


def naive_softmax(xp, z):
    """Return the softmax without subtracting the maximum, which is NaN where it overflows."""
    with numpy.errstate(over="ignore", invalid="ignore"):
        return xp.exp(z) / xp.sum(xp.exp(z))
