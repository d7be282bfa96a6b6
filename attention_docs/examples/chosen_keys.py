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

>>> show(steps())
X 8 x 4
[[1 2 0 0]
 [0 0 2 0]
 [2 0 0 0]
 [0 0 0 1]
 [1 0 0 2]
 [0 0 1 1]
 [2 0 0 0]
 [0 0 0 0]]
k 1
[3]
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
head_weights 8 x 2
[[1 2]
 [2 4]
 [2 0]
 [1 1]
 [3 2]
 [2 3]
 [2 0]
 [0 0]]
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
missed 8
[0 0 0 0.0596 0.0697 0.1631 0.2648 0.6250]
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
missed_by_window 8
[0 0 0 0.4404 0.4764 0.8369 0.6877 0.6250]
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
missed_by_blocks 8
[0 0 0 0 0.4621 0.3316 0.3785 0.5000]
summaries 4 x 4
[[0.5000 1      1      0]
 [     1 0      0 0.5000]
 [0.5000 0 0.5000 1.5000]
 [     1 0      0      0]]
summary_weights 2
[0.6225 0.3775]
summary_output 4
[0.6888 0.6225 0.6225 0.1888]
early 8 x 8
[[False False False False False False False False]
 [ True False False False False False False False]
 [False  True False False False False False False]
 [ True False  True False False False False False]
 [ True False  True False False False False False]
 [ True False  True False False False False False]
 [False  True False False False  True False False]
 [False False False False False  True  True  True]]
index_halves 8
[7.4566 7.9199 7.2744 0 0 -inf -inf -inf]
missed_halves number
0.0697
index_pairs 8
[0 5.7320 0 0 0 -inf -inf -inf]
missed_pairs number
0.9077
"""

from types import ModuleType

import numpy

from attention_docs.arrays import Array
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
WINDOW, BLOCK, BLOCKS_CHOSEN, BASE = 3, 2, 2, 100
THEY = 4  # the index of “they”

TOKENS = ["birds", "pass", "boats", "because", "they", "like", "trees", "."]
PAIRS = [" ".join(TOKENS[i : i + BLOCK]) for i in range(0, len(TOKENS), BLOCK)]
FEATURES = ["thing", "animal", "action", "asks"]
PAIRWISE = ("index", "chosen", "window", "blocks", "early", "dense", "sparse")
PER_TOKEN = ("index_halves", "index_pairs", "missed", "missed_by_window", "missed_by_blocks")
LABELS = {
    "X": (TOKENS, FEATURES),
    **dict.fromkeys(PAIRWISE, (TOKENS, TOKENS)),
    **dict.fromkeys(PER_TOKEN, (TOKENS,)),
    **dict.fromkeys(("products_1", "products_2"), (TOKENS, TOKENS)),
    "head_weights": (TOKENS, ["head 1", "head 2"]),
    "summaries": (PAIRS, FEATURES),
    "summary_weights": (PAIRS[: THEY // BLOCK],),
    "summary_output": (FEATURES,),
    **dict.fromkeys(("output_dense", "output_sparse", "rest"), (TOKENS, FEATURES)),
}


def index_scores(
    queries: tuple[Array, Array], keys: Array, head_weights: Array, xp: ModuleType
) -> Array:
    """Return the sum over both heads of ReLU(query . key) times the weight of the head, (n, n)."""
    zero = xp.asarray(0.0, dtype=xp.float64)
    heads = [xp.maximum(query @ keys.T, zero) for query in queries]
    return head_weights[:, :1] * heads[0] + head_weights[:, 1:] * heads[1]


def largest(scores: Array, count: Array, xp: ModuleType) -> Array:
    """Return the mask of the `count` largest scores in each row; of equal ones, the last count."""
    position = xp.arange(scores.shape[1])
    this, other = scores[:, :, None], scores[:, None, :]
    is_later = position[None, None, :] > position[None, :, None]
    ranks_above = (other > this) | ((other == this) & is_later)
    return xp.sum(xp.astype(ranks_above, xp.int64), axis=2) < count


def block_mask(q: Array, means: Array, causal: Array, xp: ModuleType) -> tuple[Array, Array]:
    """Return the mask of BLOCKS_CHOSEN blocks for each query, (n, n), and the gate.

    The blocks are the query's own and the earlier ones with the largest gate. The gate,
    (n, n / BLOCK), has the products of queries and mean keys. It is inf for the own block,
    which is therefore always chosen, and -inf for later blocks.
    """
    n, blocks = q.shape[0], means.shape[0]
    own, block = xp.arange(n)[:, None] // BLOCK, xp.arange(blocks)[None, :]
    later = xp.where(block > own, -xp.inf, xp.asarray(0.0, dtype=xp.float64))
    gate = xp.where(block == own, xp.inf, q @ means.T + later)
    chosen = largest(gate, xp.asarray(BLOCKS_CHOSEN), xp)
    return xp.repeat(chosen, BLOCK, axis=1) & causal, gate


def steps(xp: ModuleType = numpy) -> dict[str, Array]:
    x, w_q, index_q_1, index_q_2, index_k, w_heads = (
        xp.asarray(rows, dtype=xp.float64)
        for rows in (X, W_Q, INDEX_Q_1, INDEX_Q_2, INDEX_K, HEAD_WEIGHTS)
    )
    k = xp.asarray(K, dtype=xp.int64)
    n = x.shape[0]
    causal = causal_mask(n, xp=xp)

    def without_future(scores: Array) -> Array:
        return xp.where(causal, scores, -xp.inf)

    queries, keys, head_weights = (x @ index_q_1, x @ index_q_2), x @ index_k, x @ w_heads
    all_pairs = index_scores(queries, keys, head_weights, xp)
    index = without_future(all_pairs)
    chosen = largest(index, k, xp) & causal
    q = x @ w_q
    dense, sparse = (attention_steps(q, x, x, attn_mask=mask) for mask in (causal, chosen))

    def missed(mask: Array) -> Array:
        """Return the dense weight of the keys that a mask hides, in each row."""
        return xp.sum(xp.where(mask, xp.asarray(0.0, dtype=xp.float64), dense.weights), axis=1)

    def rotated_index(interleaved: bool) -> Array:
        """Return the scores of the indexer with rotary positions in its queries and keys."""
        query_1, query_2, key = (
            rotary(rows, xp.arange(n), BASE, interleaved) for rows in (*queries, keys)
        )
        return without_future(index_scores((query_1, query_2), key, head_weights, xp))

    halves, pairs = rotated_index(interleaved=False), rotated_index(interleaved=True)
    window = window_mask(n, left=WINDOW - 1, right=0, xp=xp)
    summaries = xp.mean(xp.reshape(x, (n // BLOCK, BLOCK, x.shape[1])), axis=1)
    blocks, gate = block_mask(q, summaries, causal, xp)
    earlier = summaries[: THEY // BLOCK, :]
    over_summaries = attention_steps(q[THEY : THEY + 1, :], earlier, earlier)
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
        "missed": missed(chosen),
        "output_dense": dense.output,
        "output_sparse": sparse.output,
        "rest": attention_steps(q, x, x, attn_mask=causal & ~chosen).output,
        "window": window,
        "missed_by_window": missed(window),
        "gate": gate,
        "blocks": blocks,
        "missed_by_blocks": missed(blocks),
        "summaries": summaries,
        "summary_weights": over_summaries.weights[0, :],
        "summary_output": over_summaries.output[0, :],
        "early": largest(all_pairs, k, xp) & causal,
        "index_halves": halves[THEY, :],
        "missed_halves": missed(largest(halves, k, xp) & causal)[THEY],
        "index_pairs": pairs[THEY, :],
        "missed_pairs": missed(largest(pairs, k, xp) & causal)[THEY],
    }
