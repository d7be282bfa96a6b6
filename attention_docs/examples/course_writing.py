"""Two words that the model of the course writes after its sentence, each of them drawn.

The first word is drawn from the last row of "birds pass boats because they", appended, and the
model runs again. A column of `probabilities` has the probabilities of one drawn word at the
temperature. `cumulative` adds them up, except for the last word, which reaches to one, and
`written` has a one at the word on which the draw falls.
>>> show(steps())
temperature 1
[1]
draws 2
[0.8000 0.4000]
probabilities 9 x 2
[[ 0.0001 0.2724]
 [4.6e-05 0.0036]
 [ 0.0017 0.0015]
 [ 0.0004 0.0278]
 [ 0.0255 0.0038]
 [ 0.7618 0.0008]
 [ 0.0751 0.0405]
 [ 0.0005 0.0015]
 [ 0.1349 0.6481]]
cumulative 8 x 2
[[0.0001 0.2724]
 [0.0001 0.2760]
 [0.0018 0.2775]
 [0.0022 0.3053]
 [0.0277 0.3091]
 [0.7896 0.3100]
 [0.8646 0.3505]
 [0.8651 0.3519]]
written 9 x 2
[[0 0]
 [0 0]
 [0 0]
 [0 0]
 [0 0]
 [0 0]
 [1 0]
 [0 0]
 [0 1]]
appended 7
[0 1 1 0 0 -0.8432 0.5376]
"""

from types import ModuleType

import numpy

from attention_docs.arrays import Array
from attention_docs.examples.course_next_token import multi_head_output, predict
from attention_docs.examples.course_sentence import FEATURES, VOCABULARY, given_matrices
from attention_docs.softmax import softmax

TITLE = "Two words, drawn and appended"
SOURCE = "our own example"

TEMPERATURE = [1]
DRAWS = [0.8, 0.4]
# The first five features of the words that are not in the sentence, and the clock of word six.
ADDED = [[1, 0, 1, 0, 0], [0, 1, 1, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0]]
CLOCK = [-0.8432, 0.5376]
PLACES = ["word 6", "word 7"]
LABELS = {
    "draws": (PLACES,),
    "appended": (FEATURES,),
    "probabilities": (VOCABULARY, PLACES),
    "cumulative": (VOCABULARY[:-1], PLACES),
    "written": (VOCABULARY, PLACES),
}


def steps(xp: ModuleType = numpy) -> dict[str, Array]:
    matrices = given_matrices(xp)
    temperature, draws, added, clock = (
        xp.asarray(numbers, dtype=xp.float64) for numbers in (TEMPERATURE, DRAWS, ADDED, CLOCK)
    )
    with_positions = matrices["X"] + matrices["E"]
    first = next_word(xp, with_positions, temperature)
    first_word = draw(xp, first, draws[0])
    vectors = xp.concat([matrices["X"][:, :5], added])
    appended = xp.concat([first_word @ vectors, clock])
    second = next_word(xp, xp.concat([with_positions, appended[None, :]]), temperature)
    return {
        "temperature": temperature,
        "draws": draws,
        "probabilities": xp.stack([first, second], axis=1),
        "cumulative": xp.stack([add_up(xp, row[:-1]) for row in (first, second)], axis=1),
        "written": xp.stack([first_word, draw(xp, second, draws[1])], axis=1),
        "appended": appended,
    }


def next_word(xp: ModuleType, with_positions: Array, temperature: Array) -> Array:
    """Return the probabilities of the word after the last row."""
    logits = predict(xp, with_positions, multi_head_output(xp, with_positions))[1]
    return softmax(logits[-1, :] / temperature)


def add_up(xp: ModuleType, row: Array) -> Array:
    """Return the sums of the first numbers of a row: of one, of two, and so on."""
    index = xp.arange(row.shape[0])
    return row @ xp.astype(index[:, None] <= index[None, :], xp.float64)


def draw(xp: ModuleType, row: Array, number: Array) -> Array:
    """Return a one at the word on which a number from [0, 1) falls, and zeros elsewhere."""
    # Ones for the words that end before the number. The next word is the drawn one, so the
    # difference of these ones, shifted by one word and not shifted, is its one-hot row.
    passed = xp.astype(add_up(xp, row[:-1]) <= number, xp.float64)
    zero, one = xp.zeros(1), xp.ones(1)
    return xp.concat([one, passed]) - xp.concat([passed, zero])
