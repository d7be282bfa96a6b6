"""HTML that is inserted into finished pages: neither Markdown nor the search should parse it."""

import re
from collections.abc import Callable, Mapping

from attention_docs.publish.cache import digest

PLACEHOLDER = re.compile(r"<!-- part: (\w+) -->")

CODE_OR_FORMULA = re.compile(
    r'<div class="highlight">.*?</pre></div>|<(span|div) class="arithmatex">.*?</\1>', re.DOTALL
)


def placeholder(name: str) -> str:
    """Return the comment that stands in for a part."""
    return f"<!-- part: {name} -->"


class Parts(dict[str, str]):
    """The parts of the pages, by the name that stands in a placeholder."""

    def __init__(self) -> None:
        self.unwritten: dict[str, Callable[[], str]] = {}

    def __missing__(self, name: str) -> str:
        self[name] = self.unwritten.pop(name)()
        return self[name]

    def defer_writing(self, name: str, write: Callable[[], str]) -> str:
        """Have a part written when it is inserted, and return its placeholder.

        >>> parts = Parts()
        >>> insert("<p>" + parts.defer_writing("steps", "late".upper) + "</p>", parts)
        '<p>LATE</p>'
        """
        self.unwritten[name] = write
        return placeholder(name)

    def defer(self, html: str) -> str:
        """Store HTML, and return the comment that stands in for it.

        >>> parts = Parts()
        >>> insert("<p>" + parts.defer("<svg/>") + "</p>", parts)
        '<p><svg/></p>'
        """
        name = digest(html)[:16]
        self[name] = html
        return placeholder(name)

    def defer_code_and_formulas(self, html: str) -> str:
        """Keep them from the search, because nobody searches for code or TeX.

        >>> parts = Parts()
        >>> parts.defer_code_and_formulas('The root of <span class="arithmatex">d</span>.')
        'The root of <!-- part: 90d1243694ccb1a0 -->.'
        """
        return CODE_OR_FORMULA.sub(lambda found: self.defer(found[0]), html)


def insert(page: str, parts: Mapping[str, str]) -> str:
    """Replace each placeholder in a page by its HTML."""
    return PLACEHOLDER.sub(lambda found: parts[found[1]], page)
