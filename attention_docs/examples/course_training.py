"""One step of training of the learned model, which the page repeats.

The model, its 80 sentences and its initial weights are the same as in `course_learned`. `loss` is
the mean of -log p over all words to predict in these sentences. The other steps belong to "birds
pass boats because they", which is held out: `weights_1` and `weights_2` are the weights of its two
heads, and `reasons` are the probabilities of the six reasons after "they".

The state of training is the parameters of all matrices, in one flat array, and Adam's moving
averages and step count. `iteration` returns these arrays before and after one step, so that the
page can repeat it as often as the reader wants.

>>> show(computed(steps))
loss 3.0006
weights_1 5 x 5
[[     1      0      0      0      0]
 [0.5014 0.4986      0      0      0]
 [0.3282 0.3341 0.3377      0      0]
 [0.2529 0.2457 0.2360 0.2654      0]
 [0.1985 0.1953 0.1823 0.2215 0.2024]]
weights_2 5 x 5
[[     1      0      0      0      0]
 [0.5414 0.4586      0      0      0]
 [0.3352 0.3335 0.3313      0      0]
 [0.2437 0.2608 0.2501 0.2454      0]
 [0.1972 0.2160 0.2031 0.1929 0.1908]]
reasons [0.0494 0.0611 0.0732 0.0368 0.0330 0.1577]
"""

from itertools import accumulate
from typing import NamedTuple

import numpy

from attention_docs.arrays import Array
from attention_docs.examples.course_learned import (
    DECAY,
    DEVIATION,
    MODEL,
    REASONS,
    VOCABULARY,
    WORDS,
    sentences,
    word_indices,
)
from attention_docs.learning import Adam, cross_entropy
from attention_docs.softmax import softmax

TITLE = "Training the model of the course, step by step"
SOURCE = "our own"

RATE = [0.03]
SEED = 4  # `best_seed` of `course_learned`
LABELS = {
    "weights_1 weights_2": (WORDS, WORDS),
    "reasons": (REASONS,),
}
# In words, because the operations on all sentences are more than a card can show.
FORMULAS = {
    "rate": "the learning rate: how far a step of training moves the parameters",
    "loss": "the mean of −log p of all words to predict in the training set",
    "weights_1": "the weights of head 1 after the steps so far",
    "weights_2": "the weights of head 2 after the steps so far",
    "reasons": "the probabilities of the reasons after “birds pass boats because they”",
}

INITIAL_WEIGHTS = MODEL.initial_weights(SEED, DEVIATION)
# All matrices in one flat array, rounded to keep the graph that pages load small.
PARAMETERS = numpy.concatenate([matrix.ravel() for matrix in INITIAL_WEIGHTS.values()]).round(3)
TRAINING_SENTENCES = numpy.array([word_indices(sentence) for sentence in sentences(held_out=False)])
# The held-out sentence comes last; -1 marks a position without a target.
WORD_INDICES = numpy.concatenate([TRAINING_SENTENCES[:, :-1], [word_indices(WORDS)]])
TARGETS = numpy.concatenate([TRAINING_SENTENCES[:, 1:], [[-1] * len(WORDS)]])


class Iteration(NamedTuple):
    """One step of training.

    Attributes:
        steps: the steps of the example, computed before the parameters change.
        state: the arrays of the state of training, each as a pair of before and after.
    """

    steps: dict[str, Array]
    state: list[tuple[Array, Array]]


def steps(xp=numpy):
    """Return the loss, the weights of both heads and the probabilities of the six reasons."""
    return iteration(xp).steps


def iteration(xp):
    """Run the model on all sentences, and change its parameters by one step of Adam."""
    rate = xp.asarray(RATE)
    parameters = xp.asarray(PARAMETERS)
    # The state of Adam before its first step. Pages replace it by the state after some steps.
    mean = xp.zeros(PARAMETERS.shape)
    square = xp.zeros(PARAMETERS.shape)
    count = xp.asarray(0.0)
    tokens, targets = (one_hot(xp, indices) for indices in (WORD_INDICES, TARGETS))
    weights = unpack(xp, parameters)
    run = MODEL.run(weights, tokens)
    loss, d_logits = cross_entropy(run.logits, targets)
    gradients = MODEL.gradients(weights, tokens, run, d_logits)
    gradient = xp.concat([xp.reshape(gradients[name], (-1,)) for name in INITIAL_WEIGHTS])
    adam = Adam(rate[0], decay=DECAY)
    adam.count = count
    adam.mean = {"all": mean}
    adam.square = {"all": square}
    parameters_after = adam.step({"all": parameters}, {"all": gradient})["all"]
    # The last sentence of the batch is the one that is held out, and its last word is "they".
    after_they = softmax(run.logits[-1, -1, :])
    return Iteration(
        steps={
            "rate": rate,
            "loss": loss,
            **{f"weights_{i}": run.steps[i - 1].weights[-1, :, :] for i in (1, 2)},
            "reasons": xp.take(after_they, xp.asarray(word_indices(REASONS))),
        },
        state=[
            (parameters, parameters_after),
            (mean, adam.mean["all"]),
            (square, adam.square["all"]),
            (count, adam.count),
        ],
    )


def one_hot(xp, indices):
    """Return a one-hot row for each index, (b, n, words), and a row of zeros for -1."""
    is_one = xp.asarray(indices)[:, :, None] == xp.arange(len(VOCABULARY))
    return xp.astype(is_one, xp.float64)


def unpack(xp, parameters):
    """Split the flat array of all parameters into the matrices of the model, by name."""
    ends = accumulate(matrix.size for matrix in INITIAL_WEIGHTS.values())
    return {
        name: xp.reshape(parameters[end - matrix.size : end], matrix.shape)
        for (name, matrix), end in zip(INITIAL_WEIGHTS.items(), ends, strict=True)
    }
