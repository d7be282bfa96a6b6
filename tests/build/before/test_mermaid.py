"""The parser of Mermaid flowcharts."""

import re

import pytest

from attention_docs.publish.before.mermaid import Edge, Node, parse

HEAD = "graph TB\n    accTitle: A title\n    accDescr: A description.\n"


def parse_statements(*lines):
    return parse(HEAD + "\n".join(lines))


def test_parse_reads_direction_title_and_description():
    flowchart = parse(HEAD.replace("TB", "LR"))
    assert flowchart[:3] == ("LR", "A title", "A description.")


def test_later_mention_of_a_node_keeps_its_role_and_its_text_unless_it_has_one():
    flowchart = parse_statements('A["First"]:::key', "A --> B", "B:::value", 'B["Second"]')
    assert flowchart.nodes == {"A": Node(("First",), "key"), "B": Node(("Second",), "value")}


def test_ampersand_connects_all_pairs():
    edges = [Edge("A", "C"), Edge("A", "D"), Edge("B", "C"), Edge("B", "D")]
    assert parse_statements("A & B --> C & D").edges == edges


def test_edges_can_be_chained():
    edges = [Edge("A", "B"), Edge("B", "C", has_arrow=False)]
    assert parse_statements("A --> B --- C").edges == edges


@pytest.mark.parametrize(
    ("line", "position"),
    [
        ("A ==> B", "'==> B'"),
        ("A -.-> B", "'-.-> B'"),
        ("A --> [[", "'[['"),
        ("A((circle))", "'((circle))'"),
        ("A B", "'B'"),
        ("A --> & B", "'&'"),
        ("--> B", "'-->'"),
        ("A -->", "ends where a name is expected"),
        ("A &", "ends where a name is expected"),
        ('A -->|""| B', "'|\"\"| B'"),
        ("subgraph one", "'one'"),
        ("A --> B;", "';'"),
    ],
)
def test_unsupported_syntax_is_reported_with_its_position(line, position):
    with pytest.raises(ValueError, match=f"^{re.escape(repr(line))}.*{re.escape(position)}"):
        parse_statements("X --> Y", line)


@pytest.mark.parametrize("header", ["flowchart TB", "graph RL", "sequenceDiagram", ""])
def test_other_diagram_types_are_rejected(header):
    with pytest.raises(ValueError, match="expected graph TB or graph LR"):
        parse(HEAD.replace("graph TB", header))
