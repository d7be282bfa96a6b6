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


def test_parse_reads_text_and_role_of_nodes():
    flowchart = parse_statements('A["First<br/>n × d_model"]:::query', "B[Second]", "C")
    assert flowchart.nodes == {
        "A": Node(("First", "n × d_model"), "query"),
        "B": Node(("Second",)),
        "C": Node(("C",)),
    }


def test_later_mention_of_a_node_keeps_its_role_and_its_text_unless_it_has_one():
    flowchart = parse_statements('A["First"]:::key', "A --> B", "B:::value", 'B["Second"]')
    assert flowchart.nodes == {"A": Node(("First",), "key"), "B": Node(("Second",), "value")}


def test_ampersand_connects_all_pairs():
    edges = [Edge("A", "C"), Edge("A", "D"), Edge("B", "C"), Edge("B", "D")]
    assert parse_statements("A & B --> C & D").edges == edges


def test_edges_can_be_chained():
    edges = [Edge("A", "B"), Edge("B", "C", has_arrow=False)]
    assert parse_statements("A --> B --- C").edges == edges


def test_parse_reads_edge_labels():
    flowchart = parse_statements('A -->|"softmax<br/>of rows"| B')
    assert flowchart.edges == [Edge("A", "B", ("softmax", "of rows"))]


@pytest.mark.parametrize("name", ["accTitle", "accDescr"])
def test_diagram_without_accessible_text_is_rejected(name):
    with pytest.raises(ValueError, match=f"`{name}: ...` is missing"):
        parse(HEAD.replace(f"{name}: ", "%% "))


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
