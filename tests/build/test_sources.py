"""Locations of text, ids and links in the sources of pages."""

import json

import pytest

from attention_docs.publish.sources import Source

SOURCE = "---\ntitle: A\n---\n\n# A {#top}\n\nsee [b](b.md#there)\n\n$$\n\\val{x} +\n  y\n$$\n"
EXPANDED = "# A {#top}\n\nsee [b](b.md#there)\n\n$$\n3 +\n  y\n$$\n"


CELLS = [
    {"cell_type": "markdown", "id": "one", "source": ["# A\n", "\n", "text"]},
    {"cell_type": "code", "id": "two", "source": ["1\n", "2\n", "3\n", "4"]},
    {"cell_type": "markdown", "id": "three", "source": ["$x$\n", "$$\n", "3 + y\n", "$$"]},
]


def page(expanded=EXPANDED, name="a.md", content=SOURCE):
    return Source(name, content, expanded)


@pytest.fixture
def settings(tmp_path):
    file = tmp_path / "mkdocs.yml"
    file.write_text("site_name: A\nextra_css:\n  - assets/a.css\n")
    return file


def test_location_counts_the_lines_of_front_matter():
    assert page().location(0) == "docs/a.md:5"
    assert page().location() == "docs/a.md"


def test_location_in_a_notebook_is_cell_and_line():
    notebook = page(name="a.ipynb", content=json.dumps({"cells": CELLS}))
    assert notebook.location() == "docs/a.ipynb"
    assert notebook.location(2) == "docs/a.ipynb: cell one, line 3"
    assert notebook.location(4) == "docs/a.ipynb: cell three, line 1"
    assert notebook.locate_text("3 + y") == "docs/a.ipynb: cell three, line 3"
    assert notebook.locate_text("4 + y") == "docs/a.ipynb"


def test_formula_with_computed_values_is_located():
    assert page().locate_text("3 + y") == "docs/a.md:10"
    assert page().locate_text("4 + y") == "docs/a.md"


def test_line_is_omitted_if_a_table_may_have_moved_it():
    longer = page("a table\n\n" + EXPANDED)
    assert longer.locate_text("3 + y") == "docs/a.md"
    assert longer.locate_text("see") == "docs/a.md:7"


def test_ids_and_links_are_located(settings):
    assert page().locate_id("top") == "docs/a.md:5"
    assert page().locate_link("../b/#there", "b#there", settings) == "docs/a.md:7"
    assert page().locate_link("../assets/a.css", "assets/a.css", settings) == "mkdocs.yml:3"
    assert page().locate_link("../c/", "c", settings) == "docs/a.md"
