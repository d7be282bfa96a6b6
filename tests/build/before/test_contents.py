"""Lists of pages and public names from `nav`, front matter and docstrings."""

import json

import pytest

import attention_docs
from attention_docs.publish.before.contents import contents, overview
from attention_docs.publish.page_files import PageFile

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
    {"Book": ["deep/one.md", {"Part [B]": [{"Two": "deep/two.md"}]}, {"Three": "three.md"}]},
    {"Names": [{"Deep": ["deep/names.md"]}, {"Names": "names.md"}, "three.md"]},
    {"Two": ["index.md"]},
    {"Deep": ["bare.md"]},
    {"Nameless": ["nameless.md"]},
    {"Unknown": ["unknown.md"]},
]


def contents_lines(section_title, page="order.md", nav=NAV):
    return contents(section_title, nav, PAGE_FILES, page).splitlines()


def list_item(title, link, description):
    return f"1. [{title}]({link})<br><span data-search-exclude>{description}</span>"


def test_contents_lists_titles_and_descriptions_in_nav_order():
    assert contents_lines("Book") == [
        list_item("First", "deep/one.md", r"A \* that is no markup, and 1 &lt; 2."),
        "",
        '<details markdown="1"><summary>Part [B]</summary>',
        "",
        list_item("Two", "deep/two.md", "The second."),
        "",
        "</details>",
        "",
        list_item("Three", "three.md", "Run it."),
    ]


def test_nested_section_has_its_own_contents():
    assert contents_lines("Part [B]") == [list_item("Two", "deep/two.md", "The second.")]


def test_first_of_two_sections_with_one_title_is_used():
    _, _, *rows = overview("Deep", NAV, PAGE_FILES, "index.md").splitlines()
    assert len(rows) == 1
    assert rows[0].startswith("| [`merge_heads`]")


@pytest.mark.parametrize(
    ("page", "link"),
    [("order.md", "deep/two.md"), ("deep/order.md", "two.md"), ("a/b/c.md", "../../deep/two.md")],
)
def test_links_are_relative_to_the_page_with_the_list(page, link):
    assert contents_lines("Part [B]", page) == [list_item("Two", link, "The second.")]


def test_contents_follows_nav():
    nav = [{"Book": [*NAV[1]["Book"], "index.md"]}]
    assert contents_lines("Book", nav=nav) == [
        *contents_lines("Book"),
        list_item("Home", "index.md", "Where it begins."),
    ]


def test_missing_page_in_nav_is_skipped():
    nav = [{"Book": ["nowhere.md", "index.md"]}]
    assert contents_lines("Book", nav=nav) == [list_item("Home", "index.md", "Where it begins.")]
    table_without_rows = ["| name | in one line |", "| --- | --- |"]
    assert overview("Book", nav, PAGE_FILES, "index.md").splitlines() == table_without_rows


@pytest.mark.parametrize(
    ("write_list", "message"),
    [
        (lambda: contents_lines("Boook"), "section 'Boook' is unknown; expected one of Book, Part [B], Names, Deep, Two, Nameless, Unknown"),
        (lambda: contents_lines("Home"), "section 'Home' is unknown; expected one of Book, Part [B], Names, Deep, Two, Nameless, Unknown"),
        (lambda: contents_lines("Book", nav=["index.md"]), "section 'Book' is unknown; expected one of none"),
        (lambda: contents_lines("Deep", nav=NAV[4:]), "docs/bare.md has no description"),
        (lambda: contents_lines("Nameless"), "docs/nameless.md has no title"),
        (lambda: overview("Unknown", NAV, PAGE_FILES, "index.md"), "'attention_docs.shwo' is not a name of the package"),
    ],
)  # fmt: skip
def test_missing_section_title_or_description_raises(write_list, message):
    with pytest.raises(LookupError) as caught:
        write_list()
    assert str(caught.value) == message


def summary(function):
    return function.__doc__.partition("\n")[0]


def test_overview_lists_names_with_docstring_summaries():
    _, _, merge_heads, show, softmax = overview(
        "Names", NAV, PAGE_FILES, page="deep/one.md"
    ).splitlines()
    assert merge_heads == (
        "| [`merge_heads`](names.md#attention_docs.merge_heads)"
        f" | {summary(attention_docs.merge_heads)} |"
    )
    assert show == (
        f"| [`show`](../names.md#attention_docs.show) | {summary(attention_docs.show)} |"
    )
    assert softmax.startswith("| [`softmax`](../names.md#attention_docs.softmax.softmax) | Norm")


def test_overview_escapes_the_first_paragraph_of_a_docstring(monkeypatch):
    docstring = "Print `a | b`\n    and go on.\n\n    More."
    monkeypatch.setattr(attention_docs.show, "__doc__", docstring)
    table = overview("Names", NAV, PAGE_FILES, "deep/one.md")
    assert table.count(r"| Print `a \| b` and go on. |") == 1


def test_overview_requires_docstrings(monkeypatch):
    monkeypatch.setattr(attention_docs.show, "__doc__", None)
    with pytest.raises(LookupError, match=r"^'attention_docs\.show' has no docstring$"):
        overview("Names", NAV, PAGE_FILES, "deep/one.md")
