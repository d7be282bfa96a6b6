"""Mermaid diagrams as SVG, drawn while the site is built and without a browser."""

import hashlib
import html
import json
import logging
import os
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from pymdownx.superfences import SuperFencesException

from attention_docs.publish.cache import Cache

try:
    import merman
except ImportError:  # no wheel for this platform
    merman = None  # type: ignore[assignment]

# A child of MkDocs' logger, so a strict build counts its warnings.
log = logging.getLogger("mkdocs.attention_docs.diagrams")
NO_WHEEL = "merman has no wheel for this platform: a diagram is shown as its source"

OPTIONS = {"htmlLabels": False, "theme": "default", "flowchart": {"htmlLabels": False}}
SVG = "{http://www.w3.org/2000/svg}"
ElementTree.register_namespace("", SVG.strip("{}"))


class Diagrams:
    """The diagrams of a build, drawn at most once each.

    Args:
        cache: the SVG of each source that was drawn before.
        defer: stores a drawing, and returns a placeholder for it.
    """

    def __init__(self, cache: Cache, defer: Callable[[str], str]) -> None:
        self.cache = cache
        self.defer = defer

    def fence(
        self, source: str, language: str, css_class: str, options: Any, md: Any, **_: Any
    ) -> str:
        """Write the HTML of a diagram: a formatter for SuperFences.

        Raises:
            SuperFencesException: if the diagram is wrong or has no text for a screen reader.
        """
        if merman is None:
            # CI builds what is published, which must not lack a diagram.
            log.log(logging.WARNING if "CI" in os.environ else logging.INFO, NO_WHEEL)
            return f"<pre><code>{html.escape(source)}</code></pre>"
        try:
            return self.defer(f'<div class="diagram">{self.svg(source)}</div>')
        except ValueError as error:
            raise SuperFencesException(f"mermaid: {error} in\n{source}") from error

    def check(self, source: str) -> None:
        """Check that a diagram can be drawn, if merman is installed.

        Raises:
            ValueError: if the diagram is wrong or has no text for a screen reader.
        """
        if merman:
            self.svg(source)

    def svg(self, source: str) -> str:
        """Return the SVG of a diagram, from the cache if it was drawn before."""
        if source not in self.cache:
            self.cache[source] = draw(source)
        return self.cache[source]


def diagram_cache(root: Path) -> Cache:
    """Return the diagrams of the last build, if this merman and this module drew them."""
    setting = (Path(__file__).read_bytes(), version("merman") if merman else "")
    return Cache(root / ".cache" / "diagrams.json", *setting)


def draw(source: str) -> str:
    """Return the SVG of a Mermaid diagram; colours and fonts come from the style sheet.

    Raises:
        ValueError: if Mermaid rejects it, or `accTitle` or `accDescr` is missing.
    """
    for line in ("accTitle:", "accDescr:"):
        if line not in source:
            raise ValueError(f"the line `{line} ...` is missing, the text for a screen reader")
    name = "diagram-" + hashlib.sha256(source.encode()).hexdigest()[:8]
    options = {"svg": {"diagram_id": name}, "site_config": OPTIONS}
    try:
        svg: str = merman.Merman().render_svg(source, json.dumps(options))
    except merman.MermanError as error:
        raise ValueError(getattr(error, "message", str(error))) from error
    return slim(svg)


def slim(svg: str) -> str:
    """Remove what the style sheet replaces and what nothing uses, and set the true size."""
    root = ElementTree.fromstring(svg)
    _, _, width, height = root.attrib["viewBox"].split()
    root.attrib.update(role="img", width=width, height=height)
    del root.attrib["style"]
    for parent in list(root.iter()):
        for child in list(parent):
            unused = child.tag == f"{SVG}marker" and f"url(#{child.attrib['id']})" not in svg
            if unused or child.tag in (f"{SVG}style", f"{SVG}defs"):
                parent.remove(child)
        # The layout algorithm's own notes.
        for name in [name for name in parent.attrib if name.startswith("data-")]:
            del parent.attrib[name]
    draw_nodes_first(root)
    return ElementTree.tostring(root, encoding="unicode")


def draw_nodes_first(root: ElementTree.Element) -> None:
    """Move the nodes below the arrows, some of whose heads overlap a node's border."""
    group = root.find(f".//{SVG}g[@class='root']")
    if group is not None and (nodes := group.find(f"{SVG}g[@class='nodes']")) is not None:
        group.remove(nodes)
        group.insert(0, nodes)
