"""Check statements of captions against the data of their figures."""

from collections.abc import Sequence

import numpy as np

from attention_docs.arrays import Array


def claim(is_true: object, quote: str) -> None:
    """Stop the build if the data of a figure contradict a quote from its caption."""
    if not is_true:
        raise ValueError(f"its data contradict its caption: {quote!r}")


def labels_of_largest(matrix: Array, labels: Sequence[str]) -> list[str]:
    """Return for each row of a matrix the label of the column with its largest number.

    >>> labels_of_largest(np.array([[0.1, 0.9], [0.7, 0.3]]), ["cat", "mat"])
    ['mat', 'cat']
    """
    return [labels[column] for column in np.asarray(matrix).argmax(axis=1)]
