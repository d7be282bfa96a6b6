"""Mermaid flowcharts as SVG: Graphviz lays out boxes and edges, and this module draws them.

Colours and fonts come from the style sheet, so a diagram follows the page's colours. One node
process lays out all diagrams, because starting Graphviz takes longer than running it.
"""

import html
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from attention_docs.publish.before import mermaid
from attention_docs.publish.before.mermaid import Edge, Flowchart, Node
from attention_docs.publish.before.values import CODE_OR_MATH
from attention_docs.publish.cache import digest, files_digest
from attention_docs.publish.inserts import placeholder
from attention_docs.publish.node import run_node
from attention_docs.publish.project import Project
from attention_docs.render.figures.svg import SUBSCRIPT, with_subscripts

SCRIPT = Path(__file__).with_name("graphviz.mjs")
GRAPHVIZ = Path("@hpcc-js", "wasm-graphviz")
# Lengths are in pixels, and Graphviz's points are taken as pixels.
FONT_SIZE = 14  # in boxes
SMALL_FONT_SIZE = 13  # beside edges
SUBSCRIPT_FONT_SIZE = 11
SUBSCRIPT_DROP = 3
LINE_HEIGHT = 18
# Wider than most system fonts, so that text in any of them fits into its box.
LAYOUT_FONT = "DejaVu Sans"
NODE_ATTRIBUTES = (
    f'shape=box margin="0.12,0.08" width=0 height=0 fontname="{LAYOUT_FONT}" fontsize={FONT_SIZE}'
)
EDGE_ATTRIBUTES = f'arrowsize=0.8 fontname="{LAYOUT_FONT}" fontsize={SMALL_FONT_SIZE}'
GRAPH = (
    "digraph {{ rankdir={}; ordering=out; nodesep=0.35; ranksep=0.45; node [{}]; edge [{}]; {} }}"
)
# Separates a label from its edge.
PADDING = 2 * "\N{NO-BREAK SPACE}"
# Graphviz writes sizes of boxes in inches.
POINTS_PER_INCH = 72
MARGIN = 2
# On a narrow screen, a diagram shrinks to this scale, at which its text has 11 pixels, and scrolls.
MIN_SCALE = 0.85

Point = tuple[float, float]
Flip = Callable[[Point], Point]
GraphvizObject = dict[str, Any]  # a node or an edge in Graphviz's JSON


class Diagrams:
    """The diagrams of a build, drawn from Mermaid code blocks.

    Attributes:
        codes: the Mermaid code of each diagram to draw.
    """

    def __init__(self, project: Project) -> None:
        self.node_modules = project.node_modules
        graphviz = self.node_modules / GRAPHVIZ / "package.json"
        code = files_digest(Path(__file__), Path(mermaid.__file__), SCRIPT, graphviz)
        self.cache = project.cache.with_key("diagrams", code)
        self.codes: set[str] = set()

    def replace_fences(self, markdown: str) -> str:
        """Replace each Mermaid code block by a placeholder for its diagram."""

        def replace_if_mermaid(match: re.Match[str]) -> str:
            language, _, code_and_fence = match[0].lstrip(" `~").partition("\n")
            if not match["fence"] or language.strip() != "mermaid":
                return match[0]
            code = code_and_fence.rpartition("\n")[0]
            self.codes.add(code)
            return f'<div class="diagram">{placeholder(diagram_name(code))}</div>'

        return CODE_OR_MATH.sub(replace_if_mermaid, markdown)

    def draw(self) -> dict[str, str]:
        """Draw all diagrams whose code blocks were replaced.

        Returns:
            The SVG of each, by the name in its placeholder.

        Raises:
            PublishError: if Graphviz fails.
        """
        uncached = sorted(code for code in self.codes if code not in self.cache)
        charts = [mermaid.parse(code) for code in uncached]
        layouts = compute_layouts(charts, self.node_modules)
        for code, chart, layout in zip(uncached, charts, layouts, strict=True):
            self.cache[code] = svg(chart, layout, f"diagram-{diagram_name(code)}")
        return {diagram_name(code): self.cache[code] for code in self.codes}


def diagram_name(code: str) -> str:
    return digest(code)[:8]


def compute_layouts(charts: Iterable[Flowchart], modules: Path) -> list[dict[str, Any]]:
    """Return Graphviz's layout of each flowchart."""
    graphs = [dot_graph(chart) for chart in charts]
    if not graphs:
        return []
    graphviz = modules / GRAPHVIZ / "dist" / "index.js"
    output = run_node(SCRIPT, graphviz, input=json.dumps(graphs), error_prefix="Graphviz failed: ")
    layouts: list[dict[str, Any]] = json.loads(output)
    return layouts


def dot_graph(chart: Flowchart) -> str:
    """Return a flowchart in DOT, Graphviz's language."""
    nodes = (
        f'"{name}" [label={dot_label(node.lines, FONT_SIZE)}]' for name, node in chart.nodes.items()
    )
    out_degree = Counter(edge.tail for edge in chart.edges)
    edges = (
        dot_edge(number, edge, is_fork=out_degree[edge.tail] > 1)
        for number, edge in enumerate(chart.edges)
    )
    statements = "; ".join([*nodes, *edges])
    return GRAPH.format(chart.direction, NODE_ATTRIBUTES, EDGE_ATTRIBUTES, statements)


def dot_edge(number: int, edge: Edge, *, is_fork: bool) -> str:
    """Return an edge in DOT, with its number as its id.

    Edges of a fork are kept short, so that queries, keys and values stand side by side.
    """
    attributes = [f"id={number}"]
    if is_fork:
        attributes.append("weight=2")  # twice the default: Graphviz shortens heavy edges
    if not edge.has_arrow:
        attributes.append("arrowhead=none")
    if edge.label:
        padded = [PADDING + line + PADDING for line in edge.label]
        attributes.append(f"label={dot_label(padded, SMALL_FONT_SIZE)}")
    return f'"{edge.tail}" -> "{edge.head}" [{" ".join(attributes)}]'


def dot_label(lines: Iterable[str], font_size: int) -> str:
    r"""Return lines of text as a label in DOT, for which Graphviz reserves space.

    >>> print(dot_label(["d_k"], 14).replace("><", ">\n<"))
    <<TABLE BORDER="0" CELLSPACING="0" CELLPADDING="0">
    <TR>
    <TD HEIGHT="18">d<FONT POINT-SIZE="11">k</FONT>
    </TD>
    </TR>
    </TABLE>>
    """
    subscript = f'<FONT POINT-SIZE="{SUBSCRIPT_FONT_SIZE}">\\1</FONT>'
    height = LINE_HEIGHT * font_size // FONT_SIZE
    rows = (
        f'<TR><TD HEIGHT="{height}">{SUBSCRIPT.sub(subscript, html.escape(line))}</TD></TR>'
        for line in lines
    )
    return f'<<TABLE BORDER="0" CELLSPACING="0" CELLPADDING="0">{"".join(rows)}</TABLE>>'


def svg(chart: Flowchart, layout: dict[str, Any], id_prefix: str) -> str:
    """Return a flowchart as SVG.

    Args:
        chart: the flowchart.
        layout: its layout, as parsed from Graphviz's JSON.
        id_prefix: the beginning of the ids.
    """
    _, _, width, height = map(float, layout["bb"].split(","))  # the bounding box

    def flip(point: Point) -> Point:
        """Convert a point of Graphviz, whose y axis points up."""
        x, y = point
        return x, height - y

    edges = layout.get("edges", [])
    full_width, full_height = width + 2 * MARGIN, height + 2 * MARGIN
    return (
        f'<svg role="img" aria-labelledby="{id_prefix}-title {id_prefix}-text"'
        f' viewBox="{-MARGIN} {-MARGIN} {rounded(full_width)} {rounded(full_height)}"'
        f' width="{rounded(full_width)}" height="{rounded(full_height)}"'
        f' style="min-width:{rounded(MIN_SCALE * full_width)}px">'
        f'<title id="{id_prefix}-title">{html.escape(chart.title)}</title>'
        f'<desc id="{id_prefix}-text">{html.escape(chart.description)}</desc>'
        f"{edges_svg(edges, flip)}"
        f"{boxes_svg(chart.nodes.values(), layout['objects'], flip)}"
        f"{edge_labels_svg(chart.edges, edges, flip)}</svg>"
    )


def edges_svg(edges: Iterable[GraphvizObject], flip: Flip) -> str:
    """Return all edges as one path, and all arrowheads as another."""
    # In Graphviz's JSON, "_draw_" has the Bézier curve of an edge ("b"), and "_hdraw_" the polygon
    # of its arrowhead ("P").
    curves = [curve_path(map(flip, drawn_points(edge, "_draw_", "b"))) for edge in edges]
    arrowheads = [polygon_path(map(flip, drawn_points(edge, "_hdraw_", "P"))) for edge in edges]
    return (
        f'<path class="lines" d="{"".join(curves)}"/><path class="tips" d="{"".join(arrowheads)}"/>'
    )


def boxes_svg(nodes: Iterable[Node], boxes: Iterable[GraphvizObject], flip: Flip) -> str:
    """Return the boxes of all nodes, which Graphviz lists in the same order."""
    return "".join(
        box_svg(
            node,
            flip(parse_point(box["pos"])),
            float(box["width"]) * POINTS_PER_INCH,
            float(box["height"]) * POINTS_PER_INCH,
        )
        for node, box in zip(nodes, boxes, strict=True)
    )


def edge_labels_svg(chart_edges: list[Edge], edges: Iterable[GraphvizObject], flip: Flip) -> str:
    """Return the labels of the edges that have one.

    Graphviz lists edges in another order than the chart, so `dot_edge` numbers them.
    """
    return "".join(
        # "lp" is the centre of the label.
        edge_label_svg(chart_edges[int(edge["id"])].label, flip(parse_point(edge["lp"])), edge)
        for edge in edges
        if "lp" in edge
    )


def box_svg(node: Node, centre: Point, width: float, height: float) -> str:
    """Return a box with its text as SVG."""
    left, top = centre[0] - width / 2, centre[1] - height / 2
    role = f' class="{node.role}"' if node.role else ""
    return (
        f'<g{role}><rect x="{rounded(left)}" y="{rounded(top)}" width="{rounded(width)}"'
        f' height="{rounded(height)}" rx="4"/>{text_svg(node.lines, centre, FONT_SIZE)}</g>'
    )


def edge_label_svg(lines: tuple[str, ...], centre: Point, edge: GraphvizObject) -> str:
    """Return the label of an edge as SVG, left-aligned where Graphviz starts its text."""
    texts = [operation for operation in edge["_ldraw_"] if operation["op"] == "T"]
    left = min(text["pt"][0] for text in texts)
    padded = tuple(PADDING + line for line in lines)
    return f'<g class="beside">{text_svg(padded, (left, centre[1]), SMALL_FONT_SIZE)}</g>'


def text_svg(lines: tuple[str, ...], centre: Point, font_size: int) -> str:
    """Return lines of text as SVG, vertically centred on a point."""
    x, y = centre
    line_height = LINE_HEIGHT * font_size / FONT_SIZE
    # The baseline lies about a third of the font size below the middle of a line.
    first_baseline = y - line_height * (len(lines) - 1) / 2 + 0.35 * font_size
    return "".join(
        f'<text x="{rounded(x)}" y="{rounded(first_baseline + number * line_height)}">'
        f"{with_subscripts(line, SUBSCRIPT_FONT_SIZE, SUBSCRIPT_DROP)}</text>"
        for number, line in enumerate(lines)
    )


def drawn_points(edge: GraphvizObject, key: str, kind: str) -> list[Point]:
    """Return the points of the first operation of a kind in a list of drawing operations.

    Args:
        edge: an edge in Graphviz's JSON.
        key: the key of the list, such as `_draw_`. An edge without an arrowhead has no `_hdraw_`.
        kind: the kind of the operation, such as `b` for a Bézier curve.

    Returns:
        The points; none if there is no such operation.
    """
    operations = [operation for operation in edge.get(key, []) if operation["op"] == kind]
    return [(x, y) for x, y in operations[0]["points"]] if operations else []


def curve_path(points: Iterable[Point]) -> str:
    start, *control_points = points
    return f"M{coordinates([start])}C{coordinates(control_points)}"


def polygon_path(points: Iterable[Point]) -> str:
    corners = coordinates(points)
    return f"M{corners}Z" if corners else ""


def coordinates(points: Iterable[Point]) -> str:
    return " ".join(f"{rounded(x)},{rounded(y)}" for x, y in points)


def parse_point(position: str) -> Point:
    x, y = position.split(",")
    return float(x), float(y)


def rounded(length: float) -> str:
    """Format a length to a tenth of a pixel.

    >>> rounded(12.04), rounded(-0.01)
    ('12', '0')
    """
    return f"{round(length, 1) + 0:g}"  # adding 0 turns -0.0 into 0.0
