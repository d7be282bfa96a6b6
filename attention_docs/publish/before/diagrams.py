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
LINE_HEIGHT = 18
BASELINE_DROP = 0.35  # from the middle of a line to its baseline, in font sizes
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
# Kinds of drawing operations in Graphviz's JSON.
BEZIER_CURVE, FILLED_POLYGON, TEXT = "b", "P", "T"
MARGIN = 2
# On a narrow screen, a diagram shrinks to this scale, at which its text has 11 pixels, and scrolls.
MIN_SCALE = 0.85

Point = tuple[float, float]
Flip = Callable[[Point], Point]
GraphvizObject = dict[str, Any]  # a node or an edge in Graphviz's JSON


class Diagrams:
    def __init__(self, project: Project) -> None:
        self.node_modules = project.node_modules
        graphviz = self.node_modules / GRAPHVIZ / "package.json"
        digest_of_code = files_digest(Path(__file__), Path(mermaid.__file__), SCRIPT, graphviz)
        self.cache = project.cache.with_version("diagrams", digest_of_code)
        self.codes: set[str] = set()

    def replace_fences(self, markdown: str) -> str:
        """Replace each Mermaid code block by a placeholder for its diagram, which `draw` draws."""

        def replace_if_mermaid(block: re.Match[str]) -> str:
            language, _, code_and_fence = block[0].lstrip(" `~").partition("\n")
            if not block["fence"] or language.strip() != "mermaid":
                return block[0]
            code = code_and_fence.rpartition("\n")[0]
            self.codes.add(code)
            return f'<div class="diagram">{placeholder(diagram_name(code))}</div>'

        return CODE_OR_MATH.sub(replace_if_mermaid, markdown)

    def draw(self) -> dict[str, str]:
        """Draw all diagrams whose code blocks were replaced.

        Returns:
            The SVG of each, by the name in its placeholder.
        """
        uncached = sorted(code for code in self.codes if code not in self.cache)
        charts = [mermaid.parse(code) for code in uncached]
        layouts = compute_layouts(charts, self.node_modules)
        for code, chart, layout in zip(uncached, charts, layouts, strict=True):
            self.cache[code] = svg(chart, layout, f"diagram-{diagram_name(code)}")
        return {diagram_name(code): self.cache[code] for code in self.codes}


def diagram_name(code: str) -> str:
    """Return the name of a diagram in placeholders and ids: a digest of its Mermaid code."""
    return digest(code)[:8]


def compute_layouts(charts: Iterable[Flowchart], node_modules: Path) -> list[dict[str, Any]]:
    """Return Graphviz's layout of each flowchart, as parsed from JSON."""
    graphs = [dot_graph(chart) for chart in charts]
    if not graphs:
        return []
    graphviz = node_modules / GRAPHVIZ / "dist" / "index.js"
    output = run_node(SCRIPT, graphviz, input=json.dumps(graphs), error_prefix="Graphviz failed: ")
    layouts: list[dict[str, Any]] = json.loads(output)
    return layouts


def dot_graph(chart: Flowchart) -> str:
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
    """Return an edge in DOT.

    Args:
        is_fork: whether other edges have the same tail. Such edges are kept short, so that queries,
            keys and values stand side by side.
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
    _left, _bottom, width, height = map(float, layout["bb"].split(","))  # the bounding box

    def flip(point: Point) -> Point:
        """Convert a point from Graphviz, whose y axis points up, to SVG, where it points down."""
        x, y = point
        return x, height - y

    edges = layout.get("edges", [])
    full_width, full_height = width + 2 * MARGIN, height + 2 * MARGIN
    return (
        f'<svg role="img" aria-describedby="{id_prefix}-text"'
        f' viewBox="{-MARGIN} {-MARGIN} {rounded(full_width)} {rounded(full_height)}"'
        f' width="{rounded(full_width)}" height="{rounded(full_height)}"'
        f' style="min-width:{rounded(MIN_SCALE * full_width)}px">'
        f"<title>{html.escape(chart.title)}</title>"
        f'<desc id="{id_prefix}-text">{html.escape(chart.description)}</desc>'
        f"{edges_svg(edges, flip)}"
        f"{boxes_svg(chart.nodes.values(), layout['objects'], flip)}"
        f"{edge_labels_svg(chart.edges, edges, flip)}</svg>"
    )


def edges_svg(edges: Iterable[GraphvizObject], flip: Flip) -> str:
    """Return all edges as one path, and all arrowheads as another."""
    curves = ""
    arrowheads = ""
    for edge in edges:
        curve_points = drawn_points(edge, "_draw_", BEZIER_CURVE)
        curves += curve_path(map(flip, curve_points))
        arrowhead_corners = drawn_points(edge, "_hdraw_", FILLED_POLYGON)
        arrowheads += polygon_path(map(flip, arrowhead_corners))
    return f'<path class="lines" d="{curves}"/><path class="tips" d="{arrowheads}"/>'


def boxes_svg(nodes: Iterable[Node], boxes: Iterable[GraphvizObject], flip: Flip) -> str:
    """Return the boxes of all nodes as SVG.

    Args:
        boxes: the same nodes in Graphviz's JSON, in the same order.
    """
    drawn_boxes = []
    for node, box in zip(nodes, boxes, strict=True):
        centre = flip(parse_point(box["pos"]))
        width = float(box["width"]) * POINTS_PER_INCH
        height = float(box["height"]) * POINTS_PER_INCH
        drawn_boxes.append(box_svg(node, centre, width, height))
    return "".join(drawn_boxes)


def edge_labels_svg(chart_edges: list[Edge], edges: Iterable[GraphvizObject], flip: Flip) -> str:
    """Return the labels of the edges that have one, as SVG.

    Args:
        edges: the edges in Graphviz's JSON, in another order; their ids are positions in the chart.
    """
    drawn_labels = []
    for edge in edges:
        label = chart_edges[int(edge["id"])].label
        if label:
            label_centre = flip(parse_point(edge["lp"]))
            drawn_labels.append(edge_label_svg(label, label_centre, edge))
    return "".join(drawn_labels)


def box_svg(node: Node, centre: Point, width: float, height: float) -> str:
    x, y = centre
    left = x - width / 2
    top = y - height / 2
    css_class = f' class="{node.role}"' if node.role else ""
    return (
        f'<g{css_class}><rect x="{rounded(left)}" y="{rounded(top)}" width="{rounded(width)}"'
        f' height="{rounded(height)}" rx="4"/>{text_svg(node.lines, centre, FONT_SIZE)}</g>'
    )


def edge_label_svg(lines: tuple[str, ...], centre: Point, edge: GraphvizObject) -> str:
    """Return the label of an edge as SVG, left-aligned where Graphviz starts its text."""
    texts = [operation for operation in edge["_ldraw_"] if operation["op"] == TEXT]
    left = min(text["pt"][0] for text in texts)
    _, y = centre
    padded = tuple(PADDING + line for line in lines)
    return f'<g class="beside">{text_svg(padded, (left, y), SMALL_FONT_SIZE)}</g>'


def text_svg(lines: tuple[str, ...], position: Point, font_size: int) -> str:
    """Return lines of text as SVG, with the middle of the lines at the height of a position."""
    x, y = position
    line_height = LINE_HEIGHT * font_size / FONT_SIZE
    first_baseline = y - line_height * (len(lines) - 1) / 2 + BASELINE_DROP * font_size
    return "".join(
        f'<text x="{rounded(x)}" y="{rounded(first_baseline + number * line_height)}">'
        f"{with_subscripts(line, SUBSCRIPT_FONT_SIZE)}</text>"
        for number, line in enumerate(lines)
    )


def drawn_points(edge: GraphvizObject, key: str, kind: str) -> list[Point]:
    """Return the points by which Graphviz draws an edge or its arrowhead.

    Args:
        key: the key of its drawing operations: `_draw_` for the edge, `_hdraw_` for the arrowhead.
        kind: the kind of the operation to return, of which there is one.

    Returns:
        The points of the operation; none if the edge has no arrowhead.
    """
    operations = [operation for operation in edge.get(key, []) if operation["op"] == kind]
    return [(x, y) for x, y in operations[0]["points"]] if operations else []


def curve_path(points: Iterable[Point]) -> str:
    """Return a Bézier curve in the syntax of SVG's paths, from its start and control points."""
    start, *control_points = points
    return f"M{coordinates([start])}C{coordinates(control_points)}"


def polygon_path(corners: Iterable[Point]) -> str:
    """Return a polygon in the syntax of SVG's paths; it is empty without corners."""
    path = coordinates(corners)
    return f"M{path}Z" if path else ""


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
