"""HTML that joins its page last: large drawings that neither Markdown nor the search must read."""

import hashlib
import re

WAITING = re.compile(r"<!-- later: (\w+) -->")

# Of one build: the hooks import this module afresh for the next.
waiting: dict[str, str] = {}


def put_off(html: str) -> str:
    """Keep HTML back, and return the comment that stands in its place.

    >>> insert("<p>" + put_off("<svg/>") + "</p>")
    '<p><svg/></p>'
    """
    key = hashlib.sha256(html.encode()).hexdigest()[:16]
    waiting[key] = html
    return f"<!-- later: {key} -->"


def insert(page: str) -> str:
    """Put what was kept back where it belongs."""
    return WAITING.sub(lambda found: waiting[found[1]], page)
