"""HTML that is inserted into finished pages: neither Markdown nor the search should parse it."""

import re
from collections.abc import Mapping

from attention_docs.publish.cache import digest

PLACEHOLDER = re.compile(r"<!-- part: (\w+) -->")


def placeholder(name: str) -> str:
    """Return the comment that stands in for a part."""
    return f"<!-- part: {name} -->"


class Parts(dict[str, str]):
    """The parts of the pages, by the name that stands in a placeholder."""

    def defer(self, html: str) -> str:
        """Store HTML, and return the comment that stands in for it.

        >>> parts = Parts()
        >>> insert("<p>" + parts.defer("<svg/>") + "</p>", parts)
        '<p><svg/></p>'
        """
        name = digest(html)[:16]
        self[name] = html
        return placeholder(name)

    def defer_found(self, found: re.Match[str]) -> str:
        return self.defer(found[0])


def insert(page: str, parts: Mapping[str, str]) -> str:
    """Replace each placeholder in a page by its HTML."""
    return PLACEHOLDER.sub(lambda found: parts[found[1]], page)
