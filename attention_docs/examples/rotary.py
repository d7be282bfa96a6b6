"""Rotary positions: one query and one key of six features, rotated at several positions.

`scores` has the query at positions 0 to 3 and the key at positions 0 to 4. It is constant along
each diagonal, because it depends on the signed distance alone.

There are two layouts: pairs of neighbouring features, or pairs of a feature in the first half and
one in the second. `scores_of_halves` rotates the same query and key in the second layout.

The last five steps compare the angles at the last position in training with the angles at the last
position of a text that is four times as long: as they are, interpolated, and with a larger base
(NTK-aware).

>>> show(computed(steps))
frequencies [1 0.2500 0.0625]
wavelengths [6.2832 25.1327 100.5310]
Q_rotated 4 x 6
[[      2       1      0      -1      1      3]
 [ 0.2391  2.2232 0.2474 -0.9689 0.8107 3.0566]
 [-1.7416  1.4024 0.4794 -0.8776 0.6182 3.1013]
 [-2.1211 -0.7078 0.6816 -0.7317 0.4233 3.1338]]
K_rotated 5 x 6
[[ 1.3000      -1      2      1       0      2]
 [ 1.5439  0.5536 1.6904 1.4637 -0.1249 1.9961]
 [ 0.3683  1.5982 1.2757 1.8364 -0.2493 1.9844]
 [-1.1459  1.1734 0.7817 2.0950 -0.3728 1.9649]
 [-1.6065 -0.3302 0.2391 2.2232 -0.4948 1.9378]]
scores 4 x 5
[[6.6000 8.0410 6.2022 2.3088 -0.4479]
 [3.7267 6.6000 8.0410 6.2022  2.3088]
 [2.6173 3.7267 6.6000 8.0410  6.2022]
 [4.8496 2.6173 3.7267 6.6000  8.0410]]
order [0 2 4 1 3 5]
scores_of_halves 4 x 5
[[6.6000 3.2344 1.6777 3.5502 7.3677]
 [8.5334 6.6000 3.2344 1.6777 3.5502]
 [7.1418 8.5334 6.6000 3.2344 1.6777]
 [3.6081 7.1418 8.5334 6.6000 3.2344]]
ntk_base 512
last_angles [15 3.7500 0.9375]
longer_angles [63 15.7500 3.9375]
interpolated_angles [15.7500 3.9375 0.9844]
ntk_angles [63 7.8750 0.9844]
"""

import math

import numpy

from attention_docs.positions import rotary

TITLE = "Rotary positions, two layouts, and two ways to go further"
SOURCE = "our own example"

Q = [2, 1, 0, -1, 1, 3]
K = [1.3, -1, 2, 1, 0, 2]
BASE, TRAINED, FACTOR = 64, 16, 4

POSITIONS = [f"position {position}" for position in range(5)]
QUERIES = [f"query at {position}" for position in range(4)]
KEYS = [f"key at {position}" for position in range(5)]
LABELS = {
    "Q_rotated": (POSITIONS[:4], []),
    "K_rotated": (POSITIONS, []),
    "scores scores_of_halves": (QUERIES, KEYS),
}


def steps(xp=numpy):
    """Rotate the query and the key in both layouts, and compare angles beyond the training length.

    The layouts are the same but for the `order` of the features.
    """
    q, k = (xp.asarray(row, dtype=xp.float64) for row in (Q, K))
    d = len(Q)
    q_positions = xp.arange(len(QUERIES), dtype=xp.float64)
    k_positions = xp.arange(len(KEYS), dtype=xp.float64)
    frequencies = rotation_frequencies(xp, BASE)
    feature_pairs = xp.reshape(xp.arange(d), (d // 2, 2))
    ntk_base = BASE * FACTOR ** (d / (d - 2))
    last_position = TRAINED - 1.0
    last_longer_position = FACTOR * TRAINED - 1.0
    return {
        "q": q,
        "k": k,
        "frequencies": frequencies,
        "wavelengths": 2 * math.pi / frequencies,
        "Q_rotated": rotate_at(xp, q, q_positions, interleaved=True),
        "K_rotated": rotate_at(xp, k, k_positions, interleaved=True),
        "scores": scores_at(xp, q_positions, k_positions, interleaved=True),
        "order": xp.reshape(xp.matrix_transpose(feature_pairs), (d,)),
        "scores_of_halves": scores_at(xp, q_positions, k_positions, interleaved=False),
        "ntk_base": xp.asarray(ntk_base, dtype=xp.float64),
        "last_angles": last_position * frequencies,
        "longer_angles": last_longer_position * frequencies,
        "interpolated_angles": last_longer_position / FACTOR * frequencies,
        "ntk_angles": last_longer_position * rotation_frequencies(xp, ntk_base),
    }


def rotation_frequencies(xp, base):
    """Return the angle by which each pair of features turns from one position to the next."""
    pairs = xp.arange(len(Q) // 2, dtype=xp.float64)
    return xp.asarray(float(base), dtype=xp.float64) ** (-2 * pairs / len(Q))


def rotate_at(xp, vector, positions, *, interleaved):
    """Return a vector rotated by each of the positions, one per row."""
    rows = xp.repeat(vector[None, :], positions.shape[0], axis=0)
    return rotary(rows, positions, BASE, interleaved)


def scores_at(xp, q_positions, k_positions, *, interleaved):
    """Return the scores of the query and the key, for each pair of their positions."""
    q = rotate_at(xp, xp.asarray(Q, dtype=xp.float64), q_positions, interleaved=interleaved)
    k = rotate_at(xp, xp.asarray(K, dtype=xp.float64), k_positions, interleaved=interleaved)
    return q @ k.T
