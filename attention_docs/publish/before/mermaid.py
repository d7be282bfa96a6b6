"""Parser for the subset of Mermaid flowcharts that the pages use.

GitHub draws the same code blocks with all of Mermaid. Unsupported syntax is an error here, so that
no diagram is published incomplete.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

HEADER = re.compile(r"graph (?P<direction>TB|LR)")
ACCESSIBLE_TEXT = re.compile(r"(?P<name>accTitle|accDescr): (?P<text>\S.*)")
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
    """A box with lines of text, in the colour of a role."""

    lines: tuple[str, ...]
    role: str = ""


class Edge(NamedTuple):
    """An edge from one node to another, by their names, with the lines of its label."""

    tail: str
    head: str
    label: tuple[str, ...] = ()
    has_arrow: bool = True


class Flowchart(NamedTuple):
    direction: str
    title: str
    description: str
    nodes: dict[str, Node]
    edges: list[Edge]


def parse(code: str) -> Flowchart:
    first_line, *lines = [line.strip() for line in code.strip().splitlines()]
    header = HEADER.fullmatch(first_line)
    if not header:
        raise ValueError(f"{first_line!r} is not understood; expected graph TB or graph LR")
    texts: dict[str, str] = {}
    statements: list[str] = []
    for line in lines:
        accessible_text = ACCESSIBLE_TEXT.fullmatch(line)
        if accessible_text:
            texts[accessible_text["name"]] = accessible_text["text"]
        elif line:
            statements.append(line)
    for name in ("accTitle", "accDescr"):
        if name not in texts:
            raise ValueError(f"the line `{name}: ...` is missing, the text for a screen reader")
    nodes: dict[str, Node] = {}
    edges: list[Edge] = []
    for statement in statements:
        edges += parse_statement(statement, nodes)
    return Flowchart(header["direction"], texts["accTitle"], texts["accDescr"], nodes, edges)


def parse_statement(line: str, nodes: dict[str, Node]) -> list[Edge]:
    """Add the nodes of a line to `nodes`, and return its edges.

    In `A & B --> C["Third"]:::key`, for example, edges lead from A and from B to C.

    Args:
        nodes: the nodes of the flowchart by name, which may have some of the line's already.
    """
    edges: list[Edge] = []
    edge_token = None  # the last one
    tails: list[str] = []  # the names on its left
    heads: list[str] = []  # the names on its right so far
    expects_name = True
    for token in tokens(line):
        if bool(token["name"]) is not expects_name:
            raise ValueError(f"{line!r} is not understood at {token[0].strip()!r}")
        if name := token["name"]:
            heads.append(name)
            # A node without a text shows its name, and a later mention keeps text and role.
            node = nodes.get(name, Node((name,)))
            text = token["quoted"] or token["unquoted"]
            lines = split_lines(text) if text else node.lines
            nodes[name] = Node(lines, token["role"] or node.role)
        elif token["edge"]:
            edges += edges_between(tails, heads, edge_token)
            tails, heads, edge_token = heads, [], token
        expects_name = not expects_name
    if expects_name:
        raise ValueError(f"{line!r} is not understood: it ends where a name is expected")
    return edges + edges_between(tails, heads, edge_token)


def tokens(line: str) -> Iterator[re.Match[str]]:
    end = 0
    while end < len(line):
        token = TOKEN.match(line, end)
        if not token:
            raise ValueError(f"{line!r} is not understood at {line[end:]!r}")
        yield token
        end = token.end()


def edges_between(tails: list[str], heads: list[str], token: re.Match[str] | None) -> list[Edge]:
    """Return an edge from each node on the left of an edge token to each on its right.

    Without a token, which is so before the first one of a line, there are no edges.
    """
    if not token:
        return []
    label = split_lines(token["label"]) if token["label"] else ()
    has_arrow = token["edge"] == "-->"
    return [Edge(tail, head, label, has_arrow) for tail in tails for head in heads]


def split_lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in LINE_BREAK.split(text))
