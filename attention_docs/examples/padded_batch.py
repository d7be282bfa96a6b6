"""A text of three tokens that a batch pads on the left to five, with rotary and added positions.

Each row has the output of the last token: for the text alone, padded with the positions of the
mask, with the numbers of the columns as positions, and with the mask forgotten. Added positions are
wrong as soon as the numbers are; rotary ones only if the padding is seen.

>>> show(computed(steps))
mask [False False True True True]
positions [0 0 0 1 2]
rotary [3.9372 3.9372 3.9372 5.1667]
added [-3.8323 -3.8323 2.1526 3.8616]
"""

import numpy

from attention_docs.dot_product import attention_steps
from attention_docs.positions import rotary

TITLE = "A text with padding on the left"
SOURCE = "our own example"

X = [[2, 0, 2, 2], [2, 0, 2, 2], [1, 0, 2, 0], [0, 2, 1, -1], [2, -1, 0, 1]]
P = [[0, 1, 0, -1], [1, 0, -1, 0], [0, -1, 1, 1], [2, 0, 0, 1], [-1, 1, 2, 0]]
W_Q = [[1, 0], [0, 1], [0.5, 0], [0, -0.5]]
W_K = [[0, 1], [1, 0], [0, 0.5], [0.5, 0]]
W_V = [[1], [-2], [3], [1]]
PADDING = 2

COLUMNS = ["pad", "pad", "they", "pass", "boats"]
WAYS = [
    "alone",
    "padded, positions of the mask",
    "padded, positions of the columns",
    "padding seen",
]
LABELS = {
    "X": (COLUMNS, []),
    "mask positions": (COLUMNS,),
    "rotary added": (WAYS,),
}


def steps(xp=numpy):
    """Attend from the last token, alone and padded in three ways."""
    x, p, *weights = (xp.asarray(rows, dtype=xp.float64) for rows in (X, P, W_Q, W_K, W_V))
    columns = xp.arange(x.shape[0])
    mask = columns >= PADDING
    is_earlier = columns[None, :] <= columns[:, None]
    # The cumulative sum of the mask, minus one; at the padding it would be -1, and is set to 0.
    counted = xp.sum(xp.astype(is_earlier & mask[None, :], xp.int64), axis=1) - 1
    positions = xp.where(mask, counted, xp.zeros_like(counted))
    everything = columns >= 0
    ways = [
        (x[PADDING:, :], columns[:-PADDING], everything[PADDING:]),
        (x, positions, mask),
        (x, columns, mask),
        (x, columns, everything),
    ]
    return {
        "X": x,
        "P": p,
        **dict(zip(("W_Q", "W_K", "W_V"), weights, strict=True)),
        "mask": mask,
        "positions": positions,
        "rotary": xp.stack([with_rotary(*way, *weights) for way in ways]),
        "added": xp.stack(
            [
                last_output(tokens + xp.take(p, numbers, axis=0), seen, *weights)
                for tokens, numbers, seen in ways
            ]
        ),
    }


def with_rotary(x, positions, seen, w_q, w_k, w_v):
    """Return the last output if queries and keys are turned by their positions."""
    q, k = rotary(x @ w_q, positions), rotary(x @ w_k, positions)
    return attention_steps(q[-1:, :], k, x @ w_v, attn_mask=seen[None, :]).output[0, 0]


def last_output(x, seen, w_q, w_k, w_v):
    """Return the output of the last token, which attends to all that are seen."""
    return attention_steps(x[-1:, :] @ w_q, x @ w_k, x @ w_v, attn_mask=seen[None, :]).output[0, 0]
