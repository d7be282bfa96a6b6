"""Which blocks of the score matrix a kernel skips, for a mask that is defined by four numbers.

A query sees itself and the `window` keys before it, and the first `prefix` keys, but only keys of
its own document and its own chunk of `chunk` positions. The second document starts at position
`second`. `weights` are the weights of equal scores under this mask, and `pairs` is the number of
visible pairs.

`counts` has the number of visible pairs in each block of two queries and two keys: none in an empty
block, four in a full one. Blocks that are neither empty nor full need the mask.

>>> show(computed(steps))
mask 8 x 8
[[ True False False False False False False False]
 [ True  True False False False False False False]
 [ True  True  True False False False False False]
 [False False False  True False False False False]
 [False False False  True  True False False False]
 [False False False  True  True  True False False]
 [False False False  True  True  True  True False]
 [False False False  True  True  True  True  True]]
weights 8 x 8
[[     1      0      0      0      0      0      0      0]
 [0.5000 0.5000      0      0      0      0      0      0]
 [0.3333 0.3333 0.3333      0      0      0      0      0]
 [     0      0      0      1      0      0      0      0]
 [     0      0      0 0.5000 0.5000      0      0      0]
 [     0      0      0 0.3333 0.3333 0.3333      0      0]
 [     0      0      0 0.2500 0.2500 0.2500 0.2500      0]
 [     0      0      0 0.2000 0.2000 0.2000 0.2000 0.2000]]
counts [[3 0 0 0] [2 2 0 0] [0 2 3 0] [0 2 4 3]]
pairs 21
partial 7
"""

import numpy

from attention_docs.masks import create_mask
from attention_docs.softmax import softmax

TITLE = "A mask of one's own, and its blocks"
SOURCE = "our own example"

WINDOW, PREFIX, SECOND, CHUNK = [7], [0], [3], [8]
TOKENS, BLOCK = 8, 2

POSITIONS = [str(position) for position in range(TOKENS)]
BLOCKS = ["0, 1", "2, 3", "4, 5", "6, 7"]
LABELS = {
    "mask weights": (POSITIONS, POSITIONS),
    "counts": (BLOCKS,) * 2,
}


def steps(xp=numpy):
    """Return the mask, its weights, and the number of visible pairs in all and in each block.

    `computed` counts the blocks that are not empty, and `partial` those that need the mask.
    """
    window = xp.asarray(WINDOW, dtype=xp.float64)
    prefix = xp.asarray(PREFIX, dtype=xp.float64)
    second_start = xp.asarray(SECOND, dtype=xp.float64)
    chunk = xp.asarray(CHUNK, dtype=xp.float64)

    def chunk_number(position):
        return xp.ceil((position + 1) / chunk)  # counted from 1; the pages have no `floor`

    def is_visible(q, kv):
        """Whether a query at position `q` sees a key at position `kv`.

        It sees itself, the `window` keys before it and the first `prefix` keys, but only keys of
        its own document and chunk.
        """
        q, kv = xp.astype(q, xp.float64), xp.astype(kv, xp.float64)
        in_window = (kv <= q) & (q - kv <= window)
        in_prefix = kv < prefix
        same_document = (q < second_start) == (kv < second_start)
        same_chunk = chunk_number(q) == chunk_number(kv)
        return (in_window | in_prefix) & same_document & same_chunk

    mask = create_mask(is_visible, TOKENS, xp=xp)
    equal_scores = xp.zeros((TOKENS, TOKENS), dtype=xp.float64)
    hidden = xp.full((TOKENS, TOKENS), -xp.inf, dtype=xp.float64)
    counts = count_in_blocks(xp.astype(mask, xp.int64), xp)
    return {
        "window": window,
        "prefix": prefix,
        "second": second_start,
        "chunk": chunk,
        "mask": mask,
        "weights": softmax(xp.where(mask, equal_scores, hidden)),
        "counts": counts,
        "pairs": xp.count_nonzero(mask),
        "computed": xp.count_nonzero(counts > 0),
        "partial": xp.count_nonzero((counts > 0) & (counts < BLOCK**2)),
    }


def count_in_blocks(mask, xp):
    """Return the number of visible pairs in each block of a mask of zeros and ones."""
    block_count = mask.shape[0] // BLOCK
    blocks = xp.reshape(mask, (block_count, BLOCK, block_count, BLOCK))
    return xp.sum(xp.sum(blocks, axis=3), axis=1)
