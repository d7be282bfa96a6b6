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


def attention_weights(run: Iterable[LayerSteps]) -> Array:
    """Return the (layers, h, m, n) attention weights of all layers of a run."""
    return np.stack([steps.attention.weights for steps in run])


def previous_token_score(weights: Array) -> Array:
    """Return the (..., h) mean weight of a token on the one before it."""
    return np.mean(np.diagonal(weights, offset=-1, axis1=-2, axis2=-1), axis=-1)


def first_token_score(weights: Array) -> Array:
    """Return the (..., h) mean weight on the first token, from (..., h, n, n) weights.

    The first row is left out, because under a causal mask it can see only that token.
    """
    return np.mean(weights[..., 1:, 0], axis=-1)


def induction_score(weights: Array) -> Array:
    """Return the (..., h) mean weight on the token that followed an earlier copy of the same token.

    The (..., h, n, n) weights are those of a sequence whose second half repeats the first.
    """
    length = weights.shape[-1] // 2
    # Token i + length is a copy of token i, so the token after the original is at i + 1.
    diagonal = np.diagonal(weights, offset=1 - length, axis1=-2, axis2=-1)  # (..., h, length + 1)
    return np.mean(diagonal[..., 1:], axis=-1)  # the diagonal begins a row before the second half


def first_of_word_score(weights: Array, starts: Sequence[int]) -> Array:
    """Return the (..., h) mean weight of the later tokens of a word on its first token.

    The second token of a word is left out, because its weight on the first one would also be large
    in a head that attends to the previous token. The first word of the text is left out, because
    its first token is an attention sink. `starts` has for each token the position of the first
    token of its word.
    """
    rows = positions_inside_words(starts)
    return np.mean(weights[..., rows, [starts[row] for row in rows]], axis=-1)


def positions_inside_words(starts: Sequence[int]) -> list[int]:
    """Return the positions of the third and later tokens of each word, except the first word.

    >>> positions_inside_words([0, 0, 0, 3, 3, 3, 3])
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
        if position > 0 and token[:1].isalpha() and tokens[position - 1][-1:].isalpha():
            starts.append(starts[-1])  # a letter follows a letter, so the word goes on
        else:
            starts.append(position)
    return starts


def repeated_sequence(model: Llama, length: int, seed: int) -> list[int]:
    """Return `length` random tokens followed by a copy of them."""
    random_state = np.random.RandomState(seed)
    tokens: list[int] = random_state.randint(len(model.embeddings), size=length).tolist()
    return tokens * 2


def strongest_heads(scores: Array, count: int) -> list[Head]:
    """Return the heads with the largest (layers, h) scores, the largest first.

    >>> strongest_heads(np.array([[0.1, 0.9], [0.5, 0.2]]), 2)
    [Head(layer=0, head=1), Head(layer=1, head=0)]
    """
    order = np.argsort(-scores, axis=None, kind="stable")[:count]
    return [Head(*map(int, np.unravel_index(index, scores.shape))) for index in order]
