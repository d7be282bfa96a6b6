"""Colours for numbers: the larger the number, the more opaque its colour.

Colours are laid over the page. Under printed numbers they are at most half opaque, so that the
text keeps its contrast in both schemes.
"""

from typing import NamedTuple

import numpy as np

from attention_docs.render.figures.svg import LINE, Panel, element, label, text_width
from attention_docs.render.numbers import number

UNDER_TEXT = 0.5
ALONE = 0.8
PLUS = "var(--figure-plus, #8f63d2)"
MINUS = "var(--figure-minus, #c77a12)"
WEIGHT = "var(--figure-weight, #d6409f)"
KINDS = ("diverging", "sequential")
SWATCH, SWATCHES = 14, 5


class Scale(NamedTuple):
    """A colour scale from `low` to `high`, diverging around zero or sequential from zero."""

    kind: str
    low: float
    high: float

    @property
    def colour(self) -> str:
        """The colour of positive numbers, which the group of the cells has."""
        return WEIGHT if self.kind == "sequential" else PLUS

    def paint(self, value: float, strength: float = UNDER_TEXT) -> dict[str, object]:
        """Return the fill of a cell, whose opacity grows with the number up to `strength`.

        A positive number has the colour of its group.
        """
        share = min(abs(value) / self.high, 1.0)
        return {"fill": MINUS if value < 0 else None, "fill_opacity": strength * share}

    def legend(self, width: float, strength: float = UNDER_TEXT) -> Panel:
        """Draw the scale centred in a width, with numbers at its ends and at zero."""
        ends = [self.low, 0.0, self.high] if self.low else [0.0, self.high]
        widest = max(text_width(number(end)) for end in ends)
        # The numbers are at least two swatches apart.
        swatch = max(SWATCH, widest / 4)
        length = SWATCHES * swatch
        width = max(width, length + widest)
        left = (width - length) / 2
        # Relative to the high end, because high - low could overflow.
        lowest = self.low / self.high
        values = self.high * np.linspace(lowest, 1, SWATCHES)
        size = {"width": swatch, "height": 8}
        swatches = (
            element("rect", x=left + i * swatch, **size, **self.paint(value, strength))
            for i, value in enumerate(values)
        )
        outline = {"stroke": "currentColor", "stroke_opacity": 0.3}
        body = [element("g", *swatches, fill=self.colour, **outline)]
        for end in ends:
            share = (end / self.high - lowest) / (1 - lowest)
            x = left + swatch / 2 + share * (length - swatch)
            body.append(label(x, 8 + LINE / 2, number(end), font_size=10))
        return Panel(width, 8 + LINE, "".join(body), "")


def scale_of(kind: str, name: str, matrix: np.ndarray) -> Scale:
    """Choose the ends of a scale: symmetric around zero, or from zero to at least one.

    Raises:
        ValueError: if the kind is unknown, or a number is negative on a sequential scale.
    """
    if not isinstance(kind, str) or kind not in KINDS:
        raise ValueError(f"scale is {kind!r}; expected {' or '.join(map(repr, KINDS))}")
    finite = matrix[np.isfinite(matrix)].astype(float)
    if kind == "sequential":
        if (finite < 0).any():
            raise ValueError(
                f"{name} holds {number(finite.min())}; expected 0 or more on a sequential scale"
            )
        return Scale(kind, 0.0, max(1.0, float(finite.max(initial=0))))
    largest = float(np.abs(finite).max(initial=0)) or 1.0
    return Scale(kind, -largest, largest)
