"""A prompt of nine tokens in chunks of three, against a cache, with and without a window.

With the window a token sees four keys, its own included. Three mistakes change digits: `cut_early`
cuts the cache to four keys before the chunk has attended, `causal` ignores the window, and
`one_more` takes the four for keys to the left, so that a token sees five.

>>> show(computed(steps))
causal [6 2.6976 -0.3199 2.7144 1.3272 1.7163 2.0297 -0.3436 1.7939]
chunked_causal [6 2.6976 -0.3199 2.7144 1.3272 1.7163 2.0297 -0.3436 1.7939]
seen 9 x 9
[[ True False False False False False False False False]
 [ True  True False False False False False False False]
 [ True  True  True False False False False False False]
 [ True  True  True  True False False False False False]
 [False  True  True  True  True False False False False]
 [False False  True  True  True  True False False False]
 [False False False  True  True  True  True False False]
 [False False False False  True  True  True  True False]
 [False False False False False  True  True  True  True]]
output [6 2.6976 -0.3199 2.7144 -0.3805 1.2474 5.1149 -0.3836 1.7140]
chunked [6 2.6976 -0.3199 2.7144 -0.3805 1.2474 5.1149 -0.3836 1.7140]
seen_cut_early 9 x 9
[[ True False False False False False False False False]
 [ True  True False False False False False False False]
 [ True  True  True False False False False False False]
 [False False  True  True False False False False False]
 [False False  True  True  True False False False False]
 [False False  True  True  True  True False False False]
 [False False False False False  True  True False False]
 [False False False False False  True  True  True False]
 [False False False False False  True  True  True  True]]
cut_early [6 2.6976 -0.3199 2.3348 1.7042 1.2474 1.2232 -0.3076 1.7140]
one_more [6 2.6976 -0.3199 2.7144 1.3272 1.0485 5.0066 0.9232 1.2313]
"""

import numpy

from attention_docs.dot_product import attention_steps
from attention_docs.masks import causal_mask, window_mask

TITLE = "Chunked prefill with a sliding window"
SOURCE = "our own example"

Q = [[1, 0], [0, 1], [2, 1], [-1, 1], [1, 1], [0, 2], [1, -1], [2, 0], [1, 2]]
K = [[1, 1], [2, 0], [0, 2], [1, -1], [0, 1], [2, 1], [-1, 2], [1, 0], [0, -1]]
V = [[6], [-4], [2], [8], [-2], [1], [5], [-6], [3]]
CHUNK, WINDOW = 3, 4

TOKENS = [f"token {position}" for position in range(len(Q))]
LABELS = {
    "Q K V": (TOKENS, []),
    "seen seen_cut_early": (TOKENS, TOKENS),
    "causal chunked_causal output chunked cut_early one_more": (TOKENS,),
}


def steps(xp=numpy):
    """Attend to the whole prompt at once and in chunks, and with three mistakes."""
    q, k, v = (xp.asarray(rows, dtype=xp.float64) for rows in (Q, K, V))
    n = q.shape[0]
    causal, window = causal_mask(n, xp=xp), window_mask(n, left=WINDOW - 1, right=0, xp=xp)
    five_keys = window_mask(n, left=WINDOW, right=0, xp=xp)
    chunk_ends = [(token // CHUNK + 1) * CHUNK for token in range(n)]
    first_kept = xp.asarray([max(0, end - WINDOW) for end in chunk_ends])
    return {
        "Q": q,
        "K": k,
        "V": v,
        "causal": attention_steps(q, k, v, attn_mask=causal).output[:, 0],
        "chunked_causal": attend_in_chunks(q, k, v, causal, xp, kept=n),
        "seen": window,
        "output": attention_steps(q, k, v, attn_mask=window).output[:, 0],
        "chunked": attend_in_chunks(q, k, v, window, xp, kept=WINDOW),
        "seen_cut_early": window & (xp.arange(n)[None, :] >= first_kept[:, None]),
        "cut_early": attend_in_chunks(q, k, v, window, xp, kept=WINDOW, cut_early=True),
        "one_more": attend_in_chunks(q, k, v, five_keys, xp, kept=WINDOW),
    }


def attend_in_chunks(q, k, v, mask, xp, kept, cut_early=False):
    """Return the outputs, (n,), of chunks that attend to a cache of the last `kept` tokens.

    The cache is cut after the chunk has attended or, by mistake, before.
    """
    first, outputs = 0, []  # the first token in the cache
    for start in range(0, q.shape[0], CHUNK):
        end = start + CHUNK
        first_kept = max(first, end - kept)
        if cut_early:
            first = first_kept
        seen = mask[start:end, first:end]
        chunk = attention_steps(q[start:end, :], k[first:end, :], v[first:end, :], attn_mask=seen)
        outputs.append(chunk.output)
        first = first_kept
    return xp.concat(outputs)[:, 0]
