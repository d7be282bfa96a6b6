"""Locations of text in the files of pages."""

import json

from attention_docs.publish.page_files import PageFile

FRONT_MATTER = "---\ntitle: A\n---\n\n"
PROSE = """\
# A {#top}

see [b](b.md#there)

$$
\\val{x} +
  y
$$
"""
CONTENT = FRONT_MATTER + PROSE
EXPANDED = PROSE.replace("\\val{x}", "3")
PAGE = PageFile("a.md", CONTENT, EXPANDED)
CELLS = [
    {"cell_type": "markdown", "id": "one", "source": ["# A\n", "\n", "text"]},
    {"cell_type": "code", "id": "two", "source": ["1\n", "2\n", "3\n", "4"]},
    {"cell_type": "markdown", "id": "three", "source": ["$x$\n", "$$\n", "3 + y\n", "$$"]},
]
NOTEBOOK = PageFile("a.ipynb", json.dumps({"cells": CELLS}))


def location_of(text):
    lines_before = CONTENT[: CONTENT.index(text)].count("\n")
    return f"docs/a.md:{lines_before + 1}"


def test_location_counts_the_lines_of_front_matter():
    assert PAGE.location(0) == location_of("# A")


def test_location_in_a_notebook_is_cell_and_line():
    assert NOTEBOOK.location(2) == "docs/a.ipynb: cell one, line 3"
    line_of_cell_three = len(["# A", "", "text", "between cells"])
    assert NOTEBOOK.location(line_of_cell_three) == "docs/a.ipynb: cell three, line 1"


def test_text_is_located_in_the_cell_of_a_notebook():
    assert NOTEBOOK.locate_text("3 + y") == "docs/a.ipynb: cell three, line 3"


def test_formula_with_computed_values_is_located():
    assert PAGE.locate_text("3 + y") == location_of("\\val{x}")


def test_location_of_unknown_text_is_the_file():
    assert PAGE.locate_text("4 + y") == "docs/a.md"
    assert NOTEBOOK.locate_text("4 + y") == "docs/a.ipynb"


def test_line_of_computed_values_is_omitted_if_an_expanded_macro_moved_it():
    page_with_table = PageFile("a.md", CONTENT, "a table\n\n" + EXPANDED)
    assert page_with_table.locate_text("3 + y") == "docs/a.md"
    assert page_with_table.locate_text("see") == location_of("see")
