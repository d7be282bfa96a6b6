"""Outputs of eight tokens under eight masks of models, and under three masks with a mistake.

All scores are zero, so an output is the mean of the values that a query sees. Key j has the value
2^j, so an output times the number of its keys, in binary, names these keys. The
masks with a mistake are the last three rows.

>>> show(computed(steps))
output 11 x 8
[[      1  1.5000  2.3333  3.7500  6.2000 10.5000 18.1429 31.8750]
 [31.8750 31.8750 31.8750 31.8750 31.8750 31.8750 31.8750 31.8750]
 [ 2.3333  3.7500  6.2000 12.4000 24.8000 49.6000      60 74.6667]
 [ 2.3333  2.3333  2.3333  3.7500  6.2000 10.5000 18.1429 31.8750]
 [ 1.5000  1.5000  2.3333 18.1429 18.1429 18.1429 18.1429 31.8750]
 [ 1.5000  1.5000  2.3333 21.0000 24.8000      30 37.3333 74.6667]
 [ 1.5000  1.5000      15      15      24      24      60      60]
 [      1  1.5000  2.3333  3.7500 31.8750 31.8750 31.8750 31.8750]
 [20.5000 20.5000  2.3333 18.1429 18.1429 18.1429 18.1429 31.8750]
 [ 1.5000  1.5000  2.3333 21.0000 24.8000      30      30 74.6667]
 [12.7500 12.7500 42.0000 42.0000      24      24      60      60]]
"""

import numpy

from attention_docs.dot_product import attention_steps

TITLE = "Masks that are not causal"
SOURCE = "our own example"

V = [[1], [2], [4], [8], [16], [32], [64], [128]]
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
