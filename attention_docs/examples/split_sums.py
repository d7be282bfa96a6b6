"""Sums in half precision depend on their order, and so does attention in pieces.

`forward`, `in_pairs` and `backward` are sums of the four `numbers` in three orders, rounded to
float16 after each addition.

One query meets eight keys; `exact` is its output. The keys are then split into one, two, four and
eight pieces, whose states are merged from the first to the last and rounded to float16 each time.
`outputs` has a row for each number of pieces, and `totals` the denominators of the merged states.
`last_first` merges four pieces from the last to the first. `bfloat16_outputs` are rounded to
bfloat16 instead, and `mixed_outputs` as well, but from states in float32.

>>> show(computed(steps))
forward 2048
in_pairs 2050
backward 2052
exact [1.5203 1.5183]
outputs [[1.5205 1.5186] [1.5205 1.5186] [1.5205 1.5195] [1.5205 1.5205]]
totals [2.9590 2.9590 2.9590 2.9570]
last_first [1.5195 1.5176]
bfloat16_outputs [[1.5234 1.5234] [1.5156 1.5156] [1.5234 1.5234] [1.5156 1.5156]]
mixed_outputs [[1.5234 1.5156] [1.5234 1.5156] [1.5234 1.5156] [1.5234 1.5156]]
"""

import math
from functools import reduce

import numpy

from attention_docs.dot_product import attend_tile, attention_steps
from attention_docs.tiles import TileState, merge

TITLE = "Sums in half precision"
SOURCE = "our own example"

NUMBERS = [2048, 1, 1, 1]
Q = [[1]]
K = [[0], [1], [0], [2], [2], [0], [-1], [0]]
V = [[4, 0], [-3, 3], [0, 5], [0, 1], [4, 1], [4, 6], [5, -2], [2, 0]]
PIECES = (1, 2, 4, 8)
# The bits of a number after its leading bit, and the smallest number with full precision.
FORMATS = {"float16": (10, 2.0**-14), "bfloat16": (7, 2.0**-126), "float32": (23, 2.0**-126)}

LABELS = {
    "outputs bfloat16_outputs": (["1 piece", *(f"{pieces} pieces" for pieces in PIECES[1:])], []),
    "mixed_outputs": (["1 piece", *(f"{pieces} pieces" for pieces in PIECES[1:])], []),
    "totals": ([str(pieces) for pieces in PIECES],),
}


def nearest(x, xp):
    """Round to the nearest integer; a number between two integers goes to the even one."""
    # Not `xp.round`: the pages give it the slope 1, because other examples use it only to remove
    # rounding errors.
    below_half = xp.ceil(x - 0.5)
    is_odd_tie = (x - below_half == 0.5) & (below_half % 2 == 1)
    return xp.where(is_odd_tie, below_half + 1, below_half)


def round_to(x, fraction_bits, smallest_normal, xp):
    """Round float64 numbers within the range of a format to it, but return them as float64."""
    # Below the smallest normal number, the spacing no longer shrinks.
    magnitude = xp.maximum(xp.abs(x), xp.asarray(smallest_normal, dtype=xp.float64))
    # The floor of the base-2 logarithm, written with `ceil`, because the pages have no `floor`.
    exponent = -xp.ceil(-xp.log(magnitude) / math.log(2))
    spacing = 2.0 ** (exponent - fraction_bits)
    return nearest(x / spacing, xp) * spacing


def round_to_float16(x, xp):
    """Round float64 numbers to float16."""
    return round_to(x, *FORMATS["float16"], xp)


def round_to_each(formats, x, xp):
    """Round along the first axis to one format each, or all of a first axis of length 1 to each."""
    shape = (-1, *(1,) * (x.ndim - 1))
    columns = zip(*(FORMATS[name] for name in formats), strict=True)
    bits, smallest = (xp.reshape(xp.asarray(c, dtype=xp.float64), shape) for c in columns)
    return round_to(x, bits, smallest, xp)


def steps(xp=numpy):
    """Sum four numbers in three orders, and attend to the keys in one to eight pieces."""
    numbers = xp.asarray(NUMBERS, dtype=xp.float64)
    q, k, v = (xp.asarray(rows, dtype=xp.float64) for rows in (Q, K, V))
    a, b, c, d = (numbers[i] for i in range(len(NUMBERS)))

    def add(x, y):
        return round_to_float16(x + y, xp)

    def round_state(state):
        """Round the arrays of a state, (formats, ...), side by side as columns of one array."""
        columns = [state.maximum[..., None], state.total[..., None], state.sums]
        rounded = round_to_each(FORMATS, xp.concat(columns, axis=-1), xp)
        return TileState(rounded[..., 0], rounded[..., 1], rounded[..., 2:])

    def merge_pieces(count, *, last_first=False):
        """Split the keys into equal pieces, and merge their states, rounded to each format."""
        shape = (1, count, len(K) // count, -1)
        states = round_state(attend_tile(q, xp.reshape(k, shape), xp.reshape(v, shape)))
        order = reversed(range(count)) if last_first else range(count)
        return reduce(
            lambda state, next_state: round_state(merge(state, next_state)),
            [TileState(*(array[:, i, ...] for array in states)) for i in order],
        )

    def outputs(*states):
        """Return the outputs of states, (formats, states, d_v); of float32 states in bfloat16."""
        output = xp.concat([state.output for state in states], axis=1)
        return round_to_each(("float16", "bfloat16", "bfloat16"), output, xp)

    in_pieces = [merge_pieces(count) for count in PIECES]
    float16, bfloat16, mixed = (outputs(*in_pieces)[i, ...] for i in range(len(FORMATS)))
    return {
        "numbers": numbers,
        "forward": add(add(add(a, b), c), d),
        "in_pairs": add(add(a, b), add(c, d)),
        "backward": add(a, add(b, add(c, d))),
        "Q": q,
        "K": k,
        "V": v,
        "exact": attention_steps(q, k, v).output[0, :],
        "outputs": float16,
        "totals": xp.stack([state.total[0, 0] for state in in_pieces]),
        "last_first": outputs(merge_pieces(4, last_first=True))[0, 0, :],
        "bfloat16_outputs": bfloat16,
        "mixed_outputs": mixed,
    }
