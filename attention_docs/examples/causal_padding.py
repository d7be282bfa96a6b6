"""A causal mask, a padding mask, both at once, and a query that may see nothing.

Four tokens, one of which is padding. In a causal model with padding at the end (`right`), the last
query is the padding itself, and its output is not used. With padding in front (`left`), the first
query could see only itself, which is hidden, so its row is fully masked: its weights and its output
are zero. If hidden scores get a large negative number instead of -inf, here -1e9, that row silently
gets uniform weights (`weights_filled`).

>>> show(computed(steps))
scaled 4 x 4
[[      0 0.7071 0.7071 -0.7071]
 [ 1.4142      0 2.8284  1.4142]
 [ 0.7071 0.7071 2.1213       0]
 [-0.7071 1.4142      0 -2.1213]]
weights 4 x 4
[[0.1802 0.3655 0.3655 0.0889]
 [0.1573 0.0382 0.6471 0.1573]
 [0.1514 0.1514 0.6226 0.0746]
 [0.0861 0.7183 0.1746 0.0209]]
causal 4 x 4
[[True False False False]
 [True  True False False]
 [True  True  True False]
 [True  True  True  True]]
masked_causal 4 x 4
[[      0   -inf   -inf    -inf]
 [ 1.4142      0   -inf    -inf]
 [ 0.7071 0.7071 2.1213    -inf]
 [-0.7071 1.4142      0 -2.1213]]
weights_causal 4 x 4
[[     1      0      0      0]
 [0.8044 0.1956      0      0]
 [0.1636 0.1636 0.6728      0]
 [0.0861 0.7183 0.1746 0.0209]]
output_causal [[1 0 2] [0.8044 0.5867 1.8044] [2.1821 1.1636 0.4907] [0.6938 2.2877 0.9952]]
right [[True True True False]]
weights_right 4 x 4
[[0.1978 0.4011 0.4011 0]
 [0.1867 0.0454 0.7679 0]
 [0.1636 0.1636 0.6728 0]
 [0.0879 0.7337 0.1784 0]]
causal_and_right 4 x 4
[[True False False False]
 [True  True False False]
 [True  True  True False]
 [True  True  True False]]
weights_causal_and_right 4 x 4
[[     1      0      0 0]
 [0.8044 0.1956      0 0]
 [0.1636 0.1636 0.6728 0]
 [0.0879 0.7337 0.1784 0]]
left [[False True True True]]
causal_and_left 4 x 4
[[False False False False]
 [False  True False False]
 [False  True  True False]
 [False  True  True  True]]
masked_causal_and_left 4 x 4
[[-inf   -inf   -inf    -inf]
 [-inf      0   -inf    -inf]
 [-inf 0.7071 2.1213    -inf]
 [-inf 1.4142      0 -2.1213]]
weights_causal_and_left [[0 0 0 0] [0 1 0 0] [0 0.1956 0.8044 0] [0 0.7860 0.1911 0.0229]]
output_causal_and_left [[0 0 0] [0 3 1] [2.4133 1.3911 0.1956] [0.6649 2.5033 0.9005]]
weights_filled 4 x 4
[[0.2500 0.2500 0.2500 0.2500]
 [     0      1      0      0]
 [     0 0.1956 0.8044      0]
 [     0 0.7860 0.1911 0.0229]]
output_filled [[2 0.5000 2] [0 3 1] [2.4133 1.3911 0.1956] [0.6649 2.5033 0.9005]]
"""

import numpy

from attention_docs.dot_product import attention_steps
from attention_docs.masks import causal_mask, padding_mask
from attention_docs.softmax import softmax

TITLE = "Causal and padding masks, a fully masked row"
SOURCE = "003_e3f694db51754fdb.txt, “Masked Attention Probabilities”; the masks here are our own"

Q = [[1, 0], [0, 2], [1, 1], [2, -1]]
K = [[0, 1], [1, 0], [1, 2], [-1, 1]]
V = [[1, 0, 2], [0, 3, 1], [3, 1, 0], [4, -2, 5]]
LENGTH = 3  # tokens without the padding
FILL = -1e9

TOKENS = ["start", "I", "eat", "apples"]
PADDED = ["start", "I", "eat", "padding"]
LABELS = {
    "Q K V output_causal": (TOKENS, []),
    "scaled weights causal masked_causal weights_causal": (TOKENS, TOKENS),
    "right": ([], PADDED),
    "weights_right causal_and_right weights_causal_and_right": (PADDED, PADDED),
}


def steps(xp=numpy):
    """Attend with each mask; `right` and `left` hide padding at the end and in front.

    The steps that end in `filled` hide scores by a large negative number in place of -inf.
    """
    q, k, v = (xp.asarray(matrix, dtype=xp.float64) for matrix in (Q, K, V))
    n = q.shape[0]
    causal = causal_mask(n, xp=xp)
    right = padding_mask(xp.asarray(LENGTH), n)
    left = xp.flip(right, axis=-1)
    unmasked = attention_steps(q, k, v)
    with_causal = attention_steps(q, k, v, attn_mask=causal)
    with_right = attention_steps(q, k, v, attn_mask=right)
    with_causal_and_right = attention_steps(q, k, v, attn_mask=causal & right)
    with_causal_and_left = attention_steps(q, k, v, attn_mask=causal & left)
    scores_filled = xp.where(causal & left, unmasked.scaled, xp.full_like(unmasked.scaled, FILL))
    weights_filled = softmax(scores_filled)
    return {
        "Q": q,
        "K": k,
        "V": v,
        "scaled": unmasked.scaled,
        "weights": unmasked.weights,
        "causal": causal,
        "masked_causal": with_causal.masked,
        "weights_causal": with_causal.weights,
        "output_causal": with_causal.output,
        "right": right,
        "weights_right": with_right.weights,
        "causal_and_right": causal & right,
        "weights_causal_and_right": with_causal_and_right.weights,
        "left": left,
        "causal_and_left": causal & left,
        "masked_causal_and_left": with_causal_and_left.masked,
        "weights_causal_and_left": with_causal_and_left.weights,
        "output_causal_and_left": with_causal_and_left.output,
        "weights_filled": weights_filled,
        "output_filled": weights_filled @ v,
    }
