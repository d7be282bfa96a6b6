"""Mermaid flowcharts: what the pages use is understood, and everything else is an error."""

import re

import pytest

from attention_docs.publish.before.mermaid import Edge, Node, parse

HEAD = "graph TB\n    accTitle: A title\n    accDescr: A description.\n"


def chart(*lines):
    return parse(HEAD + "\n".join(lines))


def test_the_direction_and_the_texts_for_a_screen_reader():
    found = parse(HEAD.replace("TB", "LR"))
    assert found[:3] == ("LR", "A title", "A description.")


def test_a_box_has_lines_of_text_and_a_role():
    found = chart('A["First<br/>n × d_model"]:::query', "B[Second]", "C")
    assert found.nodes == {
        "A": Node(("First", "n × d_model"), "query"),
        "B": Node(("Second",)),
        "C": Node(("C",)),
    }


def test_a_box_keeps_its_text_where_only_its_name_follows():
    assert chart('A["First"]:::key', "A --> B", "A --- C").nodes["A"] == Node(("First",), "key")


def test_lines_join_each_box_on_the_left_with_each_on_the_right():
    assert chart("A & B --> C & D").edges == [Edge(tail, head) for tail in "AB" for head in "CD"]


def test_a_line_goes_on():
    assert chart("A --> B --- C").edges == [Edge("A", "B"), Edge("B", "C", arrow=False)]


def test_text_beside_a_line():
    assert chart('A -->|"softmax<br/>of rows"| B').edges == [Edge("A", "B", ("softmax", "of rows"))]


@pytest.mark.parametrize("name", ["accTitle", "accDescr"])
def test_a_diagram_without_a_text_for_a_screen_reader_is_refused(name):
    with pytest.raises(ValueError, match=f"`{name}: ...` is missing"):
        parse(HEAD.replace(f"{name}: ", "%% "))


@pytest.mark.parametrize(
    ("line", "where"),
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
def test_what_is_not_understood_is_an_error_that_names_the_place(line, where):
    with pytest.raises(ValueError, match=f"^{re.escape(repr(line))}.*{re.escape(where)}"):
        chart("X --> Y", line)


@pytest.mark.parametrize("first", ["flowchart TB", "graph RL", "sequenceDiagram", ""])
def test_another_kind_of_diagram_is_refused(first):
    with pytest.raises(ValueError, match="expected graph TB or graph LR"):
        parse(HEAD.replace("graph TB", first))
