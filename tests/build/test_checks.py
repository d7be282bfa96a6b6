"""What a page must be: each fault is found at its line, and what looks like one is let pass."""

import pytest

from attention_docs.publish.checks import faults


def draw(source):
    if "accTitle" not in source:
        raise ValueError("no title")


def found(text):
    return list(faults(f"# Title\n\n{text}\n", draw))


@pytest.mark.parametrize(
    "text",
    [
        "```python\n# not a title\n![](no picture)\n```",
        "```console\n$ true\n```",
        "~~~python\n```\n~~~",
        "!!! note\n\n    ```mermaid\n    graph TB\n      accTitle: A\n    ```",
        "`![](code)` and $#$",
        "## A heading",
        "![$Q$](a.svg)",
        "![words](a.svg) ![words][a] <img src='a.svg' alt=\"words\">",
    ],
)
def test_a_sound_page_passes(text):
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("```\n1\n```", "code of kind '' is unknown; known are console, mermaid, python"),
        ("```{.python}\n1\n```", "code of kind '{.python}' is unknown; known are console, mermaid, python"),
        ("~~~ruby\n1\n~~~", "code of kind 'ruby' is unknown; known are console, mermaid, python"),
        ("    ```ruby\n    1\n    ```", "code of kind 'ruby' is unknown; known are console, mermaid, python"),
        ("```python\n1\n", "this code block has no end"),
        ("```mermaid\ngraph TB\n```", "mermaid: no title"),
        ("# Another", "a second title; a page has one"),
        ("![](a.svg)", "the image has no text for those who do not see it"),
        ("![ ][a]", "the image has no text for those who do not see it"),
        ('<img src="a.svg">', "the image has no text for those who do not see it"),
        ('<img alt="" src="a.svg">', "the image has no text for those who do not see it"),
    ],
)  # fmt: skip
def test_a_fault_is_found_at_its_line(text, fault):
    assert found(text) == [(2, fault)]
    assert found("one\n\n```python\n1\n```\n\n" + text) == [(8, fault)]


def test_a_page_needs_a_title():
    assert list(faults("```python\n# no title\n```\n", draw)) == [
        (0, "the page has no title, a line that begins with `# `")
    ]
