"""Parser for the subset of Mermaid flowcharts that the pages use.

GitHub draws the same code blocks with all of Mermaid. Unsupported syntax is an error here, so that
no diagram is published incomplete.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

HEADER = re.compile(r"graph (TB|LR)")
ACCESSIBLE_TEXT = re.compile(r"(accTitle|accDescr): (\S.*)")
# A node, like A["First line<br/>second line"]:::role or just A; an edge; or &.
TOKEN = re.compile(
    r"""
    (?: (?P<name>\w+) (?:\["(?P<quoted>[^"]+)"\] | \[(?P<unquoted>[^\]"]+)\])? (?::::(?P<role>\w+))?
    | (?P<edge>-->|---) (?:\|"(?P<label>[^"|]+)"\|)?
    | (?P<ampersand>&)
    ) \s*
    """,
    re.VERBOSE,
)
LINE_BREAK = re.compile(r"<br ?/?>")


class Node(NamedTuple):
    """A box with lines of text."""

    lines: tuple[str, ...]
    role: str = ""


class Edge(NamedTuple):
    """An edge between two nodes, by their names."""

    tail: str
    head: str
    label: tuple[str, ...] = ()
    arrow: bool = True


class Flowchart(NamedTuple):
    """A flowchart: nodes by name, and the edges between them."""

    direction: str
    title: str
    description: str
    nodes: dict[str, Node]
    edges: list[Edge]


def parse(code: str) -> Flowchart:
    """Parse a flowchart.

    Raises:
        ValueError: if a line is not understood, or the title or description is missing.

    >>> chart = parse('graph LR\\naccTitle: T\\naccDescr: D\\nA["Keys"]:::key -->|"W_K"| B & C')
    >>> chart.nodes["A"]
    Node(lines=('Keys',), role='key')
    >>> chart.edges[0]
    Edge(tail='A', head='B', label=('W_K',), arrow=True)
    """
    first_line, *lines = [line.strip() for line in code.strip().splitlines()]
    header = HEADER.fullmatch(first_line)
    if not header:
        raise ValueError(f"{first_line!r} is not understood; expected graph TB or graph LR")
    matches = map(ACCESSIBLE_TEXT.fullmatch, lines)
    texts = {match[1]: match[2] for match in matches if match}
    statements = [line for line in lines if line and not ACCESSIBLE_TEXT.fullmatch(line)]
    for name in ("accTitle", "accDescr"):
        if name not in texts:
            raise ValueError(f"the line `{name}: ...` is missing, the text for a screen reader")
    nodes: dict[str, Node] = {}
    edges = [edge for statement in statements for edge in parse_statement(statement, nodes)]
    return Flowchart(header[1], texts["accTitle"], texts["accDescr"], nodes, edges)


def parse_statement(line: str, nodes: dict[str, Node]) -> list[Edge]:
    """Parse a line such as `A & B --> C["Third"]:::key`, add its nodes and return its edges.

    Raises:
        ValueError: if it is not understood.
    """
    edges: list[Edge] = []
    tails: list[str] = []  # the names on the left of the last edge token
    heads: list[str] = []  # the names on its right so far
    edge_token = None
    expects_name = True  # names alternate with & or edges
    for token in tokens(line):
        if bool(token["name"]) is not expects_name:
            raise ValueError(f"{line!r} is not understood at {token[0].strip()!r}")
        if token["name"]:
            heads.append(token["name"])
            declare_node(token, nodes)
        elif token["edge"]:
            edges += edges_between(tails, heads, edge_token)
            tails, heads, edge_token = heads, [], token
        expects_name = not expects_name
    if expects_name:
        raise ValueError(f"{line!r} is not understood: it ends where a name is expected")
    return edges + edges_between(tails, heads, edge_token)


def tokens(line: str) -> Iterator[re.Match[str]]:
    """Split a line into matches of TOKEN.

    Raises:
        ValueError: if something else is between them.
    """
    end = 0
    while end < len(line):
        token = TOKEN.match(line, end)
        if not token:
            raise ValueError(f"{line!r} is not understood at {line[end:]!r}")
        yield token
        end = token.end()


def declare_node(token: re.Match[str], nodes: dict[str, Node]) -> None:
    """Add a node, which shows its name if it has no text, or update its text and role."""
    name, text = token["name"], token["quoted"] or token["unquoted"]
    earlier = nodes.get(name, Node((name,)))
    nodes[name] = Node(
        lines=split_lines(text) if text else earlier.lines, role=token["role"] or earlier.role
    )


def edges_between(tails: list[str], heads: list[str], token: re.Match[str] | None) -> list[Edge]:
    """Connect each node on the left of an edge token with each on its right."""
    if not token:
        return []
    label = split_lines(token["label"]) if token["label"] else ()
    has_arrow = token["edge"] == "-->"
    return [Edge(tail, head, label, has_arrow) for tail in tails for head in heads]


def split_lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in LINE_BREAK.split(text))
