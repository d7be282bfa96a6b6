"""The Content-Security-Policy of every page, which lists all that it may load and run."""

import base64
import hashlib
from collections.abc import Iterable
from pathlib import Path

from attention_docs.publish.after.origins import inline_scripts

CHARSET = '<meta charset="utf-8">'
META = '<meta http-equiv="Content-Security-Policy" content="{}">'


def enforce(site: Path) -> None:
    """Write the policy into each page of a built site.

    They all get the same one, which allows the scripts of all pages: under instant navigation the
    policy of the first page governs the others too.
    """
    # As bytes, since a script's hash covers its line ends.
    pages = {path: path.read_bytes().decode() for path in site.rglob("*.html")}
    scripts = {script for page in pages.values() for script in inline_scripts(page)}
    # Above everything that the page loads; only the charset has to come earlier.
    head = CHARSET + META.format(policy(scripts))
    for path, page in pages.items():
        path.write_bytes(page.replace(CHARSET, head, 1).encode())


def policy(scripts: Iterable[str]) -> str:
    """Write the policy that allows these inline scripts and no others.

    >>> print(policy(["start()"]).replace("; ", "\\n"))
    default-src 'self'
    script-src 'self' 'sha256-DIm7WJS6ZKDYe5qFLPy+h4JFI9Bol5QmYC57mt3Fb00='
    style-src 'self' 'unsafe-inline'
    style-src-elem 'self' 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='
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
        # Also for the next page, which Firefox prefetches.
        "default-src 'self'",
        " ".join(["script-src 'self'", *sorted(map(source, scripts))]),
        # Formulas and drawings have hundreds of different style attributes. A <style> element is
        # blocked if the browser knows style-src-elem, except for the empty one that Plotly adds
        # and fills by script.
        "style-src 'self' 'unsafe-inline'",
        f"style-src-elem 'self' {source('')}",
        "img-src 'self' data:",  # the icons in the theme's style sheets
        "font-src data:",  # KaTeX's, in its style sheet
        "object-src 'none'",
        "frame-src 'none'",
        "media-src 'none'",
        "manifest-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
    )
    return "; ".join(directives)


def source(content: str) -> str:
    """Name an inline script or style by its hash."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"
