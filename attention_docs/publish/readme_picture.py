"""Draw the picture of the README again: python -m attention_docs.publish.readme_picture."""

import re
from pathlib import Path

from attention_docs.figures.course_order import course_positions
from attention_docs.publish.computed import ComputedExamples
from attention_docs.render.numbers import short_numbers

PICTURE = Path("docs/assets/pictures/sentences.svg")
# The text takes its colour from the page, but a picture is a page of its own.
STYLE = (
    "<style>svg { color: #1f2328; font-family: sans-serif }"
    " @media (prefers-color-scheme: dark) { svg { color: #f0f6fc } }</style>"
)


def readme_picture(root: Path) -> str:
    """Return where the pronoun looks in the two sentences of the course, as a file of its own."""
    with short_numbers():
        drawing = course_positions(ComputedExamples(root).steps)
    # A figure of a page has a minimum width, but a picture is as wide as it is asked to be.
    picture = re.sub(r' style="min-width:[^"]*">', f">{STYLE}", drawing, count=1)
    return re.sub(r' width="\d+" height="\d+"', ' width="600"', picture, count=1) + "\n"


if __name__ == "__main__":
    root = Path(__file__).parents[2]
    (root / PICTURE).write_text(readme_picture(root), encoding="utf-8", newline="\n")
