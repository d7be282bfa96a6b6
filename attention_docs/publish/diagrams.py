"""Mermaid fences to SVG, at build time and without a browser."""

import hashlib
import html
import json
import logging
import re
from typing import Any

from pymdownx.superfences import SuperFencesException

try:
    import merman
except ImportError:  # no wheel for this platform
    merman = None  # type: ignore[assignment]

# A child of MkDocs' logger: its warnings stop a strict build.
log = logging.getLogger("mkdocs.attention_docs.diagrams")

OPTIONS = {"htmlLabels": False, "theme": "default", "flowchart": {"htmlLabels": False}}
STYLE = re.compile(r"<style>.*?</style>", re.DOTALL)
UNUSED_MARKER = re.compile(r'<marker id="(?P<id>[^"]+)".*?</marker>', re.DOTALL)
# The layout's own memory, of no use to a reader.
NOTES = re.compile(r' data-(?:points|look|et|edge|id|node|color-id)="[^"]*"')
SIZE = re.compile(r'width="100%"(.*?) style="[^"]*" viewBox="\S+ \S+ (\S+) (\S+)"')


def fence(
    source: str, language: str, css_class: str, options: Any, md: Any, **keywords: Any
) -> str:
    """Draw a diagram: a SuperFences formatter.

    Raises:
        SuperFencesException: if the diagram is wrong or says nothing to a screen reader.
    """
    if merman is None:
        log.warning("merman has no wheel for this platform: a diagram is shown as its source")
        return f'<pre class="diagram"><code>{html.escape(source)}</code></pre>'
    try:
        return f'<div class="diagram" data-search-exclude>{draw(source)}</div>'
    except ValueError as error:
        raise SuperFencesException(f"mermaid: {error} in\n{source}") from error


def draw(source: str) -> str:
    """Return the SVG of a Mermaid diagram; colours and fonts are the style sheet's.

    Raises:
        ValueError: if Mermaid refuses it, or `accTitle` or `accDescr` is missing.
    """
    for line in ("accTitle:", "accDescr:"):
        if line not in source:
            raise ValueError(f"the line `{line} ...` is missing, the text for a screen reader")
    name = "diagram-" + hashlib.sha256(source.encode()).hexdigest()[:8]
    options = {"svg": {"diagram_id": name}, "site_config": OPTIONS}
    try:
        svg = merman.Merman().render_svg(source, json.dumps(options))
    except merman.MermanError as error:
        raise ValueError(getattr(error, "message", str(error))) from error
    return slim(svg)


def slim(svg: str) -> str:
    """Leave out what the style sheet says better, and give the drawing its true size."""
    svg = NOTES.sub("", STYLE.sub("", svg))
    svg = UNUSED_MARKER.sub(lambda m: m[0] if svg.count(m["id"]) > 1 else "", svg)
    return SIZE.sub(
        lambda m: f'width="{m[2]}" height="{m[3]}"{m[1]} viewBox="4 4 {m[2]} {m[3]}"', svg
    )
