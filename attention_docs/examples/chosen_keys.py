"""Eight tokens choose the three keys that they attend to, with an indexer of two heads.

- The indexer has a query for each head, and one key for both heads. `products_1` and `products_2`
  are the dot products of each head. `index` is the sum over both heads of ReLU(product) times
  `head_weights`, with -inf for later tokens.
- `chosen` marks the `k` keys with the largest `index` in each row; of equal ones, it takes the
  nearest. `dense` has the weights of attention to all keys, and `sparse` to the chosen keys only.
  `missed` is the dense weight of the keys that are not chosen, and `rest` is the output of
  attention to these keys alone.
- Two other choices: `window` lets a token see itself and the two tokens before it. `blocks` lets it
  see its own block of two tokens, and the earlier block whose mean key has the largest dot product
  with the query. `gate` holds these products, with inf for the own block and -inf for later ones.
- `summaries` are the means of the blocks, used both as keys and as values. *they* gives the
  summaries of earlier blocks `summary_weights`, and its output is `summary_output`.
- `early` shows a mistake: it chooses among all keys and hides the future afterwards.
- `index_halves` and `index_pairs` are the scores of the indexer for *they* if its queries and keys
  have rotary positions, in two layouts. `missed_halves` and `missed_pairs` are the dense weights
  that these choices miss.

>>> show(computed(steps))
products_1 8 x 8
[[0 2 0  0  0  1 0 0]
 [2 0 4 -2 -2 -2 4 0]
 [0 4 0  0  0  2 0 0]
 [2 0 4 -2 -2 -2 4 0]
 [4 2 8 -4 -4 -3 8 0]
 [3 0 6 -3 -3 -3 6 0]
 [0 4 0  0  0  2 0 0]
 [0 0 0  0  0  0 0 0]]
products_2 8 x 8
[[0  0 0  0  0  0 0 0]
 [4  0 0  0  0  0 0 0]
 [0  0 0  0  0  0 0 0]
 [2 -2 0 -1 -2 -2 0 0]
 [4 -4 0 -2 -4 -4 0 0]
 [4 -2 0 -1 -2 -2 0 0]
 [0  0 0  0  0  0 0 0]
 [0  0 0  0  0  0 0 0]]
head_weights [[1 2] [2 4] [2 0] [1 1] [3 2] [2 3] [2 0] [0 0]]
index 8 x 8
[[ 0 -inf -inf -inf -inf -inf -inf -inf]
 [20    0 -inf -inf -inf -inf -inf -inf]
 [ 0    8    0 -inf -inf -inf -inf -inf]
 [ 4    0    4    0 -inf -inf -inf -inf]
 [20    6   24    0    0 -inf -inf -inf]
 [18    0   12    0    0    0 -inf -inf]
 [ 0    8    0    0    0    4    0 -inf]
 [ 0    0    0    0    0    0    0    0]]
chosen 8 x 8
[[ True False False False False False False False]
 [ True  True False False False False False False]
 [ True  True  True False False False False False]
 [ True False  True  True False False False False]
 [ True  True  True False False False False False]
 [ True False  True False False  True False False]
 [False  True False False False  True  True False]
 [False False False False False  True  True  True]]
dense 8 x 8
[[     1      0      0      0      0      0      0      0]
 [0.7311 0.2689      0      0      0      0      0      0]
 [0.1065 0.7870 0.1065      0      0      0      0      0]
 [0.4404 0.0596 0.4404 0.0596      0      0      0      0]
 [0.4538 0.0226 0.4538 0.0083 0.0614      0      0      0]
 [0.3065 0.0252 0.5053 0.0252 0.1127 0.0252      0      0]
 [0.0662 0.4891 0.0662 0.0662 0.0662 0.1799 0.0662      0]
 [0.1250 0.1250 0.1250 0.1250 0.1250 0.1250 0.1250 0.1250]]
sparse 8 x 8
[[     1      0      0      0 0      0      0      0]
 [0.7311 0.2689      0      0 0      0      0      0]
 [0.1065 0.7870 0.1065      0 0      0      0      0]
 [0.4683      0 0.4683 0.0634 0      0      0      0]
 [0.4879 0.0243 0.4879      0 0      0      0      0]
 [0.3662      0 0.6037      0 0 0.0301      0      0]
 [     0 0.6652      0      0 0 0.2447 0.0900      0]
 [     0      0      0      0 0 0.3333 0.3333 0.3333]]
missed [0 0 0 0.0596 0.0697 0.1631 0.2648 0.6250]
output_dense 8 x 4
[[     1      2      0      0]
 [0.7311 1.4621 0.5379      0]
 [0.3195 0.2130 1.5740      0]
 [1.3212 0.8808 0.1192 0.0596]
 [1.4229 0.9077 0.0452 0.1312]
 [1.4298 0.6130 0.0755 0.2758]
 [0.3972 0.1324 1.1581 0.3785]
 [0.7500 0.2500 0.3750 0.5000]]
output_sparse 8 x 4
[[     1      2      0      0]
 [0.7311 1.4621 0.5379      0]
 [0.3195 0.2130 1.5740      0]
 [1.4049 0.9366      0 0.0634]
 [1.4636 0.9757 0.0486      0]
 [1.5737 0.7324 0.0301 0.0301]
 [0.1801      0 1.5752 0.2447]
 [0.6667      0 0.3333 0.3333]]
rest 8 x 4
[[     0      0      0      0]
 [     0      0      0      0]
 [     0      0      0      0]
 [     0      0      2      0]
 [0.8808      0      0 1.8808]
 [0.6914      0 0.3086 1.5372]
 [     1 0.5000      0 0.7500]
 [0.8000 0.4000 0.4000 0.6000]]
window 8 x 8
[[ True False False False False False False False]
 [ True  True False False False False False False]
 [ True  True  True False False False False False]
 [False  True  True  True False False False False]
 [False False  True  True  True False False False]
 [False False False  True  True  True False False]
 [False False False False  True  True  True False]
 [False False False False False  True  True  True]]
missed_by_window [0 0 0 0.4404 0.4764 0.8369 0.6877 0.6250]
gate 8 x 4
[[   inf -inf -inf -inf]
 [   inf -inf -inf -inf]
 [     2  inf -inf -inf]
 [     2  inf -inf -inf]
 [     5    4  inf -inf]
 [2.5000    3  inf -inf]
 [     2    0    1  inf]
 [     0    0    0  inf]]
blocks 8 x 8
[[ True False False False False False False False]
 [ True  True False False False False False False]
 [ True  True  True False False False False False]
 [ True  True  True  True False False False False]
 [ True  True False False  True False False False]
 [False False  True  True  True  True False False]
 [ True  True False False False False  True False]
 [False False False False  True  True  True  True]]
missed_by_blocks [0 0 0 0 0.4621 0.3316 0.3785 0.5000]
summaries [[0.5000 1 1 0] [1 0 0 0.5000] [0.5000 0 0.5000 1.5000] [1 0 0 0]]
summary_weights [0.6225 0.3775]
summary_output [0.6888 0.6225 0.6225 0.1888]
early 8 x 8
[[False False False False False False False False]
 [ True False False False False False False False]
 [False  True False False False False False False]
 [ True False  True False False False False False]
 [ True False  True False False False False False]
 [ True False  True False False False False False]
 [False  True False False False  True False False]
 [False False False False False  True  True  True]]
index_halves [7.4566 7.9199 7.2744 0 0 -inf -inf -inf]
missed_halves 0.0697
index_pairs [0 5.7320 0 0 0 -inf -inf -inf]
missed_pairs 0.9077
"""

import numpy

from attention_docs.dot_product import attention_steps
from attention_docs.masks import causal_mask, window_mask
from attention_docs.positions import rotary

TITLE = "An indexer that chooses three keys"
SOURCE = "our own example"

X = [
    [1, 2, 0, 0],
    [0, 0, 2, 0],
    [2, 0, 0, 0],
    [0, 0, 0, 1],
    [1, 0, 0, 2],
    [0, 0, 1, 1],
    [2, 0, 0, 0],
    [0, 0, 0, 0],
]
W_Q = [[0, 0, 1, 0], [0, 0, 0, 0], [1, 0, 0, 0], [2, 1, 0, 0]]
INDEX_Q_1 = [[0, 0, 1, 0], [0, 0, 0, 0], [1, 0, 0, 0], [2, 0, 0, 0]]
INDEX_Q_2 = [[0, 0, 0, 0], [0, 0, 0, 0], [0, 1, 0, 0], [0, 1, -1, -1]]
INDEX_K = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [-1, 0, 0, 1]]
HEAD_WEIGHTS = [[1, 0], [0, 1], [1, 2], [1, 1]]
K = [3]  # the number of keys that each token chooses
WINDOW = 3  # the tokens that a token sees through the window, itself included
BLOCK = 2  # the tokens of a block
BLOCKS_CHOSEN = 2  # the blocks that a token sees, its own included
BASE = 100  # of the rotary positions
THEY = 4  # the index of “they”

TOKENS = ["birds", "pass", "boats", "because", "they", "like", "trees", "."]
PAIRS = [" ".join(TOKENS[i : i + BLOCK]) for i in range(0, len(TOKENS), BLOCK)]
FEATURES = ["thing", "animal", "action", "asks"]
LABELS = {
    "X output_dense output_sparse rest": (TOKENS, FEATURES),
    "index chosen window blocks early dense sparse products_1 products_2": (TOKENS, TOKENS),
    "index_halves index_pairs missed missed_by_window missed_by_blocks": (TOKENS,),
    "head_weights": (TOKENS, ["head 1", "head 2"]),
    "summaries": (PAIRS, FEATURES),
    "summary_weights": (PAIRS[: THEY // BLOCK],),
    "summary_output": (FEATURES,),
}


def steps(xp=numpy):
    """Choose keys by the indexer and in other ways, and attend to the chosen ones.

    Steps that begin with `missed` are the dense weight of the keys that a choice leaves out.
    """
    x, w_q, w_heads = (xp.asarray(rows, dtype=xp.float64) for rows in (X, W_Q, HEAD_WEIGHTS))
    k = xp.asarray(K, dtype=xp.int64)
    causal = causal_mask(x.shape[0], xp=xp)
    queries, keys = indexer_projections(x, xp)
    head_weights = x @ w_heads
    all_scores = index_scores(queries, keys, head_weights, xp)
    index = xp.where(causal, all_scores, -xp.inf)
    chosen = top_k_mask(index, k, xp) & causal
    q = x @ w_q
    dense = attention_steps(q, x, x, attn_mask=causal)
    sparse = attention_steps(q, x, x, attn_mask=chosen)
    index_halves, index_pairs = (
        xp.where(causal, rotary_index_scores(queries, keys, head_weights, interleaved, xp), -xp.inf)
        for interleaved in (False, True)
    )
    chosen_by_halves = top_k_mask(index_halves, k, xp) & causal
    chosen_by_pairs = top_k_mask(index_pairs, k, xp) & causal
    return {
        "X": x,
        "k": k,
        "products_1": queries[0] @ keys.T,
        "products_2": queries[1] @ keys.T,
        "head_weights": head_weights,
        "index": index,
        "chosen": chosen,
        "dense": dense.weights,
        "sparse": sparse.weights,
        "missed": missed_weight(dense.weights, chosen, xp),
        "output_dense": dense.output,
        "output_sparse": sparse.output,
        "rest": attention_steps(q, x, x, attn_mask=causal & ~chosen).output,
        **window_and_blocks(x, q, dense.weights, causal, xp),
        "early": top_k_mask(all_scores, k, xp) & causal,
        "index_halves": index_halves[THEY, :],
        "missed_halves": missed_weight(dense.weights, chosen_by_halves, xp)[THEY],
        "index_pairs": index_pairs[THEY, :],
        "missed_pairs": missed_weight(dense.weights, chosen_by_pairs, xp)[THEY],
    }


def indexer_projections(x, xp):
    """Return the indexer's queries of each head, and the keys that both heads share."""
    w_1, w_2, w_k = (
        xp.asarray(matrix, dtype=xp.float64) for matrix in (INDEX_Q_1, INDEX_Q_2, INDEX_K)
    )
    return (x @ w_1, x @ w_2), x @ w_k


def index_scores(queries, keys, head_weights, xp):
    """Return the sum over both heads of ReLU(query . key) times the weight of the head, (n, n)."""
    zero = xp.asarray(0.0, dtype=xp.float64)
    heads = [xp.maximum(query @ keys.T, zero) for query in queries]
    return head_weights[:, :1] * heads[0] + head_weights[:, 1:] * heads[1]


def top_k_mask(scores, k, xp):
    """Return a mask of the k largest scores in each row; of equal scores, the last ones count."""
    position = xp.arange(scores.shape[1])
    score, other_score = scores[:, :, None], scores[:, None, :]
    is_later = position[None, None, :] > position[None, :, None]
    ranks_above = (other_score > score) | ((other_score == score) & is_later)
    return xp.sum(xp.astype(ranks_above, xp.int64), axis=2) < k


def missed_weight(dense_weights, mask, xp):
    """Return the sum of the dense weights that a mask hides, for each row."""
    zero = xp.asarray(0.0, dtype=xp.float64)
    return xp.sum(xp.where(mask, zero, dense_weights), axis=1)


def window_and_blocks(x, q, dense_weights, causal, xp):
    """Return the choices of a sliding window and of blocks, and attention to block summaries."""
    n = x.shape[0]
    window = window_mask(n, left=WINDOW - 1, right=0, xp=xp)
    summaries = xp.mean(xp.reshape(x, (n // BLOCK, BLOCK, x.shape[1])), axis=1)
    blocks, gate = block_mask(q, summaries, causal, xp)
    earlier_summaries = summaries[: THEY // BLOCK, :]
    they_query = q[THEY : THEY + 1, :]
    over_summaries = attention_steps(they_query, earlier_summaries, earlier_summaries)
    return {
        "window": window,
        "missed_by_window": missed_weight(dense_weights, window, xp),
        "gate": gate,
        "blocks": blocks,
        "missed_by_blocks": missed_weight(dense_weights, blocks, xp),
        "summaries": summaries,
        "summary_weights": over_summaries.weights[0, :],
        "summary_output": over_summaries.output[0, :],
    }


def block_mask(q, means, causal, xp):
    """Return the mask of BLOCKS_CHOSEN blocks for each query, (n, n), and the gate.

    The blocks are the query's own and the earlier ones with the largest gate. The gate,
    (n, n / BLOCK), has the products of queries and mean keys. It is inf for the own block,
    which is therefore always chosen, and -inf for later blocks.
    """
    own_block = xp.arange(q.shape[0])[:, None] // BLOCK
    block = xp.arange(means.shape[0])[None, :]
    later = xp.where(block > own_block, -xp.inf, xp.asarray(0.0, dtype=xp.float64))
    gate = xp.where(block == own_block, xp.inf, q @ means.T + later)
    chosen = top_k_mask(gate, xp.asarray(BLOCKS_CHOSEN), xp)
    return xp.repeat(chosen, BLOCK, axis=1) & causal, gate


def rotary_index_scores(queries, keys, head_weights, interleaved, xp):
    """Return the indexer's scores with rotary positions in its queries and keys, (n, n).

    A position rotates neighbouring features if `interleaved`, and else features i and i + d/2.
    """
    positions = xp.arange(keys.shape[0])
    query_1, query_2, key = (
        rotary(rows, positions, BASE, interleaved) for rows in (*queries, keys)
    )
    return index_scores((query_1, query_2), key, head_weights, xp)
