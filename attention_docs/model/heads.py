"""What a head does, measured by its weights: one number between 0 and 1 for each kind."""

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
    """Return (layers, h, m, n) weights of a run."""
    return np.stack([steps.attention.weights for steps in run])


def previous_token(weights: Array) -> Array:
    """Return (..., h) mean weights on the token before, from (..., h, n, n) weights.

    >>> show(previous_token(np.array([[[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.2, 0.8, 0.0]]])))
    [0.9000]
    """
    return np.mean(np.diagonal(weights, offset=-1, axis1=-2, axis2=-1), axis=-1)


def first_token(weights: Array) -> Array:
    """Return (..., h) mean weights on the first token, from (..., h, n, n) weights.

    The first row is left out, because its whole weight is there under a causal mask.

    >>> show(first_token(np.array([[[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.2, 0.8, 0.0]]])))
    [0.6000]
    """
    return np.mean(weights[..., 1:, 0], axis=-1)


def induction(weights: Array) -> Array:
    """Return (..., h) mean weights on the token after the earlier copy of the same token.

    Args:
        weights: (..., h, n, n) weights on a sequence whose second half repeats the first.

    >>> weights = np.zeros((1, 4, 4))
    >>> weights[0, 2, 1], weights[0, 3, 2] = 0.5, 0.7
    >>> show(induction(weights))
    [0.6000]
    """
    half = weights.shape[-1] // 2
    after_copy = np.diagonal(weights, offset=1 - half, axis1=-2, axis2=-1)  # (..., h, half + 1)
    return np.mean(after_copy[..., 1:], axis=-1)


def first_of_word(weights: Array, starts: Sequence[int]) -> Array:
    """Return (..., h) mean weights on the first token of the word, from tokens two or more behind.

    Args:
        weights: (..., h, n, n) weights.
        starts: for each token the place of the first token of its word.

    Raises:
        ValueError: if no word has three tokens.
    """
    rows = [place for place, start in enumerate(starts) if place - start >= 2]
    if not rows:
        raise ValueError("starts has no word of three tokens")
    return np.mean(weights[..., rows, [starts[row] for row in rows]], axis=-1)


def word_starts(tokens: Sequence[str]) -> list[int]:
    """Return for each token the place of the first token of its word.

    >>> word_starts(["The", " ant", "id", "ote", " works", "."])
    [0, 1, 1, 1, 4, 5]
    """
    starts: list[int] = []
    for place, token in enumerate(tokens):
        continues = bool(starts) and token[:1].isalpha() and tokens[place - 1][-1:].isalpha()
        starts.append(starts[-1] if continues else place)
    return starts


def repeated_sequence(model: Llama, length: int, seed: int) -> list[int]:
    """Return random tokens, repeated once."""
    draw = np.random.RandomState(seed)
    tokens: list[int] = draw.randint(len(model.embeddings), size=length).tolist()
    return tokens * 2


def strongest(scores: Array, count: int) -> list[Head]:
    """Return the heads with the largest (layers, h) scores, the largest first.

    >>> strongest(np.array([[0.1, 0.9], [0.5, 0.2]]), 2)
    [Head(layer=0, head=1), Head(layer=1, head=0)]
    """
    order = np.argsort(-scores, axis=None, kind="stable")[:count]
    return [Head(*map(int, np.unravel_index(place, scores.shape))) for place in order]
