"""Pages kept from the last build: the site is the same, and so is what the build complains of."""

import pytest

from tests.build.forked import mkdocs

DIAGRAM = """
```mermaid
graph LR
  accTitle: Two boxes
  accDescr: One leads to the other.
  A[One] --> B[Other]
```
"""


def build(project):
    """Build the site; return the warnings, and the files."""
    lines = mkdocs(project, "build").stderr.splitlines()
    told = "\n".join(line for line in lines if not line.startswith("INFO"))
    site = project / "site"
    return told, {path: path.read_bytes() for path in site.rglob("*") if path.is_file()}


@pytest.fixture
def page(one_page):
    """The file of a page that has a bit of all: headings, links, a footnote, code, a diagram."""
    page = one_page / "docs" / "index.md"
    text = "\n## Part\n\n[Up](#home) and $a^2$.[^1]\n\n[^1]: Note.\n\n    >>> 1 + 1\n    2\n"
    page.write_text(page.read_text(encoding="utf-8") + text + DIAGRAM, encoding="utf-8")
    return page


def test_a_page_that_has_not_changed_is_taken_from_the_last_build(one_page, page):
    told, first = build(one_page)
    assert told == ""
    kept = {path: path.read_bytes() for path in (one_page / ".cache").glob("*.json")}
    assert {path.stem for path in kept} >= {"pages", "diagrams", "formulas"}
    for _ in range(2):
        told, again = build(one_page)
        assert told == ""
        assert again == first
        assert {path: path.read_bytes() for path in kept} == kept
    page.write_text(page.read_text(encoding="utf-8") + "\nEdited.\n", encoding="utf-8")
    _, edited = build(one_page)
    assert b"Edited." in edited[one_page / "site" / "index.html"]


def test_complaints_about_a_page_are_repeated_in_the_next_build(one_page, page):
    links = "\n[Away](nowhere.md) and [down](#nowhere)\n"
    page.write_text(page.read_text(encoding="utf-8") + links, encoding="utf-8")
    mkdocs(one_page, "build", "--quiet")
    first, _ = build(one_page)
    assert "'nowhere.md'" in first
    assert "'#nowhere'" in first
    assert build(one_page)[0] == first


def test_a_link_is_checked_again_when_its_target_goes(one_page, page):
    other = one_page / "docs" / "other.md"
    other.write_text("---\ndescription: Other.\n---\n\n# Other\n", encoding="utf-8")
    page.write_text(page.read_text(encoding="utf-8") + "\n[Other](other.md)\n", encoding="utf-8")
    told, _ = build(one_page)
    assert "contains a link 'other.md'" not in told
    other.unlink()
    told, _ = build(one_page)
    assert "contains a link 'other.md'" in told
