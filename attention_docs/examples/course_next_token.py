"""The last step of the course: logits, probabilities, the next token and the one after it.

- `probabilities` belong to "birds pass boats because they", and `probabilities_swapped` to "boats
  pass birds because they". `next_token` is an index in the vocabulary. `losses` holds -log p for
  the word that actually follows each word, and `loss` is their mean.
- "fly" is appended, with the clock hand of position 6, and the model runs on six words. `appended`
  has the probabilities of the word after "fly", and `next_but_one` is the index of the likeliest.
- `temperatures` divide the logits of the last row before the softmax. `tempered` has a row of
  probabilities for each.
- Ablations: `fly` and `sail` are the probabilities of these words after each of the two sentences,
  which are the rows. The first column is the complete model; every other column leaves out one of
  `PARTS`. `right` counts, over the ten rows of both sentences, how often the right word has the
  largest probability; a tie does not count. `with_head_1` and `without_head_1` are the last rows of
  both sentences in the complete model and without head 1.

>>> show(steps())
output 5 x 7
[[2.1449 0.6872 -0.7705 -0.7705 -0.7705 -0.3332 -0.1874]
 [1.2165 0.1044  1.5630 -1.0077 -1.0077  0.1392 -1.0077]
 [0.1141 0.8460  1.9163 -0.6825 -0.6825 -0.2434 -1.2681]
 [0.8317 0.8317 -0.3654  1.5371 -0.5518 -0.8182 -1.4650]
 [0.9766 0.2042  1.3367  0.7375 -0.9469 -1.3928 -0.9152]]
logits 5 x 9
[[-1.8950  6.4347  3.9358 -4.3731       0 -4.3731 -8.7462 -2.8321 4.1232]
 [ 1.4934 -4.0627  5.9420  4.3759 -2.5708  1.8051 -1.5313 -1.3209 3.1972]
 [ 3.9163 -5.1938  0.9886  5.4714 -2.5989  0.6121  2.8079 -0.9601 3.1540]
 [-5.1709  3.3194 -5.1709 -8.4746  6.0803  2.4889  2.4889 -1.6634 4.4985]
 [-3.0441 -3.5424  0.0455 -1.2769  2.7695  6.1670  3.8498 -1.1807 4.4356]]
probabilities 5 x 9
[[ 0.0002  0.8451  0.0694 1.7e-05 0.0014 1.7e-05 2.2e-07 0.0001 0.0838]
 [ 0.0090 3.5e-05  0.7679  0.1604 0.0002  0.0123  0.0004 0.0005 0.0493]
 [ 0.1508 1.7e-05  0.0081  0.7141 0.0002  0.0055  0.0498 0.0011 0.0704]
 [9.8e-06  0.0477 9.8e-06 3.6e-07 0.7551  0.0208  0.0208 0.0003 0.1552]
 [ 0.0001 4.6e-05  0.0017  0.0004 0.0255  0.7618  0.0751 0.0005 0.1349]]
probabilities_swapped 5 x 9
[[ 0.0694  0.8451  0.0002 1.7e-05 0.0014 2.2e-07 1.7e-05 0.0001 0.0838]
 [ 0.7679 3.5e-05  0.0090  0.1604 0.0002  0.0004  0.0123 0.0005 0.0493]
 [ 0.0081 1.7e-05  0.1508  0.7141 0.0002  0.0498  0.0055 0.0011 0.0704]
 [9.8e-06  0.0477 9.8e-06 3.6e-07 0.7551  0.0208  0.0208 0.0003 0.1552]
 [ 0.0017 4.6e-05  0.0001  0.0004 0.0255  0.0751  0.7618 0.0005 0.1349]]
next_token number
5
losses 5
[0.1683 0.2641 0.3368 0.2810 0.2720]
loss number
0.2644
fly_with_position 7
[1 0 1 0 0 -0.8432 0.5376]
appended 9
[0.0015 0.0036 0.2724 0.0278 0.0038 0.0405 0.0008 0.0015 0.6481]
next_but_one number
8
temperatures 3
[0.5000 1 2]
tempered 3 x 9
[[9.6e-09 3.5e-09 4.6e-06 3.3e-07 0.0011 0.9595 0.0093 4.0e-07 0.0301]
 [ 0.0001 4.6e-05  0.0017  0.0004 0.0255 0.7618 0.0751  0.0005 0.1349]
 [ 0.0049  0.0038  0.0231  0.0119 0.0900 0.4922 0.1545  0.0125 0.2071]]
fly 2 x 11
[[0.7618 0.0169 0.8143 0.7618 0.4992 0.0085 0.0161 0.7288  0.0002 0.8005 0.9439]
 [0.0751 0.0169 0.0765 0.0751 0.4992 0.0005 0.0005 0.2532 1.2e-05 0.0616 0.0555]]
sail 2 x 11
[[0.0751 0.0169 0.0765 0.0751 0.4992 0.0005 0.0005 0.2532 1.2e-05 0.0616 0.0555]
 [0.7618 0.0169 0.8143 0.7618 0.4992 0.0085 0.0161 0.7288  0.0002 0.8005 0.9439]]
log_odds 2 x 11
[[ 2.3172 0  2.3651  2.3172 0  2.8117  3.5082  1.0574  2.5643  2.5643  2.8334]
 [-2.3172 0 -2.3651 -2.3172 0 -2.8117 -3.5082 -1.0574 -2.5643 -2.5643 -2.8334]]
with_head_1 2 x 9
[[0.0001 4.6e-05 0.0017 0.0004 0.0255 0.7618 0.0751 0.0005 0.1349]
 [0.0017 4.6e-05 0.0001 0.0004 0.0255 0.0751 0.7618 0.0005 0.1349]]
without_head_1 2 x 9
[[0.0001 3.5e-09 0.0001 0.0002 0.0007 0.4992 0.4992 0.0001 0.0003]
 [0.0001 3.5e-09 0.0001 0.0002 0.0007 0.4992 0.4992 0.0001 0.0003]]
right 11
[10 4 10 6 2 6 4 10 8 10 2]
"""

from collections.abc import Iterable
from types import ModuleType

import numpy

from attention_docs.arrays import Array
from attention_docs.dot_product import attention_steps
from attention_docs.examples.course_block import block, feed_forward, layer_norm
from attention_docs.examples.course_heads import steps as heads
from attention_docs.examples.course_sentence import (
    FEATURES,
    SWAPPED,
    VOCABULARY,
    WORDS,
    given_matrices,
    round_off,
    swap_nouns,
)
from attention_docs.softmax import softmax

TITLE = "The next token, and the one after it"
SOURCE = "our own example"

FLY_WITH_POSITION = [1, 0, 1, 0, 0, -0.8432, 0.5376]  # the word, with the clock hand of position 6
TEMPERATURES = [0.5, 1, 2]
PARTS = [
    "positions",
    "scale",
    "mask",
    "head 1",
    "head 2",
    "first residual sum",
    "first norm",
    "feed-forward network",
    "second norm",
    "both norms",
]
FLY, SAIL = VOCABULARY.index("fly"), VOCABULARY.index("sail")
SENTENCES = ["birds pass boats", "boats pass birds"]
LABELS = {
    "output": (WORDS, FEATURES),
    "logits": (WORDS, VOCABULARY),
    "probabilities": (WORDS, VOCABULARY),
    "probabilities_swapped": (SWAPPED, VOCABULARY),
    "losses": (WORDS,),
    "fly_with_position": (FEATURES,),
    "appended": (VOCABULARY,),
    "tempered": ([f"temperature {t}" for t in TEMPERATURES], VOCABULARY),
    "fly": (SENTENCES, ["nothing", *PARTS]),
    "sail": (SENTENCES, ["nothing", *PARTS]),
    "log_odds": (SENTENCES, ["nothing", *PARTS]),
    "with_head_1": (SENTENCES, VOCABULARY),
    "without_head_1": (SENTENCES, VOCABULARY),
    "right": (["nothing", *PARTS],),
}


def steps(xp: ModuleType = numpy) -> dict[str, Array]:
    matrices = given_matrices(xp)
    x = matrices["X"]
    attention = heads(xp)
    with_positions = attention["with_positions"]
    output, logits, probabilities = predict(xp, with_positions, attention["output"])
    next_words = [VOCABULARY.index(word) for word in (*WORDS[1:], "fly")]
    next_words_swapped = [VOCABULARY.index(word) for word in (*SWAPPED[1:], "sail")]
    of_next_words = xp.stack([probabilities[i, word] for i, word in enumerate(next_words)])
    fly = xp.asarray(FLY_WITH_POSITION, dtype=xp.float64)
    longer = xp.concat([with_positions, fly[None, :]])
    appended = predict(xp, longer, multi_head_output(xp, longer))[2][-1, :]
    temperatures = xp.asarray(TEMPERATURES, dtype=xp.float64)
    tempered = softmax(logits[-1:, :] / temperatures[:, None])
    sentences = xp.stack([x, swap_nouns(xp, x)])
    ablated = xp.stack([ablate(xp, sentences, part) for part in (None, *PARTS)], axis=1)
    last_rows = ablated[:, :, -1, :]
    return {
        "output": output,
        "logits": round_off(xp, logits),
        "probabilities": probabilities,
        "probabilities_swapped": ablated[1, 0, :, :],
        "next_token": xp.argmax(logits[-1, :]),
        "losses": -xp.log(of_next_words),
        "loss": -xp.mean(xp.log(of_next_words)),
        "fly_with_position": fly,
        "appended": appended,
        "next_but_one": xp.argmax(appended),
        "temperatures": temperatures,
        "tempered": tempered,
        "fly": last_rows[:, :, FLY],
        "sail": last_rows[:, :, SAIL],
        "log_odds": round_off(xp, xp.log(last_rows[:, :, FLY] / last_rows[:, :, SAIL])),
        "with_head_1": last_rows[:, 0, :],
        "without_head_1": last_rows[:, 1 + PARTS.index("head 1"), :],
        "right": count_correct(xp, ablated[0, :, :, :], next_words)
        + count_correct(xp, ablated[1, :, :, :], next_words_swapped),
    }


def multi_head_output(
    xp: ModuleType,
    with_positions: Array,
    heads: Iterable[int] = (1, 2),
    is_causal: bool = True,
    scale: float | None = None,
) -> Array:
    """Return the sum of the heads' outputs, each projected by its `W_O`."""
    matrices = given_matrices(xp)
    total = xp.zeros_like(with_positions)
    for head in heads:
        q, k, v = (
            with_positions @ matrices[name] for name in (f"W_Q_{head}", f"W_K_{head}", "W_V")
        )
        output = attention_steps(q, k, v, is_causal=is_causal, scale=scale).output
        total = total + output @ matrices[f"W_O_{head}"]
    return total


def predict(xp: ModuleType, with_positions: Array, added: Array) -> tuple[Array, Array, Array]:
    """Return the output of the block, the logits and the probabilities of each row."""
    output = block(xp, with_positions, added)["output"]
    logits = output @ given_matrices(xp)["W_vocabulary"]
    return output, logits, softmax(logits)


def ablate(xp: ModuleType, x: Array, part: str | None) -> Array:
    """Return the probabilities of each row if one of `PARTS` is left out, or nothing if None."""
    matrices = given_matrices(xp)
    rows = x if part == "positions" else x + matrices["E"]
    heads = [i for i in (1, 2) if part != f"head {i}"]
    scale = 1 if part == "scale" else None
    added = multi_head_output(xp, rows, heads, is_causal=part != "mask", scale=scale)
    rows = added if part == "first residual sum" else rows + added
    rows = rows if part in ("first norm", "both norms") else layer_norm(xp, rows)
    rows = rows if part == "feed-forward network" else rows + feed_forward(xp, rows)[2]
    rows = rows if part in ("second norm", "both norms") else layer_norm(xp, rows)
    return softmax(rows @ matrices["W_vocabulary"])


def count_correct(xp: ModuleType, probabilities: Array, words: list[int]) -> Array:
    """Count, for each ablation, the rows whose right word alone has the largest probability."""
    # Rounded, so that the probabilities of a tie, which can differ by rounding errors, are equal.
    rounded = round_off(xp, probabilities)
    right_word = xp.stack([rounded[:, i, word] for i, word in enumerate(words)], axis=1)
    # The right word itself is counted, so the count is 1 if no other word is as likely.
    at_least_as_likely = xp.sum(xp.astype(rounded >= right_word[:, :, None], xp.int64), axis=-1)
    return xp.sum(xp.astype(at_least_as_likely == 1, xp.int64), axis=-1)
