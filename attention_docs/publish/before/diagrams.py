"""Mermaid flowcharts as SVG: Graphviz places boxes and lines, and this module draws them.

Colours and fonts come from the style sheet, so a diagram follows the page's colours. All diagrams
of a build are placed in one node process, because to start Graphviz takes longer than to run it.
"""

import html
import json
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from attention_docs.publish.before import mermaid
from attention_docs.publish.before.mermaid import Edge, Flowchart, Node
from attention_docs.publish.before.values import CODE_OR_MATH
from attention_docs.publish.cache import digest, sources_digest
from attention_docs.publish.node import run_node
from attention_docs.publish.parts import placeholder
from attention_docs.publish.project import Project

SCRIPT = Path(__file__).with_name("graphviz.mjs")
GRAPHVIZ = Path("@hpcc-js", "wasm-graphviz")
# Sizes in pixels, of which Graphviz's points are one each.
FONT, SMALL_FONT, SUBSCRIPT_FONT = 16, 14, 11
LINE = 20
# Of the fonts that systems have for their own texts this is a wide one, so the others fit too.
WIDE_FONT = "DejaVu Sans"
NODES = f'shape=box margin="0.12,0.08" width=0 height=0 fontname="{WIDE_FONT}" fontsize={FONT}'
EDGES = f'arrowsize=0.8 fontname="{WIDE_FONT}" fontsize={SMALL_FONT}'
GRAPH = (
    "digraph {{ rankdir={}; ordering=out; nodesep=0.35; ranksep=0.45; node [{}]; edge [{}]; {} }}"
)
# Keeps the text beside a line away from it.
SPACE = "\N{NO-BREAK SPACE}"
# Graphviz writes a length in inches, and counts from the bottom.
INCH = 72
# W_Q, d_model: the part after the line is an index.
INDEX = re.compile(r"(?<=\b[A-Za-z])_([A-Za-z]+)")
MARGIN = 2
# What is wider than a phone shrinks to this at most, and then scrolls.
SMALLEST = 0.7


class Diagrams:
    """The diagrams of a build: each fence of Mermaid becomes its drawing."""

    def __init__(self, project: Project) -> None:
        self.modules = project.modules
        package = self.modules / GRAPHVIZ / "package.json"
        drawn_by = (Path(__file__), Path(mermaid.__file__), SCRIPT, package)
        self.cache = project.cache.part("diagrams", sources_digest(*drawn_by))
        self.sources: set[str] = set()

    def replace_fences(self, markdown: str) -> str:
        """Put a placeholder for its drawing in the place of each diagram."""

        def replace(found: re.Match[str]) -> str:
            language, _, rest = found[0].lstrip(" `~").partition("\n")
            if not found["fence"] or language.strip() != "mermaid":
                return found[0]
            source = rest.rpartition("\n")[0]
            self.sources.add(source)
            return f'<div class="diagram">{placeholder(name_of(source))}</div>'

        return CODE_OR_MATH.sub(replace, markdown)

    def draw(self) -> dict[str, str]:
        """Draw the diagrams, and return them by the names in their placeholders.

        Raises:
            PublishError: if Graphviz fails.
        """
        new = sorted(source for source in self.sources if source not in self.cache)
        charts = [mermaid.parse(source) for source in new]
        for source, chart, placed in zip(new, charts, places(charts, self.modules), strict=True):
            self.cache[source] = svg(chart, placed, f"diagram-{name_of(source)}")
        return {name_of(source): self.cache[source] for source in self.sources}


def name_of(source: str) -> str:
    return digest(source)[:8]


def places(charts: Iterable[Flowchart], modules: Path) -> list[dict[str, Any]]:
    """Let Graphviz place the boxes and lines of each diagram, in one node process."""
    graphs = [graph(chart) for chart in charts]
    if not graphs:
        return []
    graphviz = modules / GRAPHVIZ / "dist" / "index.js"
    output = run_node(SCRIPT, graphviz, input=json.dumps(graphs), error_prefix="Graphviz failed: ")
    placed: list[dict[str, Any]] = json.loads(output)
    return placed


def graph(chart: Flowchart) -> str:
    """Write a flowchart in Graphviz' language."""
    boxes = (f'"{name}" [label={label(box.lines, FONT)}]' for name, box in chart.nodes.items())
    out = Counter(edge.tail for edge in chart.edges)
    lines = (
        edge_line(number, edge, fork=out[edge.tail] > 1) for number, edge in enumerate(chart.edges)
    )
    return GRAPH.format(chart.direction, NODES, EDGES, "; ".join([*boxes, *lines]))


def edge_line(number: int, edge: Edge, *, fork: bool) -> str:
    """Write a line between two boxes in Graphviz' language, with its number as its id.

    The lines of a fork are kept short, so that queries, keys and values stand side by side.
    """
    attributes = [f"id={number}"]
    if fork:
        attributes.append("weight=2")
    if not edge.arrow:
        attributes.append("arrowhead=none")
    if edge.label:
        spaced = [SPACE + line + SPACE for line in edge.label]
        attributes.append(f"label={label(spaced, SMALL_FONT)}")
    return f'"{edge.tail}" -> "{edge.head}" [{" ".join(attributes)}]'


def label(lines: Iterable[str], font: int) -> str:
    r"""Write lines of text in Graphviz' language, so that it leaves room for them.

    >>> print(label(["d_k"], 16).replace("><", ">\n<"))
    <<TABLE BORDER="0" CELLSPACING="0" CELLPADDING="0">
    <TR>
    <TD HEIGHT="20">d<FONT POINT-SIZE="11">k</FONT>
    </TD>
    </TR>
    </TABLE>>
    """
    small = f'<FONT POINT-SIZE="{SUBSCRIPT_FONT}">\\1</FONT>'
    height = LINE * font // FONT
    rows = (
        f'<TR><TD HEIGHT="{height}">{INDEX.sub(small, html.escape(line))}</TD></TR>'
        for line in lines
    )
    return f'<<TABLE BORDER="0" CELLSPACING="0" CELLPADDING="0">{"".join(rows)}</TABLE>>'


def svg(chart: Flowchart, placed: dict[str, Any], name: str) -> str:
    """Draw a flowchart.

    Args:
        chart: the boxes and lines.
        placed: where Graphviz puts them, in its JSON.
        name: the beginning of the ids.
    """
    width, height = (float(side) for side in placed["bb"].split(",")[2:])

    def at(x: float, y: float) -> tuple[float, float]:
        return x, height - y

    boxes = (
        box(node, at(*point(found["pos"])), float(found["width"]), float(found["height"]))
        for node, found in zip(chart.nodes.values(), placed["objects"], strict=True)
    )
    edges = placed.get("edges", [])
    curves = (curve([at(*p) for p in operation(edge, "_draw_", "b")]) for edge in edges)
    tips = (polygon([at(*p) for p in operation(edge, "_hdraw_", "P")]) for edge in edges)
    labels = (
        beside(chart.edges[int(edge["id"])].label, at(*point(edge["lp"])), edge)
        for edge in edges
        if "lp" in edge
    )
    wide, high = width + 2 * MARGIN, height + 2 * MARGIN
    return (
        f'<svg role="img" aria-labelledby="{name}-title {name}-text"'
        f' viewBox="{-MARGIN} {-MARGIN} {short(wide)} {short(high)}"'
        f' width="{short(wide)}" height="{short(high)}"'
        f' style="min-width:{short(SMALLEST * wide)}px">'
        f'<title id="{name}-title">{html.escape(chart.title)}</title>'
        f'<desc id="{name}-text">{html.escape(chart.description)}</desc>'
        f'<path class="lines" d="{"".join(curves)}"/><path class="tips" d="{"".join(tips)}"/>'
        f"{''.join(boxes)}{''.join(labels)}</svg>"
    )


def box(node: Node, centre: tuple[float, float], width: float, height: float) -> str:
    width, height = width * INCH, height * INCH
    left, top = centre[0] - width / 2, centre[1] - height / 2
    role = f' class="{node.role}"' if node.role else ""
    return (
        f'<g{role}><rect x="{short(left)}" y="{short(top)}" width="{short(width)}"'
        f' height="{short(height)}" rx="4"/>{text(node.lines, centre, FONT)}</g>'
    )


def beside(lines: tuple[str, ...], centre: tuple[float, float], edge: dict[str, Any]) -> str:
    """Write the text beside a line, beginning where Graphviz begins it."""
    start = min(found["pt"][0] for found in edge["_ldraw_"] if found["op"] == "T")
    spaced = tuple(SPACE + line for line in lines)
    return f'<g class="beside">{text(spaced, (start, centre[1]), SMALL_FONT)}</g>'


def text(lines: tuple[str, ...], centre: tuple[float, float], font: int) -> str:
    """Write lines of text above and below a point."""
    x, y = centre
    pitch = LINE * font / FONT
    # The base of a letter lies a third of its size below the middle of its line.
    first = y - pitch * (len(lines) - 1) / 2 + 0.35 * font
    return "".join(
        f'<text x="{short(x)}" y="{short(first + number * pitch)}">{indexed(line)}</text>'
        for number, line in enumerate(lines)
    )


def indexed(line: str) -> str:
    """Write a line of text with its indices lowered.

    >>> indexed("m × d_k rows")
    'm × d<tspan dy="4" font-size="11">k</tspan><tspan dy="-4"> rows</tspan>'
    """
    first, *rest = INDEX.split(html.escape(line))
    pairs = zip(rest[::2], rest[1::2], strict=True)
    lowered = (
        f'<tspan dy="4" font-size="{SUBSCRIPT_FONT}">{index}</tspan>'
        + (f'<tspan dy="-4">{after}</tspan>' if after else "")
        for index, after in pairs
    )
    return first + "".join(lowered)


def operation(edge: dict[str, Any], part: str, kind: str) -> list[tuple[float, float]]:
    """Return the points of the one thing of a kind that Graphviz draws for an edge, if any."""
    return next((found["points"] for found in edge.get(part, []) if found["op"] == kind), [])


def curve(points: list[tuple[float, float]]) -> str:
    first, *rest = points
    return f"M{coordinates([first])}C{coordinates(rest)}"


def polygon(points: list[tuple[float, float]]) -> str:
    return f"M{coordinates(points)}Z" if points else ""


def coordinates(points: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{short(x)},{short(y)}" for x, y in points)


def point(position: str) -> tuple[float, float]:
    x, y = position.split(",")
    return float(x), float(y)


def short(length: float) -> str:
    """Write a length to a tenth of a pixel.

    >>> short(12.04), short(-0.01)
    ('12', '0')
    """
    return f"{round(length, 1) + 0:g}"
