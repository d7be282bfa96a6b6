"""Masks as functions of two positions, for eight tokens of two documents, and for a draft tree.

A query sees itself and two keys before it in `window`, the first three keys and the keys before it
in `prefix`, keys of its own document in `document` and of its own half in `chunk`; `packed` is
causal within a document. `tree` is the mask of a draft: a token sees itself and its ancestors, and
`depth` is its position.

The other steps are the outputs of the last token if queries, keys and values are `X` with positions
added: in its document `alone`, `restarted` in the packed row with positions that start again,
`running` with the positions of the row, and `open` if positions start again but documents see each
other. With rotary positions in their place, `turned_restarted` and `turned_running` are alike.
>>> show(steps())
X 8 x 4
[[2 0 1 0]
 [0 1 0 2]
 [0 0 0 1]
 [1 2 0 0]
 [0 1 2 1]
 [1 0 0 1]
 [0 2 1 0]
 [0 0 1 1]]
documents 8
[0 0 0 1 1 1 1 1]
positions 8
[0 1 2 0 1 2 3 4]
causal 8 x 8
[[True False False False False False False False]
 [True  True False False False False False False]
 [True  True  True False False False False False]
 [True  True  True  True False False False False]
 [True  True  True  True  True False False False]
 [True  True  True  True  True  True False False]
 [True  True  True  True  True  True  True False]
 [True  True  True  True  True  True  True  True]]
window 8 x 8
[[ True False False False False False False False]
 [ True  True False False False False False False]
 [ True  True  True False False False False False]
 [False  True  True  True False False False False]
 [False False  True  True  True False False False]
 [False False False  True  True  True False False]
 [False False False False  True  True  True False]
 [False False False False False  True  True  True]]
prefix 8 x 8
[[True True True False False False False False]
 [True True True False False False False False]
 [True True True False False False False False]
 [True True True  True False False False False]
 [True True True  True  True False False False]
 [True True True  True  True  True False False]
 [True True True  True  True  True  True False]
 [True True True  True  True  True  True  True]]
chunk 8 x 8
[[ True False False False False False False False]
 [ True  True False False False False False False]
 [ True  True  True False False False False False]
 [ True  True  True  True False False False False]
 [False False False False  True False False False]
 [False False False False  True  True False False]
 [False False False False  True  True  True False]
 [False False False False  True  True  True  True]]
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
alone 4
[0.0269 0.1082 1.1440 1.8982]
restarted 4
[0.0269 0.1082 1.1440 1.8982]
running 4
[0.0393 1.0291 1.1278 1.7193]
open 4
[0.3130 0.3078 0.8310 2.0630]
turned_restarted 4
[0.3465 0.8494 0.7389 0.6180]
turned_running 4
[0.3465 0.8494 0.7389 0.6180]
tree 6 x 6
[[True False False False False False]
 [True  True False False False False]
 [True False  True False False False]
 [True  True False  True False False]
 [True  True False False  True False]
 [True False  True False False  True]]
depth 6
[0 1 1 2 2 2]
"""

from types import ModuleType

import numpy

from attention_docs.arrays import Array
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
SECOND, WINDOW, PREFIX, CHUNK = 3, 2, 3, 4
PARENTS = (None, 0, 0, 1, 1, 2)

FEATURES = ["animal", "thing", "place", "action"]
TOKENS = ["birds", "fly", ".", "boats", "sail", "on", "water", "."]
POSITIONS = [str(position) for position in range(len(TOKENS))]
DRAFT = ["birds", "fly", "sing", "south", "away", "songs"]
LAST_TOKEN = ("alone", "restarted", "running", "open", "turned_restarted", "turned_running")
LABELS = {
    "X": (TOKENS, FEATURES),
    **dict.fromkeys(("causal", "document", "packed"), (POSITIONS, POSITIONS)),
    "documents": (TOKENS,),
    "positions": (TOKENS,),
    "tree": (DRAFT, DRAFT),
    "depth": (DRAFT,),
    **dict.fromkeys(LAST_TOKEN, (FEATURES,)),
}


def causal(q: Array, kv: Array) -> Array:
    return kv <= q


def window(q: Array, kv: Array) -> Array:
    return causal(q, kv) & (q - kv <= WINDOW)


def prefix(q: Array, kv: Array) -> Array:
    return causal(q, kv) | (kv < PREFIX)


def chunk(q: Array, kv: Array) -> Array:
    return causal(q, kv) & (q // CHUNK == kv // CHUNK)


def tree_mask(xp: ModuleType) -> Array:
    """Let each token of a draft see itself and its ancestors, which stand before it."""
    tokens = xp.eye(len(PARENTS))
    rows: list[Array] = []
    for token, parent in enumerate(PARENTS):
        rows.append(tokens[token, :] if parent is None else rows[parent] + tokens[token, :])
    return xp.stack(rows) > 0


def steps(xp: ModuleType = numpy) -> dict[str, Array]:
    documents = xp.asarray(DOCUMENTS, dtype=xp.int64)
    x = xp.asarray(X, dtype=xp.float64)
    n, d = x.shape
    index = xp.arange(n)
    masks = {mask.__name__: create_mask(mask, n, xp=xp) for mask in (causal, window, prefix, chunk)}

    def document(q: Array, kv: Array) -> Array:
        return documents[q] == documents[kv]

    def earlier_document(q: Array, kv: Array) -> Array:
        return documents[kv] < documents[q]

    same = create_mask(document, n, xp=xp)
    packed = masks["causal"] & same
    earlier = xp.astype(create_mask(earlier_document, n, xp=xp), xp.int64)
    positions = index - xp.sum(earlier, axis=1)

    def last_output(where: Array, mask: Array, first: int = 0) -> Array:
        """Return the output of the last token if all tokens from `first` on are there."""
        at_position = xp.astype(where[:, None] == index[None, :], xp.float64)
        encoded = x + at_position @ sinusoidal_positions(n, d, xp=xp)
        tokens = encoded[first:, :]
        return attention_steps(tokens, tokens, tokens, attn_mask=mask[first:, first:]).output[-1, :]

    def last_turned(where: Array) -> Array:
        turned = rotary(x, where)
        return attention_steps(turned, turned, x, attn_mask=packed).output[-1, :]

    tree = tree_mask(xp)
    return {
        "X": x,
        "documents": documents,
        "positions": positions,
        **masks,
        "document": same,
        "packed": packed,
        "alone": last_output(positions, masks["causal"], first=SECOND),
        "restarted": last_output(positions, packed),
        "running": last_output(index, packed),
        "open": last_output(positions, masks["causal"]),
        "turned_restarted": last_turned(positions),
        "turned_running": last_turned(index),
        "tree": tree,
        "depth": xp.sum(xp.astype(tree, xp.int64), axis=1) - 1,
    }
