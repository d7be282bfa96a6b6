"""Checks of a page's Markdown that MkDocs lacks.

A page has exactly one title, code in languages that the tests run, diagrams that can be drawn,
documented names that exist, and images with alternative text.
"""

import re
import textwrap
from collections.abc import Callable, Iterator

from attention_docs.publish.before.values import CODE_OR_MATH

# Tests run console and Python code; the build draws Mermaid diagrams.
LANGUAGES = ("console", "mermaid", "python")
OPEN_FENCE = re.compile(r"^ *(?:`{3}|~{3})", re.MULTILINE)
TITLE = re.compile(r"^# ", re.MULTILINE)
DIRECTIVE = re.compile(r"^::: (\S+)$", re.MULTILINE)
IMAGE = re.compile(r"!\[(?P<text>[^\]]*)\]|<img\b(?P<attributes>[^>]*)>")
ALTERNATIVE_TEXT = re.compile(r'\balt="[^"]*\w')


def find_problems(
    markdown: str, check_diagram: Callable[[str], object], check_name: Callable[[str], object]
) -> Iterator[tuple[int, str]]:
    """Find the problems of a page.

    Args:
        markdown: the Markdown of the page.
        check_diagram: called with each Mermaid diagram; raises ValueError if it cannot be drawn.
        check_name: called with each name that the page documents; raises LookupError if the name
            does not exist or has no docstring.

    Yields:
        The 0-based line and the message of each problem.

    >>> list(find_problems("# Title\\n\\n```ruby\\n1\\n```\\n", str, str))
    [(2, "unknown code language 'ruby'; expected console, mermaid or python")]
    """
    for block in CODE_OR_MATH.finditer(markdown):
        problem = code_problem(block[0], check_diagram) if block["fence"] else None
        if problem:
            yield line_of(block), problem
    prose = CODE_OR_MATH.sub(blank_out, markdown)
    # All closed blocks are blanked out, so a fence that is left opens a block without an end.
    unclosed_block = OPEN_FENCE.search(prose)
    if unclosed_block:
        yield line_of(unclosed_block), "this code block is never closed"
    yield from title_problems(prose)
    yield from name_problems(prose, check_name)
    for image in IMAGE.finditer(prose):
        if not has_alternative_text(image):
            yield line_of(image), "the image has no alternative text"


def title_problems(prose: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the message of each problem with the title."""
    titles = list(TITLE.finditer(prose))
    if not titles:
        yield 0, "the page has no title, a line that begins with `# `"
    for title in titles[1:]:
        yield line_of(title), "a second title; a page has exactly one"


def name_problems(prose: str, check_name: Callable[[str], object]) -> Iterator[tuple[int, str]]:
    """Yield the line and the message of each documented name that `check_name` rejects."""
    for directive in DIRECTIVE.finditer(prose):
        try:
            check_name(directive[1])
        except LookupError as error:
            yield line_of(directive), str(error.args[0])


def line_of(match: re.Match[str]) -> int:
    """Return the 0-based line where a match begins."""
    return match.string.count("\n", 0, match.start())


def blank_out(code_or_math: re.Match[str]) -> str:
    """Return what replaces code or a formula, so that no check takes it for prose.

    It has as many line breaks, which keep the numbers of the lines below, and a dot, with which the
    alternative text of an image is not empty if it is only a formula.
    """
    return "." + "\n" * code_or_math[0].count("\n")


def code_problem(block: str, check_diagram: Callable[[str], object]) -> str | None:
    """Return what is wrong with a fenced code block, or None.

    Args:
        block: the block with its fences.
        check_diagram: called with a Mermaid diagram; raises ValueError if it cannot be drawn.
    """
    opening_line, _, code_and_fence = textwrap.dedent(block).partition("\n")
    language = opening_line.lstrip("`~").strip()
    if language not in LANGUAGES:
        expected = f"{', '.join(LANGUAGES[:-1])} or {LANGUAGES[-1]}"
        return f"unknown code language {language!r}; expected {expected}"
    if language == "mermaid":
        code = code_and_fence.rpartition("\n")[0]
        try:
            check_diagram(code)
        except ValueError as error:
            return f"mermaid: {error}"
    return None


def has_alternative_text(image: re.Match[str]) -> bool:
    """Whether an image, which is Markdown or an <img> element, has a text for screen readers."""
    if image["text"] is None:
        return ALTERNATIVE_TEXT.search(image["attributes"]) is not None
    return bool(image["text"].strip())
