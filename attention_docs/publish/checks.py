"""What a page must be beyond what MkDocs asks: one title, code that something checks, diagrams that
can be drawn, and words for each image."""

import re
import textwrap
from collections.abc import Callable, Iterator

from attention_docs.publish.values import CODE_OR_MATH

# What the tests run, and what the build draws.
LANGUAGES = ("console", "mermaid", "python")
OPEN_FENCE = re.compile(r"^ *(?:`{3}|~{3})", re.MULTILINE)
TITLE = re.compile(r"^# ", re.MULTILINE)
IMAGE = re.compile(r"!\[(?P<words>[^\]]*)\]|<img\b(?P<attributes>[^>]*)>")
WORDS = re.compile(r'\balt="[^"]*\w')


def faults(markdown: str, draw: Callable[[str], object]) -> Iterator[tuple[int, str]]:
    """Find what is wrong with a page.

    Args:
        markdown: the text of the page.
        draw: draws a Mermaid diagram; ValueError if it cannot.

    Yields:
        The line, counted from 0, and what is wrong there.

    >>> list(faults("# Title\\n\\n```ruby\\n1\\n```\\n", str))
    [(2, "code of kind 'ruby' is unknown; known are console, mermaid, python")]
    """
    blocks: list[re.Match[str]] = []

    def set_aside(found: re.Match[str]) -> str:
        """Leave something in the place of code and formulas, and as many lines."""
        if found["fence"]:
            blocks.append(found)
        return "." + "\n" * found[0].count("\n")

    prose = CODE_OR_MATH.sub(set_aside, markdown)

    def line(position: int, text: str = prose) -> int:
        return text.count("\n", 0, position)

    for block in blocks:
        if fault := code_fault(block[0], draw):
            yield line(block.start(), markdown), fault
    if left_open := OPEN_FENCE.search(prose):
        yield line(left_open.start()), "this code block has no end"
    titles = [title.start() for title in TITLE.finditer(prose)]
    if not titles:
        yield 0, "the page has no title, a line that begins with `# `"
    for another in titles[1:]:
        yield line(another), "a second title; a page has one"
    for image in IMAGE.finditer(prose):
        words = image["words"]
        if not (WORDS.search(image["attributes"]) if words is None else words.strip()):
            yield line(image.start()), "the image has no text for those who do not see it"


def code_fault(block: str, draw: Callable[[str], object]) -> str | None:
    """Say what is wrong with a fenced block, if anything is."""
    first, _, rest = textwrap.dedent(block).partition("\n")
    language = first.lstrip("`~").strip()
    if language not in LANGUAGES:
        return f"code of kind {language!r} is unknown; known are {', '.join(LANGUAGES)}"
    if language == "mermaid":
        try:
            draw(rest.rpartition("\n")[0])
        except ValueError as error:
            return f"mermaid: {error}"
    return None
