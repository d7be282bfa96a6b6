"""Checks of the Markdown of pages."""

import pytest

from attention_docs.publish.before.contents import summary
from attention_docs.publish.before.lint import find_problems


def check_diagram(code):
    if "accTitle" not in code:
        raise ValueError("no title")


TITLE = "# Title\n\n"
LINE_AFTER_TITLE = 2  # counted from 0


def problems_in(text):
    return list(find_problems(f"{TITLE}{text}\n", check_diagram, summary))


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
        "::: attention_docs.softmax.softmax",
        "![words](a.svg) ![words][a] <img src='a.svg' alt=\"words\">",
    ],
)
def test_valid_page_has_no_problems(text):
    assert problems_in(text) == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("::: attention_docs.nope", "'attention_docs.nope' is not a name of the package"),
        ("```\n1\n```", "unknown code language ''; expected console, mermaid or python"),
        ("```{.python}\n1\n```", "unknown code language '{.python}'; expected console, mermaid or python"),
        ("~~~ruby\n1\n~~~", "unknown code language 'ruby'; expected console, mermaid or python"),
        ("    ```ruby\n    1\n    ```", "unknown code language 'ruby'; expected console, mermaid or python"),
        ("```python\n1\n", "this code block is never closed"),
        ("```mermaid\ngraph TB\n```", "mermaid: no title"),
        ("# Another", "a second title; a page has exactly one"),
        ("![](a.svg)", "the image has no alternative text"),
        ("![ ][a]", "the image has no alternative text"),
        ('<img src="a.svg">', "the image has no alternative text"),
        ('<img alt="" src="a.svg">', "the image has no alternative text"),
    ],
)  # fmt: skip
def test_problem_is_reported_at_its_line(text, problem):
    assert problems_in(text) == [(LINE_AFTER_TITLE, problem)]
    text_before = "one\n\n```python\n1\n```\n\n"
    line = LINE_AFTER_TITLE + text_before.count("\n")
    assert problems_in(text_before + text) == [(line, problem)]


def test_page_without_title_is_reported():
    problems = list(find_problems("```python\n# no title\n```\n", check_diagram, summary))
    assert problems == [(0, "the page has no title, a line that begins with `# `")]
