"""HTML inserted into finished pages, so that neither Markdown nor the search parses it."""

import re
from collections.abc import Callable, Mapping

from attention_docs.publish.cache import digest

PLACEHOLDER = re.compile(r"<!-- part: (\w+) -->")

CODE_OR_FORMULA = re.compile(
    r'<div class="highlight">.*?</pre></div>|<(span|div) class="arithmatex">.*?</\1>', re.DOTALL
)


def placeholder(name: str) -> str:
    """Return the HTML comment that stands for a part."""
    return f"<!-- part: {name} -->"


class Parts(dict[str, str]):
    """The parts of all pages, by the names in their placeholders.

    Attributes:
        deferred: functions that return the parts that are not written yet, by name.
    """

    def __init__(self) -> None:
        self.deferred: dict[str, Callable[[], str]] = {}

    def __missing__(self, name: str) -> str:
        write_html = self.deferred.pop(name)
        self[name] = write_html()
        return self[name]

    def add_lazily(self, name: str, write_html: Callable[[], str]) -> str:
        """Add a part that is written when it is first inserted, and return its placeholder.

        >>> parts = Parts()
        >>> insert("<p>" + parts.add_lazily("steps", "late".upper) + "</p>", parts)
        '<p>LATE</p>'
        """
        self.deferred[name] = write_html
        return placeholder(name)

    def add(self, html: str) -> str:
        """Add HTML, and return its placeholder.

        >>> parts = Parts()
        >>> insert("<p>" + parts.add("<svg/>") + "</p>", parts)
        '<p><svg/></p>'
        """
        name = digest(html)[:16]
        self[name] = html
        return placeholder(name)

    def extract_code_and_formulas(self, html: str) -> str:
        """Replace code and formulas by placeholders, to keep them out of the search index.

        >>> parts = Parts()
        >>> parts.extract_code_and_formulas('The root of <span class="arithmatex">d</span>.')
        'The root of <!-- part: 90d1243694ccb1a0 -->.'
        """
        return CODE_OR_FORMULA.sub(lambda match: self.add(match[0]), html)


def insert(page: str, parts: Mapping[str, str]) -> str:
    """Replace each placeholder in a page by its part."""
    return PLACEHOLDER.sub(lambda match: parts[match[1]], page)
