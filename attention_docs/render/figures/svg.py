"""Drawings as SVG text: elements, the finished figure, and figures of several drawings.

A figure follows the page: text has the current colour, and every other colour is a CSS variable of
the site. Its fallback is legible on white and on black, so a figure also looks right in a notebook.
Nothing else styles it: there is no script, no style attribute and no font.
"""

import hashlib
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

FONT_SIZE = 12
# In every common font, a digit is a little over half as wide as it is high.
CHARACTER = 7
LINE = 16
# Between drawings side by side, as in the style sheet.
GAP = 24
# On a phone, a drawing wider than this scrolls in its own box: shrunk to the screen, it would be
# illegible. The style sheet gives each class the width here as its minimum.
CLASSES = ((560, "drawing wide widest"), (420, "drawing wide"), (0, "drawing"))

ROLES = {
    "input": "var(--role-input, #7a828e)",
    "query": "var(--role-query, #3d85e8)",
    "key": "var(--role-key, #d0661a)",
    "value": "var(--role-value, #2e9e52)",
    "scores": "var(--role-scores, #8f63d2)",
    "weights": "var(--role-weights, #d6409f)",
    "output": "var(--role-output, #1597ab)",
}


class Html(str):
    """A finished figure, which a notebook shows as the picture."""

    def _repr_html_(self) -> str:
        return str(self)


class Panel(NamedTuple):
    """A drawing with its upper left corner at (0, 0), and its description in words."""

    width: float
    height: float
    body: str
    description: str
    # JSON for the page's script that lets the reader turn the drawing.
    points: str | None = None
    # Names the drawing where it is one of several.
    name: str = ""


def element(tag: str, *children: str, **attributes: object) -> str:
    """Write an element; underscores in the names of attributes become hyphens.

    >>> element("text", words("a < b"), font_size=12.50)
    '<text font-size="12.5">a &lt; b</text>'
    """
    written = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{attribute(value)}"'
        for name, value in attributes.items()
        if value is not None
    )
    return f"<{tag}{written}>{''.join(children)}</{tag}>" if children else f"<{tag}{written}/>"


def attribute(value: object) -> str:
    """Write a number with at most two decimals; escape anything else."""
    if isinstance(value, float):
        text = f"{value:.2f}".rstrip("0").rstrip(".")
        return "0" if text == "-0" else text
    return escape(str(value))


def words(text: str) -> str:
    """Escape text between tags."""
    return escape(text, quote=False)


def label(
    x: float, y: float, text: str, anchor: str = "middle", *rest: str, **attributes: object
) -> str:
    """Write text that is centred vertically at y; the rest of it may be elements.

    Most text is centred and in the colour of text, so the whole figure has these two as its own.
    """
    place = {"x": x, "y": y + FONT_SIZE / 3, "text_anchor": None if anchor == "middle" else anchor}
    return element("text", words(text), *rest, **place, **attributes)


def turned(x: float, y: float, text: str, font_size: int | None = None) -> str:
    """Write text that reads upwards."""
    return label(x, y, text, font_size=font_size, transform=f"rotate(-90 {x:g} {y:g})")


def title(x: float, y: float, text: str, role: str | None, anchor: str = "middle") -> str:
    """Write the name of a matrix in the colour of its role."""
    return label(x, y, text, anchor, font_weight="bold", fill=colour(role))


def colour(role: str | None) -> str:
    """Return the colour of a role, or that of text if there is no role.

    Raises:
        ValueError: if there is no such role.
    """
    if role is not None and not (isinstance(role, str) and role in ROLES):
        raise ValueError(f"role is {role!r}; expected one of {', '.join(ROLES)}")
    return ROLES[role] if role else "currentColor"


def moved(x: float, y: float, *children: str) -> str:
    return element("g", *children, transform=f"translate({attribute(x)} {attribute(y)})")


def text_width(text: str) -> float:
    return CHARACTER * len(text)


def figure(panel: Panel, name: str) -> Html:
    """Finish a drawing: add its size, and the name and description that a screen reader says.

    The id is a digest of the content, so it is the same in every build, and no two figures of a
    page share it.

    Raises:
        ValueError: if there is no name or no description.
    """
    if not (name and panel.description):
        raise ValueError("a figure needs a name and a description, for those who do not see it")
    content = panel.body + name + panel.description
    identity = "figure-" + hashlib.sha256(content.encode()).hexdigest()[:8]
    # Two pixels more, because half of a mark's line lies outside its cells.
    width, height = round(panel.width) + 2, round(panel.height) + 2
    return Html(
        element(
            "svg",
            element("title", words(name), id=f"{identity}-title"),
            element("desc", words(panel.description), id=f"{identity}-desc"),
            panel.body,
            xmlns="http://www.w3.org/2000/svg",
            id=identity,
            class_=next(name for least, name in CLASSES if width > least),
            role="img",
            aria_labelledby=f"{identity}-title {identity}-desc",
            viewBox=f"0 0 {width} {height}",
            width=width,
            height=height,
            font_size=FONT_SIZE,
            text_anchor="middle",
            fill="currentColor",
            data_points=panel.points,
        )
    )


def beside(panels: Sequence[Panel], name: str) -> Html:
    """Finish a figure of several drawings, each an SVG of its own with its own name.

    The style sheet puts them side by side, and one below the other where the screen is narrow.

    Raises:
        ValueError: if the figure or a panel has no name, or a panel no description.
    """
    if not name:
        raise ValueError("a figure needs a name, for those who do not see it")
    drawings = [figure(panel, panel.name) for panel in panels]
    # Known before the second drawing arrives, so that the first does not move when it does.
    width = sum(round(panel.width) + 2 for panel in panels) + GAP * (len(panels) - 1)
    group = {"class_": "panels", "role": "group", "style": f"max-width: {width}px"}
    return Html(element("div", *drawings, **group, aria_label=name))
