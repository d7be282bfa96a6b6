"""Two words that the model of the course writes after its sentence, each drawn at random.

The first word is drawn from the probabilities after "birds pass boats because they". `appended` is
its vector, with the clock hand of position 6, and with it the model runs again. `probabilities` has
a column for each drawn word, at the given `temperature`. `cumulative` has the cumulative sums
without the last, which is always 1, and `written` has a one at the word that each of `draws`
selects.

>>> show(computed(steps))
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
written [[0 0] [0 0] [0 0] [0 0] [0 0] [0 0] [1 0] [0 0] [0 1]]
appended [0 1 1 0 0 -0.8432 0.5376]
"""

import numpy

from attention_docs.examples.course_next_token import multi_head_output, predict
from attention_docs.examples.course_sentence import FEATURES, VOCABULARY, given_matrices
from attention_docs.softmax import softmax

TITLE = "Two words, drawn and appended"
SOURCE = "our own example"

TEMPERATURE = [1]
DRAWS = [0.8, 0.4]
# The words of the vocabulary that are not in the sentence, without their two clock features.
ADDED = [[1, 0, 1, 0, 0], [0, 1, 1, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0]]
CLOCK = [-0.8432, 0.5376]  # the clock hand of position 6
PLACES = ["word 6", "word 7"]
LABELS = {
    "draws": (PLACES,),
    "appended": (FEATURES,),
    "probabilities written": (VOCABULARY, PLACES),
    "cumulative": (VOCABULARY[:-1], PLACES),
}


def steps(xp=numpy):
    """Draw a word, append its vector with position 6, and draw the word after it."""
    matrices = given_matrices(xp)
    temperature, draws = (xp.asarray(numbers, dtype=xp.float64) for numbers in (TEMPERATURE, DRAWS))
    added, clock = (xp.asarray(numbers, dtype=xp.float64) for numbers in (ADDED, CLOCK))
    with_positions = matrices["X"] + matrices["E"]
    probabilities_1 = next_word_probabilities(xp, with_positions, temperature)
    word_1 = draw(xp, probabilities_1, draws[0])
    vocabulary_features = xp.concat([matrices["X"][:, : -len(CLOCK)], added])
    appended = xp.concat([word_1 @ vocabulary_features, clock])
    longer_sentence = xp.concat([with_positions, appended[None, :]])
    probabilities_2 = next_word_probabilities(xp, longer_sentence, temperature)
    word_2 = draw(xp, probabilities_2, draws[1])
    cumulative = [cumulative_sum(xp, row[:-1]) for row in (probabilities_1, probabilities_2)]
    return {
        "temperature": temperature,
        "draws": draws,
        "probabilities": xp.stack([probabilities_1, probabilities_2], axis=1),
        "cumulative": xp.stack(cumulative, axis=1),
        "written": xp.stack([word_1, word_2], axis=1),
        "appended": appended,
    }


def next_word_probabilities(xp, with_positions, temperature):
    """Return the probability of each word of the vocabulary after the last row, (9,)."""
    attention_output = multi_head_output(xp, with_positions)
    logits = predict(xp, with_positions, attention_output).logits
    return softmax(logits[-1, :] / temperature)


def cumulative_sum(xp, row):
    """Return the cumulative sums of a row, by a product, because the pages have no `cumsum`."""
    index = xp.arange(row.shape[0])
    return row @ xp.astype(index[:, None] <= index[None, :], xp.float64)


def draw(xp, probabilities, number):
    """Return the one-hot row of the word that a uniform random number from [0, 1) selects."""
    # One for each word before the selected one, whose cumulative sum does not exceed the number.
    is_before = xp.astype(cumulative_sum(xp, probabilities[:-1]) <= number, xp.float64)
    # Shifted by one word, the ones include the selected word, so the difference is one only there.
    return xp.concat([xp.ones(1), is_before]) - xp.concat([is_before, xp.zeros(1)])
