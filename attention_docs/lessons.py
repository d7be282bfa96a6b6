"""What a small model is to learn: batches of sequences, drawn at random, with their answers.

All are drawn from NumPy's `RandomState`, whose numbers NumPy promises to keep. It makes no such
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
    """A batch of sequences and what is to be answered.

    Attributes:
        tokens: (batch, n, vocabulary) with a single one in each row.
        targets: the same shape; rows of zeros where no answer is asked for.
    """

    tokens: Floats
    targets: Floats


# Draws a batch from a state, of the size `batch` if one is given.
Task = Callable[..., Lesson]


def one_hot(tokens: Integers, vocabulary: int) -> Floats:
    """Return a row for each token, with a one at its place.

    >>> one_hot(numpy.array([2, 0]), 3)
    array([[0., 0., 1.],
           [1., 0., 0.]])
    """
    return numpy.eye(vocabulary)[tokens]


def reverse(draw: RandomState, batch: int = 32, length: int = 6, vocabulary: int = 7) -> Lesson:
    """Ask for the same tokens in reverse order, all positions at once."""
    tokens = draw.randint(0, vocabulary, (batch, length))
    return Lesson(one_hot(tokens, vocabulary), one_hot(tokens[:, ::-1], vocabulary))


def induction(draw: RandomState, batch: int = 32, length: int = 8, vocabulary: int = 9) -> Lesson:
    """Ask at the end for the token that followed the last one when it stood there before.

    All other tokens differ, and the earlier place is drawn at random.
    """
    order = numpy.argsort(draw.random_sample((batch, vocabulary)), axis=1)
    different = order[:, : length - 1]
    place = draw.randint(0, length - 2, batch)
    row = numpy.arange(batch)
    tokens = numpy.concatenate([different, different[row, place][:, None]], axis=1)
    answer = one_hot(different[row, place + 1], vocabulary)
    targets = numpy.zeros((batch, length, vocabulary))
    targets[:, -1, :] = answer
    return Lesson(one_hot(tokens, vocabulary), targets)


def walk(
    draw: RandomState, batch: int = 32, length: int = 8, vocabulary: int = 6, shift: int = 1
) -> Lesson:
    """Ask at each position for the next token, which is one or two further around a circle.

    Both are equally likely, so no model can have a mean loss below log 2. With a shift of 0 the
    answer asked for is the token itself.
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
