"""Sums in half precision depend on their order, and so does attention in pieces.

`forward`, `in_pairs` and `backward` are sums of the four `numbers`, rounded to 16 bits after each
addition. One query meets eight keys; `exact` is its output. `outputs` has a row for one, two, four
and eight pieces of the keys, whose states are merged from the first to the last and rounded to 16
bits each time, and `totals` are the totals of the merged states. `last_first` merges four pieces
from the last to the first.

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
# Bits after the first one of a number of 16 bits, and its smallest size with all of them.
BITS_AFTER_FIRST, SMALLEST = 10, 2.0**-14

LABELS = {
    "outputs": (["1 piece", *(f"{pieces} pieces" for pieces in PIECES[1:])], []),
    "totals": ([str(pieces) for pieces in PIECES],),
}


def nearest(x: Array, xp: ModuleType) -> Array:
    """Round to the nearest whole number, and a half to the even one."""
    below_half = xp.ceil(x - 0.5)
    is_odd_tie = (x - below_half == 0.5) & (below_half % 2 == 1)
    return xp.where(is_odd_tie, below_half + 1, below_half)


def round_to_float16(x: Array, xp: ModuleType) -> Array:
    """Round numbers that lie within the range of float16 to the nearest float16."""
    size = xp.maximum(xp.abs(x), xp.asarray(SMALLEST, dtype=xp.float64))
    # The floor of the logarithm; pages compute `ceil` only.
    exponent = -xp.ceil(-xp.log(size) / math.log(2))
    spacing = 2.0 ** (exponent - BITS_AFTER_FIRST)
    return nearest(x / spacing, xp) * spacing


def steps(xp: ModuleType = numpy) -> dict[str, Array]:
    numbers, q, k, v = (xp.asarray(rows, dtype=xp.float64) for rows in (NUMBERS, Q, K, V))
    a, b, c, d = (numbers[i] for i in range(len(NUMBERS)))

    def plus(one: Array, other: Array) -> Array:
        return round_to_float16(one + other, xp)

    def rounded(state: TileState) -> TileState:
        columns = [state.maximum[..., None], state.total[..., None], state.sums]
        together = round_to_float16(xp.concat(columns, axis=-1), xp)
        return TileState(together[..., 0], together[..., 1], together[..., 2:])

    def merged(one: TileState, other: TileState) -> TileState:
        return rounded(merge(one, other))

    def states(pieces: int) -> list[TileState]:
        """Return the states of pieces of one size, from the first keys to the last."""
        shape = (pieces, len(K) // pieces, -1)
        all_states = rounded(attend_tile(q, xp.reshape(k, shape), xp.reshape(v, shape)))
        return [TileState(*(array[i, ...] for array in all_states)) for i in range(pieces)]

    by_pieces = [states(pieces) for pieces in PIECES]
    ends = [reduce(merged, pieces) for pieces in by_pieces]
    last_first = reduce(merged, by_pieces[2][::-1])
    outputs = round_to_float16(xp.concat([end.output for end in [*ends, last_first]]), xp)
    return {
        "numbers": numbers,
        "forward": plus(plus(plus(a, b), c), d),
        "in_pairs": plus(plus(a, b), plus(c, d)),
        "backward": plus(a, plus(b, plus(c, d))),
        "Q": q,
        "K": k,
        "V": v,
        "exact": attention_steps(q, k, v).output[0, :],
        "outputs": outputs[:-1, :],
        "totals": xp.stack([end.total[0] for end in ends]),
        "last_first": outputs[-1, :],
    }
