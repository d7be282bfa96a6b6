"""Eight tokens attend to pooled entries and to a window, as in two kinds of layers of DeepSeek-V4.

One vector is both key and value. `C` has the tokens' own vectors, which also fill the window, and
`C_ahead` what they pass on to the next block; `Z` and `Z_ahead` are the scores that pool them, to
which `B` adds a bias for each place. Numbers in names are tokens in a block.

- `entries_4` pools blocks of four by a softmax for each feature, `pooling_4`. `entries_2` pools the
  two tokens of a block and, from `C_ahead`, the two before them; `pooling_2` has the weights of the
  four places of the last entry.
- `visible_4` and `visible_2` show finished entries only, and `window` the last four tokens. `index`
  is the score of an indexer, of which `chosen` takes the two best in each row.
- `weights_4` and `weights_2` are one softmax over entries and tokens.

The other steps make mistakes: `leak` shows every entry, `no_overlap` pools a block without the one
before, and `padded` pools the three tokens before the last with padding. `needle` are the outputs
of a last query that asks for *because*: over all tokens, over the two with the best scores, and in
the window, alone and beside the entries of blocks of four and of two, the best two of each. The
last two rows repeat this with BOOST added to the scores that pool *because*. `score_first`,
`score_index` and `score_unturned` are the scores of the last query with `entries_4`, turned by the
position of their first token, by the number of their block, and not at all. `output_turned` is its
output if the vectors that it reads are turned, and `output_turned_back` is this, turned back.

>>> show(computed(steps))
pooling_4 8 x 2
[[0.1096 0.3655]
 [0.0403 0.3655]
 [0.8098 0.1345]
 [0.0403 0.1345]
 [0.2245 0.3995]
 [0.0826 0.3995]
 [0.6103 0.0541]
 [0.0826 0.1470]]
entries_4 [[1.0290 0.2311] [1.4451 1.1056]]
pooling_2 [[0.2245 0.2969] [0.0826 0.2969] [0.6103 0.1092] [0.0826 0.2969]]
entries_2 [[1.7616 0.7311] [0.9597 0] [-0.0596 1.1749] [1.7522 0.4062]]
visible_4 8 x 2
[[False False]
 [False False]
 [False False]
 [ True False]
 [ True False]
 [ True False]
 [ True False]
 [ True  True]]
visible_2 8 x 4
[[False False False False]
 [ True False False False]
 [ True False False False]
 [ True  True False False]
 [ True  True False False]
 [ True  True  True False]
 [ True  True  True False]
 [ True  True  True  True]]
window 8 x 8
[[ True False False False False False False False]
 [ True  True False False False False False False]
 [ True  True  True False False False False False]
 [ True  True  True  True False False False False]
 [False  True  True  True  True False False False]
 [False False  True  True  True  True False False]
 [False False False  True  True  True  True False]
 [False False False False  True  True  True  True]]
index 8 x 4
[[  -inf   -inf   -inf   -inf]
 [0.7311   -inf   -inf   -inf]
 [1.7616   -inf   -inf   -inf]
 [2.4927 0.9597   -inf   -inf]
 [2.7921 1.9194   -inf   -inf]
 [0.7311      0 1.1749   -inf]
 [1.7616 0.9597      0   -inf]
 [2.4927 0.9597 1.1153 2.1584]]
chosen 8 x 4
[[False False False False]
 [ True False False False]
 [ True False False False]
 [ True  True False False]
 [ True  True False False]
 [ True False  True False]
 [ True  True False False]
 [ True False False  True]]
weights_4 8 x 10
[[     0      0      1      0      0      0      0      0      0      0]
 [     0      0 0.3302 0.6698      0      0      0      0      0      0]
 [     0      0 0.5035 0.2483 0.2483      0      0      0      0      0]
 [0.1791      0 0.1292 0.5312 0.1292 0.0314      0      0      0      0]
 [0.2953      0      0 0.0689 0.2834 0.0689 0.2834      0      0      0]
 [0.2684      0      0      0 0.3096 0.3096 0.0753 0.0371      0      0]
 [0.1197      0      0      0      0 0.0501 0.4180 0.2061 0.2061      0]
 [0.0896 0.2233      0      0      0      0 0.3068 0.0368 0.3068 0.0368]]
output_4 8 x 2
[[     2       0]
 [0.6605  0.6698]
 [1.2552  0.2483]
 [0.5717  0.5412]
 [0.8707  0.6351]
 [0.6239 -0.0599]
 [0.7472  1.2258]
 [1.3352  1.1879]]
weights_2 8 x 12
[[     0      0      0      0      1      0      0      0      0      0      0      0]
 [0.3564      0      0      0 0.2125 0.4311      0      0      0      0      0      0]
 [0.4163      0      0      0 0.2939 0.1449 0.1449      0      0      0      0      0]
 [0.2765 0.0983      0      0 0.0983 0.4045 0.0983 0.0239      0      0      0      0]
 [0.4611 0.1484      0      0      0 0.0382 0.1571 0.0382 0.1571      0      0      0]
 [0.2846      0 0.0574      0      0      0 0.2785 0.2785 0.0677 0.0334      0      0]
 [0.1479 0.0882      0      0      0      0      0 0.0435 0.3627 0.1789 0.1789      0]
 [0.2002      0      0 0.1580      0      0      0      0 0.2866 0.0343 0.2866 0.0343]]
output_2 8 x 2
[[     2      0]
 [1.0529 0.6916]
 [1.4661 0.4493]
 [0.8766 0.5828]
 [1.2689 0.6513]
 [0.8107 0.1657]
 [0.8867 1.1478]
 [1.4892 1.0702]]
leak 8 x 2
[[1.6037 0.3961]
 [0.9967 0.7379]
 [1.2913 0.5578]
 [0.9049 0.7565]
 [1.0702 0.7985]
 [0.7574 0.1295]
 [0.8741 1.2039]
 [1.3352 1.1879]]
no_overlap [[1.7616 0.7311] [0.9526 -0.5000] [0.7616 1.2689] [1.8808 -0.4621]]
padded [1.3625 1.3808]
needle 7 x 2
[[0.0558 -1.0000]
 [0.0558      -1]
 [1.0000 -1.0000]
 [1.0000 -0.9999]
 [1.0000 -0.9997]
 [0.1331 -0.9794]
 [0.1302 -0.9768]]
score_first [0.3010 -1.8194]
score_index [0.3010 1.7988]
score_unturned [0.3010 1.2020]
output_turned [1.1448 0.6041]
output_turned_back [1.2599 -0.2967]
"""

import numpy

from attention_docs.dot_product import attention_steps
from attention_docs.masks import window_mask
from attention_docs.positions import rotary
from attention_docs.softmax import softmax

TITLE = "Pooled entries beside a window"
SOURCE = "our own example"

C = [[2, 0], [0, 1], [1, 0], [0, -1], [1, 2], [-1, 1], [2, 1], [1, -1]]
C_AHEAD = [[1, 0], [1, 1], [0, 2], [-1, 0], [2, 1], [0, 1], [1, -1], [1, 0]]
Z = [[1, 0], [0, 1], [2, 0], [0, 0], [1, 1], [0, 2], [1, 0], [0, 1]]
Z_AHEAD = [[0, 1], [1, 0], [0, 0], [2, 1], [1, 0], [0, 1], [0, 2], [1, 0]]
B = [[0, 1], [0, 0], [1, 0], [0, 0]]
Q = [[1, 0], [0, 1], [1, 1], [0, 2], [2, 0], [1, -1], [0, 1], [1, 1]]
INDEX_Q = [[1, 0], [0, 1], [1, 0], [1, 1], [2, -1], [0, 1], [1, 0], [1, 1]]
K = 2  # the number of entries that each query chooses
NEEDLE, NEEDLE_Q, BOOST = 3, [-4, -12], [6]
WINDOW = 4  # the tokens that a query sees one by one, itself included
PADDING = 3  # the index of the last place in a block, which is padded

TOKENS = ["birds", "pass", "boats", "because", "they", "like", "trees", "."]
OF_FOUR = [f"{TOKENS[i]} to {TOKENS[i + 3]}" for i in (0, 4)]
OF_TWO = [f"{TOKENS[i]} {TOKENS[i + 1]}" for i in (0, 2, 4, 6)]
ENTRIES = [f"entry {i}" for i in (1, 2, 3, 4)]
NEEDLES = ["all tokens", "two chosen", "window", "HCA", "CSA", "HCA, boosted", "CSA, boosted"]
LABELS = {
    "needle": (NEEDLES, []),
    "C C_ahead Z Z_ahead Q pooling_4 output_4 output_2 leak": (TOKENS, []),
    "B": ([f"place {i}" for i in (1, 2, 3, 4)], []),
    "pooling_2": (TOKENS[4:], []),
    "entries_4": (OF_FOUR, []),
    "entries_2 no_overlap": (OF_TWO, []),
    "visible_4": (TOKENS, ENTRIES[:2]),
    "visible_2 index chosen": (TOKENS, ENTRIES),
    "window": (TOKENS, TOKENS),
    "weights_4": (TOKENS, [*ENTRIES[:2], *TOKENS]),
    "weights_2": (TOKENS, [*ENTRIES, *TOKENS]),
    "score_first score_index score_unturned": (OF_FOUR,),
}


def steps(xp=numpy):
    """Pool keys in blocks of four and of two, attend to entries and a window, and make mistakes."""
    own, ahead, gate, gate_ahead, bias, q, index_q = (
        xp.asarray(rows, dtype=xp.float64) for rows in (C, C_AHEAD, Z, Z_AHEAD, B, Q, INDEX_Q)
    )
    n = own.shape[0]
    window = window_mask(n, left=WINDOW - 1, right=0, xp=xp)
    entries_4, pooling_4 = pool(xp, blocks(xp, own, 4), blocks(xp, gate, 4) + bias)
    entries_2, pooling_2 = pool_with_overlap(xp, own, ahead, gate, gate_ahead, bias)
    no_overlap, _ = pool(xp, blocks(xp, own, 2), blocks(xp, gate, 2) + bias[2:, :])
    visible_4, visible_2 = finished(xp, n, 4), finished(xp, n, 2)

    zero = xp.asarray(0.0, dtype=xp.float64)
    index = xp.where(visible_2, xp.maximum(index_q @ entries_2.T, zero), -xp.inf)
    chosen = top_k_mask(xp, index) & visible_2
    with_4 = attend(xp, q, entries_4, own, visible_4, window)
    with_2 = attend(xp, q, entries_2, own, chosen, window)
    leak = attend(xp, q, entries_4, own, xp.ones((n, n // 4), dtype=xp.bool), window)
    places = xp.arange(4)[:, None]
    padded, _ = pool(
        xp,
        xp.where(places == PADDING, zero, own[4:, :])[None, :, :],
        (xp.where(places == PADDING, zero, gate[4:, :]) + bias)[None, :, :],
    )
    return {
        "C": own,
        "C_ahead": ahead,
        "Z": gate,
        "Z_ahead": gate_ahead,
        "B": bias,
        "Q": q,
        "pooling_4": xp.reshape(pooling_4, own.shape),
        "entries_4": entries_4,
        "pooling_2": pooling_2[-1, :, :],
        "entries_2": entries_2,
        "visible_4": visible_4,
        "visible_2": visible_2,
        "window": window,
        "index": index,
        "chosen": chosen,
        "weights_4": with_4.weights,
        "output_4": with_4.output,
        "weights_2": with_2.weights,
        "output_2": with_2.output,
        "leak": leak.output,
        "no_overlap": no_overlap,
        "padded": padded[0, :],
        **needle(xp, own, ahead, gate, gate_ahead, bias, window[-1:, :]),
        **turned_by_position(xp, q, entries_4, own),
    }


def blocks(xp, rows, size):
    """Return rows in blocks, (blocks, size, features)."""
    return xp.reshape(rows, (rows.shape[0] // size, size, rows.shape[1]))


def pool(xp, vectors, scores):
    """Return the blend of the vectors of each block, and the weights, one for each feature."""
    weights = softmax(scores, axis=1)
    return xp.sum(weights * vectors, axis=1), weights


def pool_with_overlap(xp, own, ahead, gate, gate_ahead, bias):
    """Pool each block of two with the two tokens before it, of which the first block has none."""
    before = blocks(xp, ahead, 2)[:-1, :, :]
    before_scores = blocks(xp, gate_ahead, 2)[:-1, :, :]
    nothing = xp.zeros_like(before[:1, :, :])
    vectors = [xp.concat([nothing, before]), blocks(xp, own, 2)]
    scores = [xp.concat([nothing - xp.inf, before_scores]), blocks(xp, gate, 2)]
    return pool(xp, xp.concat(vectors, axis=1), xp.concat(scores, axis=1) + bias)


def finished(xp, n, size):
    """Return which entries each query may see: those whose last token it has reached."""
    return xp.arange(n // size)[None, :] < (xp.arange(n)[:, None] + 1) // size


def top_k_mask(xp, scores):
    """Return a mask of the K largest scores in each row; of equal scores, the last ones count."""
    position = xp.arange(scores.shape[1])
    score, other_score = scores[:, :, None], scores[:, None, :]
    is_later = position[None, None, :] > position[None, :, None]
    ranks_above = (other_score > score) | ((other_score == score) & is_later)
    return xp.sum(xp.astype(ranks_above, xp.int64), axis=2) < K


def attend(xp, q, entries, tokens, sees_entry, sees_token):
    """Attend to entries and tokens with one softmax; each vector is both key and value."""
    both = xp.concat([entries, tokens])
    return attention_steps(q, both, both, attn_mask=xp.concat([sees_entry, sees_token], axis=1))


def needle(xp, own, ahead, gate, gate_ahead, bias, window):
    """Return what a query for NEEDLE reads with all tokens, some of them, or entries and window."""
    query, boost = (xp.asarray(numbers, dtype=xp.float64) for numbers in ([NEEDLE_Q], BOOST))
    is_needle = xp.arange(own.shape[0])[:, None] == NEEDLE
    best = top_k_mask(xp, query @ own.T)
    masks = [best | True, best, window]
    outputs = [attention_steps(query, own, own, attn_mask=mask).output for mask in masks]
    for scores in (gate, gate + boost * xp.astype(is_needle, xp.float64)):
        heavy, _ = pool(xp, blocks(xp, own, 4), blocks(xp, scores, 4) + bias)
        sparse, _ = pool_with_overlap(xp, own, ahead, scores, gate_ahead, bias)
        for entries in (heavy, sparse):
            chosen = top_k_mask(xp, query @ entries.T)
            outputs.append(attend(xp, query, entries, own, chosen, window).output)
    return {"boost": boost, "needle": xp.concat(outputs)}


def turned_by_position(xp, q, entries, tokens):
    """Return the last query's scores with entries that are turned in three ways, and its output."""
    n = q.shape[0]
    last = xp.asarray([n - 1])
    query = rotary(q[n - 1 :, :], last)
    number = xp.arange(entries.shape[0])
    turned = {
        "score_first": rotary(entries, 4 * number),
        "score_index": rotary(entries, number),
        "score_unturned": entries,
    }
    window = rotary(tokens, xp.arange(n))[n - WINDOW :, :]
    both = xp.concat([turned["score_first"], window])
    output = attention_steps(query, both, both).output
    scores = {name: attention_steps(query, key, key).scaled[0, :] for name, key in turned.items()}
    return {
        **scores,
        "output_turned": output[0, :],
        "output_turned_back": rotary(output, -last)[0, :],
    }
