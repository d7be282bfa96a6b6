"""Biases, windows, a sink and a softcap, with causal attention among five tokens.

- ALiBi: `slopes` are the slopes of four heads, and `bias` is the bias of the first.
- T5: `buckets` are the buckets of `distances`, with eight buckets up to distance 32.
- Windows: `reach_1` to `reach_3` say which of ten positions sees which through one, two and three
  layers. The window of each layer has the position itself and two before it. `reach` counts the
  positions that the last one sees.
- Sink: `weights_sink` are the weights of the five keys if each query also has a sink, and
  `sum_sink` the row sums.
- Softcap: `capped` are the capped scores. `weights_capped_late` applies the softcap after the mask,
  which is a mistake.

>>> show(steps())
Q 5 x 3
[[1  0 2]
 [2  1 0]
 [0  2 1]
 [1 -1 3]
 [3  1 1]]
K 5 x 3
[[ 2  1 1]
 [ 0  1 2]
 [ 1 -1 0]
 [ 1  2 0]
 [-1  0 2]]
V 5 x 2
[[ 1  0]
 [ 0  2]
 [ 3  1]
 [-1  1]
 [ 2 -2]]
slopes 4
[0.2500 0.0625 0.0156 0.0039]
bias 5 x 5
[[      0    -inf    -inf    -inf -inf]
 [-0.2500       0    -inf    -inf -inf]
 [-0.5000 -0.2500       0    -inf -inf]
 [-0.7500 -0.5000 -0.2500       0 -inf]
 [     -1 -0.7500 -0.5000 -0.2500    0]]
masked 5 x 5
[[2.3094   -inf    -inf    -inf    -inf]
 [2.8868 0.5774    -inf    -inf    -inf]
 [1.7321 2.3094 -1.1547    -inf    -inf]
 [2.3094 2.8868  1.1547 -0.5774    -inf]
 [4.6188 1.7321  1.1547  2.8868 -0.5774]]
weights 5 x 5
[[     1      0      0      0      0]
 [0.9097 0.0903      0      0      0]
 [0.3525 0.6279 0.0197      0      0]
 [0.3172 0.5651 0.1000 0.0177      0]
 [0.7877 0.0439 0.0247 0.1394 0.0044]]
weights_alibi 5 x 5
[[     1      0      0      0      0]
 [0.8869 0.1131      0      0      0]
 [0.2959 0.6769 0.0272      0      0]
 [0.2548 0.5828 0.1324 0.0301      0]
 [0.6610 0.0473 0.0341 0.2476 0.0100]]
output 5 x 2
[[     1      0]
 [0.9097 0.1807]
 [0.4114 1.2754]
 [0.5995 1.2479]
 [0.7310 0.2431]]
output_alibi 5 x 2
[[     1      0]
 [0.8869 0.2262]
 [0.3775 1.3809]
 [0.6219 1.3280]
 [0.5357 0.3564]]
distances 12
[0 1 2 3 4 6 8 12 16 24 32 100]
buckets 12
[0 1 2 3 4 4 5 6 6 7 7 7]
reach_1 10 x 10
[[ True False False False False False False False False False]
 [ True  True False False False False False False False False]
 [ True  True  True False False False False False False False]
 [False  True  True  True False False False False False False]
 [False False  True  True  True False False False False False]
 [False False False  True  True  True False False False False]
 [False False False False  True  True  True False False False]
 [False False False False False  True  True  True False False]
 [False False False False False False  True  True  True False]
 [False False False False False False False  True  True  True]]
reach_2 10 x 10
[[ True False False False False False False False False False]
 [ True  True False False False False False False False False]
 [ True  True  True False False False False False False False]
 [ True  True  True  True False False False False False False]
 [ True  True  True  True  True False False False False False]
 [False  True  True  True  True  True False False False False]
 [False False  True  True  True  True  True False False False]
 [False False False  True  True  True  True  True False False]
 [False False False False  True  True  True  True  True False]
 [False False False False False  True  True  True  True  True]]
reach_3 10 x 10
[[ True False False False False False False False False False]
 [ True  True False False False False False False False False]
 [ True  True  True False False False False False False False]
 [ True  True  True  True False False False False False False]
 [ True  True  True  True  True False False False False False]
 [ True  True  True  True  True  True False False False False]
 [ True  True  True  True  True  True  True False False False]
 [False  True  True  True  True  True  True  True False False]
 [False False  True  True  True  True  True  True  True False]
 [False False False  True  True  True  True  True  True  True]]
reach 3
[3 5 7]
weights_sink 5 x 5
[[0.3339      0      0      0      0]
 [0.4506 0.0448      0      0      0]
 [0.1565 0.2787 0.0087      0      0]
 [0.1943 0.3461 0.0612 0.0108      0]
 [0.6814 0.0380 0.0213 0.1205 0.0038]]
sum_sink 5
[0.3339 0.4954 0.4439 0.6124 0.8650]
output_sink 5 x 2
[[0.3339      0]
 [0.4506 0.0895]
 [0.1827 0.5662]
 [0.3671 0.7642]
 [0.6323 0.2103]]
capped 5 x 5
[[1.6386 1.6386  0.5618  0.5618  1.3987]
 [1.7888 0.5618  0.5618  1.6386 -1.0415]
 [1.3987 1.6386 -1.0415  1.6386  1.0415]
 [1.6386 1.7888  1.0415 -0.5618  1.7888]
 [1.9609 1.3987  1.0415  1.7888 -0.5618]]
weights_capped 5 x 5
[[     1      0      0      0      0]
 [0.7733 0.2267      0      0      0]
 [0.4240 0.5390 0.0370      0      0]
 [0.3542 0.4116 0.1950 0.0392      0]
 [0.3459 0.1972 0.1379 0.2912 0.0278]]
weights_capped_late 5 x 5
[[0.9049 0.0238 0.0238 0.0238 0.0238]
 [0.7347 0.2154 0.0166 0.0166 0.0166]
 [0.4124 0.5242 0.0359 0.0138 0.0138]
 [0.3509 0.4078 0.1932 0.0389 0.0092]
 [0.3459 0.1972 0.1379 0.2912 0.0278]]
"""

from types import ModuleType

import numpy

from attention_docs.arrays import Array
from attention_docs.dot_product import AttentionSteps, attention_steps
from attention_docs.masks import causal_mask, window_mask

TITLE = "ALiBi, T5's buckets, windows, a sink and a softcap"
SOURCE = "our own example"

Q = [[1, 0, 2], [2, 1, 0], [0, 2, 1], [1, -1, 3], [3, 1, 1]]
K = [[2, 1, 1], [0, 1, 2], [1, -1, 0], [1, 2, 0], [-1, 0, 2]]
V = [[1, 0], [0, 2], [3, 1], [-1, 1], [2, -2]]
HEADS, SINK, SOFTCAP = 4, 3, 2
BUCKETS, FARTHEST, DISTANCES = 8, 32, [0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 100]


def steps(xp: ModuleType = numpy) -> dict[str, Array]:
    q, k, v = (xp.asarray(rows, dtype=xp.float64) for rows in (Q, K, V))
    slopes = 2.0 ** (-8 * xp.arange(1, HEADS + 1, dtype=xp.float64) / HEADS)
    positions = xp.arange(len(Q), dtype=xp.float64)
    distance = positions[:, None] - positions
    allowed = causal_mask(len(Q), xp=xp)
    hidden = xp.full_like(distance, -xp.inf)
    bias = xp.where(allowed, -slopes[0] * distance, hidden)
    without_bias = attention_steps(q, k, v, is_causal=True)
    alibi = attention_steps(q, k, v, attn_mask=bias)
    capped = attention_steps(q, k, v, is_causal=True, softcap=float(SOFTCAP))
    with_sink = attend_with_sink(xp, q, k, v, xp.where(allowed, xp.zeros_like(distance), hidden))
    # The softcap turns -inf into -SOFTCAP, so hidden keys get weight.
    late_exponentials = xp.exp(SOFTCAP * xp.tanh(without_bias.masked / SOFTCAP))
    # Powers of the window count the paths from one position to another through the layers.
    window = as_numbers(xp, window_mask(10, left=2, right=0, xp=xp))
    paths = [window, window @ window, window @ window @ window]
    return {
        "Q": q,
        "K": k,
        "V": v,
        "slopes": slopes,
        "bias": bias,
        "masked": without_bias.masked,
        "weights": without_bias.weights,
        "weights_alibi": alibi.weights,
        "output": without_bias.output,
        "output_alibi": alibi.output,
        "distances": xp.asarray(DISTANCES),
        "buckets": buckets(xp, xp.asarray(DISTANCES, dtype=xp.float64)),
        "reach_1": paths[0] > 0,
        "reach_2": paths[1] > 0,
        "reach_3": paths[2] > 0,
        "reach": xp.stack([xp.sum(as_numbers(xp, counts[-1, :] > 0)) for counts in paths]),
        "weights_sink": with_sink.weights[:, : len(K)],
        "sum_sink": xp.sum(with_sink.weights[:, : len(K)], axis=1),
        "output_sink": with_sink.output,
        "capped": capped.scaled,
        "weights_capped": capped.weights,
        "weights_capped_late": late_exponentials / xp.sum(late_exponentials, axis=1, keepdims=True),
    }


def buckets(xp: ModuleType, distances: Array) -> Array:
    """Return T5's bucket of each distance: the number of lower edges that it has reached.

    Each bucket of the first half holds one distance, and the others grow geometrically.
    """
    half = BUCKETS // 2
    single_edges = list(range(1, half + 1))  # of the buckets 1 to half; bucket 0 needs no edge
    growing_edges = [half * (FARTHEST / half) ** (k / half) for k in range(1, half)]
    edges = xp.asarray(single_edges + growing_edges, dtype=xp.float64)
    return xp.sum(as_numbers(xp, distances[:, None] >= edges), axis=1)


def as_numbers(xp: ModuleType, booleans: Array) -> Array:
    """Convert booleans to ones and zeros."""
    return xp.where(booleans, xp.ones(booleans.shape), xp.zeros(booleans.shape))


def attend_with_sink(xp: ModuleType, q: Array, k: Array, v: Array, mask: Array) -> AttentionSteps:
    """Attend with an additional key, whose score is SINK and whose value is zero."""
    key, value = (
        xp.concat([rows, xp.zeros((1, rows.shape[1]), dtype=xp.float64)]) for rows in (k, v)
    )
    # The dot products with a key of zeros are zero, and the mask adds the score of the sink.
    column = xp.full((q.shape[0], 1), SINK, dtype=xp.float64)
    return attention_steps(q, key, value, attn_mask=xp.concat([mask, column], axis=1))
