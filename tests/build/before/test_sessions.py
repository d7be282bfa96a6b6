"""Programs that readers copy from pages."""

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest

from attention_docs.publish.before import sessions

DOCS = Path(__file__).parents[3] / "docs"
PROGRAM = re.compile(r"^\\program\{(.+)\}$", re.MULTILINE)
PAGES = [path for path in sorted(DOCS.rglob("*.md")) if PROGRAM.search(path.read_text("utf-8"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_program_of_page_runs_with_numpy_alone_and_prints_the_same(page, tmp_path):
    markdown = page.read_text("utf-8")
    (heading,) = PROGRAM.findall(markdown)
    program = sessions.program(markdown, heading)
    assert "attention_docs" not in program
    printed = run(["-c", program], "", tmp_path)
    section = markdown.partition(f"## {heading}")[2].partition("\n## ")[0]
    examples = doctest.DocTestParser().get_examples(section.replace("```\n", "\n"))
    assert printed == "".join(example.want for example in examples)
    assert run(["-i"], f"{program}\n", tmp_path) == printed, "pasted at a prompt"


def run(options, keyboard, folder):
    """Return what Python prints, without the prompts, which it writes to stderr."""
    command = [sys.executable, "-I", "-q", *options]
    options = {"cwd": folder, "capture_output": True, "text": True, "check": True}
    return subprocess.run(command, input=keyboard, **options).stdout


def test_section_without_session_is_refused():
    with pytest.raises(LookupError, match="expected a section 'In code'"):
        sessions.copy_button("# Title\n\n## In code\n\nNothing here.\n", "In code")
