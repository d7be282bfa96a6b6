"""Programs that readers copy run without the package, and tabs of libraries print the same."""

import doctest
import re
import subprocess
import sys

import pytest

from attention_docs.publish.before import sessions
from tests.conftest import ROOT

PROGRAM = re.compile(r"^\\program\{(.+)\}$", re.MULTILINE)
TAB = re.compile(
    r'^ *=== "(NumPy|PyTorch)"\n\n {4,}```python\n(.*?)^ {4,}```', re.MULTILINE | re.DOTALL
)
PAGES = [
    path
    for path in sorted((ROOT / "docs").rglob("*.md"))
    if PROGRAM.search(path.read_text("utf-8"))
]


def program_and_output(page):
    """Return the program of a page, and the output that the section of the program shows."""
    markdown = page.read_text("utf-8")
    (heading,) = PROGRAM.findall(markdown)
    section = markdown.partition(f"## {heading}")[2].partition("\n## ")[0]
    # Without the closing fences, which the parser would take for output.
    examples = doctest.DocTestParser().get_examples(section.replace("```\n", "\n"))
    return sessions.program(markdown, heading), "".join(example.want for example in examples)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_program_without_the_package_prints_at_a_prompt_what_its_page_shows(page, tmp_path):
    program, shown_output = program_and_output(page)
    assert "attention_docs" not in program
    process = subprocess.run(
        [sys.executable, "-I", "-q", "-i"],
        input=f"{program}\n",
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert process.stdout == shown_output  # the prompts are in stderr


def test_section_without_session_is_refused():
    with pytest.raises(LookupError, match="expected a section 'In code'"):
        sessions.copy_button("# Title\n\n## In code\n\nNothing here.\n", "In code")


def test_both_tabs_of_a_page_print_the_same_numbers():
    tabs = {}
    for file in (ROOT / "docs" / "mechanisms").glob("*.md"):
        for library, code in TAB.findall(file.read_text(encoding="utf-8")):
            tabs.setdefault(library, []).append((file.stem, printed_numbers(code)))
    assert tabs["NumPy"] == tabs["PyTorch"]
    assert len({page for page, _ in tabs["PyTorch"]}) == 12
    assert all(numbers for _, numbers in tabs["PyTorch"])


def printed_numbers(code):
    printed = "".join(example.want for example in doctest.DocTestParser().get_examples(code))
    return [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", printed)]
