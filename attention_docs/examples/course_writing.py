"""A sentence that the learned model of the course writes, one drawn word after the other.

The model has read "birds". `probabilities` has a column for each word that it writes, at the given
`temperature`. Laid side by side they fill a line of length one, on which each of `draws` falls on
one word. `written` has the positions of these words in the vocabulary, counted from 0, and `piece`
where the piece of each begins and ends.

>>> show(computed(steps))
probabilities 18 x 5
[[2.6e-05  0.0124  0.0001 1.2e-05 4.3e-05]
 [ 0.0006  0.0079  0.0001 2.8e-06 2.0e-05]
 [2.6e-05  0.2164  0.0007  0.0005  0.0023]
 [ 0.0005  0.2607  0.0042  0.0004  0.0004]
 [ 0.0001  0.2379 4.6e-05  0.0015  0.0006]
 [ 0.0008  0.2487 1.2e-05  0.0002 2.0e-05]
 [ 0.2516  0.0006  0.0003  0.0003 3.8e-06]
 [ 0.2432  0.0006  0.0005  0.0006 6.0e-06]
 [ 0.2495  0.0006  0.0004  0.0003 4.4e-06]
 [ 0.2484  0.0006  0.0003  0.0004 4.6e-06]
 [ 0.0011  0.0002  0.9874  0.0006  0.0024]
 [ 0.0002  0.0046  0.0018  0.9906  0.0008]
 [2.3e-06  0.0060  0.0019  0.0010  0.9798]
 [ 0.0013  0.0017  0.0001 3.4e-05  0.0057]
 [ 0.0016  0.0001  0.0002  0.0014 1.8e-06]
 [ 0.0001  0.0007 1.4e-06  0.0007  0.0008]
 [2.3e-06  0.0002  0.0017  0.0016  0.0070]
 [ 0.0010 5.9e-06  0.0002 2.8e-06  0.0001]]
written [7 4 10 11 12]
piece [[0.2536 0.4974 0.0066 0.0048 0.0065] [0.4968 0.7353 0.9940 0.9953 0.9864]]
"""

import numpy

from attention_docs.examples.course_learned import MODEL, VOCABULARY, checkpoints
from attention_docs.examples.course_sentence import round_off
from attention_docs.examples.course_training import SEED
from attention_docs.softmax import softmax

TITLE = "A sentence, drawn word by word"
SOURCE = "our own example"

TEMPERATURE = [1]
DRAWS = [0.3, 0.6, 0.5, 0.5, 0.4]
FIRST_WORD = VOCABULARY.index("birds")
PLACES = [f"word {place}" for place in range(2, MODEL.length + 2)]
LABELS = {
    "draws written": (PLACES,),
    "probabilities": (VOCABULARY, PLACES),
    "piece": (["begins", "ends"], PLACES),
}
# Rounded to keep the graph that the page loads small.
WEIGHTS = {name: matrix.round(3) for name, matrix in checkpoints(MODEL, SEED)[-1].items()}


def steps(xp=numpy):
    """Draw a word, append it, and draw the word after it, five times."""
    temperature, draws = (xp.asarray(numbers, dtype=xp.float64) for numbers in (TEMPERATURE, DRAWS))
    weights = {name: xp.asarray(matrix) for name, matrix in WEIGHTS.items()}
    index = xp.arange(len(VOCABULARY))
    # One-hot rows; those of words that are not written yet are zero, and the mask hides them.
    tokens = xp.concat(
        [
            xp.astype(index == FIRST_WORD, xp.float64)[None, :],
            xp.zeros((MODEL.length, len(VOCABULARY))),
        ]
    )
    probabilities, written, pieces = [], [], []
    for place in range(MODEL.length):
        logits = MODEL.run(weights, tokens[None, : MODEL.length, :]).logits[0, place, :]
        row = softmax(logits / temperature)
        # The sums by a product, because the pages have no `cumsum`.
        sums = round_off(xp, row @ xp.astype(index[:, None] <= index[None, :], xp.float64))
        # The last sum is one, but for rounding errors.
        word = xp.sum(xp.astype(sums[:-1] <= draws[place], xp.int64))
        is_word = xp.astype(index == word, xp.float64)
        end = sums @ is_word
        probabilities.append(row)
        written.append(word)
        pieces.append(xp.stack([end - row @ is_word, end]))
        tokens = xp.concat([tokens[: place + 1, :], is_word[None, :], tokens[place + 2 :, :]])
    return {
        "temperature": temperature,
        "draws": draws,
        "probabilities": xp.stack(probabilities, axis=1),
        "written": xp.stack(written),
        "piece": xp.stack(pieces, axis=1),
    }
