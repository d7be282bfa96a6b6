"""Two words that the model of the course writes after its sentence, each drawn at random.

The first word is drawn from the probabilities after "birds pass boats because they". `appended` is
its vector, with the clock hand of position 6, and with it the model runs again. `probabilities` has
a column for each drawn word, at the given `temperature`. `cumulative` has the cumulative sums
without the last, which is always 1, and `written` has a one at the word that each of `draws`
selects.

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
# The first five features of the four words of the vocabulary that are not in the sentence.
ADDED = [[1, 0, 1, 0, 0], [0, 1, 1, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0]]
CLOCK = [-0.8432, 0.5376]  # the clock hand of position 6
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
    vocabulary_features = xp.concat([matrices["X"][:, :5], added])
    appended = xp.concat([first_word @ vocabulary_features, clock])
    second = next_word(xp, xp.concat([with_positions, appended[None, :]]), temperature)
    return {
        "temperature": temperature,
        "draws": draws,
        "probabilities": xp.stack([first, second], axis=1),
        "cumulative": xp.stack([cumulative_sum(xp, row[:-1]) for row in (first, second)], axis=1),
        "written": xp.stack([first_word, draw(xp, second, draws[1])], axis=1),
        "appended": appended,
    }


def next_word(xp: ModuleType, with_positions: Array, temperature: Array) -> Array:
    """Return the probabilities of the word after the last row."""
    logits = predict(xp, with_positions, multi_head_output(xp, with_positions))[1]
    return softmax(logits[-1, :] / temperature)


def cumulative_sum(xp: ModuleType, row: Array) -> Array:
    """Return the cumulative sums of a row, as a product that the pages can recompute."""
    index = xp.arange(row.shape[0])
    return row @ xp.astype(index[:, None] <= index[None, :], xp.float64)


def draw(xp: ModuleType, probabilities: Array, number: Array) -> Array:
    """Return the one-hot row of the word that a uniform random number from [0, 1) selects."""
    # Ones for all words before the selected one: their cumulative sums do not exceed the number.
    before = xp.astype(cumulative_sum(xp, probabilities[:-1]) <= number, xp.float64)
    zero, one = xp.zeros(1), xp.ones(1)
    # Shifted by one word, the ones include the selected word, so the difference is one only there.
    return xp.concat([one, before]) - xp.concat([before, zero])
