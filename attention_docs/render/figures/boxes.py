"""Draw boxes with words, for the figures of several chapters."""

from attention_docs.render.figures.svg import colour, element, label, text_width

HEIGHT = 26
PADDING = 9  # between the text of a box and its left and right side


def box(
    x: float,
    y: float,
    width: float,
    text: str,
    role: str | None = None,
    *,
    height: float = HEIGHT,
    dashed: bool = False,
    bold: bool = False,
    text_class: str | None = None,
) -> str:
    """Draw a box with its upper left corner at (x, y); its outline is faint without a role."""
    outline = element(
        "rect",
        x=x,
        y=y,
        width=width,
        height=height,
        rx=5,
        fill="none",
        stroke=colour(role),
        stroke_opacity=None if role else 0.5,
        stroke_width=1.5 if role else 1,
        stroke_dasharray="4 3" if dashed else None,
    )
    weight = "bold" if bold else None
    return outline + label(
        x + width / 2, y + height / 2, text, font_weight=weight, class_=text_class
    )


def box_width(text: str) -> float:
    return text_width(text) + 2 * PADDING
