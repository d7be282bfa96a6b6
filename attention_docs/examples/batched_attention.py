"""Batched attention on random data: one sequence of ten tokens, with one similar pair injected.

The data have shape (1, 10, 4) and come from NumPy's legacy generator, seed 42. The steps leave out
the batch axis. Query 2 and key 5, counted from zero, are both set to [2, -2, 2, -2]. Their score is
4 * 2^2 = 16, and 8 after the division by the square root of d_k = 4. A score is the product of two
norms and a cosine: `cosines` compares directions alone. `before_2` and `after_2` are the weights of
query 2 before and after the pair is injected. `smallest_value` and `largest_value` are taken over
all tokens, feature by feature; every output lies between them.

>>> show(computed(steps))
Q 10 x 4
[[-0.2372 -0.0256  1.7864  0.8732]
 [ 0.1964 -2.1864  1.4380 -0.0704]
 [      2      -2       2      -2]
 [ 2.7954  4.1159 -0.2854 -1.9548]
 [-0.5686  0.3372 -1.7780 -0.3284]
 [ 2.4038 -0.5769 -1.5125 -2.0328]
 [-1.2158  2.0859  0.0262  1.0743]
 [-1.4729  2.3009  1.9185  1.8292]
 [ 2.6629 -1.4379 -0.5033 -2.5678]
 [ 2.4620  3.9085  0.6511 -1.4397]]
K 10 x 4
[[ 0.7264 -0.2320  0.8213  3.6424]
 [ 1.8694  1.7626  0.3451  2.8168]
 [-0.4110 -0.2836 -0.8907 -2.2884]
 [-0.8911 -1.6963  2.1179 -0.0711]
 [-0.5491 -0.0656 -1.1282 -4.4474]
 [      2      -2       2      -2]
 [-0.3956 -1.6557 -0.0844 -1.2410]
 [ 0.8248 -1.7711  0.8365  2.0080]
 [ 0.7450  2.1037  0.6653  0.1998]
 [-0.2443 -1.6291  2.4040  1.5178]]
V 10 x 4
[[-1.4035  0.2856  1.0374  0.8481]
 [-0.9794 -0.1175  3.6284 -0.2933]
 [ 0.5424 -0.8286  0.1685 -1.3772]
 [ 0.6583  0.6168 -3.8734  4.7108]
 [ 1.4049 -1.2943  0.0474 -1.4507]
 [ 1.0649  3.0997 -5.0648  1.1500]
 [-0.0217 -1.4845  0.0792  0.0521]
 [-1.3692 -1.9968  2.3531  1.0069]
 [ 0.7148  1.2015  0.0364  1.2635]
 [-0.0455  0.3397 -2.5097  4.8197]]
scores 10 x 10
[[ 4.4815  2.5876 -3.4847  3.9762 -5.7670  1.4033 -1.0981  3.0975  1.1323   5.7197]
 [ 1.5744 -3.1887 -0.5802  6.5841 -1.2736  7.7824  3.5082  5.0957 -3.5106   6.8638]
 [-3.7253 -4.7298  2.5406  5.9882  5.6712      16  4.8332  2.8487 -1.7865   4.5421]
 [-6.2790  6.8754  2.4115 -9.9382  7.2110  0.6980 -5.4705 -9.1482 10.1607 -11.0411]
 [-3.1478 -2.0071  2.4732 -3.8076  3.7566 -4.7107  0.2242 -3.2129 -0.9626  -5.1833]
 [-6.7665 -2.7711  5.1749 -4.2225  9.4650  7.0019  2.6544 -2.3429 -0.8352  -6.3690]
 [ 2.5672  4.4388 -2.5736 -2.4757 -4.2764 -8.6997 -4.3079 -2.5181  3.7145  -1.4076]
 [ 6.6345  7.1166 -5.9420  1.3428 -9.6416 -7.3688 -5.6586 -0.0121  5.3849   4.0000]
 [-7.4981 -4.9628  5.6378 -0.8175 10.6196 12.3305  4.5561 -0.8341 -1.8889  -3.4155]
 [-3.8277  7.6608  0.5944 -7.3426  4.0602  1.2885 -5.7135 -7.2382 10.2020  -7.5887]]
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
k_lengths [3.8109 3.8281 2.5059 2.8569 4.6214 4 2.1083 2.9239 2.3373 3.2858]
cosines 10 x 10
[[ 0.5872  0.3375 -0.6944  0.6950 -0.6231  0.1752 -0.2601  0.5290  0.2419  0.8692]
 [ 0.1574 -0.3173 -0.0882  0.8779 -0.1050  0.7411  0.6339  0.6639 -0.5721  0.7957]
 [-0.2444 -0.3089  0.2535  0.5240  0.3068       1  0.5731  0.2436 -0.1911  0.3456]
 [-0.3078  0.3355  0.1798 -0.6498  0.2915  0.0326 -0.4847 -0.5845  0.8121 -0.6277]
 [-0.4291 -0.2724  0.5127 -0.6923  0.4222 -0.6117  0.0552 -0.5708 -0.2139 -0.8194]
 [-0.5016 -0.2045  0.5834 -0.4175  0.5786  0.4945  0.3557 -0.2264 -0.1009 -0.5476]
 [ 0.2549  0.4388 -0.3886 -0.3279 -0.3501 -0.8230 -0.7732 -0.3259  0.6013 -0.1621]
 [ 0.4573  0.4884 -0.6229  0.1235 -0.5481 -0.4840 -0.7051 -0.0011  0.6052  0.3198]
 [-0.4918 -0.3240  0.5624 -0.0715  0.5744  0.7705  0.5402 -0.0713 -0.2020 -0.2598]
 [-0.2057  0.4099  0.0486 -0.5264  0.1800  0.0660 -0.5551 -0.5071  0.8940 -0.4731]]
smallest_value [-1.4035 -1.9968 -5.0648 -1.4507]
largest_value [1.4049 3.0997 3.6284 4.8197]
before_2 [0.1289 0.0782 0.1175 0.0686 0.0850 0.2098 0.1019 0.0799 0.0663 0.0638]
after_2 [0.0001 3.1e-05 0.0012 0.0066 0.0056 0.9782 0.0037 0.0014 0.0001 0.0032]
"""

import numpy

from attention_docs.dot_product import attention_steps

TITLE = "Batched attention, an injected similarity"
SOURCE = "003_e3f694db51754fdb.txt, sections 1 to 4"

# In the publication's order: the data (1, 10, 4), then three matrices (4, 4).
RANDOM = numpy.random.RandomState(42)
DATA = RANDOM.randn(1, 10, 4).tolist()
WEIGHTS = [RANDOM.randn(4, 4).tolist() for _ in "QKV"]
INJECTED = [2, -2, 2, -2]
QUERY, KEY = 2, 5  # the indices of the query and the key that become INJECTED


def steps(xp=numpy):
    """Attend with the similar pair injected, and once more without it.

    `k_lengths` are the Euclidean norms of the keys.
    """
    data, matrices = inputs(xp)
    q, k, v = projections(xp, data, matrices)
    attention = attention_steps(q, k, v)
    weights_before = attention_steps(*(data @ matrix for matrix in matrices)).weights
    q_lengths, k_lengths = lengths(xp, q), lengths(xp, k)
    batch = {
        "data": data,
        "Q": q,
        "K": k,
        "V": v,
        "scores": attention.scores,
        "scaled": attention.scaled,
        "weights": attention.weights,
        "output": attention.output,
        "k_lengths": k_lengths[..., 0],
        "cosines": attention.scores / (q_lengths * xp.matrix_transpose(k_lengths)),
        "smallest_value": xp.min(v, axis=1),
        "largest_value": xp.max(v, axis=1),
        "before_2": weights_before[:, QUERY, :],
        "after_2": attention.weights[:, QUERY, :],
    }
    return {
        **{f"W_{letter}": matrix for letter, matrix in zip("QKV", matrices, strict=True)},
        **{name: array[0, ...] for name, array in batch.items()},
    }


def inputs(xp=numpy):
    """Return the data, (1, 10, 4), and the matrices W_Q, W_K and W_V, (4, 4) each."""
    data = xp.asarray(DATA, dtype=xp.float64)
    return data, [xp.asarray(matrix, dtype=xp.float64) for matrix in WEIGHTS]


def projections(xp, data, matrices):
    """Return queries, keys and values, (1, 10, 4) each, with the similar pair injected."""
    q, k, v = (data @ matrix for matrix in matrices)
    return inject(xp, q, QUERY), inject(xp, k, KEY), v


def inject(xp, rows, row):
    """Return the rows, (1, 10, 4), with the row at this index replaced by `INJECTED`."""
    is_replaced = xp.arange(rows.shape[1])[:, None] == row
    return xp.where(is_replaced, xp.asarray(INJECTED, dtype=xp.float64), rows)


def lengths(xp, rows):
    """Return the Euclidean length of each row, (..., 1)."""
    return xp.sqrt(xp.sum(rows**2, axis=-1, keepdims=True))
