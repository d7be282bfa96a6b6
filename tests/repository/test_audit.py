"""The audit of the five sources, line by line, and the errata page, in step with each other."""

import hashlib
import importlib.machinery
import importlib.util
import json
import re
import subprocess
import sys

import pytest

from tests.conftest import ROOT

AUDIT = ROOT / "tests" / "audit"
SOURCES = json.loads((AUDIT / "sources.json").read_text(encoding="utf-8"))
PAGE = (ROOT / "docs" / "errata.md").read_text(encoding="utf-8")
HEADING = re.compile(r"^#+ .* \{ #([\w-]+)(?: data-search-exclude)? \}$", re.MULTILINE)
# "26, 113: both diagrams", "34–36: layers"
WHERE = re.compile(r"^\| ((?:\d+(?:–\d+)?(?:, )?)+): ", re.MULTILINE)
LISTED = ("wrong", "unclear", "missing")
TOO_SMALL = "—"


def rows(name):
    head, *lines = (AUDIT / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
    assert head == "line\tverdict\terrata\tnote"
    table = [line.split("\t") for line in lines]
    assert {len(row) for row in table} == {4}
    return [(int(line), *rest) for line, *rest in table]


def sections():
    """Return for each heading with a table below it the source's name and the lines it lists."""
    found, source = {}, None
    _, *parts = HEADING.split(PAGE)
    for anchor, text in zip(parts[::2], parts[1::2], strict=True):
        file = re.search(r"(\d{3})_[0-9a-f]{16}\.txt", text)
        source = file[1] if file else source
        if "\n| line |" in text:
            found[anchor] = source, {n for cell in WHERE.findall(text) for n in numbers(cell)}
    return found


def numbers(cell):
    for part in cell.split(", "):
        first, _, last = part.partition("–")
        yield from range(int(first), int(last or first) + 1)


@pytest.mark.parametrize("name", SOURCES)
def test_each_row_has_a_line_a_verdict_and_a_place_or_a_reason(name):
    table = rows(name)
    lines = [row[0] for row in table]
    assert lines == sorted(set(lines))
    assert len(lines) == SOURCES[name]["lines"]
    for line, verdict, errata, note in table:
        assert verdict in (*LISTED, "right", "neutral"), line
        assert bool(errata) == (verdict in LISTED), line
        assert note or verdict in ("right", "neutral"), line
        assert len(note) < 100, line


def test_every_source_has_a_table_and_its_name_on_the_page():
    assert sorted(SOURCES) == sorted(path.stem for path in AUDIT.glob("*.tsv"))
    for name, source in SOURCES.items():
        assert source["file"].startswith(f"{name}_")
        assert f"`{source['file']}`" in PAGE


def test_every_row_of_the_page_begins_with_its_lines():
    cells = [line for line in PAGE.splitlines() if re.match(r"\| (?!line \||---)", line)]
    assert [line for line in cells if not WHERE.match(line)] == []


def test_the_page_lists_the_lines_that_are_not_right_and_no_others():
    listed = {anchor: set() for anchor in sections()}
    for name in SOURCES:
        for line, _, errata, _ in rows(name):
            if errata not in ("", TOO_SMALL):
                listed[errata].add((name, line))
    assert listed == {
        anchor: {(name, line) for line in lines} for anchor, (name, lines) in sections().items()
    }


def test_the_script_finds_what_does_not_fit(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "scripts")
    path = str(ROOT / "scripts" / "count_audit")
    loader = importlib.machinery.SourceFileLoader("count_audit", path)
    script = importlib.util.module_from_spec(importlib.util.spec_from_loader("count_audit", loader))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    loader.exec_module(script)
    content = b"one\n\nthree\n"
    source = {"lines": 2, "sha256": hashlib.sha256(content).hexdigest()}
    assert script.compare(content, source, [(1, "right"), (3, "wrong")]) == []
    assert script.compare(content, source, [(1, "right"), (1, "wrong"), (2, "right")]) == [
        "line 3 has no row",
        "line 2 is empty",
        "line 1 has 2 rows",
    ]
    assert script.compare(b"one\n", source, [(1, "right")]) == [
        "1 lines, recorded are 2",
        "another document than the one that was audited",
    ]


def test_the_script_names_a_source_that_it_cannot_read(tmp_path):
    script = ROOT / "scripts" / "count_audit"
    done = subprocess.run(
        [sys.executable, script, tmp_path], capture_output=True, encoding="utf-8", timeout=60
    )
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"count_audit: cannot read {tmp_path}")
