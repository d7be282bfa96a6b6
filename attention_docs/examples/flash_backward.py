"""The backward pass of FlashAttention: weights computed again from the log-sum-exp, tile by tile.

Two heads of four queries share eight keys and values, which are those of `tiles`, like the queries
of the first head. dX is the gradient of some number with respect to X, and dO is given.

- `lse` has the log-sum-exp of each query, a row for each head, and `D` the row sums of dO times O.
  `D_by_weights` has those of dP times P, which are the same.
- `P`, `dP` and `dZ` are weights and gradients of the first query of the first head.
- `dK_1` and `dK_2` are what each head adds to the gradient of the keys, and `dK` is their sum.
- `package_agrees`: whether the gradients are those of `attention_backward`.
- `lse_parts` has the log-sum-exp of the first query over the first four keys and over the last
  four, and `share` the share of the last four; `share_base_2` shows a mistake, logarithms to base 2
  that are taken for natural ones, and `output_base_2` the output.
- `beside_empty` is the output merged with a part without keys, whose log-sum-exp is minus or, by
  mistake, plus infinity.

>>> show(computed(steps))
lse [[3.8828 2.7677 4.3198 2.5477] [2.7942 3.0676 2.8609 3.2849]]
D [[2.4959 -1.1103 -0.2342 -0.8963] [3.3020 1.1234 -1.0489 0.5742]]
D_by_weights [[2.4959 -1.1103 -0.2342 -0.8963] [3.3020 1.1234 -1.0489 0.5742]]
P [0.0367 0.0653 0.0653 0.3693 0.0367 0.0206 0.3693 0.0367]
dP [-2 1 -1 3 2 1 4 -3]
dZ [-0.1649 -0.0977 -0.2284 0.1862 -0.0182 -0.0308 0.5555 -0.2016]
dK_1 8 x 3
[[ 0.0143  0.2074 -0.1826]
 [ 0.1903 -0.2289 -0.2137]
 [ 0.2206  0.2015 -0.2499]
 [ 0.3200 -0.1974 -0.0704]
 [-0.1379  0.2150  0.0645]
 [-0.2783 -0.3721  0.5612]
 [-0.2699  0.1176  0.2972]
 [-0.0592  0.0569 -0.2064]]
dK_2 8 x 3
[[-0.0540 -0.2638  0.1641]
 [ 0.1600  0.3514  0.0145]
 [-0.1723 -0.0573 -0.0950]
 [ 0.0537 -0.1295 -0.5712]
 [-0.2534 -0.0910  0.1913]
 [ 0.0294  0.1637  0.1368]
 [ 0.2326  0.1513  0.1313]
 [ 0.0040 -0.1248  0.0282]]
dK 8 x 3
[[-0.0397 -0.0563 -0.0185]
 [ 0.3503  0.1224 -0.1991]
 [ 0.0483  0.1442 -0.3448]
 [ 0.3737 -0.3269 -0.6416]
 [-0.3912  0.1240  0.2558]
 [-0.2489 -0.2084  0.6979]
 [-0.0373  0.2688  0.4285]
 [-0.0551 -0.0678 -0.1782]]
dV 8 x 5
[[ 0.0315  0.1395 0.1911  0.0696 -0.0121]
 [-0.0634 -0.0879 0.6943  0.1184  0.2980]
 [ 0.2138  0.3034 0.1328  0.1060 -0.3364]
 [-0.1562  0.5160 0.8691  0.0871  0.1261]
 [-0.0170 -0.2783 0.9213 -0.1366  0.2321]
 [-0.0720  0.3621 0.5104 -0.2592  0.3508]
 [ 0.8878  0.7991 0.5767  1.0011 -0.2985]
 [ 0.1754  0.2462 0.1042  0.0135 -0.3600]]
lse_parts [3.2605 3.1134]
share [0.4633]
share_base_2 [0.4471]
output_base_2 [0.2587 1.8976 0.0715 0.3444 0.8372]
beside_empty [[0.3118 1.4981 -0.5515 0.4870 0.7416] [0 0 0 0 0]]
"""

import math

import numpy

from attention_docs.backward import attention_backward
from attention_docs.dot_product import attend_tile
from attention_docs.examples import tiles

TITLE = "FlashAttention's backward pass"
SOURCE = "our own example"

Q_2 = [[0, 1, 1], [1, 1, 0], [-1, 0, 2], [1, -1, 1]]
D_O_1 = [[-1, 1, 0, 0, 1], [0, 1, 0, -1, 0], [2, 0, 0, 1, -1], [0, -2, 1, 0, 1]]
D_O_2 = [[0, 1, 0, 2, 0], [-1, 0, 1, 0, 1], [0, 0, 2, -1, 0], [1, 1, 0, 0, -2]]
EMPTY = [-math.inf, math.inf]

HEADS = ["head 1", "head 2"]
LABELS = {
    "lse D D_by_weights": (HEADS, []),
    "P dP dZ": (tiles.TILE_OF_KEY,),
    "dK_1 dK_2 dK dV": (tiles.TILE_OF_KEY, []),
}


def steps(xp=numpy):
    """Return log-sum-exps, gradients that are summed over tiles and heads, and merged parts."""
    literals = (tiles.Q, Q_2, tiles.K, tiles.V, D_O_1, D_O_2)
    q_1, q_2, k, v, d_o_1, d_o_2 = (xp.asarray(rows, dtype=xp.float64) for rows in literals)
    q, d_o = xp.stack([q_1, q_2]), xp.stack([d_o_1, d_o_2])  # (2, 4, 3), (2, 4, 5)
    output, lse = output_and_lse(q, k, v, xp)
    row_sums = xp.sum(d_o * output, axis=-1)
    tile_slices = [slice(start, start + tiles.TILE) for start in range(0, len(tiles.K), tiles.TILE)]
    by_tile = [
        tile_gradients(q, k[tile, :], v[tile, :], d_o, lse, row_sums, xp) for tile in tile_slices
    ]
    weights, d_weights, d_scaled = (
        xp.concat(columns, axis=-1) for columns in zip(*by_tile, strict=True)
    )
    transpose = xp.matrix_transpose
    scale = 1 / math.sqrt(len(tiles.K[0]))
    d_q, d_k = d_scaled @ k * scale, transpose(d_scaled) @ q * scale
    d_v = transpose(weights) @ d_o
    package = attention_backward(d_o, q, k[None, :, :], v[None, :, :], enable_gqa=True)
    return {
        "Q_2": q_2,
        "dO_1": d_o_1,
        "dO_2": d_o_2,
        "lse": lse,
        "D": row_sums,
        "D_by_weights": xp.sum(d_weights * weights, axis=-1),
        "P": weights[0, 0, :],
        "dP": d_weights[0, 0, :],
        "dZ": d_scaled[0, 0, :],
        "dK_1": d_k[0, :, :],
        "dK_2": d_k[1, :, :],
        "dK": xp.sum(d_k, axis=0),
        "dV": xp.sum(d_v, axis=0),
        "package_agrees": tiles.are_equal(xp, d_q, package.query)
        & tiles.are_equal(xp, xp.sum(d_k, axis=0), package.key[0, :, :])
        & tiles.are_equal(xp, xp.sum(d_v, axis=0), package.value[0, :, :]),
        **merged_parts(q_1[:1, :], k, v, xp),
    }


def output_and_lse(q, k, v, xp):
    """Return outputs and log-sum-exps."""
    state = attend_tile(q, k, v)
    return state.output, state.maximum + xp.log(state.total)


def tile_gradients(q, k, v, d_o, lse, row_sums, xp):
    """Return P, dP and dZ of the keys of a tile, (2, 4, 2) each."""
    scaled = q @ k.T / math.sqrt(k.shape[-1])
    weights = xp.exp(scaled - lse[..., None])
    d_weights = d_o @ v.T
    return weights, d_weights, weights * (d_weights - row_sums[..., None])


def merged_parts(q, k, v, xp):
    """Merge the output of half of the keys with that of the others, and with that of no key."""
    half = k.shape[0] // 2
    (left, lse_left), (right, lse_right) = (
        output_and_lse(q, k[part, :], v[part, :], xp) for part in (slice(half), slice(half, None))
    )

    def share(lse, other_lse):
        return 1 / (1 + xp.exp(lse - other_lse))

    share_base_2 = share(lse_left / math.log(2), lse_right / math.log(2))
    empty = xp.asarray(EMPTY, dtype=xp.float64)
    return {
        "lse_parts": xp.concat([lse_left, lse_right]),
        "share": share(lse_left, lse_right),
        "share_base_2": share_base_2,
        "output_base_2": (left + share_base_2 * (right - left))[0, :],
        "beside_empty": left - share(lse_left, empty)[:, None] * left,
    }
