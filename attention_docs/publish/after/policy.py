"""The Content-Security-Policy of all pages."""

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping

INLINE_SCRIPT = re.compile(
    r"<script(?P<attributes>(?![^>]*\ssrc\s*=)[^>]*)>(?P<code>.*?)</script\s*>",
    re.DOTALL | re.IGNORECASE,
)
# Data blocks, such as the theme's settings, do not run.
DATA = re.compile(r'\stype="application/(?:ld\+)?json"')
CHARSET = '<meta charset="utf-8">'
META = '<meta http-equiv="Content-Security-Policy" content="{}">'


def add_policy(pages: Mapping[str, str]) -> dict[str, str]:
    # One for all, because under instant navigation that of the first page applies to the next too.
    scripts = {script for page in pages.values() for script in inline_scripts(page)}
    # The policy applies to the elements below it, and only the charset has to come first.
    charset_and_policy = CHARSET + META.format(policy(scripts))
    return {path: page.replace(CHARSET, charset_and_policy, 1) for path, page in pages.items()}


def inline_scripts(page: str) -> list[str]:
    """List the inline scripts of a page that a browser would run.

    >>> inline_scripts('<script>start()</script><script src="a.js"></script>')
    ['start()']
    """
    scripts = INLINE_SCRIPT.finditer(page)
    return [script["code"] for script in scripts if not DATA.search(script["attributes"])]


def policy(scripts: Iterable[str]) -> str:
    """Return a policy that allows these inline scripts and no others.

    >>> print(policy(["start()"]).replace("; ", "\\n"))
    default-src 'self'
    script-src 'self' 'sha256-DIm7WJS6ZKDYe5qFLPy+h4JFI9Bol5QmYC57mt3Fb00='
    style-src 'self' 'unsafe-inline'
    style-src-elem 'self'
    img-src 'self' data:
    font-src data:
    object-src 'none'
    frame-src 'none'
    media-src 'none'
    manifest-src 'none'
    base-uri 'none'
    form-action 'none'
    """
    directives = (
        # Also applies to the next page, which Firefox prefetches.
        "default-src 'self'",
        " ".join(["script-src 'self'", *sorted(map(hash_source, scripts))]),
        # Formulas and drawings have hundreds of different style attributes. <style> elements are
        # blocked in browsers that support style-src-elem.
        "style-src 'self' 'unsafe-inline'",
        "style-src-elem 'self'",
        "img-src 'self' data:",  # the icons in the theme's style sheets
        "font-src data:",  # KaTeX's fonts in its style sheet
        "object-src 'none'",
        "frame-src 'none'",
        "media-src 'none'",
        "manifest-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
    )
    return "; ".join(directives)


def hash_source(content: str) -> str:
    """Return the expression that allows an inline script or style, by the hash of its content."""
    digest = hashlib.sha256(content.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
