"""Training tasks for a small model: random batches of sequences with their target tokens.

All are drawn from NumPy's `RandomState`: NumPy promises that its numbers stay the same for a seed,
which it does not promise for its newer generators.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy
import numpy.typing as npt
from numpy.random import RandomState

Floats = npt.NDArray[numpy.float64]
Integers = npt.NDArray[numpy.intp]


class Batch(NamedTuple):
    """A batch of sequences with their targets.

    Attributes:
        tokens: (batch, n, vocabulary) one-hot along the last axis.
        targets: the same shape; rows of zeros where there is no target.
    """

    tokens: Floats
    targets: Floats


# Draws a batch from a `RandomState`; takes an optional `batch_size`.
Task = Callable[..., Batch]


def one_hot(tokens: Integers, vocabulary: int) -> Floats:
    """Return a row for each token, with a single one at its index."""
    return numpy.eye(vocabulary)[tokens]


def reverse(
    random_state: RandomState, batch_size: int = 32, length: int = 6, vocabulary: int = 7
) -> Batch:
    """Draw sequences whose targets are the same tokens in reverse order."""
    tokens = random_state.randint(0, vocabulary, (batch_size, length))
    return Batch(one_hot(tokens, vocabulary), one_hot(tokens[:, ::-1], vocabulary))


def induction(random_state: RandomState, batch_size: int = 32) -> Batch:
    """Draw sequences that end with an earlier token; the target is the token that followed it."""
    length, vocabulary = 8, 9
    # The order of random numbers is a random permutation of the vocabulary.
    permutations = numpy.argsort(random_state.random_sample((batch_size, vocabulary)), axis=1)
    distinct = permutations[:, : length - 1]
    position = random_state.randint(0, length - 2, batch_size)
    sequence = numpy.arange(batch_size)
    repeated, next_token = distinct[sequence, position], distinct[sequence, position + 1]
    tokens = numpy.concatenate([distinct, repeated[:, None]], axis=1)
    targets = numpy.zeros((batch_size, length, vocabulary))
    targets[:, -1, :] = one_hot(next_token, vocabulary)
    return Batch(one_hot(tokens, vocabulary), targets)


def walk(random_state: RandomState, batch_size: int = 32, shift: int = 1) -> Batch:
    """Draw random walks around a circle of tokens; the target at a position is the next token.

    Steps of one and two are equally likely, so no model can expect a mean loss below log 2. With a
    shift of 0 the target is the token itself.
    """
    length, vocabulary = 8, 6
    start = random_state.randint(0, vocabulary, (batch_size, 1))
    steps = random_state.randint(1, 3, (batch_size, length))
    tokens = numpy.cumsum(numpy.concatenate([start, steps], axis=1), axis=1) % vocabulary
    return Batch(
        one_hot(tokens[:, :length], vocabulary),
        one_hot(tokens[:, shift : length + shift], vocabulary),
    )
