"""Two packed sequences, told apart by their offsets (cu_seqlens).

Queries, keys and values are those of `tiles`. The first sequence has one query and three keys, and
the second three queries and five keys, because its first two keys are in a cache.

- `offsets_q` and `offsets_k` are the sums of the lengths so far, with a zero in front.
- `mask` lets a query see keys of its own sequence only, up to its own position, which is counted
  from the end of the keys (bottom-right).
- `outputs` are those under this mask, and `outputs_top_left` show a mistake: both positions are
  counted from the start.
- `no_leading_zero` shows another: without the zero the offsets have one sequence less, and rows
  outside of it are never computed, here zero.
- `calls_agree`: whether a call for each sequence gives the same outputs.

>>> show(computed(steps))
offsets_q [0 1 4]
offsets_k [0 3 8]
mask 4 x 8
[[ True  True  True False False False False False]
 [False False False  True  True  True False False]
 [False False False  True  True  True  True False]
 [False False False  True  True  True  True  True]]
outputs 4 x 5
[[ 1.0000 0.3904 0.4383 1.5617 0.1712]
 [-0.8686 0.1089 0.8911 1.8398 0.1314]
 [-0.0450 2.7904 0.8952 0.0998 0.9550]
 [ 0.0399 0.9297 0.2203 0.7358 0.9800]]
outputs_top_left 4 x 5
[[     1      0       2      0     -1]
 [     0      2      -1      0      1]
 [0.0903 1.9097 -0.9097      0 1.0903]
 [     0 0.8288  0.1712 0.7808 1.0000]]
no_leading_zero 4 x 5
[[      0      0      0      0      0]
 [-0.8686 0.1089 0.8911 1.8398 0.1314]
 [-0.0450 2.7904 0.8952 0.0998 0.9550]
 [ 0.0399 0.9297 0.2203 0.7358 0.9800]]
"""

import numpy

from attention_docs.dot_product import attention_steps
from attention_docs.examples import tiles
from attention_docs.masks import create_mask

TITLE = "Packed sequences"
SOURCE = "our own example"

LENGTHS_Q, LENGTHS_K = (1, 3), (3, 5)
OFFSETS_Q, OFFSETS_K = (
    tuple(sum(lengths[:end]) for end in range(len(lengths) + 1))
    for lengths in (LENGTHS_Q, LENGTHS_K)
)

QUERIES = [f"query {query}" for query in range(1, 5)]
LABELS = {
    "mask": (QUERIES, tiles.TILE_OF_KEY),
    "outputs outputs_top_left no_leading_zero": (QUERIES, []),
}


def steps(xp=numpy):
    """Attend to packed sequences by a mask and by calls, and with two mistakes."""
    q, k, v = (xp.asarray(rows, dtype=xp.float64) for rows in (tiles.Q, tiles.K, tiles.V))
    mask, top_left = (packed_mask(xp, bottom_right=choice) for choice in (True, False))
    output = attention_steps(q, k, v, attn_mask=mask).output
    calls = call_each(q, k, v, mask, OFFSETS_Q, OFFSETS_K, xp)
    return {
        "offsets_q": xp.asarray(OFFSETS_Q, dtype=xp.float64),
        "offsets_k": xp.asarray(OFFSETS_K, dtype=xp.float64),
        "mask": mask,
        "outputs": output,
        "calls_agree": tiles.are_equal(xp, calls, output),
        "outputs_top_left": attention_steps(q, k, v, attn_mask=top_left).output,
        "no_leading_zero": call_each(q, k, v, mask, OFFSETS_Q[1:], OFFSETS_K[1:], xp),
    }


def packed_mask(xp, *, bottom_right):
    """Return the mask of all pairs of queries and keys."""

    def is_visible(q, kv):
        """Whether both are in one sequence, and the key is not after the query."""
        visible = []
        for i in range(len(LENGTHS_Q)):
            row, column = q - OFFSETS_Q[i], kv - OFFSETS_K[i]  # counted from the sequence's start
            cached = LENGTHS_K[i] - LENGTHS_Q[i] if bottom_right else 0
            in_sequence = (row >= 0) & (row < LENGTHS_Q[i]) & (column >= 0)
            visible.append(in_sequence & (column < LENGTHS_K[i]) & (column <= row + cached))
        return visible[0] | visible[1]

    return create_mask(is_visible, OFFSETS_Q[-1], OFFSETS_K[-1], xp=xp)


def call_each(q, k, v, mask, offsets_q, offsets_k, xp):
    """Attend once for each sequence between two offsets; all other rows are zero."""
    outputs = [xp.zeros((offsets_q[0], v.shape[1]), dtype=xp.float64)]
    for i in range(len(offsets_q) - 1):
        rows, columns = (slice(*offsets[i : i + 2]) for offsets in (offsets_q, offsets_k))
        call = attention_steps(q[rows, :], k[columns, :], v[columns, :], mask[rows, columns])
        outputs.append(call.output)
    return xp.concat(outputs)
