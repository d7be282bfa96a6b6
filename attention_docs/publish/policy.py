"""The Content-Security-Policy of every page: what it may load and run, and nothing else."""

import base64
import hashlib
from collections.abc import Iterable
from pathlib import Path

from attention_docs.publish.origins import inline_scripts

CHARSET = '<meta charset="utf-8">'
META = '<meta http-equiv="Content-Security-Policy" content="{}">'


def enforce(site: Path) -> None:
    """Write the policy into each page of a built site.

    All pages get the same one, with the scripts of them all: under instant navigation the policy
    of the first page governs the others too.
    """
    # As bytes: a hash is of every one of them, line ends included.
    pages = {path: path.read_bytes().decode() for path in site.rglob("*.html")}
    scripts = {script for page in pages.values() for script in inline_scripts(page)}
    # Above everything else that is loaded; only the charset has to be higher.
    head = CHARSET + META.format(policy(scripts))
    for path, page in pages.items():
        path.write_bytes(page.replace(CHARSET, head, 1).encode())


def policy(scripts: Iterable[str]) -> str:
    """Write the policy that lets these inline scripts run, and no other.

    >>> print(policy(["start()"]).replace("; ", "\\n"))
    default-src 'self'
    script-src 'self' 'sha256-DIm7WJS6ZKDYe5qFLPy+h4JFI9Bol5QmYC57mt3Fb00='
    style-src 'self' 'unsafe-inline'
    style-src-elem 'self' 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='
    img-src 'self' data:
    object-src 'none'
    frame-src 'none'
    media-src 'none'
    manifest-src 'none'
    base-uri 'none'
    form-action 'none'
    """
    directives = (
        # Also for the next page, which Firefox fetches when it is idle.
        "default-src 'self'",
        " ".join(["script-src 'self'", *sorted(map(source, scripts))]),
        # Formulas and drawings have style attributes, hundreds of different ones. A style element
        # is refused where the browser knows the second line; the one that Plotly adds is empty,
        # and its rules come by script.
        "style-src 'self' 'unsafe-inline'",
        f"style-src-elem 'self' {source('')}",
        "img-src 'self' data:",  # the icons in the theme's style sheets
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
