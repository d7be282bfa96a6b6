"""The last step of the course: logits, probabilities, the next token and the one after it.

`next_token` counts the words of the vocabulary from 0. `losses` holds minus the logarithm of the
probability of the word that actually follows, and `loss` is their mean. Then "like" is appended,
with the clock hand of position 6, and the model runs on six words: `appended` has the probabilities
of the word after it.

The rest asks "they" once more. First each part is left out in turn: nothing, then those of `PARTS`.
`first_choice` counts the words of the vocabulary from 0, `first` is its probability and `like` that
of "like", and `right` says in how many of the five rows the right word comes first. At last nothing
is left out, but the weight of head 1 lies on "milk" alone: `on_milk`.

>>> show(steps())
output 5 x 7
[[2.3723 -0.5157 -0.5157 -0.5157 -0.5157 -0.5157  0.2063]
 [0.8691  1.0068  1.1649 -1.3728 -1.3728  0.0274 -0.3226]
 [0.1417  1.9058  0.7757 -0.8627 -0.8627  0.0232 -1.1211]
 [0.3121 -0.0111 -0.2142  1.7809  0.3589 -0.3795 -1.8471]
 [0.7569 -0.2679  1.7363  0.6501 -1.2688 -0.7098 -0.8968]]
logits 5 x 9
[[-2.8880  6.2916  1.8565 -3.9194 -1.0314  2.3723  4.7445 -2.0628       0]
 [-2.2419 -1.5983  4.4136  2.1511 -5.2833  1.0273  1.8964  1.8056  2.3796]
 [-1.0044 -3.1738  3.6859  5.5758 -3.3638 -0.9884 -0.8467  3.7247  2.7685]
 [ 0.0469  1.0638 -1.6943 -0.3455  4.1351  1.5310  0.4210  1.5444 -1.7921]
 [-2.0256 -1.6910  1.5751 -1.5605 -1.7049  4.6800  3.5179  1.8507 -0.9180]]
probabilities 5 x 9
[[0.0001 0.8016 0.0095 2.9e-05  0.0005 0.0159 0.1706 0.0002 0.0015]
 [0.0009 0.0017 0.7008  0.0730 4.3e-05 0.0237 0.0565 0.0516 0.0917]
 [0.0010 0.0001 0.1100  0.7282  0.0001 0.0010 0.0012 0.1144 0.0440]
 [0.0134 0.0370 0.0023  0.0090  0.7978 0.0590 0.0195 0.0598 0.0021]
 [0.0009 0.0012 0.0314  0.0014  0.0012 0.7008 0.2192 0.0414 0.0026]]
next_token number
5
losses 5
[0.2211 0.3555 0.3172 0.2258 0.3556]
loss number
0.2950
like_placed 7
[0 0 1 0 0 -0.9971 -0.0758]
appended 9
[0.0031 0.0082 0.3715 0.0424 0.0024 0.1083 0.2477 0.1788 0.0375]
next_but_one number
2
earlier_rows_stay number
True
first_choice 8
[5 6 5 6 1 5 1 5]
first 8
[0.7008 0.5413 0.6914 0.5604 0.6824 0.7185 0.4385 0.8285]
like 8
[0.7008 0.3586 0.6914 0.2478 0.1457 0.7185 0.0206 0.8285]
right 8
[5 4 4 4 1 3 4 5]
on_milk 9
[0.0202 0.0090 0.0195 0.4165 0.1878 0.0052 0.0052 0.3182 0.0184]
"""

from collections.abc import Iterable
from types import ModuleType

import numpy

from attention_docs.arrays import Array
from attention_docs.dot_product import attention_steps
from attention_docs.examples.course_block import block, feed_forward, layer_norm
from attention_docs.examples.course_heads import steps as heads
from attention_docs.examples.course_sentence import VOCABULARY, given, nine_decimals
from attention_docs.softmax import softmax

TITLE = "The next token, and the one after it"
SOURCE = "our own"

LIKE = [0, 0, 1, 0, 0, -0.99712, -0.07584]  # the word, with the clock of position 6
PARTS = [
    "positions",
    "head 1",
    "head 2",
    "first residual sum",
    "first norm",
    "feed-forward network",
    "second norm",
]


def steps(xp: ModuleType = numpy) -> dict[str, Array]:
    attention = heads(xp)
    placed = attention["placed"]
    output, logits, probabilities = predicted(xp, placed, attention["output"])
    n = placed.shape[0]
    true = xp.stack([probabilities[i, i + 1] for i in range(n)])
    like = xp.asarray(LIKE, dtype=xp.float64)
    longer = xp.concat([placed, like[None, :]])
    again = predicted(xp, longer, attended(xp, longer))[2]
    rest = xp.stack([probabilities, *(without(xp, part) for part in PARTS)])
    # Two words can be equal but for their rounding; then the first of them counts.
    chosen = xp.argmax(nine_decimals(xp, rest), axis=-1)
    is_right = chosen == xp.arange(1, n + 1)
    milk = placed[2:3, :] @ given(xp)["W_V"] @ given(xp)["W_O_1"]
    on_milk = xp.concat([attention["added_1"][:4, :], milk])
    mistaken = predicted(xp, placed, on_milk + attention["added_2"])[2]
    return {
        "output": output,
        "logits": logits,
        "probabilities": probabilities,
        "next_token": xp.argmax(logits[-1, :]),
        "losses": -xp.log(true),
        "loss": -xp.mean(xp.log(true)),
        "like_placed": like,
        "appended": again[-1, :],
        "next_but_one": xp.argmax(again[-1, :]),
        "earlier_rows_stay": xp.all(xp.abs(again[:n, :] - probabilities) < 1e-12),
        "first_choice": chosen[:, -1],
        "first": xp.max(rest[:, -1, :], axis=-1),
        "like": rest[:, -1, VOCABULARY.index("like")],
        "right": xp.sum(xp.where(is_right, xp.asarray(1), xp.asarray(0)), axis=-1),
        "on_milk": mistaken[-1, :],
    }


def attended(xp: ModuleType, placed: Array, heads: Iterable[int] = (1, 2)) -> Array:
    """Return what the heads add, for any number of words."""
    matrices = given(xp)
    total = xp.zeros_like(placed)
    for head in heads:
        q, k, v = (placed @ matrices[name] for name in (f"W_Q_{head}", f"W_K_{head}", "W_V"))
        total = total + attention_steps(q, k, v, is_causal=True).output @ matrices[f"W_O_{head}"]
    return total


def predicted(xp: ModuleType, placed: Array, added: Array) -> tuple[Array, Array, Array]:
    """Return the output of the block, the logits and the probabilities of each row."""
    output = block(xp, placed, added)["output"]
    logits = output @ given(xp)["W_vocabulary"]
    return output, logits, softmax(logits)


def without(xp: ModuleType, part: str) -> Array:
    """Return the probabilities of each row if one of `PARTS` is left out."""
    matrices = given(xp)
    rows = matrices["X"] if part == "positions" else matrices["X"] + matrices["E"]
    added = attended(xp, rows, [i for i in (1, 2) if part != f"head {i}"])
    rows = added if part == "first residual sum" else rows + added
    rows = rows if part == "first norm" else layer_norm(xp, rows)
    rows = rows if part == "feed-forward network" else rows + feed_forward(xp, rows)[2]
    rows = rows if part == "second norm" else layer_norm(xp, rows)
    return softmax(rows @ matrices["W_vocabulary"])
