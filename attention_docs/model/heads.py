"""Scores between 0 and 1 that say what a head attends to, computed from its attention weights."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from attention_docs.arrays import Array
from attention_docs.model.llama import LayerSteps, Llama


class Head(NamedTuple):
    """A head of a model, counted from 0."""

    layer: int
    head: int


def all_weights(run: Iterable[LayerSteps]) -> Array:
    """Return the attention weights of a run, (layers, h, m, n)."""
    return np.stack([steps.attention.weights for steps in run])


def previous_token(weights: Array) -> Array:
    """Return the mean weight on the previous token, (..., h), from (..., h, n, n) weights.

    >>> show(previous_token(np.array([[[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.2, 0.8, 0.0]]])))
    [0.9000]
    """
    return np.mean(np.diagonal(weights, offset=-1, axis1=-2, axis2=-1), axis=-1)


def first_token(weights: Array) -> Array:
    """Return the mean weight on the first token, (..., h), from (..., h, n, n) weights.

    The first row is left out, because under a causal mask it can see only that token.

    >>> show(first_token(np.array([[[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.2, 0.8, 0.0]]])))
    [0.6000]
    """
    return np.mean(weights[..., 1:, 0], axis=-1)


def induction(weights: Array) -> Array:
    """Return the mean weight, (..., h), on the token after an earlier copy of the same token.

    Args:
        weights: (..., h, n, n) weights on a sequence whose second half repeats the first.

    >>> weights = np.zeros((1, 4, 4))
    >>> weights[0, 2, 1], weights[0, 3, 2] = 0.5, 0.7
    >>> show(induction(weights))
    [0.6000]
    """
    length = weights.shape[-1] // 2
    # Token i + length is a copy of token i, so the token after the original is at i + 1.
    diagonal = np.diagonal(weights, offset=1 - length, axis1=-2, axis2=-1)  # (..., h, length + 1)
    return np.mean(diagonal[..., 1:], axis=-1)  # the diagonal begins a row before the second half


def first_of_word(weights: Array, starts: Sequence[int]) -> Array:
    """Return the mean weight, (..., h), on the first token of the word.

    Tokens count from two positions after it on: the token one position after it would attend to its
    previous token. The first word does not count, because its first token is an attention sink.

    Args:
        weights: (..., h, n, n) weights.
        starts: for each token the position of the first token of its word.

    Raises:
        ValueError: if no word after the first has three tokens.
    """
    rows = inside_words(starts)
    if not rows:
        raise ValueError("starts has no later word of three tokens; expected at least one")
    return np.mean(weights[..., rows, [starts[row] for row in rows]], axis=-1)


def inside_words(starts: Sequence[int]) -> list[int]:
    """Return the positions at least two after the start of their word, except in the first word.

    >>> inside_words([0, 0, 0, 3, 3, 3, 3])
    [5, 6]
    """
    return [position for position, start in enumerate(starts) if 0 < start <= position - 2]


def word_starts(tokens: Sequence[str]) -> list[int]:
    """Return for each token the position of the first token of its word.

    >>> word_starts(["The", " ant", "id", "ote", " works", "."])
    [0, 1, 1, 1, 4, 5]
    """
    starts: list[int] = []
    for position, token in enumerate(tokens):
        continues = bool(starts) and token[:1].isalpha() and tokens[position - 1][-1:].isalpha()
        starts.append(starts[-1] if continues else position)
    return starts


def repeated_sequence(model: Llama, length: int, seed: int) -> list[int]:
    """Return `length` random tokens followed by a copy of them."""
    draw = np.random.RandomState(seed)
    tokens: list[int] = draw.randint(len(model.embeddings), size=length).tolist()
    return tokens * 2


def strongest(scores: Array, count: int) -> list[Head]:
    """Return the heads with the largest (layers, h) scores, the largest first.

    >>> strongest(np.array([[0.1, 0.9], [0.5, 0.2]]), 2)
    [Head(layer=0, head=1), Head(layer=1, head=0)]
    """
    order = np.argsort(-scores, axis=None, kind="stable")[:count]
    return [Head(*map(int, np.unravel_index(index, scores.shape))) for index in order]
