"""Write SVG: elements, finished figures, and figures of several panels.

A figure follows the page: text has the current colour, and every other colour is a CSS variable of
the site. Its fallback is legible on white and on black, so a figure also looks right in a notebook.
Nothing else styles it but a minimum width: there is no script and no font.
"""

import hashlib
import re
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from attention_docs.render.numbers import typeset

FONT_SIZE = 12
# The index of a symbol, as in W_Q and d_model.
SUBSCRIPT = re.compile(r"(?<=\b[A-Za-z])_(\w+)")
SUBSCRIPT_DROP = 3  # in pixels
# In common fonts, a digit is a little over half as wide as it is high.
CHARACTER_WIDTH = 7
MARKS_IN_NUMBERS = ".,·⁰¹²³⁴⁵⁶⁷⁸⁹"
LINE_HEIGHT = 16
# Between panels side by side; the style sheet has the same number.
GAP = 24
# A figure is larger than its panel by this, because half of a mark's stroke lies outside its cells.
MARK_WIDTH = 2
# On a phone a drawing may shrink to this, which leaves text of 11 pixels; a wider one scrolls.
MIN_SCALE = 11 / FONT_SIZE

ROLES = {
    "input": "var(--role-input, #7a828e)",
    "query": "var(--role-query, #3d85e8)",
    "key": "var(--role-key, #d0661a)",
    "value": "var(--role-value, #2e9e52)",
    "scores": "var(--role-scores, #8f63d2)",
    "weights": "var(--role-weights, #d6409f)",
    "output": "var(--role-output, #1597ab)",
}
# The colours of lines that stand for no role, such as models that are compared.
SERIES = {
    "first": "var(--series-1, #5c6470)",
    "second": "var(--series-2, #806c28)",
    "third": "var(--series-3, #b84e44)",
    "fourth": "var(--series-4, #6373b3)",
}


class Html(str):
    """A finished figure, which notebooks display as a picture, and its panel if it has only one."""

    panel: "Panel"

    def _repr_html_(self) -> str:
        return str(self)


class Panel(NamedTuple):
    """A drawing with its upper left corner at (0, 0), and its description in words."""

    width: float
    height: float
    body: str
    description: str
    # For screen readers, if the panel is one of several in a figure.
    name: str = ""


def element(tag: str, *children: str, **attributes: object) -> str:
    """Write an element with children and attributes.

    Underscores in the name of an attribute become hyphens, except for one at its end, which is
    dropped, as in `class_`. An attribute that is None is left out.

    >>> element("text", text_node("a < b"), font_size=12.50)
    '<text font-size="12.5">a &lt; b</text>'
    """
    pairs = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{attribute_value(value)}"'
        for name, value in attributes.items()
        if value is not None
    )
    return f"<{tag}{pairs}>{''.join(children)}</{tag}>" if children else f"<{tag}{pairs}/>"


def attribute_value(value: object) -> str:
    """Format a float with at most two decimals; escape anything else."""
    if isinstance(value, float):
        text = f"{value:.2f}".rstrip("0").rstrip(".")
        return "0" if text == "-0" else text
    return escape(str(value))


def text_node(text: str) -> str:
    """Escape a text that stands between two tags, and typeset its numbers.

    >>> text_node("a < b: -0.5")
    'a &lt; b: −0.5'
    """
    return escape(typeset(text), quote=False)


def label(
    x: float, y: float, text: str, anchor: str = "middle", *children: str, **attributes: object
) -> str:
    """Write text that is vertically centred at y, and has its middle, start or end at x."""
    # `figure` sets this anchor and the text colour for all of its text.
    text_anchor = None if anchor == "middle" else anchor
    position = {"x": x, "y": y + FONT_SIZE / 3, "text_anchor": text_anchor}
    return element("text", with_subscripts(text), *children, **position, **attributes)


def with_subscripts(text: str, size: float | str = "0.8em") -> str:
    """Escape text, and write the index of a symbol lower and in a smaller size.

    >>> with_subscripts("W_Q")
    'W<tspan font-size="0.8em" dy="3">Q</tspan>'
    """
    parts = SUBSCRIPT.split(text)
    texts, indices = parts[::2], parts[1::2]
    svg = text_node(texts[0])
    for index, following_text in zip(indices, texts[1:], strict=True):
        svg += element("tspan", index, font_size=size, dy=SUBSCRIPT_DROP)
        if following_text:
            svg += element("tspan", text_node(following_text), dy=-SUBSCRIPT_DROP)
    return svg


def vertical_label(x: float, y: float, text: str, anchor: str = "middle") -> str:
    """Write text that reads upwards, with its middle, start or end at y, as `anchor` says."""
    return label(x, y, text, anchor, transform=f"rotate(-90 {x:g} {y:g})")


def heading(x: float, text: str, anchor: str = "middle") -> str:
    """Write the name of a drawing in bold, in its first line."""
    return label(x, LINE_HEIGHT / 2, text, anchor, font_weight="bold")


def title(x: float, y: float, text: str, role: str | None, anchor: str = "middle") -> str:
    """Write the name of a matrix in bold, in the colour of its role."""
    return label(x, y, text, anchor, font_weight="bold", fill=colour(role))


def colour(role: str | None) -> str:
    """Return the colour of a role or of a series, or the colour of text if there is no role."""
    colours = {**ROLES, **SERIES}
    if role is not None and not (isinstance(role, str) and role in colours):
        raise ValueError(f"role is {role!r}; expected one of {', '.join(colours)}")
    return colours[role] if role else "currentColor"


def translated(x: float, y: float, *children: str) -> str:
    offset = f"{attribute_value(x)} {attribute_value(y)}"
    return element("g", *children, transform=f"translate({offset})")


def text_width(text: str) -> float:
    """Estimate the width of a text in pixels; marks in numbers are half as wide as digits.

    >>> text_width("1234"), text_width("0.25"), text_width("2e-09")
    (28.0, 24.5, 35.0)
    """
    typeset_text = typeset(text)
    marks = sum(character in MARKS_IN_NUMBERS for character in typeset_text)
    return CHARACTER_WIDTH * (len(typeset_text) - marks / 2)


def figure(panel: Panel, name: str, css_class: str = "drawing") -> Html:
    """Return a panel as a finished figure with a name and a description for screen readers."""
    if not (name and panel.description):
        raise ValueError("a figure needs a name and a description, for screen readers")
    content = panel.body + name + panel.description
    # Reproducible, and unique within a page.
    figure_id = "figure-" + hashlib.sha256(content.encode()).hexdigest()[:8]
    width, height = round(panel.width) + MARK_WIDTH, round(panel.height) + MARK_WIDTH
    html = Html(
        element(
            "svg",
            element("title", text_node(name)),
            element("desc", text_node(panel.description), id=f"{figure_id}-desc"),
            panel.body,
            xmlns="http://www.w3.org/2000/svg",
            id=figure_id,
            class_=css_class,
            role="img",
            aria_describedby=f"{figure_id}-desc",
            viewBox=f"0 0 {width} {height}",
            width=width,
            height=height,
            font_size=FONT_SIZE,
            text_anchor="middle",
            fill="currentColor",
            style=f"min-width: {round(MIN_SCALE * width)}px",
        )
    )
    html.panel = panel
    return html


def below(panels: Sequence[Panel], name: str) -> Panel:
    """Stack panels in one panel, with a gap of one line between them."""
    body = ""
    y = 0.0
    for panel in panels:
        body += translated(0, y, panel.body)
        y += panel.height + LINE_HEIGHT
    width = max(panel.width for panel in panels)
    description = " ".join(panel.description for panel in panels)
    return Panel(width, y - LINE_HEIGHT, body, description, name=name)


def beside(panels: Sequence[Panel], name: str) -> Html:
    """Return a finished figure of several panels, each an SVG of its own with its own name."""
    return _row([figure(panel, panel.name) for panel in panels], panels, name, "panels")


def player(states: Sequence[Panel], name: str) -> Html:
    """Return panels as a finished figure: states of a thing, through which a reader steps."""
    drawings = [
        element(
            "div",
            element("p", text_node(state.name), data_computed=""),
            figure(state, state.name),
            class_="state",
        )
        for state in states
    ]
    control = _player_control(states, name)
    return _row([control, *drawings], states, name, "panels player")


def _player_control(states: Sequence[Panel], name: str) -> str:
    """Return a slider over the states, between buttons, with the number and name of the first."""
    # Must match the status in player.js.
    status = f"1 of {len(states)}: {states[0].name}"
    slider = element(
        "input",
        type="range",
        min=0,
        max=len(states) - 1,
        value=0,
        aria_label=f"{name}, state",
        aria_valuetext=status,
    )
    return element(
        "div",
        element("button", "‹", type="button", aria_label="Previous state", aria_disabled="true"),
        slider,
        element("button", "›", type="button", aria_label="Next state"),
        element("button", "Play", type="button"),
        element("output", text_node(status)),
        class_="control hands-on",
    )


def _row(content: Sequence[str], panels: Sequence[Panel], name: str, css_class: str) -> Html:
    if not name:
        raise ValueError("a figure needs a name, for screen readers")
    # The style sheet centres the row as a whole, for which it needs the width of all drawings. If
    # it centred the drawings instead, the second would move the first when it arrives later.
    drawings_width = sum(round(panel.width) + MARK_WIDTH for panel in panels)
    width = drawings_width + GAP * (len(panels) - 1)
    group = {"class_": css_class, "role": "group", "style": f"max-width: {width}px"}
    return Html(element("div", *content, **group, aria_label=name))
