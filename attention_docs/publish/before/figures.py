r"""The macro `\figure`: a figure of the registry, with its caption, as HTML."""

import inspect
from collections.abc import Callable

from attention_docs.figures.registry import FIGURES, Draw
from attention_docs.lookup import StepsOf
from attention_docs.render.figures.chart import CHART_WIDTH, DEPENDS_ON_WIDTH

# The widths of the text for which charts are drawn: on wide screens, and on phones, where
# drawings may shrink a little.
TEXT_WIDTH, PHONE_TEXT_WIDTH = 686, 386
# A <figure>, because it has no other one inside: Material's search ends an exclusion at the first
# closing tag of the same name, and the first </div> could close a nested <div>.
FIGURE_HTML = (
    '<figure class="figure" data-search-exclude markdown="block">'
    '<div class="figure-box" markdown="0">{svg}</div>'
    '<figcaption markdown="span">{caption}</figcaption></figure>'
)


def figure_block(name: str, steps_of: StepsOf, add_insert: Callable[[str], str]) -> str:
    """Return a figure with its caption in Markdown; `add_insert` returns a placeholder for SVG."""
    if name not in FIGURES:
        raise LookupError(
            f"figure {name!r} is unknown; expected one of {', '.join(sorted(FIGURES))}"
        )
    svg = add_insert(svg_for_each_width(FIGURES[name], steps_of))
    caption = " ".join((inspect.getdoc(FIGURES[name]) or "").split())
    if not caption:
        raise ValueError(f"figure {name!r} has no docstring, and so no caption")
    return FIGURE_HTML.format(svg=svg, caption=caption)


def svg_for_each_width(draw: Draw, steps_of: StepsOf) -> str:
    """Return a figure, or two of which the style sheet shows the one that fits the screen."""
    DEPENDS_ON_WIDTH.set(False)
    wide = draw_for(draw, steps_of, TEXT_WIDTH)
    if not DEPENDS_ON_WIDTH.get():
        return wide
    narrow = draw_for(draw, steps_of, PHONE_TEXT_WIDTH)
    return f'<div class="for-wide">{wide}</div><div class="for-phone">{narrow}</div>'


def draw_for(draw: Draw, steps_of: StepsOf, width: float) -> str:
    """Draw a figure for a text column: its charts are as wide as the column."""
    token = CHART_WIDTH.set(width)
    try:
        return draw(steps_of)
    finally:
        CHART_WIDTH.reset(token)
