"""Locations of text in the files of pages."""

import json

from attention_docs.publish.page_files import PageFile

CONTENT = "---\ntitle: A\n---\n\n# A {#top}\n\nsee [b](b.md#there)\n\n$$\n\\val{x} +\n  y\n$$\n"
# After macros are expanded, without the front matter.
MARKDOWN = "# A {#top}\n\nsee [b](b.md#there)\n\n$$\n3 +\n  y\n$$\n"
PAGE = PageFile("a.md", CONTENT, MARKDOWN)
CELLS = [
    {"cell_type": "markdown", "id": "one", "source": ["# A\n", "\n", "text"]},
    {"cell_type": "code", "id": "two", "source": ["1\n", "2\n", "3\n", "4"]},
    {"cell_type": "markdown", "id": "three", "source": ["$x$\n", "$$\n", "3 + y\n", "$$"]},
]


def test_location_counts_the_lines_of_front_matter():
    assert PAGE.location(0) == "docs/a.md:5"
    assert PAGE.location() == "docs/a.md"


def test_location_in_a_notebook_is_cell_and_line():
    notebook = PageFile("a.ipynb", json.dumps({"cells": CELLS}))
    assert notebook.location() == "docs/a.ipynb"
    assert notebook.location(2) == "docs/a.ipynb: cell one, line 3"
    assert notebook.location(4) == "docs/a.ipynb: cell three, line 1"
    assert notebook.locate_text("3 + y") == "docs/a.ipynb: cell three, line 3"
    assert notebook.locate_text("4 + y") == "docs/a.ipynb"


def test_formula_with_computed_values_is_located():
    assert PAGE.locate_text("3 + y") == "docs/a.md:10"
    assert PAGE.locate_text("4 + y") == "docs/a.md"


def test_line_of_computed_values_is_omitted_if_an_expanded_macro_moved_it():
    page_with_table = PageFile("a.md", CONTENT, "a table\n\n" + MARKDOWN)
    assert page_with_table.locate_text("3 + y") == "docs/a.md"
    assert page_with_table.locate_text("see") == "docs/a.md:7"
