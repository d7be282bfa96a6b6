"""What the package has trained, and on which tokens, as input of independent computations.

tests/maths compares the gradients with differences, Adam with a loop over numbers, and the tasks
with their definitions. What the examples do with a trained model is computed independently.
"""

from dataclasses import replace
from itertools import islice

from numpy.random import RandomState

from attention_docs import learning, tasks
from attention_docs.examples import course_learned, learning_mistakes

REVERSE = learning.Model(vocabulary=7, length=6, width=16, d_k=8)
INDUCTION = learning.Model(vocabulary=9, length=8, width=16, d_k=16, layers=2, is_causal=True)
WALK = learning.Model(vocabulary=6, length=8, width=16, d_k=8, is_causal=True)
TASKS = {"reverse": tasks.reverse, "induction": tasks.induction, "walk": tasks.walk}
TASKS["unshifted"] = learning_mistakes.unshifted_walk  # the same object, for the cache of training


def checkpoints(model, task, embedding_scale=1.0, **options):
    """Return a model with these options, and its weights at eleven checkpoints."""
    model = replace(model, **options)
    steps = 250 if task == "induction" else 100
    return model, learning.checkpoints(model, TASKS[task], steps, embedding_scale)


def after_40_steps(model, start):
    """Return the weights of a model with large embeddings, trained to reverse from other seeds."""
    weights = model.initial_weights(start, embedding_scale=4.0)
    training = learning.train(model, weights, tasks.reverse, rate=0.01, seed=start + 10)
    return next(islice(training, 40, None))


def tokens_and_answers(task):
    """Return tokens and answers, and -1 where there is no answer."""
    tokens, targets = TASKS[task](RandomState(2), 256)
    return tokens.argmax(axis=2), targets.argmax(axis=2) - (targets.max(axis=2) == 0)


def checkpoints_of_course(seed, is_uniform=False):
    """Return the matrices of the course at eleven checkpoints, named as its literals are."""
    model = course_learned.UNIFORM if is_uniform else course_learned.MODEL
    return [
        {name.upper(): matrix.tolist() for name, matrix in weights.items()}
        for weights in course_learned.checkpoints(model, seed)
    ]
