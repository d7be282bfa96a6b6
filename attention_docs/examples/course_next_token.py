"""The last step of the course: logits, probabilities, the next token and the one after it.

- `probabilities` belong to "birds pass boats because they", and `probabilities_swapped` to "boats
  pass birds because they". The next tokens are indices in the vocabulary. `losses` holds -log p for
  the word that actually follows each word, and `loss` is their mean.
- "fly" is appended, with the clock hand of position 6, and the model runs on six words.
- `temperatures` divide the logits of the last row before the softmax. `tempered` has a row of
  probabilities for each.
- Ablations: `fly` and `sail` are the probabilities of these words after each of the two sentences,
  which are the rows. The first column is the complete model; every other column leaves out one of
  `WITHOUT`. `right` counts, over the ten rows of both sentences, how often the right word has the
  largest probability; a tie does not count.

>>> show(computed(steps))
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
losses [0.1683 0.2641 0.3368 0.2810 0.2720]
loss 0.2644
appended [0.0015 0.0036 0.2724 0.0278 0.0038 0.0405 0.0008 0.0015 0.6481]
next_but_one 8
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
right [10 4 10 6 2 6 4 10 8 10 2]
"""

from typing import NamedTuple

import numpy

from attention_docs.arrays import Array
from attention_docs.dot_product import attention_steps
from attention_docs.examples import course_heads
from attention_docs.examples import course_sentence as course
from attention_docs.examples.course_ablation import (
    NEXT_WORDS,
    PARTS,
    SENTENCES,
    count_correct,
    switched_model,
)
from attention_docs.examples.course_block import block
from attention_docs.softmax import softmax

TITLE = "The next token, and the one after it"
SOURCE = "our own example"

FLY_WITH_POSITION = [1, 0, 1, 0, 0, -0.8432, 0.5376]  # the word, with the clock hand of position 6
TEMPERATURES = [0.5, 1, 2]
# What each incomplete model lacks.
LEFT_OUT = [[part] for part in PARTS] + [["first norm", "second norm"]]
WITHOUT = [*PARTS, "both norms"]
FLY, SAIL = course.VOCABULARY.index("fly"), course.VOCABULARY.index("sail")
LABELS = {
    "output": (course.WORDS, course.FEATURES),
    "logits probabilities": (course.WORDS, course.VOCABULARY),
    "probabilities_swapped": (course.SWAPPED, course.VOCABULARY),
    "losses": (course.WORDS,),
    "fly_with_position": (course.FEATURES,),
    "appended": (course.VOCABULARY,),
    "tempered": ([f"temperature {t}" for t in TEMPERATURES], course.VOCABULARY),
    "fly sail": (SENTENCES, ["nothing", *WITHOUT]),
    "right": (["nothing", *WITHOUT],),
}


class Prediction(NamedTuple):
    """The output of the block, and the logits and probabilities of the next word, for each row."""

    block_output: Array
    logits: Array
    probabilities: Array


def steps(xp=numpy):
    """Predict the next words, append "fly" and predict again, and predict without each of WITHOUT.

    `appended` and `next_but_one` are the probabilities and the index of the word after "fly".
    """
    attention = course_heads.steps(xp)
    with_positions = attention["with_positions"]
    prediction = predict(xp, with_positions, attention["output"])
    next_word_probabilities = xp.stack(
        [
            prediction.probabilities[i, course.VOCABULARY.index(word)]
            for i, word in enumerate(NEXT_WORDS)
        ]
    )
    fly = xp.asarray(FLY_WITH_POSITION, dtype=xp.float64)
    rows_with_fly = xp.concat([with_positions, fly[None, :]])
    prediction_with_fly = predict(xp, rows_with_fly, multi_head_output(xp, rows_with_fly))
    appended = prediction_with_fly.probabilities[-1, :]
    temperatures = xp.asarray(TEMPERATURES, dtype=xp.float64)
    x = course.given_matrices(xp)["X"]
    sentences = xp.stack([x, course.swap_nouns(xp, x)])
    ablated = ablate(xp, sentences[:, None, :, :], [[], *LEFT_OUT])
    return {
        "output": prediction.block_output,
        "logits": course.round_off(xp, prediction.logits),
        "probabilities": prediction.probabilities,
        "probabilities_swapped": ablated[1, 0, :, :],
        "next_token": xp.argmax(prediction.logits[-1, :]),
        "next_token_swapped": xp.argmax(ablated[1, 0, -1, :]),
        "losses": -xp.log(next_word_probabilities),
        "loss": -xp.mean(xp.log(next_word_probabilities)),
        "fly_with_position": fly,
        "appended": appended,
        "next_but_one": xp.argmax(appended),
        "temperatures": temperatures,
        "tempered": softmax(prediction.logits[-1:, :] / temperatures[:, None]),
        **ablation_steps(xp, ablated),
    }


def ablation_steps(xp, ablated):
    """Return what the model predicts after both sentences, complete and without each of WITHOUT.

    The axes of `ablated` are the sentence, the part left out, the word and the next word.
    """
    after_they = ablated[:, :, course.THEY, :]
    fly, sail = after_they[:, :, FLY], after_they[:, :, SAIL]
    return {
        "fly": fly,
        "sail": sail,
        "right": count_correct(xp, ablated),
    }


def multi_head_output(xp, with_positions):
    """Return the sum of the outputs of both heads, each projected by its `W_O`."""
    matrices = course.given_matrices(xp)
    total = xp.zeros_like(with_positions)
    for head in (1, 2):
        q, k, v = course.project(matrices, with_positions, head)
        output = attention_steps(q, k, v, is_causal=True).output
        total = total + output @ matrices[f"W_O_{head}"]
    return total


def predict(xp, with_positions, attention_output):
    """Predict the next word after each row from the input and the output of the two heads."""
    block_output = block(xp, with_positions, attention_output)["output"]
    logits = block_output @ course.given_matrices(xp)["W_vocabulary"]
    return Prediction(block_output, logits, softmax(logits))


def ablate(xp, x, models):
    """Return the probabilities of models without some parts, (..., models, n, 9).

    Args:
        x: words, (..., 1, n, 7).
        models: the parts that each model lacks.
    """
    switches = [
        xp.asarray([[[float(part not in parts)]] for parts in models], dtype=xp.float64)
        for part in PARTS
    ]
    return switched_model(xp, x, switches).probabilities
