"""Check statements of captions against the data of their figures."""

from collections.abc import Sequence

import numpy as np

from attention_docs.arrays import Array


def claim(is_true: object, quote: str) -> None:
    """Stop the build if the data of a figure contradict its caption.

    Args:
        is_true: whether the quoted statement is true of the data.
        quote: the statement, quoted from the caption.

    Raises:
        ValueError: if it is not true; the build adds the page and the name of the figure.
    """
    if not is_true:
        raise ValueError(f"its data contradict its caption: {quote!r}")


def labels_of_largest(matrix: Array, labels: Sequence[str]) -> list[str]:
    """Return for each row of a matrix the label of the column with its largest number.

    >>> labels_of_largest(np.array([[0.1, 0.9], [0.7, 0.3]]), ["cat", "mat"])
    ['mat', 'cat']
    """
    return [labels[column] for column in np.asarray(matrix).argmax(axis=1)]
