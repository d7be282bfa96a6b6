"""The registry of the site's figures."""

import inspect
from collections.abc import Callable

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
