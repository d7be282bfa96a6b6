"""Checks of a page's Markdown that MkDocs lacks.

A page has exactly one title, code in languages that the tests run, diagrams that can be drawn, and
documented names that exist.
"""

import re
import textwrap
from collections.abc import Iterator

from attention_docs.publish.before import contents, mermaid
from attention_docs.publish.before.values import CODE_OR_MATH

# Tests run console and Python code; the build draws Mermaid diagrams.
LANGUAGES = ("console", "mermaid", "python")
OPEN_FENCE = re.compile(r"^ *(?:`{3}|~{3})", re.MULTILINE)
TITLE = re.compile(r"^# ", re.MULTILINE)


def find_problems(markdown: str) -> Iterator[tuple[int, str]]:
    """Yield the 0-based line and the message of each problem of a page."""
    for block in CODE_OR_MATH.finditer(markdown):
        if block["fence"] and (problem := code_problem(block[0])):
            yield line_of(block), problem
    # Line breaks stay, which keeps the numbers of the lines below.
    prose = CODE_OR_MATH.sub(lambda block: "\n" * block[0].count("\n"), markdown)
    # All closed blocks are removed, so a fence that is left opens a block without an end.
    unclosed_block = OPEN_FENCE.search(prose)
    if unclosed_block:
        yield line_of(unclosed_block), "this code block is never closed"
    titles = list(TITLE.finditer(prose))
    if not titles:
        yield 0, "the page has no title, a line that begins with `# `"
    for title in titles[1:]:
        yield line_of(title), "a second title; a page has exactly one"
    for directive in contents.DIRECTIVE.finditer(prose):
        try:
            contents.summary(directive[1])
        except LookupError as error:
            yield line_of(directive), str(error.args[0])


def line_of(match: re.Match[str]) -> int:
    return match.string.count("\n", 0, match.start())


def code_problem(block: str) -> str | None:
    opening_line, _, code_and_fence = textwrap.dedent(block).partition("\n")
    language = opening_line.lstrip("`~").strip()
    if language not in LANGUAGES:
        expected = f"{', '.join(LANGUAGES[:-1])} or {LANGUAGES[-1]}"
        return f"unknown code language {language!r}; expected {expected}"
    if language == "mermaid":
        code = code_and_fence.rpartition("\n")[0]
        try:
            mermaid.parse(code)
        except ValueError as error:
            return f"mermaid: {error}"
    return None
