"""Mermaid flowcharts as SVG, drawn by Graphviz.

Colours and fonts come from the style sheet, so a diagram follows the page's colours. One node
process draws all diagrams, because starting Graphviz takes longer than running it.
"""

import html
import json
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from attention_docs.publish.before import mermaid, values
from attention_docs.publish.cache import digest, files_digest
from attention_docs.publish.inserts import placeholder
from attention_docs.publish.node import run_node
from attention_docs.publish.project import Project
from attention_docs.render.figures.svg import with_subscripts

SCRIPT = Path(__file__).with_name("graphviz.mjs")
GRAPHVIZ = Path("@hpcc-js", "wasm-graphviz")
SUBSCRIPT_FONT_SIZE = 11
# Points are taken as pixels, and the style sheet has the same sizes of fonts. DejaVu Sans is wider
# than most system fonts, so that text in any of them fits into its box.
GRAPH = (
    "digraph {{ rankdir={}; ordering=out; nodesep=0.35; ranksep=0.45; bgcolor=transparent;"
    ' node [shape=box margin="0.12,0.08" width=0 height=0 fontname="DejaVu Sans" fontsize=14];'
    ' edge [arrowsize=0.8 fontname="DejaVu Sans" fontsize=13]; {} }}'
)
# Separates a label from its edge.
PADDING = 2 * "\N{NO-BREAK SPACE}"
# What the style sheet sets, and the names of nodes, which browsers would show.
DROPPED = re.compile(
    r"""
    \n | <!--.*?--> | <title>.*?</title> | scale\(1[ ]1\)[ ]rotate\(0\)[ ]
    | [ ](?:id|fill|stroke|font-\w+|text-anchor|xml:space)="[^"]*"
    """,
    re.DOTALL | re.VERBOSE,
)
# A number in a tag.
NUMBER = re.compile(r"-?\d+\.\d+(?=[^<>]*>)")
TEXT = re.compile("(?<=>)[^<>]+(?=</text>)")
# On a narrow screen, a diagram shrinks to this scale, at which its text has 11 pixels, and scrolls.
MIN_SCALE = 0.85


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

        return values.CODE_OR_MATH.sub(replace_if_mermaid, markdown)

    def draw(self) -> dict[str, str]:
        """Return the SVG of each diagram by the name in its placeholder."""
        uncached = sorted(code for code in self.codes if code not in self.cache)
        if uncached:
            charts = [mermaid.parse(code) for code in uncached]
            graphviz = self.node_modules / GRAPHVIZ / "dist" / "index.js"
            graphs = json.dumps([dot_graph(chart) for chart in charts])
            output = run_node(SCRIPT, graphviz, input=graphs, error_prefix="Graphviz failed: ")
            for code, chart, drawing in zip(uncached, charts, json.loads(output), strict=True):
                self.cache[code] = svg(chart, drawing, f"diagram-{diagram_name(code)}")
        return {diagram_name(code): self.cache[code] for code in self.codes}


def diagram_name(code: str) -> str:
    """Return the name of a diagram in placeholders and ids: a digest of its Mermaid code."""
    return digest(code)[:8]


def dot_graph(chart: mermaid.Flowchart) -> str:
    r"""Return a flowchart in DOT.

    Edges that share a tail are kept short, so that queries, keys and values stand side by side.
    """
    statements = []
    for name, node in chart.nodes.items():
        label = dot_label(node.lines, "n")
        statements.append(f'"{name}" [label={label} class="{node.role}"]')
    out_degree = Counter(edge.tail for edge in chart.edges)
    for edge in chart.edges:
        label = dot_label([PADDING + line + PADDING for line in edge.label], "l")
        weight = 2 if out_degree[edge.tail] > 1 else 1  # Graphviz shortens heavy edges
        arrowhead = "normal" if edge.has_arrow else "none"
        statements.append(
            f'"{edge.tail}" -> "{edge.head}" [label={label} weight={weight} arrowhead={arrowhead}]'
        )
    return GRAPH.format(chart.direction, "; ".join(statements))


def dot_label(lines: Iterable[str], alignment: str) -> str:
    """Return lines of text as a label in DOT: `n` centres each, and `l` aligns it to the left."""
    return '"' + "".join(f"{html.escape(line)}\\{alignment}" for line in lines) + '"'


def svg(chart: mermaid.Flowchart, drawing: str, id_prefix: str) -> str:
    """Return Graphviz's drawing of a flowchart without its colours and fonts, and described."""
    width, height = re.findall(r'(?:width|height)="(\d+)pt"', drawing)
    body = DROPPED.sub("", drawing[drawing.index("<g ") : drawing.rindex("</svg>")])
    body = NUMBER.sub(lambda number: f"{round(float(number[0]), 1):g}", body)
    body = TEXT.sub(lambda text: with_subscripts(html.unescape(text[0]), SUBSCRIPT_FONT_SIZE), body)
    return (
        f'<svg role="img" aria-describedby="{id_prefix}-text" viewBox="0 0 {width} {height}"'
        f' width="{width}" height="{height}" style="min-width:{MIN_SCALE * int(width):.0f}px">'
        f"<title>{html.escape(chart.title)}</title>"
        f'<desc id="{id_prefix}-text">{html.escape(chart.description)}</desc>{body}</svg>'
    )
