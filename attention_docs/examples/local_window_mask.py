"""A local window: each of the ten tokens sees itself and one neighbour on either side.

Queries, keys and values are the same as in `batched_attention`. The mask hides the injected
similarity of query 2 and key 5. Two methods give the same weights: a hidden score becomes -inf
before the softmax (`weights_masked`), or hidden weights become zero after it (`kept`) and each row
is divided by its remaining sum (`renormalised`).

>>> show(steps())
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
scaled 10 x 10
[[ 2.2407  1.2938 -1.7423  1.9881 -2.8835  0.7016 -0.5491  1.5488  0.5661  2.8598]
 [ 0.7872 -1.5943 -0.2901  3.2920 -0.6368  3.8912  1.7541  2.5479 -1.7553  3.4319]
 [-1.8626 -2.3649  1.2703  2.9941  2.8356       8  2.4166  1.4244 -0.8933  2.2710]
 [-3.1395  3.4377  1.2057 -4.9691  3.6055  0.3490 -2.7352 -4.5741  5.0804 -5.5206]
 [-1.5739 -1.0036  1.2366 -1.9038  1.8783 -2.3554  0.1121 -1.6065 -0.4813 -2.5917]
 [-3.3833 -1.3856  2.5874 -2.1112  4.7325  3.5009  1.3272 -1.1714 -0.4176 -3.1845]
 [ 1.2836  2.2194 -1.2868 -1.2378 -2.1382 -4.3498 -2.1540 -1.2591  1.8572 -0.7038]
 [ 3.3172  3.5583 -2.9710  0.6714 -4.8208 -3.6844 -2.8293 -0.0060  2.6925  2.0000]
 [-3.7490 -2.4814  2.8189 -0.4087  5.3098  6.1652  2.2780 -0.4171 -0.9445 -1.7077]
 [-1.9138  3.8304  0.2972 -3.6713  2.0301  0.6443 -2.8568 -3.6191  5.1010 -3.7944]]
weights 10 x 10
[[ 0.1996  0.0774 0.0037  0.1550 0.0012 0.0428 0.0123  0.0999 0.0374  0.3707]
 [ 0.0170  0.0016 0.0058  0.2082 0.0041 0.3790 0.0447  0.0989 0.0013  0.2394]
 [ 0.0001 3.1e-05 0.0012  0.0066 0.0056 0.9782 0.0037  0.0014 0.0001  0.0032]
 [ 0.0002  0.1332 0.0143 3.0e-05 0.1575 0.0061 0.0003 4.4e-05 0.6884 1.7e-05]
 [ 0.0162  0.0286 0.2687  0.0116 0.5105 0.0074 0.0873  0.0157 0.0482  0.0058]
 [ 0.0002  0.0015 0.0805  0.0007 0.6875 0.2006 0.0228  0.0019 0.0040  0.0003]
 [ 0.1735  0.4422 0.0133  0.0139 0.0057 0.0006 0.0056  0.0136 0.3078  0.0238]
 [ 0.3137  0.3992 0.0006  0.0223 0.0001 0.0003 0.0007  0.0113 0.1679  0.0840]
 [3.3e-05  0.0001 0.0237  0.0009 0.2863 0.6734 0.0138  0.0009 0.0006  0.0003]
 [ 0.0007  0.2081 0.0061  0.0001 0.0344 0.0086 0.0003  0.0001 0.7415  0.0001]]
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
kept_sum 10
[0.2770 0.0244 0.0078 0.1718 0.5295 0.9110 0.0198 0.1799 0.0017 0.7416]
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
weight_2_5 number
0.9782
weight_2_5_masked number
0
output 10 x 4
[[-0.3318  0.2248 -1.0216  2.8543]
 [ 0.3778  1.1168 -3.0658  2.6741]
 [ 1.0524  3.0212 -4.9838  1.1632]
 [ 0.5968  0.6141  0.4876  0.5900]
 [ 0.8387 -0.9529  0.1383 -0.9326]
 [ 1.2217 -0.3670 -0.9614 -0.8650]
 [-0.4514  0.3322  1.7139  0.5749]
 [-0.7151  0.2635  1.5081  0.8818]
 [ 1.1314  1.6761 -3.3935  0.3345]
 [ 0.3859  0.8433  0.7415  0.8293]]
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

from types import ModuleType

import numpy

from attention_docs.arrays import Array
from attention_docs.dot_product import attention_steps
from attention_docs.examples.batched_attention import inputs, projections
from attention_docs.masks import window_mask

TITLE = "A local window, and two ways to mask"
SOURCE = "003_e3f694db51754fdb.txt, “Masked Attention Probabilities”"


def steps(xp: ModuleType = numpy) -> dict[str, Array]:
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
