"""A local window: each of the ten tokens sees itself and one neighbour on either side.

Queries, keys and values are the same as in `batched_attention`. The mask hides the injected
similarity of query 2 and key 5. Two methods give the same weights: a hidden score becomes -inf
before the softmax (`weights_masked`), or hidden weights become zero after it (`kept`) and each row
is divided by its remaining sum (`renormalised`).

>>> show(computed(steps))
mask 10 x 10
[[ True  True False False False False False False False False]
 [ True  True  True False False False False False False False]
 [False  True  True  True False False False False False False]
 [False False  True  True  True False False False False False]
 [False False False  True  True  True False False False False]
 [False False False False  True  True  True False False False]
 [False False False False False  True  True  True False False]
 [False False False False False False  True  True  True False]
 [False False False False False False False  True  True  True]
 [False False False False False False False False  True  True]]
masked 10 x 10
[[2.2407  1.2938    -inf    -inf   -inf    -inf    -inf    -inf    -inf    -inf]
 [0.7872 -1.5943 -0.2901    -inf   -inf    -inf    -inf    -inf    -inf    -inf]
 [  -inf -2.3649  1.2703  2.9941   -inf    -inf    -inf    -inf    -inf    -inf]
 [  -inf    -inf  1.2057 -4.9691 3.6055    -inf    -inf    -inf    -inf    -inf]
 [  -inf    -inf    -inf -1.9038 1.8783 -2.3554    -inf    -inf    -inf    -inf]
 [  -inf    -inf    -inf    -inf 4.7325  3.5009  1.3272    -inf    -inf    -inf]
 [  -inf    -inf    -inf    -inf   -inf -4.3498 -2.1540 -1.2591    -inf    -inf]
 [  -inf    -inf    -inf    -inf   -inf    -inf -2.8293 -0.0060  2.6925    -inf]
 [  -inf    -inf    -inf    -inf   -inf    -inf    -inf -0.4171 -0.9445 -1.7077]
 [  -inf    -inf    -inf    -inf   -inf    -inf    -inf    -inf  5.1010 -3.7944]]
weights_masked 10 x 10
[[0.7205 0.2795      0      0      0      0      0      0      0      0]
 [0.6979 0.0645 0.2376      0      0      0      0      0      0      0]
 [     0 0.0040 0.1508 0.8452      0      0      0      0      0      0]
 [     0      0 0.0832 0.0002 0.9167      0      0      0      0      0]
 [     0      0      0 0.0220 0.9641 0.0140      0      0      0      0]
 [     0      0      0      0 0.7547 0.2202 0.0251      0      0      0]
 [     0      0      0      0      0 0.0313 0.2810 0.6877      0      0]
 [     0      0      0      0      0      0 0.0037 0.0628 0.9334      0]
 [     0      0      0      0      0      0      0 0.5361 0.3164 0.1475]
 [     0      0      0      0      0      0      0      0 0.9999 0.0001]]
kept 10 x 10
[[0.1996  0.0774      0       0      0      0      0      0      0      0]
 [0.0170  0.0016 0.0058       0      0      0      0      0      0      0]
 [     0 3.1e-05 0.0012  0.0066      0      0      0      0      0      0]
 [     0       0 0.0143 3.0e-05 0.1575      0      0      0      0      0]
 [     0       0      0  0.0116 0.5105 0.0074      0      0      0      0]
 [     0       0      0       0 0.6875 0.2006 0.0228      0      0      0]
 [     0       0      0       0      0 0.0006 0.0056 0.0136      0      0]
 [     0       0      0       0      0      0 0.0007 0.0113 0.1679      0]
 [     0       0      0       0      0      0      0 0.0009 0.0006 0.0003]
 [     0       0      0       0      0      0      0      0 0.7415 0.0001]]
kept_sum [0.2770 0.0244 0.0078 0.1718 0.5295 0.9110 0.0198 0.1799 0.0017 0.7416]
renormalised 10 x 10
[[0.7205 0.2795      0      0      0      0      0      0      0      0]
 [0.6979 0.0645 0.2376      0      0      0      0      0      0      0]
 [     0 0.0040 0.1508 0.8452      0      0      0      0      0      0]
 [     0      0 0.0832 0.0002 0.9167      0      0      0      0      0]
 [     0      0      0 0.0220 0.9641 0.0140      0      0      0      0]
 [     0      0      0      0 0.7547 0.2202 0.0251      0      0      0]
 [     0      0      0      0      0 0.0313 0.2810 0.6877      0      0]
 [     0      0      0      0      0      0 0.0037 0.0628 0.9334      0]
 [     0      0      0      0      0      0      0 0.5361 0.3164 0.1475]
 [     0      0      0      0      0      0      0      0 0.9999 0.0001]]
weight_2_5 0.9782
weight_2_5_masked 0
output_masked 10 x 4
[[-1.2849  0.1730  1.7616  0.5291]
 [-0.9137 -0.0051  0.9980  0.2457]
 [ 0.6343  0.3959 -3.2341  3.7729]
 [ 1.3331 -1.2552  0.0568 -1.4435]
 [ 1.3838 -1.1909 -0.1101 -1.2791]
 [ 1.2943 -0.3313 -1.0778 -0.8403]
 [-0.9144 -1.6935  1.4821  0.7430]
 [ 0.5811  0.9905  0.1821  1.2429]
 [-0.5147 -0.6403  0.9029  1.6504]
 [ 0.7147  1.2013  0.0360  1.2640]]
"""

import numpy

from attention_docs.dot_product import attention_steps
from attention_docs.examples.batched_attention import inputs, projections
from attention_docs.masks import window_mask

TITLE = "A local window, and two ways to mask"
SOURCE = "003_e3f694db51754fdb.txt, “Masked Attention Probabilities”"


def steps(xp=numpy):
    """Mask the scores before the softmax, and the weights after it, and compare the weights.

    `masked` are the masked scores. `kept` are the weights without those that the mask hides, and
    `kept_sum` is what is left of 1 in each row. `weight_2_5` is the largest weight that is hidden.
    """
    q, k, v = (array[0, ...] for array in projections(xp, *inputs(xp)))
    mask = window_mask(q.shape[0], left=1, right=1, xp=xp)
    unmasked = attention_steps(q, k, v)
    masked = attention_steps(q, k, v, attn_mask=mask)
    kept = xp.where(mask, unmasked.weights, xp.zeros_like(unmasked.weights))
    kept_sum = xp.sum(kept, axis=-1, keepdims=True)
    return {
        "mask": mask,
        "scaled": unmasked.scaled,
        "weights": unmasked.weights,
        "masked": masked.masked,
        "weights_masked": masked.weights,
        "kept": kept,
        "kept_sum": kept_sum[:, 0],
        "renormalised": kept / kept_sum,
        "weight_2_5": unmasked.weights[2, 5],
        "weight_2_5_masked": masked.weights[2, 5],
        "output": unmasked.output,
        "output_masked": masked.output,
    }
