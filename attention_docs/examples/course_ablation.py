"""The model of the course with a switch for each of its parts.

A number of `switches` is 1 while its part is there, and 0 if the part is left out. All are 1 here.
The other steps follow "birds pass boats because they" through the model. `endings` are the
probabilities of "fly", "sail" and "." after both sentences. `right` counts, over the ten rows of
both, how often the right word has the largest probability; a tie does not count.

>>> show(computed(steps))
weights_1 5 x 5
[[     1      0      0      0      0]
 [0.9696 0.0304      0      0      0]
 [0.0295 0.9411 0.0295      0      0]
 [0.4848 0.0152 0.4848 0.0152      0]
 [0.9685 0.0048 0.0241 0.0005 0.0021]]
weights_2 5 x 5
[[      1      0      0      0      0]
 [ 0.9097 0.0903      0      0      0]
 [ 0.0829 0.8343 0.0829      0      0]
 [ 0.0005 0.0828 0.8338 0.0828      0]
 [1.2e-05 0.0005 0.0828 0.8338 0.0828]]
output 5 x 7
[[     2      1      0      0 0 0 0]
 [1.9393 0.9696 0.2414      0 0 0 0]
 [0.0884 0.0884 3.5507      0 0 0 0]
 [1.4545 1.4545 0.1960 0.1960 0 0 0]
 [1.9611 1.0166 0.0106 1.6687 0 0 0]]
block_output 5 x 7
[[2.1449 0.6872 -0.7705 -0.7705 -0.7705 -0.3332 -0.1874]
 [1.2165 0.1044  1.5630 -1.0077 -1.0077  0.1392 -1.0077]
 [0.1141 0.8460  1.9163 -0.6825 -0.6825 -0.2434 -1.2681]
 [0.8317 0.8317 -0.3654  1.5371 -0.5518 -0.8182 -1.4650]
 [0.9766 0.2042  1.3367  0.7375 -0.9469 -1.3928 -0.9152]]
probabilities 5 x 9
[[ 0.0002  0.8451  0.0694 1.7e-05 0.0014 1.7e-05 2.2e-07 0.0001 0.0838]
 [ 0.0090 3.5e-05  0.7679  0.1604 0.0002  0.0123  0.0004 0.0005 0.0493]
 [ 0.1508 1.7e-05  0.0081  0.7141 0.0002  0.0055  0.0498 0.0011 0.0704]
 [9.8e-06  0.0477 9.8e-06 3.6e-07 0.7551  0.0208  0.0208 0.0003 0.1552]
 [ 0.0001 4.6e-05  0.0017  0.0004 0.0255  0.7618  0.0751 0.0005 0.1349]]
endings [[0.7618 0.0751 0.1349] [0.0751 0.7618 0.1349]]
right [10]
"""

from typing import NamedTuple

import numpy

from attention_docs.arrays import Array
from attention_docs.dot_product import attention_steps
from attention_docs.examples import course_sentence as course
from attention_docs.examples.course_block import feed_forward, layer_norm
from attention_docs.softmax import softmax

TITLE = "The model with a switch for each part"
SOURCE = "our own example"

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
]
SWITCHES = [1, 1, 1, 1, 1, 1, 1, 1, 1]
SENTENCES = ["birds pass boats", "boats pass birds"]
ENDINGS = ["fly", "sail", "."]
NEXT_WORDS = [*course.WORDS[1:], "fly"]
NEXT_WORDS_SWAPPED = [*course.SWAPPED[1:], "sail"]
LABELS = {
    "switches": (PARTS,),
    "with_positions output block_output": (course.WORDS, course.FEATURES),
    "weights_1 weights_2": (course.WORDS, course.WORDS),
    "probabilities": (course.WORDS, course.VOCABULARY),
    "endings": (SENTENCES, ENDINGS),
    "right": (["of the ten rows"],),
}


class Run(NamedTuple):
    """What a model with switches computes; a left-out head has weights, but adds nothing."""

    with_positions: Array
    weights_1: Array
    weights_2: Array
    output: Array
    block_output: Array
    probabilities: Array


def steps(xp=numpy):
    """Run the model on both sentences, and return the steps of the first."""
    switches = xp.asarray(SWITCHES, dtype=xp.float64)
    x = course.given_matrices(xp)["X"]
    sentences = xp.stack([x, course.swap_nouns(xp, x)])
    run = switched_model(xp, sentences, [switches[i] for i in range(len(PARTS))])
    after_they = run.probabilities[:, course.THEY, :]
    columns = xp.asarray([course.VOCABULARY.index(word) for word in ENDINGS])
    return {
        "switches": switches,
        **{name: array[0, :, :] for name, array in run._asdict().items()},
        "endings": xp.take(after_they, columns, axis=1),
        "right": count_correct(xp, run.probabilities[:, None, :, :]),
    }


def switched_model(xp, x, switches):
    """Run the model on words, (..., n, 7), with a switch for each of PARTS.

    A switch is a number, or has an axis for each model and two for rows and columns, (m, 1, 1).
    """
    matrices = course.given_matrices(xp)
    on = dict(zip(PARTS, switches, strict=True))

    def choose(part, with_part, without_part):
        return on[part] * with_part + (1 - on[part]) * without_part

    rows = x + on["positions"] * matrices["E"]
    n = x.shape[-2]
    index = xp.astype(xp.arange(n), xp.float64)
    # Without the mask a word sees n later ones, too.
    is_visible = index[None, :] <= index[:, None] + (1 - on["mask"]) * n
    weights, output = [], 0.0
    for head in (1, 2):
        q, k, v = course.project(matrices, rows, head)
        scale = choose("scale", 1 / k.shape[-1] ** 0.5, 1.0)
        attention = attention_steps(q * scale, k, v, is_visible, scale=1.0)
        weights.append(attention.weights)
        output = output + on[f"head {head}"] * attention.output @ matrices[f"W_O_{head}"]
    summed = on["first residual sum"] * rows + output
    normed = choose("first norm", layer_norm(xp, summed), summed)
    summed_again = normed + on["feed-forward network"] * feed_forward(xp, normed).output
    block_output = choose("second norm", layer_norm(xp, summed_again), summed_again)
    probabilities = softmax(block_output @ matrices["W_vocabulary"])
    return Run(rows, *weights, output, block_output, probabilities)


def count_correct(xp, probabilities):
    """Return for each of m models how many of the ten next words it predicts.

    `probabilities`, (2, m, 5, 9), has axes for the sentence, the model, the word and the next word.
    A word counts if its right next word is likelier than every other one.
    """
    # Rounded, so that the probabilities of a tie, which can differ by rounding errors, are equal.
    rounded = course.round_off(xp, probabilities)
    count = 0
    for sentence, next_words in enumerate((NEXT_WORDS, NEXT_WORDS_SWAPPED)):
        for row, word in enumerate(next_words):
            of_words = rounded[sentence, :, row, :]
            of_right_word = of_words[:, course.VOCABULARY.index(word)]
            # The right word itself is counted, so this is 1 if no other word is as likely.
            as_likely = xp.astype(of_words >= of_right_word[:, None], xp.int64)
            count = count + xp.astype(xp.sum(as_likely, axis=-1) == 1, xp.int64)
    return count
