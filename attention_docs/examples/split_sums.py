"""Sums in half precision depend on their order, and so does attention in pieces.

`forward`, `in_pairs` and `backward` are sums of the four `numbers` in three orders, rounded to 16
bits after each addition.

One query meets eight keys; `exact` is its output. The keys are then split into one, two, four and
eight pieces, whose states are merged from the first to the last and rounded to 16 bits each time.
`outputs` has a row for each number of pieces, and `totals` the denominators of the merged states.
`last_first` merges four pieces from the last to the first.

>>> show(steps())
numbers 4
[2048 1 1 1]
forward number
2048
in_pairs number
2050
backward number
2052
Q 1 x 1
[[1]]
K 8 x 1
[[ 0]
 [ 1]
 [ 0]
 [ 2]
 [ 2]
 [ 0]
 [-1]
 [ 0]]
V 8 x 2
[[ 4  0]
 [-3  3]
 [ 0  5]
 [ 0  1]
 [ 4  1]
 [ 4  6]
 [ 5 -2]
 [ 2  0]]
exact 2
[1.5203 1.5183]
outputs 4 x 2
[[1.5205 1.5186]
 [1.5205 1.5186]
 [1.5205 1.5195]
 [1.5205 1.5205]]
totals 4
[2.9590 2.9590 2.9590 2.9570]
last_first 2
[1.5195 1.5176]
"""

import math
from functools import reduce
from types import ModuleType

import numpy

from attention_docs.arrays import Array
from attention_docs.dot_product import attend_tile, attention_steps
from attention_docs.tiles import TileState, merge

TITLE = "Sums in half precision"
SOURCE = "our own example"

NUMBERS = [2048, 1, 1, 1]
Q = [[1]]
K = [[0], [1], [0], [2], [2], [0], [-1], [0]]
V = [[4, 0], [-3, 3], [0, 5], [0, 1], [4, 1], [4, 6], [5, -2], [2, 0]]
PIECES = (1, 2, 4, 8)
# The bits of a float16 after its leading bit, and the smallest float16 with full precision.
FRACTION_BITS, SMALLEST_NORMAL = 10, 2.0**-14

LABELS = {
    "outputs": (["1 piece", *(f"{pieces} pieces" for pieces in PIECES[1:])], []),
    "totals": ([str(pieces) for pieces in PIECES],),
}


def nearest(x: Array, xp: ModuleType) -> Array:
    """Round to the nearest integer; a number between two integers goes to the even one."""
    # Not `xp.round`: the pages give it the slope 1, because other examples use it only to remove
    # rounding errors.
    below_half = xp.ceil(x - 0.5)
    is_odd_tie = (x - below_half == 0.5) & (below_half % 2 == 1)
    return xp.where(is_odd_tie, below_half + 1, below_half)


def round_to_float16(x: Array, xp: ModuleType) -> Array:
    """Round float64 numbers to the nearest float16, but return them as float64.

    They must be within the range of float16.
    """
    # Below the smallest normal number, the spacing of float16 no longer shrinks.
    magnitude = xp.maximum(xp.abs(x), xp.asarray(SMALLEST_NORMAL, dtype=xp.float64))
    # The floor of the base-2 logarithm, written with `ceil`, because the pages have no `floor`.
    exponent = -xp.ceil(-xp.log(magnitude) / math.log(2))
    spacing = 2.0 ** (exponent - FRACTION_BITS)
    return nearest(x / spacing, xp) * spacing


def steps(xp: ModuleType = numpy) -> dict[str, Array]:
    """Sum four numbers in three orders, and attend to the keys in one to eight pieces.

    All of it is rounded to float16, except `exact`, the output of attention in float64.
    """
    numbers = xp.asarray(NUMBERS, dtype=xp.float64)
    q, k, v = (xp.asarray(rows, dtype=xp.float64) for rows in (Q, K, V))
    a, b, c, d = (numbers[i] for i in range(len(NUMBERS)))

    def add(x: Array, y: Array) -> Array:
        return round_to_float16(x + y, xp)

    def round_state(state: TileState) -> TileState:
        """Round the arrays of a state, side by side as the columns of one array."""
        columns = [state.maximum[..., None], state.total[..., None], state.sums]
        rounded = round_to_float16(xp.concat(columns, axis=-1), xp)
        return TileState(rounded[..., 0], rounded[..., 1], rounded[..., 2:])

    def merge_rounded(state: TileState, next_state: TileState) -> TileState:
        return round_state(merge(state, next_state))

    def states_of_pieces(count: int) -> list[TileState]:
        """Split the keys into equal pieces, and return the state of each, from first to last."""
        shape = (count, len(K) // count, -1)
        states = round_state(attend_tile(q, xp.reshape(k, shape), xp.reshape(v, shape)))
        return [
            TileState(states.maximum[i, ...], states.total[i, ...], states.sums[i, ...])
            for i in range(count)
        ]

    merged_states = [reduce(merge_rounded, states_of_pieces(count)) for count in PIECES]
    merged_last_first = reduce(merge_rounded, reversed(states_of_pieces(4)))
    outputs = xp.concat([state.output for state in merged_states])
    return {
        "numbers": numbers,
        "forward": add(add(add(a, b), c), d),
        "in_pairs": add(add(a, b), add(c, d)),
        "backward": add(a, add(b, add(c, d))),
        "Q": q,
        "K": k,
        "V": v,
        "exact": attention_steps(q, k, v).output[0, :],
        "outputs": round_to_float16(outputs, xp),
        "totals": xp.stack([state.total[0] for state in merged_states]),
        "last_first": round_to_float16(merged_last_first.output[0, :], xp),
    }
