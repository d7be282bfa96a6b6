"""The block of tokens that a pass verifies, and the cache that is rolled back after it.

`mask` shows the last written token and three drafted ones the cache and each other, and
`block_weights` and `block_output` are what attention makes of it. The second drafted token is
rejected, so "south" is written in its place. `next_output` is its output with the cache rolled
back, and `stale_output` with the keys and values of the rejected tokens left in the cache.

A drafter like EAGLE attends to pairs of a hidden state and the embedding of the next token, and
estimates the next hidden state. `acceptance` is what its distribution and the target's share, and
`tokens` what a pass with three drafts then writes. Three mistakes follow: a token's own embedding;
a zero as the first one; and the drafter's estimate of a hidden state that the target has computed.

>>> show(computed(steps))
mask [[1 1 1 1 1 0 0 0] [1 1 1 1 1 1 0 0] [1 1 1 1 1 1 1 0] [1 1 1 1 1 1 1 1]]
block_weights 4 x 8
[[0.2166 0.0527 0.2166 0.4392 0.0750      0      0      0]
 [0.1052 0.2133 0.2133 0.1052 0.1498 0.2133      0      0]
 [0.0732 0.0732 0.3011 0.1485 0.0514 0.0514 0.3011      0]
 [0.0205 0.1706 0.0415 0.0101 0.0841 0.2430 0.3461 0.0841]]
block_output [[-0.0061 1.2227] [0.6399 0.5734] [1.2321 0.6713] [1.6602 -0.0948]]
next_output [[0.9310 0.6713]]
stale_output [[1.3942 0.4203]]
acceptance [0.9330 0.5309 0.8238 0.8685]
tokens [3.6159 1.9624 3.0614 3.2781]
"""

import numpy

from attention_docs.dot_product import attention_steps
from attention_docs.softmax import softmax

TITLE = "A verified block, and a cache that is rolled back"
SOURCE = "our own example"

Q = [[1, -1], [0, 1], [1, 1], [-1, 2], [1, 1]]
K = [[1, 0], [0, 1], [2, 1], [2, 0], [0, 0.5], [-0.5, 1], [1, 2], [0, 0.5], [2, 1]]
V = [[1, 0], [0, 1], [1, 1], [-1, 2], [0, 1], [2, -1], [3, 0], [1, -2], [2, 0]]
EMBEDDINGS = [[-1, 2], [-2, 2], [0.5, -0.5], [0.5, 0], [-2, 0], [1, -1], [1, 1], [-0.5, 0], [0, -2]]
HIDDEN = [[1, -0.5], [-0.5, -1], [2, 0.5], [0, -2], [0.5, 0], [0, 2], [0, -0.5]]  # the last: south
CACHED, KEPT, BLOCK = 4, 6, 8  # tokens in the cache before the pass, after it, and with the block

WORDS = ["birds", "pass", "boats", "because", "they", "fly", "again", "soon", "south"]
QUERIES = WORDS[CACHED:]
PAIRS = ["right", "not shifted", "first embedding zero", "estimate kept"]
LABELS = {
    "Q": (QUERIES, []),
    "K V": (WORDS, []),
    "mask block_weights": (QUERIES[:4], WORDS[:BLOCK]),
    "block_output": (QUERIES[:4], []),
    "next_output stale_output": (QUERIES[4:], []),
    "acceptance tokens": (PAIRS,),
}


def steps(xp=numpy):
    """Attend from the verified block, and from the next token with both caches."""
    q, k, v = (xp.asarray(rows, dtype=xp.float64) for rows in (Q, K, V))
    positions = xp.arange(BLOCK)
    mask = positions[None, :] <= positions[CACHED:, None]
    block = attention_steps(q[:4, :], k[:BLOCK, :], v[:BLOCK, :], mask)
    keys, values = (xp.concat([rows[:KEPT, :], rows[BLOCK:, :]]) for rows in (k, v))

    embeddings, hidden = (xp.asarray(rows, dtype=xp.float64) for rows in (EMBEDDINGS, HIDDEN))
    own, seen = embeddings[:KEPT, :], hidden[:KEPT, :]
    following = xp.concat([embeddings[1:KEPT, :], embeddings[BLOCK:, :]])
    estimate = draft(seen[:CACHED, :] + following[:CACHED, :])
    kept = xp.concat([seen[:CACHED, :], estimate, seen[CACHED + 1 :, :]])
    not_first = xp.astype(positions[:KEPT, None] > 0, xp.float64)
    pairs = (seen + following, seen + own, seen + following * not_first, kept + following)
    estimates = xp.concat([draft(rows) for rows in pairs])
    target, drafted = (softmax(s @ embeddings.T) for s in (hidden[KEPT:, :], estimates))
    acceptance = xp.sum(xp.where(target < drafted, target, drafted), axis=1)
    return {
        "Q": q,
        "K": k,
        "V": v,
        "mask": xp.astype(mask, xp.float64),
        "block_weights": block.weights,
        "block_output": block.output,
        "next_output": attention_steps(q[4:, :], keys, values).output,
        "stale_output": attention_steps(q[4:, :], k, v).output,
        "acceptance": acceptance,
        "tokens": 1 + acceptance + acceptance**2 + acceptance**3,
    }


def draft(pairs):
    """Return the estimate of the hidden state after the last pair."""
    return attention_steps(pairs[-1:, :], pairs, pairs).output
