"""Places: the line that a message names is the one of the file, or none."""

from types import SimpleNamespace

import pytest

from attention_docs.publish.places import place, place_of_id, place_of_link, place_of_text

SOURCE = "---\ntitle: A\n---\n\n# A {#top}\n\nsee [b](b.md#there)\n\n$$\n\\val{x} +\n  y\n$$\n"
PUT_IN = "# A {#top}\n\nsee [b](b.md#there)\n\n$$\n3 +\n  y\n$$\n"


def page(made=PUT_IN, name="a.md"):
    return SimpleNamespace(markdown=made, file=SimpleNamespace(src_uri=name, content_string=SOURCE))


@pytest.fixture
def settings(tmp_path):
    file = tmp_path / "mkdocs.yml"
    file.write_text("site_name: A\nextra_css:\n  - assets/a.css\n")
    return file


def test_front_matter_counts():
    assert place(page(), 0) == "docs/a.md:5"
    assert place(page()) == "docs/a.md"
    assert place(page(name="a.ipynb"), 0) == "docs/a.ipynb"


def test_a_formula_is_found_with_its_values_in_it():
    assert place_of_text("3 + y", page()) == "docs/a.md:10"
    assert place_of_text("4 + y", page()) == "docs/a.md"


def test_a_line_that_a_table_may_have_moved_is_not_named():
    longer = page("a table\n\n" + PUT_IN)
    assert place_of_text("3 + y", longer) == "docs/a.md"
    assert place_of_text("see", longer) == "docs/a.md:7"


def test_an_id_and_a_link_are_found(settings):
    assert place_of_id("top", page()) == "docs/a.md:5"
    assert place_of_link("../b/#there", "b#there", page(), settings) == "docs/a.md:7"
    assert place_of_link("../assets/a.css", "assets/a.css", page(), settings) == "mkdocs.yml:3"
    assert place_of_link("../c/", "c", page(), settings) == "docs/a.md"
