"""Outputs of eight tokens under eight masks of models, and under three masks with a mistake.

All scores are zero, so an output is the mean of the values that a query sees. Key j has the value
2^j / 4, so four times an output times the number of its keys, in binary, names these keys. The
masks with a mistake are the last three rows.

>>> show(computed(steps))
output 11 x 8
[[0.2500 0.3750  0.5833  0.9375 1.5500  2.6250 4.5357  7.9688]
 [7.9688 7.9688  7.9688  7.9688 7.9688  7.9688 7.9688  7.9688]
 [0.5833 0.9375  1.5500  3.1000 6.2000 12.4000     15 18.6667]
 [0.5833 0.5833  0.5833  0.9375 1.5500  2.6250 4.5357  7.9688]
 [0.3750 0.3750  0.5833  4.5357 4.5357  4.5357 4.5357  7.9688]
 [0.3750 0.3750  0.5833  5.2500 6.2000  7.5000 9.3333 18.6667]
 [0.3750 0.3750  3.7500  3.7500      6       6     15      15]
 [0.2500 0.3750  0.5833  0.9375 7.9688  7.9688 7.9688  7.9688]
 [5.1250 5.1250  0.5833  4.5357 4.5357  4.5357 4.5357  7.9688]
 [0.3750 0.3750  0.5833  5.2500 6.2000  7.5000 7.5000 18.6667]
 [3.1875 3.1875 10.5000 10.5000      6       6     15      15]]
"""

import numpy

from attention_docs.dot_product import attention_steps

TITLE = "Masks that are not causal"
SOURCE = "our own example"

V = [[0.25], [0.5], [1], [2], [4], [8], [16], [32]]
IMAGE = (0, 0, -1, 1, 1, 1, 1, -1)  # the image of each token, -1 for text
WINDOW, PREFIX, BLOCK, HALF = 3, 3, 2, 4  # HALF: noisy tokens, or tokens before the canvas


def masks(xp=numpy):
    """Return the masks by name, each (8, 8)."""
    q, kv = xp.arange(len(V))[:, None], xp.arange(len(V))[None, :]
    image = xp.asarray(IMAGE)
    is_image = (image[:, None] >= 0) & (image[None, :] >= 0)
    same_image = is_image & (image[:, None] == image[None, :])
    causal, recent = kv <= q, kv > q - WINDOW
    block_q, block_kv, is_clean = q % HALF // BLOCK, kv % HALF // BLOCK, kv >= HALF
    own_block = (block_q == block_kv) & ((q >= HALF) == is_clean)
    return {
        "causal": causal,
        "all": (q >= 0) & (kv >= 0),
        "window": recent & (kv < q + WINDOW),
        "prefix": causal | ((q < PREFIX) & (kv < PREFIX)),
        "image": causal | same_image,
        "image in window": recent & (causal | same_image),
        "blocks": own_block | ((block_q > block_kv) & is_clean),
        "canvas": causal | (q >= HALF),
        "images joined": causal | is_image,
        "window before image": (recent & causal) | same_image,
        "own clean block": own_block | ((block_q >= block_kv) & is_clean),
    }


LABELS = {"output": (list(masks()), [str(i) for i in range(len(V))])}


def steps(xp=numpy):
    """Return the outputs under each mask."""
    v = xp.asarray(V, dtype=xp.float64)
    zeros = xp.zeros_like(v)
    means = [attention_steps(zeros, zeros, v, attn_mask=m).output for m in masks(xp).values()]
    return {"V": v, "output": xp.stack(means)[:, :, 0]}
