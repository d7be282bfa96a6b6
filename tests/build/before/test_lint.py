"""Checks of the Markdown of pages."""

import pytest

from attention_docs.publish.before.lint import find_problems

TITLE = "# Title\n\n"
LINE_AFTER_TITLE = 2  # counted from 0


def problems_in(text):
    return list(find_problems(f"{TITLE}{text}\n"))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("::: attention_docs.nope", "'attention_docs.nope' is not a name of the package"),
        ("```\n1\n```", "unknown code language ''; expected console, mermaid or python"),
        ("```{.python}\n1\n```", "unknown code language '{.python}'; expected console, mermaid or python"),
        ("~~~ruby\n1\n~~~", "unknown code language 'ruby'; expected console, mermaid or python"),
        ("    ```ruby\n    1\n    ```", "unknown code language 'ruby'; expected console, mermaid or python"),
        ("```python\n1\n", "this code block is never closed"),
        ("```mermaid\ngraph TB\n```", "mermaid: the line `accTitle: ...` is missing, the text for a screen reader"),
        ("# Another", "a second title; a page has exactly one"),
    ],
)  # fmt: skip
def test_problem_is_reported_at_its_line(text, problem):
    assert problems_in(text) == [(LINE_AFTER_TITLE, problem)]
    text_before = "one\n\n```python\n1\n```\n\n"
    line = LINE_AFTER_TITLE + text_before.count("\n")
    assert problems_in(text_before + text) == [(line, problem)]


def test_page_without_title_is_reported():
    problems = list(find_problems("```python\n# no title\n```\n"))
    assert problems == [(0, "the page has no title, a line that begins with `# `")]
