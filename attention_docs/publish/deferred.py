"""HTML that is inserted into finished pages: neither Markdown nor the search should parse it."""

import hashlib
import re
from collections.abc import Callable

CODE = re.compile(r'<div class="highlight">.*?</pre></div>', re.DOTALL)
PLACEHOLDER = re.compile(r"<!-- deferred: (\w+) -->")


class Deferred:
    """The deferred HTML of a build, by the key that its placeholder holds."""

    def __init__(self) -> None:
        self._write: dict[str, Callable[[], str]] = {}

    def defer(self, html: str) -> str:
        """Store HTML, and return the comment that stands in for it.

        >>> deferred = Deferred()
        >>> deferred.insert("<p>" + deferred.defer("<svg/>") + "</p>")
        '<p><svg/></p>'
        """
        return self.defer_writing(hashlib.sha256(html.encode()).hexdigest()[:16], lambda: html)

    def defer_writing(self, key: str, write: Callable[[], str]) -> str:
        """Do the same with HTML that can only be written later."""
        self._write[key] = write
        return f"<!-- deferred: {key} -->"

    def defer_code(self, page: str) -> str:
        """Replace a page's blocks of code by placeholders."""
        return CODE.sub(lambda found: self.defer(found[0]), page)

    def insert(self, page: str) -> str:
        """Replace each placeholder in a page by its HTML."""
        return PLACEHOLDER.sub(lambda found: self._write[found[1]](), page)
