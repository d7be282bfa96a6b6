"""Lists of pages and public names from `nav`, front matter and docstrings."""

import json

import pytest

import attention_docs
from attention_docs.publish.before.contents import WORDS_PER_MINUTE, contents, overview
from attention_docs.publish.page_files import PageFile
from tests.conftest import ROOT, assert_raises

NOTEBOOK = {
    "metadata": {"description": "Run it."},
    "cells": [{"cell_type": "markdown", "id": "a", "source": ["# A notebook\n", "\n", "Text."]}],
}
PAGES = {
    "index.md": "---\ndescription: Where it begins.\n---\n\n# Home\n",
    "deep/one.md": "---\ndescription: A * that is no markup, and 1 < 2.\n---\n\n# First\n",
    "deep/two.md": "---\ndescription: The second.\n---\n\n# Second\n",
    "bare.md": "# Bare\n",
    "nameless.md": "---\ndescription: It has no title.\n---\n\nText.\n",
    "names.md": "# Names\n\n::: attention_docs.show\n\nText.\n\n::: attention_docs.softmax.softmax\n",
    "deep/names.md": "::: attention_docs.merge_heads\n",
    "unknown.md": "::: attention_docs.shwo\n",
}
PAGE_FILES = {path: PageFile(path, text) for path, text in PAGES.items()}
PAGE_FILES["three.md"] = PageFile("three.ipynb", json.dumps(NOTEBOOK))
NAV = [
    {"Home": "index.md"},
    {"Book": [{"Three": "three.md"}, {"Part [B]": [{"Two": "deep/two.md"}]}, "deep/one.md"]},
    {"Names": [{"Deep": ["deep/names.md"]}, {"Names": "names.md"}, "three.md"]},
    {"Deep": ["index.md"]},
    {"Bare": ["bare.md"]},
    {"Nameless": ["nameless.md"]},
    {"Unknown": ["unknown.md"]},
]
SECTIONS = "Book, Part [B], Names, Deep, Bare, Nameless, Unknown"
EMPTY_TABLE = ["| name | in one line |", "| --- | --- |"]


def contents_lines(section_title, page="order.md", nav=NAV):
    return contents(section_title, nav, PAGE_FILES, page).splitlines()


def list_item(title, link, description):
    return f"1. [{title}]({link})<br><span data-search-exclude>{description}</span>"


def test_contents_lists_titles_and_descriptions_in_nav_order():
    assert contents_lines("Book") == [
        list_item("Three", "three.md", "Run it."),
        "",
        '<details markdown="1"><summary>Part [B]</summary>',
        "",
        list_item("Two", "deep/two.md", "The second."),
        "",
        "</details>",
        "",
        list_item("First", "deep/one.md", r"A \* that is no markup, and 1 &lt; 2."),
    ]


def test_missing_page_in_nav_is_skipped():
    nav = [{"Book": ["nowhere.md", "index.md"]}]
    assert contents_lines("Book", nav=nav) == [list_item("Home", "index.md", "Where it begins.")]
    assert overview("Book", nav, PAGE_FILES, "index.md").splitlines() == EMPTY_TABLE


@pytest.mark.parametrize(
    ("write_list", "message"),
    [
        (lambda: contents_lines("Boook"), f"section 'Boook' is unknown; expected one of {SECTIONS}"),
        (lambda: contents_lines("Home"), f"section 'Home' is unknown; expected one of {SECTIONS}"),
        (lambda: contents_lines("Book", nav=["index.md"]), "section 'Book' is unknown; expected one of none"),
        (lambda: contents_lines("Bare"), "docs/bare.md has no description"),
        (lambda: contents_lines("Nameless"), "docs/nameless.md has no title"),
        (lambda: overview("Unknown", NAV, PAGE_FILES, "index.md"), "'attention_docs.shwo' is not a name of the package"),
    ],
)  # fmt: skip
def test_missing_section_title_or_description_raises(write_list, message):
    assert_raises(write_list, LookupError, message)


def summary(name):
    return getattr(attention_docs, name).__doc__.partition("\n")[0]


def test_overview_lists_names_with_docstring_summaries():
    table = overview("Names", NAV, PAGE_FILES, "deep/one.md").splitlines()
    assert table == [
        *EMPTY_TABLE,
        f"| [`merge_heads`](names.md#attention_docs.merge_heads) | {summary('merge_heads')} |",
        f"| [`show`](../names.md#attention_docs.show) | {summary('show')} |",
        f"| [`softmax`](../names.md#attention_docs.softmax.softmax) | {summary('softmax')} |",
    ]


def test_overview_escapes_the_first_paragraph_of_a_docstring(monkeypatch):
    docstring = "Print `a | b`\n    and go on.\n\n    More."
    monkeypatch.setattr(attention_docs.show, "__doc__", docstring)
    table = overview("Names", NAV, PAGE_FILES, "deep/one.md")
    assert table.count(r"| Print `a \| b` and go on. |") == 1


def test_overview_requires_docstrings(monkeypatch):
    monkeypatch.setattr(attention_docs.show, "__doc__", None)
    with pytest.raises(LookupError, match=r"^'attention_docs\.show' has no docstring$"):
        overview("Names", NAV, PAGE_FILES, "deep/one.md")


def test_reading_order_states_the_reading_rate():
    reading_order = (ROOT / "docs" / "reading_order.md").read_text(encoding="utf-8")
    assert rf"\number{{{WORDS_PER_MINUTE}}} words a minute" in reading_order
