"""The training of the course's model in Python, step by step."""

from itertools import islice

import numpy as np

from attention_docs.examples import course_learned, course_training
from attention_docs.learning import evaluate, train
from attention_docs.softmax import softmax


def shown_after_training(rate, counts):
    """Return what a page shows after some counts of training steps, by count and then by name."""
    model, batch = course_learned.MODEL, course_learned.sentences_batch()
    weights = course_training.unpack(np, course_training.PARAMETERS)
    weights_by_step = train(
        model, weights, lambda _: batch, rate, seed=0, decay=course_learned.DECAY
    )
    weights_by_step = list(islice(weights_by_step, 0, max(counts) + 1))
    return {count: shown_with(weights_by_step[count]) for count in counts}


def shown_with(weights):
    """Return the numbers that a page shows of the model with these weights, by the step's name."""
    batch = course_learned.sentences_batch()
    reasons = course_learned.word_indices(course_learned.REASONS)
    run = course_learned.run_on_both_sentences(weights)
    return {
        "loss": np.asarray(evaluate(course_learned.MODEL, weights, batch)[0]),
        "weights_1": run.steps[0].weights[0],
        "weights_2": run.steps[1].weights[0],
        "reasons": softmax(run.logits[0, -1])[reasons],
    }
