"""HTML that is inserted into finished pages: neither Markdown nor the search should parse it."""

import hashlib
import re

CODE = re.compile(r'<div class="highlight">.*?</pre></div>', re.DOTALL)
PLACEHOLDER = re.compile(r"<!-- deferred: (\w+) -->")


class Deferred:
    """The deferred HTML of a build, by the digest that its placeholder holds."""

    def __init__(self) -> None:
        self._html: dict[str, str] = {}

    def defer(self, html: str) -> str:
        """Store HTML, and return the comment that stands in for it.

        >>> deferred = Deferred()
        >>> deferred.insert("<p>" + deferred.defer("<svg/>") + "</p>")
        '<p><svg/></p>'
        """
        key = hashlib.sha256(html.encode()).hexdigest()[:16]
        self._html[key] = html
        return f"<!-- deferred: {key} -->"

    def defer_code(self, page: str) -> str:
        """Replace a page's blocks of code by placeholders."""
        return CODE.sub(lambda found: self.defer(found[0]), page)

    def insert(self, page: str) -> str:
        """Replace each placeholder in a page by its HTML."""
        return PLACEHOLDER.sub(lambda found: self._html[found[1]], page)
