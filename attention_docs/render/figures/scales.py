"""Colour scales: the larger the number, the more opaque the hue of its matrix's role.

Colours under printed numbers are at most half opaque, so that the text keeps its contrast in both
schemes.
"""

import math
from typing import NamedTuple

import numpy as np

from attention_docs.render.figures.svg import LINE_HEIGHT, ROLES, Panel, element, label, text_width
from attention_docs.render.numbers import exact_number, number

OPACITY_UNDER_TEXT = 0.5
OPACITY = 0.8
# The hues of the roles and of negative numbers, light enough to distinguish below text.
FILLS = {role: paint.replace("--role-", "--fill-") for role, paint in ROLES.items()}
MINUS = "var(--fill-minus, #988400)"
FILLED = "rect:not([fill=none])"  # the box of a cell that is not crossed out, or a bar
KINDS = ("diverging", "sequential")
MIN_SWATCH_WIDTH, SWATCH_HEIGHT, SWATCH_COUNT = 14, 8, 5
TICK_GAP = 20  # between the numbers at both ends of a legend


class Scale(NamedTuple):
    """A colour scale from `low` to `high`.

    A sequential scale begins at zero. So does a diverging scale for a matrix without negative
    numbers; for any other, `low` is `-high`.
    """

    kind: str
    low: float
    high: float
    role: str | None = None

    @property
    def group(self) -> dict[str, object]:
        """The SVG attributes of a group of cells: the colour of positive numbers."""
        return {"fill": FILLS[self.role or "input"]}

    def rules(self, *others: str, has_text: bool = True) -> dict[str, object]:
        """Return by which rules the page's script paints the cells of a group, and other rules."""
        opacity = OPACITY_UNDER_TEXT if has_text else OPACITY
        painting = f"{FILLED} fill-opacity {opacity}", f"{FILLED} fill {MINUS}"
        least_high = int(self.kind == "sequential")
        return {"data_set": "; ".join([*painting, *others]), "data_scaled": least_high}

    def paint(self, value: float, has_text: bool = True) -> dict[str, object]:
        """Return the SVG attributes of a cell; positive numbers inherit the group's colour."""
        max_opacity = OPACITY_UNDER_TEXT if has_text else OPACITY
        fraction = min(abs(value) / self.high, 1.0)
        return {"fill": MINUS if value < 0 else None, "fill_opacity": max_opacity * fraction}

    def legend(self, width: float) -> Panel:
        """Draw the scale as swatches, centred in a width if that is enough for its numbers."""
        ticks = {
            "0 -1": exact_number(self.low),
            "nan 0": "0" if self.low else "",
            "1 1": exact_number(self.high),
        }
        if self.kind == "sequential":
            del ticks["nan 0"]
        widest_tick = max(map(text_width, ticks.values()))
        # The outer ticks are below the middles of the first and the last swatch. Between them is
        # room for a middle one, which is narrow, because it is 0.
        swatch_width = max(MIN_SWATCH_WIDTH, (widest_tick + TICK_GAP) / (SWATCH_COUNT - 1))
        length = SWATCH_COUNT * swatch_width
        width = max(width, length + widest_tick)
        left = (width - length) / 2
        tick_positions = np.linspace(0.5, SWATCH_COUNT - 0.5, len(ticks)) * swatch_width + left
        tick_labels = [
            label(x, SWATCH_HEIGHT + LINE_HEIGHT / 2, tick, data_ends=ends)
            for x, (ends, tick) in zip(tick_positions, ticks.items(), strict=True)
        ]
        body = self._draw_swatches(left, swatch_width) + "".join(tick_labels)
        return Panel(width, SWATCH_HEIGHT + LINE_HEIGHT, body, "")

    def _draw_swatches(self, left: float, width: float) -> str:
        # As fractions of the high end, because high - low could overflow.
        values = self.high * np.linspace(self.low / self.high, 1, SWATCH_COUNT)
        size = {"width": width, "height": SWATCH_HEIGHT}
        swatches = []
        for i, value in enumerate(values):
            paint = self.paint(value, has_text=False)
            ends = f"{i / (SWATCH_COUNT - 1):g} {2 * i / (SWATCH_COUNT - 1) - 1:g}"
            swatches.append(element("rect", x=left + i * width, **size, **paint, data_ends=ends))
        outline = {"stroke": "currentColor", "stroke_opacity": 0.3}
        return element("g", *swatches, **self.group, **outline)


def scale_of(kind: str, name: str, matrix: np.ndarray, role: str | None = None) -> Scale:
    """Return the scale of a matrix, which ends at its largest magnitude, rounded up to two digits.

    A sequential scale goes to one at least. Infinite numbers do not count.
    """
    if role is not None and not (isinstance(role, str) and role in FILLS):
        raise ValueError(f"role is {role!r}; expected one of {', '.join(FILLS)}")
    if not isinstance(kind, str) or kind not in KINDS:
        raise ValueError(f"scale is {kind!r}; expected {' or '.join(map(repr, KINDS))}")
    finite = matrix[np.isfinite(matrix)].astype(float)
    if kind == "sequential":
        if (finite < 0).any():
            raise ValueError(
                f"{name} holds {number(finite.min())}; expected 0 or more on a sequential scale"
            )
        return Scale(kind, 0.0, round_up(max(1.0, float(finite.max(initial=0)))), role)
    high = round_up(float(np.abs(finite).max(initial=0))) or 1.0
    low = -high if (finite < 0).any() else 0.0
    return Scale(kind, low, high, role)


def round_up(end: float) -> float:
    """Round the end of a scale up to two digits, except where that would overflow.

    The page's script does the same.

    >>> [round_up(x) for x in (8.041, 9.0, 0.123, 1234.5, 0.0)]
    [8.1, 9.0, 0.13, 1300.0, 0.0]
    """
    if not end:
        return end
    # Slightly less than half a unit of the second digit, so that two digits stay as they are.
    rounded = float(f"{end + 0.04999 * 10.0 ** math.floor(math.log10(end)):.1e}")
    return rounded if math.isfinite(rounded) else end
