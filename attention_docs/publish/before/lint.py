"""Checks of a page's Markdown that MkDocs lacks: exactly one title, code that tests run, diagrams
that can be drawn, documented names that exist, images with alternative text."""

import re
import textwrap
from collections.abc import Callable, Iterator

from attention_docs.publish.before.values import CODE_OR_MATH

# Tests run console and Python code; the build draws Mermaid.
LANGUAGES = ("console", "mermaid", "python")
OPEN_FENCE = re.compile(r"^ *(?:`{3}|~{3})", re.MULTILINE)
TITLE = re.compile(r"^# ", re.MULTILINE)
DIRECTIVE = re.compile(r"^::: (\S+)$", re.MULTILINE)
IMAGE = re.compile(r"!\[(?P<text>[^\]]*)\]|<img\b(?P<attributes>[^>]*)>")
ALTERNATIVE_TEXT = re.compile(r'\balt="[^"]*\w')


def problems(
    markdown: str, check_diagram: Callable[[str], object], check_name: Callable[[str], object]
) -> Iterator[tuple[int, str]]:
    """Yield the problems of a page.

    Args:
        markdown: the Markdown of the page.
        check_diagram: called with each Mermaid diagram; raises ValueError if it cannot be drawn.
        check_name: called with each name that the page documents; raises LookupError if the name
            does not exist or has no docstring.

    Yields:
        The 0-based line and the message of each problem.

    >>> list(problems("# Title\\n\\n```ruby\\n1\\n```\\n", str, str))
    [(2, "unknown code language 'ruby'; expected console, mermaid or python")]
    """
    code_blocks: list[re.Match[str]] = []

    def mask(match: re.Match[str]) -> str:
        """Replace code or a formula by the same number of lines."""
        if match["fence"]:
            code_blocks.append(match)
        return "." + "\n" * match[0].count("\n")

    prose = CODE_OR_MATH.sub(mask, markdown)

    def line(position: int, text: str = prose) -> int:
        return text.count("\n", 0, position)

    for block in code_blocks:
        if problem := code_problem(block[0], check_diagram):
            yield line(block.start(), markdown), problem
    if unclosed := OPEN_FENCE.search(prose):
        yield line(unclosed.start()), "this code block is never closed"
    titles = [title.start() for title in TITLE.finditer(prose)]
    if not titles:
        yield 0, "the page has no title, a line that begins with `# `"
    for position in titles[1:]:
        yield line(position), "a second title; a page has exactly one"
    for directive in DIRECTIVE.finditer(prose):
        try:
            check_name(directive[1])
        except LookupError as error:
            yield line(directive.start()), str(error.args[0])
    for image in IMAGE.finditer(prose):
        if not has_alternative_text(image):
            yield line(image.start()), "the image has no alternative text"


def has_alternative_text(image: re.Match[str]) -> bool:
    if image["text"] is None:
        return ALTERNATIVE_TEXT.search(image["attributes"]) is not None
    return bool(image["text"].strip())


def code_problem(block: str, check_diagram: Callable[[str], object]) -> str | None:
    """Return the problem of a fenced code block, if it has one."""
    opening, _, rest = textwrap.dedent(block).partition("\n")
    language = opening.lstrip("`~").strip()
    if language not in LANGUAGES:
        expected = f"{', '.join(LANGUAGES[:-1])} or {LANGUAGES[-1]}"
        return f"unknown code language {language!r}; expected {expected}"
    if language == "mermaid":
        try:
            check_diagram(rest.rpartition("\n")[0])
        except ValueError as error:
            return f"mermaid: {error}"
    return None
