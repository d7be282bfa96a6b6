"""Flowcharts in Mermaid, the language of the pages' diagrams, as far as the pages use it.

GitHub draws the same fences, and reads far more of the language. What is not known here is an
error, so that no diagram is published with something missing.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

HEADER = re.compile(r"graph (TB|LR)")
TEXT = re.compile(r"(accTitle|accDescr): (\S.*)")
# A["First line<br/>second line"]:::role, where only the name is needed, --> or ---, and &.
TOKEN = re.compile(
    r"""
    (?: (?P<name>\w+) (?:\["(?P<quoted>[^"]+)"\] | \[(?P<plain>[^\]"]+)\])? (?::::(?P<role>\w+))?
    | (?P<line>-->|---) (?:\|"(?P<label>[^"|]+)"\|)?
    | (?P<other>&)
    ) \s*
    """,
    re.VERBOSE,
)
LINE_BREAK = re.compile(r"<br ?/?>")


class Node(NamedTuple):
    """A box, with its lines of text."""

    lines: tuple[str, ...]
    role: str = ""


class Edge(NamedTuple):
    """A line between two boxes, by their names."""

    tail: str
    head: str
    label: tuple[str, ...] = ()
    arrow: bool = True


class Flowchart(NamedTuple):
    """A diagram: boxes by their names, and the lines between them."""

    direction: str
    title: str
    description: str
    nodes: dict[str, Node]
    edges: list[Edge]


def parse(source: str) -> Flowchart:
    """Read a flowchart.

    Raises:
        ValueError: if a line is not understood, or the title or description is missing.

    >>> chart = parse('graph LR\\naccTitle: T\\naccDescr: D\\nA["Keys"]:::key -->|"W_K"| B & C')
    >>> chart.nodes["A"]
    Node(lines=('Keys',), role='key')
    >>> chart.edges[0]
    Edge(tail='A', head='B', label=('W_K',), arrow=True)
    """
    first, *lines = [line.strip() for line in source.strip().splitlines()]
    header = HEADER.fullmatch(first)
    if not header:
        raise ValueError(f"{first!r} is not understood; expected graph TB or graph LR")
    texts = {found[1]: found[2] for line in lines if (found := TEXT.fullmatch(line))}
    for name in ("accTitle", "accDescr"):
        if name not in texts:
            raise ValueError(f"the line `{name}: ...` is missing, the text for a screen reader")
    nodes: dict[str, Node] = {}
    edges: list[Edge] = []
    for line in lines:
        if line and not TEXT.fullmatch(line):
            edges += statement(line, nodes)
    return Flowchart(header[1], texts["accTitle"], texts["accDescr"], nodes, edges)


def statement(line: str, nodes: dict[str, Node]) -> list[Edge]:
    """Read a line such as `A & B --> C["Third"]:::key`, and add its boxes to those known.

    Raises:
        ValueError: if it is not understood.
    """
    edges: list[Edge] = []
    before: list[str] = []
    group: list[str] = []
    connection = None
    # Names and signs take turns: a name, then & or a line, then a name.
    expects_name = True
    for token in tokens(line):
        if bool(token["name"]) is not expects_name:
            raise ValueError(f"{line!r} is not understood at {token[0].strip()!r}")
        if token["name"]:
            group.append(token["name"])
            declare(token, nodes)
        elif token["line"]:
            edges += connected(before, group, connection)
            before, group, connection = group, [], token
        expects_name = not expects_name
    if expects_name:
        raise ValueError(f"{line!r} is not understood: it ends where a name is expected")
    return edges + connected(before, group, connection)


def tokens(line: str) -> Iterator[re.Match[str]]:
    end = 0
    while end < len(line):
        token = TOKEN.match(line, end)
        if not token:
            raise ValueError(f"{line!r} is not understood at {line[end:]!r}")
        yield token
        end = token.end()


def declare(token: re.Match[str], nodes: dict[str, Node]) -> None:
    """Add a box to those known; what has no text of its own shows its name."""
    text, role = token["quoted"] or token["plain"], token["role"] or ""
    if text or token["name"] not in nodes:
        nodes[token["name"]] = Node(split(text or token["name"]), role)
    elif role:
        nodes[token["name"]] = nodes[token["name"]]._replace(role=role)


def connected(tails: list[str], heads: list[str], line: re.Match[str] | None) -> list[Edge]:
    """Connect each box on the left of a line with each on its right."""
    if not line:
        return []
    label = split(line["label"]) if line["label"] else ()
    return [Edge(tail, head, label, line["line"] == "-->") for tail in tails for head in heads]


def split(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in LINE_BREAK.split(text))
