"""Online softmax that rescales only if the maximum grows by more than a threshold.

The eight scores are those of the first query in `tiles`, here in units of base 2, and each tile has
one key. Matrices have a row for each threshold.

- `maxima` are the maxima that are adopted so far, `powers` the exponentials 2^(score - maximum) and
  `counts` the number of times that earlier sums are rescaled.
- `outputs` do not depend on the threshold.
- `clipped` are the outputs, if each exponential is multiplied by 2^8 and cut off at 448, the
  largest number of FP8 (E4M3), before it meets its value, but not in the total.

>>> show(computed(steps))
scores [0.8329 1.6659 1.6659 4.1647 0.8329 0 4.1647 0.8329]
maxima 4 x 8
[[0.8329 1.6659 1.6659 4.1647 4.1647 4.1647 4.1647 4.1647]
 [0.8329 0.8329 0.8329 4.1647 4.1647 4.1647 4.1647 4.1647]
 [0.8329 0.8329 0.8329 0.8329 0.8329 0.8329 0.8329 0.8329]
 [0.8329 0.8329 0.8329 0.8329 0.8329 0.8329 0.8329 0.8329]]
powers 4 x 8
[[1      1      1       1 0.0993 0.0558       1 0.0993]
 [1 1.7813 1.7813       1 0.0993 0.0558       1 0.0993]
 [1 1.7813 1.7813 10.0684      1 0.5614 10.0684      1]
 [1 1.7813 1.7813 10.0684      1 0.5614 10.0684      1]]
counts [2 1 0 0]
totals [2.7076 2.7076 27.2608 27.2608]
outputs 4 x 5
[[0.2568 1.9120 0.0940 0.3392 0.8407]
 [0.2568 1.9120 0.0940 0.3392 0.8407]
 [0.2568 1.9120 0.0940 0.3392 0.8407]
 [0.2568 1.9120 0.0940 0.3392 0.8407]]
clipped 4 x 5
[[0.2568 1.9120 0.0940 0.3392 0.8407]
 [0.2545 1.9109 0.0940 0.3346 0.8395]
 [0.2545 0.3852 0.0940 0.3346 0.2293]
 [0.2545 0.3852 0.0940 0.3346 0.2293]]
"""

import math

import numpy

from attention_docs.dot_product import attention_steps
from attention_docs.examples import tiles

TITLE = "Rescaling above a threshold"
SOURCE = "our own example"

THRESHOLDS = [0, 1, 8, 4]
OFFSET, LARGEST = 8, 448  # the power of two that fills FP8 (E4M3), and its largest number

ROWS = ["threshold 0", "threshold 1", "threshold 8", "another"]
KEYS = [f"key {key}" for key in range(1, 9)]
LABELS = {
    "scores": (KEYS,),
    "maxima powers": (ROWS, KEYS),
    "counts totals": (ROWS,),
    "outputs clipped": (ROWS, []),
}


def steps(xp=numpy):
    """Return the states of the online softmax with each threshold."""
    q, k, v = (xp.asarray(rows, dtype=xp.float64) for rows in (tiles.Q[:1], tiles.K, tiles.V))
    thresholds = xp.asarray(THRESHOLDS, dtype=xp.float64)
    scores = attention_steps(q, k, v).scaled[0, :] / math.log(2)
    maximum = scores[0] + xp.zeros_like(thresholds)
    counts, totals = xp.zeros_like(thresholds), xp.zeros_like(thresholds)
    sums, clipped_sums = (xp.zeros((len(THRESHOLDS), v.shape[1]), dtype=xp.float64) for _ in "oc")
    maxima, powers = [], []
    for j in range(scores.shape[0]):
        is_larger = scores[j] - maximum > thresholds
        adopted = xp.where(is_larger, scores[j], maximum)
        factor = 2 ** (maximum - adopted)
        power = 2 ** (scores[j] - adopted)
        is_clipped = power * 2**OFFSET > LARGEST
        clipped = xp.where(is_clipped, LARGEST / 2**OFFSET, power)
        totals = factor * totals + power
        sums = factor[:, None] * sums + power[:, None] * v[j, :]
        clipped_sums = factor[:, None] * clipped_sums + clipped[:, None] * v[j, :]
        counts = counts + xp.astype(is_larger, xp.float64)
        maximum = adopted
        maxima.append(adopted)
        powers.append(power)
    return {
        "thresholds": thresholds,
        "scores": scores,
        "maxima": xp.stack(maxima, axis=1),
        "powers": xp.stack(powers, axis=1),
        "counts": counts,
        "totals": totals,
        "outputs": sums / totals[:, None],
        "clipped": clipped_sums / totals[:, None],
    }
