"""Masks as functions of two positions, for eight tokens of two documents, and for a draft tree.

- `causal` lets a query see itself and the keys before it, `document` all keys of its own document,
  and `packed` itself and earlier keys of its own document.
- The outputs of the last token are computed with `X` plus positions as queries, keys and values:
  `alone` has only the token's document; `restarted` has both documents in one row, with positions
  that start again; `running` has the positions of the row; `open` has positions that start again,
  but no mask between the documents, which is a mistake. `turned_running` has the rotary positions
  of the row instead.
- `tree` is the mask of a tree of draft tokens: a token sees itself and its ancestors. `depth` is
  the position of each token.

>>> show(computed(steps))
positions [0 1 2 0 1 2 3 4]
causal 8 x 8
[[True False False False False False False False]
 [True  True False False False False False False]
 [True  True  True False False False False False]
 [True  True  True  True False False False False]
 [True  True  True  True  True False False False]
 [True  True  True  True  True  True False False]
 [True  True  True  True  True  True  True False]
 [True  True  True  True  True  True  True  True]]
document 8 x 8
[[ True  True  True False False False False False]
 [ True  True  True False False False False False]
 [ True  True  True False False False False False]
 [False False False  True  True  True  True  True]
 [False False False  True  True  True  True  True]
 [False False False  True  True  True  True  True]
 [False False False  True  True  True  True  True]
 [False False False  True  True  True  True  True]]
packed 8 x 8
[[ True False False False False False False False]
 [ True  True False False False False False False]
 [ True  True  True False False False False False]
 [False False False  True False False False False]
 [False False False  True  True False False False]
 [False False False  True  True  True False False]
 [False False False  True  True  True  True False]
 [False False False  True  True  True  True  True]]
alone [0.0269 0.1082 1.1440 1.8982]
restarted [0.0269 0.1082 1.1440 1.8982]
running [0.0393 1.0291 1.1278 1.7193]
open [0.3130 0.3078 0.8310 2.0630]
turned_running [0.3465 0.8494 0.7389 0.6180]
tree 6 x 6
[[True False False False False False]
 [True  True False False False False]
 [True False  True False False False]
 [True  True False  True False False]
 [True  True False False  True False]
 [True False  True False False  True]]
depth [0 1 1 2 2 2]
"""

import numpy

from attention_docs.dot_product import attention_steps
from attention_docs.masks import create_mask
from attention_docs.positions import rotary, sinusoidal_positions

TITLE = "Masks as functions of two positions"
SOURCE = "our own example"

X = [
    [2, 0, 1, 0],
    [0, 1, 0, 2],
    [0, 0, 0, 1],
    [1, 2, 0, 0],
    [0, 1, 2, 1],
    [1, 0, 0, 1],
    [0, 2, 1, 0],
    [0, 0, 1, 1],
]
DOCUMENTS = [0, 0, 0, 1, 1, 1, 1, 1]
SECOND = 3  # where the second document starts
PARENTS = (None, 0, 0, 1, 1, 2)  # of each token of the draft tree

FEATURES = ["animal", "thing", "place", "action"]
TOKENS = ["birds", "fly", ".", "boats", "sail", "on", "water", "."]
POSITIONS = [str(position) for position in range(len(TOKENS))]
DRAFT = ["birds", "fly", "sing", "south", "away", "songs"]
LABELS = {
    "X": (TOKENS, FEATURES),
    "causal document packed": (POSITIONS, POSITIONS),
    "documents positions": (TOKENS,),
    "tree": (DRAFT, DRAFT),
    "depth": (DRAFT,),
    "alone restarted running open turned_running": (FEATURES,),
}


def tree_mask(xp):
    """Return the mask in which each token of a draft sees itself and its ancestors.

    A parent comes before its children, so a token sees what its parent sees, and itself.
    """
    one_hot_rows = xp.eye(len(PARENTS))
    rows = []
    for token, parent in enumerate(PARENTS):
        row = one_hot_rows[token, :]
        rows.append(row if parent is None else rows[parent] + row)
    return xp.stack(rows) > 0


def steps(xp=numpy):
    """Return the masks, and the outputs of the last token with masks and positions.

    The positions are rotary in `turned_running`, and otherwise sinusoidal.
    """
    documents = xp.asarray(DOCUMENTS, dtype=xp.int64)
    x = xp.asarray(X, dtype=xp.float64)
    n, d = x.shape
    row_positions = xp.arange(n)

    # In each mask, q and kv are the positions of a query and of a key.
    def is_causal(q, kv):
        return kv <= q

    def is_same_document(q, kv):
        return documents[q] == documents[kv]

    def is_earlier_document(q, kv):
        return documents[kv] < documents[q]

    causal = create_mask(is_causal, n, xp=xp)
    same_document = create_mask(is_same_document, n, xp=xp)
    packed = causal & same_document
    earlier_document = xp.astype(create_mask(is_earlier_document, n, xp=xp), xp.int64)
    # The positions start again in each document.
    positions = row_positions - xp.sum(earlier_document, axis=1)

    def last_output(positions, mask, start=0):
        """Return the output of the last token if the row consists of the tokens from `start` on.

        The sinusoids of the positions are added to the tokens.
        """
        # The product with one-hot rows takes the sinusoids of the given positions.
        one_hot_rows = xp.astype(positions[:, None] == row_positions[None, :], xp.float64)
        encoded = x + one_hot_rows @ sinusoidal_positions(n, d, xp=xp)
        tokens = encoded[start:, :]
        return attention_steps(tokens, tokens, tokens, attn_mask=mask[start:, start:]).output[-1, :]

    rotated = rotary(x, row_positions)
    tree = tree_mask(xp)
    return {
        "X": x,
        "documents": documents,
        "positions": positions,
        "causal": causal,
        "document": same_document,
        "packed": packed,
        "alone": last_output(positions, causal, start=SECOND),
        "restarted": last_output(positions, packed),
        "running": last_output(row_positions, packed),
        "open": last_output(positions, causal),
        "turned_running": attention_steps(rotated, rotated, x, attn_mask=packed).output[-1, :],
        "tree": tree,
        "depth": xp.sum(xp.astype(tree, xp.int64), axis=1) - 1,
    }
