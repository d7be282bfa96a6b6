"""The softmax in one pass, and attention in tiles of two keys, merged in three orders.

All sizes differ: 4 queries, 8 keys of 3 features, values of 5.

- One pass: `maxima`, `rescale` and `sums` follow the scores `z` of the first query one by one.
- Tiles: `tile_maxima`, `tile_totals` and `tile_sums` are the states of the first query's four
  tiles. Steps that start with `running_` are the states of all tiles so far; `running_rescale` has
  the factors that multiply the earlier sums.
- Orders: `in_order` has the outputs of all queries, merged tile after tile, and `tree` merged in
  pairs. `ring` is the output of the third query, merged from the third tile round to the second.
- `hidden_factor_naive` is the rescaling factor of a tile whose keys are all hidden, without a
  special case for it.
- `not_rescaled` shows a mistake: earlier sums are not rescaled when the maximum grows.

>>> show(computed(steps))
z [0.5774 1.1547 1.1547 2.8868 0.5774 0 2.8868 0.5774]
maxima [0.5774 1.1547 1.1547 2.8868 2.8868 2.8868 2.8868 2.8868]
rescale [0 0.5614 1 0.1769 1 1 1 1]
sums [1 1.5614 2.5614 1.4532 1.5525 1.6082 2.6082 2.7076]
plain_sum 2.7076
weights 4 x 8
[[0.0367 0.0653 0.0653 0.3693 0.0367 0.0206 0.3693 0.0367]
 [0.0628 0.1119 0.0198 0.0198 0.0353 0.6324 0.1119 0.0062]
 [0.0422 0.0237 0.0752 0.0422 0.0042 0.0422 0.7570 0.0133]
 [0.0439 0.2483 0.0138 0.1394 0.2483 0.2483 0.0439 0.0138]]
output 4 x 5
[[ 0.2568 1.9120 0.0940 0.3392 0.8407]
 [-0.4822 0.5161 0.8501 1.6264 0.1592]
 [ 0.1812 2.3700 0.8414 0.2440 0.8406]
 [ 0.0993 0.8935 0.2407 1.2694 0.6499]]
tile_maxima [1.1547 2.8868 0.5774 2.8868]
tile_totals [1.5614 1.1769 1.5614 1.0993]
tile_sums 4 x 5
[[0.5614      1 1.1228      3 -0.5614]
 [0.3538      2     -1 0.1769  1.1769]
 [0.4386      1 0.5614 1.1228       2]
 [0.1986 2.9007      1 0.0993       1]]
running_maxima [1.1547 2.8868 2.8868 2.8868]
running_rescale [0 0.1769 1 1]
running_totals [1.5614 1.4532 1.6082 2.7076]
running_sums 4 x 5
[[0.5614      1  1.1228      3 -0.5614]
 [0.4532 2.1769 -0.8014 0.7077  1.0776]
 [0.4967 2.2762 -0.7456 0.8192  1.2762]
 [0.6954 5.1769  0.2544 0.9185  2.2762]]
running_outputs 4 x 5
[[0.3595 0.6405  0.7191 1.9214 -0.3595]
 [0.3118 1.4981 -0.5515 0.4870  0.7416]
 [0.3089 1.4154 -0.4636 0.5094  0.7936]
 [0.2568 1.9120  0.0940 0.3392  0.8407]]
in_order 4 x 5
[[ 0.2568 1.9120 0.0940 0.3392 0.8407]
 [-0.4822 0.5161 0.8501 1.6264 0.1592]
 [ 0.1812 2.3700 0.8414 0.2440 0.8406]
 [ 0.0993 0.8935 0.2407 1.2694 0.6499]]
tree 4 x 5
[[ 0.2568 1.9120 0.0940 0.3392 0.8407]
 [-0.4822 0.5161 0.8501 1.6264 0.1592]
 [ 0.1812 2.3700 0.8414 0.2440 0.8406]
 [ 0.0993 0.8935 0.2407 1.2694 0.6499]]
ring [0.1812 2.3700 0.8414 0.2440 0.8406]
all_agree True
hidden_factor_naive [nan nan nan nan]
not_rescaled [0.2899 1.5027 0.2952 0.8485 0.4544]
"""

import functools
import itertools

import numpy

from attention_docs.dot_product import attend_tile, attention_steps
from attention_docs.tiles import TileState, merge

TITLE = "The softmax in one pass, and attention in tiles"
SOURCE = "our own example"

Q = [[1, 0, 2], [0, 2, -1], [2, 1, 0], [-1, 1, 1]]
K = [[1, 0, 0], [0, 1, 1], [2, -1, 0], [1, 0, 2], [-1, 0, 1], [0, 2, 0], [3, 1, 1], [1, -2, 0]]
V = [
    [1, 0, 2, 0, -1],
    [0, 1, 0, 3, 0],
    [2, 0, 0, 1, 1],
    [0, 2, -1, 0, 1],
    [1, 1, 0, 0, 2],
    [-1, 0, 1, 2, 0],
    [0, 3, 1, 0, 1],
    [2, -1, 0, 1, 0],
]
TILE = 2

TILES = [f"tile {tile}" for tile in (1, 2, 3, 4)]
MERGED = ["1 tile", "2 tiles", "3 tiles", "4 tiles"]
TILE_OF_KEY = [f"tile {key // TILE + 1}, key {key + 1}" for key in range(len(K))]
LABELS = {
    "K V": (TILE_OF_KEY, []),
    "tile_maxima tile_totals": (TILES,),
    "tile_sums": (TILES, []),
    "running_maxima running_rescale running_totals": (MERGED,),
    "running_sums running_outputs": (MERGED, []),
}


def steps(xp=numpy):
    """Compute the softmax in one pass, and attention in tiles that are merged in three orders."""
    q, k, v = (xp.asarray(rows, dtype=xp.float64) for rows in (Q, K, V))
    at_once = attention_steps(q, k, v)
    z = at_once.scaled[0, :]
    maxima, sums = online_softmax(xp, z)

    starts = range(0, k.shape[0], TILE)
    tiles = [attend_tile(q, k[i : i + TILE, :], v[i : i + TILE, :]) for i in starts]
    running_states = list(itertools.accumulate(tiles, merge))
    running_maxima = xp.stack([state.maximum[0] for state in running_states])
    in_order = running_states[-1].output
    first, second, third, fourth = tiles
    tree = merge(merge(first, second), merge(third, fourth))
    third_query = 2
    states_in_ring = [state_of_query(tile, third_query) for tile in (third, fourth, first, second)]
    ring = functools.reduce(merge, states_in_ring).output[0, :]
    hide_all = xp.zeros((len(Q), TILE), dtype=xp.bool)
    hidden_maximum = attend_tile(q, k[:TILE, :], v[:TILE, :], hide_all).maximum
    with numpy.errstate(invalid="ignore"):  # -inf - (-inf) is NaN
        naive_factor = xp.exp(hidden_maximum - hidden_maximum)
    return {
        "Q": q,
        "K": k,
        "V": v,
        "z": z,
        "maxima": maxima,
        "rescale": rescaling_factors(xp, maxima),
        "sums": sums,
        "plain_sum": xp.sum(xp.exp(z - xp.max(z))),
        "weights": at_once.weights,
        "output": at_once.output,
        "tile_maxima": xp.stack([tile.maximum[0] for tile in tiles]),
        "tile_totals": xp.stack([tile.total[0] for tile in tiles]),
        "tile_sums": xp.stack([tile.sums[0, :] for tile in tiles]),
        "running_maxima": running_maxima,
        "running_rescale": rescaling_factors(xp, running_maxima),
        "running_totals": xp.stack([state.total[0] for state in running_states]),
        "running_sums": xp.stack([state.sums[0, :] for state in running_states]),
        "running_outputs": xp.stack([state.output[0, :] for state in running_states]),
        "in_order": in_order,
        "tree": tree.output,
        "ring": ring,
        "all_agree": are_equal(xp, in_order, at_once.output)
        & are_equal(xp, tree.output, at_once.output)
        & are_equal(xp, ring, at_once.output[third_query, :]),
        "hidden_factor_naive": naive_factor,
        "not_rescaled": merge_without_rescaling(xp, tiles)[0, :],
    }


def online_softmax(xp, z):
    """Return the running maximum and the running sum of exponentials after each of the scores z."""
    maximum = xp.asarray(-xp.inf, dtype=xp.float64)
    total = xp.asarray(0.0, dtype=xp.float64)
    maxima, sums = [], []
    for j in range(z.shape[0]):
        new_maximum = xp.where(z[j] > maximum, z[j], maximum)
        total = total * xp.exp(maximum - new_maximum) + xp.exp(z[j] - new_maximum)
        maximum = new_maximum
        maxima.append(maximum)
        sums.append(total)
    return xp.stack(maxima), xp.stack(sums)


def rescaling_factors(xp, maxima):
    """Return the factor of the earlier sums at each running maximum.

    It is zero at the first maximum, before which there are no sums.
    """
    return xp.concat([xp.zeros_like(maxima[:1]), xp.exp(maxima[:-1] - maxima[1:])])


def state_of_query(state, query):
    """Return the state of one query, with a leading axis of length 1."""
    rows = slice(query, query + 1)
    return TileState(state.maximum[rows], state.total[rows], state.sums[rows, :])


def merge_without_rescaling(xp, tiles):
    """Return the output if, by mistake, earlier sums stay the same when the maximum grows."""
    maximum, total, sums = tiles[0]
    for tile in tiles[1:]:
        maximum = xp.where(tile.maximum > maximum, tile.maximum, maximum)
        factor = xp.exp(tile.maximum - maximum)
        total = total + factor * tile.total
        sums = sums + factor[:, None] * tile.sums
    return sums / total[:, None]


def are_equal(xp, a, b):
    """Whether two arrays are equal up to rounding errors."""
    return xp.all(xp.abs(a - b) < 1e-12)
