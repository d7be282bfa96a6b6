"""Training tasks for a small model: random batches of sequences with their target tokens.

All are drawn from NumPy's `RandomState`, whose stream NumPy promises to keep. It makes no such
promise for its newer generators.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy
import numpy.typing as npt
from numpy.random import RandomState

Floats = npt.NDArray[numpy.float64]
Integers = npt.NDArray[numpy.intp]


class Lesson(NamedTuple):
    """A batch of sequences with their targets.

    Attributes:
        tokens: (batch, n, vocabulary) one-hot along the last axis.
        targets: the same shape; rows of zeros where there is no target.
    """

    tokens: Floats
    targets: Floats


# Draws a batch from a `RandomState`; takes an optional size `batch`.
Task = Callable[..., Lesson]


def one_hot(tokens: Integers, vocabulary: int) -> Floats:
    """Return a row for each token, with a single one at its index.

    >>> one_hot(numpy.array([2, 0]), 3)
    array([[0., 0., 1.],
           [1., 0., 0.]])
    """
    return numpy.eye(vocabulary)[tokens]


def reverse(draw: RandomState, batch: int = 32, length: int = 6, vocabulary: int = 7) -> Lesson:
    """Draw sequences whose targets are the same tokens in reverse order."""
    tokens = draw.randint(0, vocabulary, (batch, length))
    return Lesson(one_hot(tokens, vocabulary), one_hot(tokens[:, ::-1], vocabulary))


def induction(draw: RandomState, batch: int = 32, length: int = 8, vocabulary: int = 9) -> Lesson:
    """Draw sequences that end in a repeated token; the target is what followed it before.

    All other tokens differ, and the position of the first occurrence is drawn at random.
    """
    order = numpy.argsort(draw.random_sample((batch, vocabulary)), axis=1)
    distinct = order[:, : length - 1]
    position = draw.randint(0, length - 2, batch)
    row = numpy.arange(batch)
    tokens = numpy.concatenate([distinct, distinct[row, position][:, None]], axis=1)
    answer = one_hot(distinct[row, position + 1], vocabulary)
    targets = numpy.zeros((batch, length, vocabulary))
    targets[:, -1, :] = answer
    return Lesson(one_hot(tokens, vocabulary), targets)


def walk(
    draw: RandomState, batch: int = 32, length: int = 8, vocabulary: int = 6, shift: int = 1
) -> Lesson:
    """Draw random walks around a circle; the target at each position is the next token.

    Steps of one and two are equally likely, so no model can have a mean loss below log 2. With a
    shift of 0 the target is the token itself.
    """
    start = draw.randint(0, vocabulary, (batch, 1))
    steps = draw.randint(1, 3, (batch, length))
    tokens = (start + numpy.concatenate([0 * start, numpy.cumsum(steps, axis=1)], axis=1)) % (
        vocabulary
    )
    return Lesson(
        one_hot(tokens[:, :length], vocabulary),
        one_hot(tokens[:, shift : length + shift], vocabulary),
    )
