"""Biases, windows, a sink and a softcap, with causal attention among five tokens.

- ALiBi: `slopes` are the slopes of four heads, and `bias` is the bias of the first.
- T5: `buckets` are the buckets of `distances`, with eight buckets up to distance 32.
- Windows: `reach_1` to `reach_3` say which of ten positions sees which through one, two and three
  layers. The window of each layer has the position itself and two before it.
- Sink: `weights_sink` are the weights of the five keys if each query also has a sink.
- Softcap: `weights_capped_late` applies the softcap after the mask, which is a mistake.

>>> show(computed(steps))
slopes [0.2500 0.0625 0.0156 0.0039]
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
buckets [0 1 2 3 4 4 5 6 6 7 7 7]
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
reach [3 5 7]
weights_sink 5 x 5
[[0.3339      0      0      0      0]
 [0.4506 0.0448      0      0      0]
 [0.1565 0.2787 0.0087      0      0]
 [0.1943 0.3461 0.0612 0.0108      0]
 [0.6814 0.0380 0.0213 0.1205 0.0038]]
sum_sink [0.3339 0.4954 0.4439 0.6124 0.8650]
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

import numpy

from attention_docs.dot_product import attention_steps
from attention_docs.masks import causal_mask, window_mask
from attention_docs.softmax import softmax

TITLE = "ALiBi, T5's buckets, windows, a sink and a softcap"
SOURCE = "our own example"

Q = [[1, 0, 2], [2, 1, 0], [0, 2, 1], [1, -1, 3], [3, 1, 1]]
K = [[2, 1, 1], [0, 1, 2], [1, -1, 0], [1, 2, 0], [-1, 0, 2]]
V = [[1, 0], [0, 2], [3, 1], [-1, 1], [2, -2]]
HEADS, SINK, SOFTCAP = 4, 3, 2
BUCKETS, FARTHEST, DISTANCES = 8, 32, [0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 100]
POSITIONS, WINDOW = 10, 2  # of the layers with windows


def steps(xp=numpy):
    """Attend with ALiBi, a sink and a softcap, and return T5's buckets and the reach of windows.

    `capped` are the scores after the softcap, and `sum_sink` the sums of the weights beside a sink.
    """
    q, k, v = (xp.asarray(rows, dtype=xp.float64) for rows in (Q, K, V))
    slopes = 2.0 ** (-8 * xp.arange(1, HEADS + 1, dtype=xp.float64) / HEADS)
    positions = xp.arange(len(Q), dtype=xp.float64)
    distances = positions[:, None] - positions
    is_visible = causal_mask(len(Q), xp=xp)
    hidden = xp.full_like(distances, -xp.inf)
    bias = xp.where(is_visible, -slopes[0] * distances, hidden)
    causal_bias = xp.where(is_visible, xp.zeros_like(distances), hidden)
    without_bias = attention_steps(q, k, v, is_causal=True)
    alibi = attention_steps(q, k, v, attn_mask=bias)
    capped = attention_steps(q, k, v, is_causal=True, softcap=float(SOFTCAP))
    with_sink = attend_with_sink(xp, q, k, v, causal_bias)
    # The softcap turns -inf into -SOFTCAP, so hidden keys get weight.
    capped_late = SOFTCAP * xp.tanh(without_bias.masked / SOFTCAP)
    return {
        "Q": q,
        "K": k,
        "V": v,
        "slopes": slopes,
        "bias": bias,
        "masked": without_bias.masked,
        "weights": without_bias.weights,
        "weights_alibi": alibi.weights,
        "distances": xp.asarray(DISTANCES),
        "buckets": buckets(xp, xp.asarray(DISTANCES, dtype=xp.float64)),
        **reach_of_windows(xp),
        "weights_sink": with_sink.weights[:, : len(K)],
        "sum_sink": xp.sum(with_sink.weights[:, : len(K)], axis=1),
        "capped": capped.scaled,
        "weights_capped": capped.weights,
        "weights_capped_late": softmax(capped_late),
    }


def buckets(xp, distances):
    """Return T5's bucket of each distance.

    Each bucket of the first half holds one distance, and the others grow geometrically. A distance
    belongs to bucket b if it has reached the lower edges of buckets 1 to b.
    """
    half = BUCKETS // 2
    edges_of_single_distances = [float(bucket) for bucket in range(1, half + 1)]
    growing_edges = [half * (FARTHEST / half) ** (i / half) for i in range(1, half)]
    edges = xp.asarray(edges_of_single_distances + growing_edges, dtype=xp.float64)
    return xp.sum(xp.astype(distances[:, None] >= edges, xp.float64), axis=1)


def reach_of_windows(xp):
    """Return which position sees which through one, two and three layers with windows.

    `reach` counts the positions that the last one sees.
    """
    window = xp.astype(window_mask(POSITIONS, left=WINDOW, right=0, xp=xp), xp.float64)
    # Powers of the window count the paths from one position to another through the layers.
    path_counts = [window, window @ window, window @ window @ window]
    is_seen_by_last = [xp.astype(counts[-1, :] > 0, xp.float64) for counts in path_counts]
    return {
        "reach_1": path_counts[0] > 0,
        "reach_2": path_counts[1] > 0,
        "reach_3": path_counts[2] > 0,
        "reach": xp.stack([xp.sum(is_seen) for is_seen in is_seen_by_last]),
    }


def attend_with_sink(xp, q, k, v, bias):
    """Attend with an additional key, whose score is SINK and whose value is zero.

    The bias, (m, n), is added to the scores of the other keys; it is -inf where a key is hidden.
    """
    k_with_sink = xp.concat([k, xp.zeros((1, k.shape[1]), dtype=xp.float64)])
    v_with_sink = xp.concat([v, xp.zeros((1, v.shape[1]), dtype=xp.float64)])
    # The dot products with a key of zeros are zero, and the bias adds the score of the sink.
    sink_bias = xp.full((q.shape[0], 1), SINK, dtype=xp.float64)
    bias_with_sink = xp.concat([bias, sink_bias], axis=1)
    return attention_steps(q, k_with_sink, v_with_sink, attn_mask=bias_with_sink)
