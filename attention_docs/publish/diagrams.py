"""Mermaid fences to SVG, at build time and without a browser."""

import hashlib
import html
import json
import logging
import os
from importlib.metadata import version
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from pymdownx.superfences import SuperFencesException

from attention_docs.publish import later
from attention_docs.publish.cache import Cache

try:
    import merman
except ImportError:  # no wheel for this platform
    merman = None  # type: ignore[assignment]

# A child of MkDocs' logger: its warnings stop a strict build.
log = logging.getLogger("mkdocs.attention_docs.diagrams")
# Of one build, which sets it; the hooks import this module afresh for the next.
cache: Cache | None = None
NO_WHEEL = "merman has no wheel for this platform: a diagram is shown as its source"

OPTIONS = {"htmlLabels": False, "theme": "default", "flowchart": {"htmlLabels": False}}
SVG = "{http://www.w3.org/2000/svg}"
ElementTree.register_namespace("", SVG.strip("{}"))


def fence(
    source: str, language: str, css_class: str, options: Any, md: Any, **keywords: Any
) -> str:
    """Draw a diagram: a SuperFences formatter.

    Raises:
        SuperFencesException: if the diagram is wrong or says nothing to a screen reader.
    """
    if merman is None:
        # What is published comes from CI, and must not lack a diagram.
        log.log(logging.WARNING if "CI" in os.environ else logging.INFO, NO_WHEEL)
        return f"<pre><code>{html.escape(source)}</code></pre>"
    try:
        return later.put_off(f'<div class="diagram">{drawn(source)}</div>')
    except ValueError as error:
        raise SuperFencesException(f"mermaid: {error} in\n{source}") from error


def try_out(source: str) -> None:
    """Draw a diagram, where there is a wheel, for the cache alone.

    Raises:
        ValueError: if the diagram is wrong or says nothing to a screen reader.
    """
    if merman:
        drawn(source)


def drawing_cache(root: Path) -> Cache:
    """Return the diagrams that the last build drew with this merman and this module."""
    setting = (Path(__file__).read_bytes(), version("merman") if merman else "")
    return Cache(root / ".cache" / "diagrams.json", *setting)


def drawn(source: str) -> str:
    """Return the SVG of a diagram, from the cache if the build has one."""
    if cache is None:
        return draw(source)
    if source not in cache:
        cache[source] = draw(source)
    return cache[source]


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
    root = ElementTree.fromstring(svg)
    _, _, width, height = root.attrib["viewBox"].split()
    root.attrib.update(role="img", width=width, height=height)
    del root.attrib["style"]
    for parent in list(root.iter()):
        for child in list(parent):
            unused = child.tag == f"{SVG}marker" and f"url(#{child.attrib['id']})" not in svg
            if unused or child.tag in (f"{SVG}style", f"{SVG}defs"):
                parent.remove(child)
        # The layout's own memory, of no use to a reader.
        for name in [name for name in parent.attrib if name.startswith("data-")]:
            del parent.attrib[name]
    group = root.find(f".//{SVG}g[@class='root']")
    if group is not None and (nodes := group.find(f"{SVG}g[@class='nodes']")) is not None:
        # Boxes first, then arrows: some of the tips reach a little into their box.
        group.remove(nodes)
        group.insert(0, nodes)
    return ElementTree.tostring(root, encoding="unicode")
