"""The registry of the site's figures, and the check of what their captions say."""

import inspect
from collections.abc import Callable, Sequence

import numpy as np

from attention_docs.arrays import Array
from attention_docs.lookup import StepsOf
from attention_docs.render.figures import Html

Draw = Callable[[StepsOf], Html]
FIGURES: dict[str, Draw] = {}


def site_figure(draw: Draw) -> Draw:
    """Register a function that draws a figure, under its name, and return it unchanged."""
    name = draw.__name__
    registered = FIGURES.setdefault(name, draw)
    # The same lines may be executed twice: pytest imports a module again to run its doctests.
    if inspect.getsourcelines(registered) != inspect.getsourcelines(draw):
        raise ValueError(
            f"figure {name!r} is in both {registered.__module__} and {draw.__module__}"
        )
    FIGURES[name] = draw
    return draw


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
