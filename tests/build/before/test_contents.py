"""Lists of pages and public names from `nav`, front matter and docstrings."""

import json

import pytest

import attention_docs
from attention_docs.publish.before.contents import contents, overview
from attention_docs.publish.sources import Source

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
SOURCES = {address: Source(address, text) for address, text in PAGES.items()}
SOURCES["three.md"] = Source("three.ipynb", json.dumps(NOTEBOOK))
NAV = [
    {"Home": "index.md"},
    {"Book": ["deep/one.md", {"Part [B]": [{"Two": "deep/two.md"}]}, {"Three": "three.md"}]},
    {"Names": [{"Deep": ["deep/names.md"]}, {"Names": "names.md"}, "three.md"]},
    {"Two": ["index.md"]},
    {"Deep": ["bare.md"]},
    {"Nameless": ["nameless.md"]},
    {"Unknown": ["unknown.md"]},
]


def contents_lines(name, page="order.md", nav=NAV):
    return contents(name, nav, SOURCES, page).splitlines()


def item(title, link, description):
    return f"1. [{title}]({link})<br><span data-search-exclude>{description}</span>"


def test_contents_lists_titles_and_descriptions_in_nav_order():
    assert contents_lines("Book") == [
        item("First", "deep/one.md", r"A \* that is no markup, and 1 &lt; 2."),
        r"1. **Part \[B\]**",
        "    " + item("Two", "deep/two.md", "The second."),
        item("Three", "three.md", "Run it."),
    ]


def test_contents_accepts_nested_sections():
    assert contents_lines("Part [B]") == [item("Two", "deep/two.md", "The second.")]


def test_first_of_two_sections_with_one_title_is_used():
    assert overview("Deep", NAV, SOURCES, "index.md").count("merge_heads") == 2


@pytest.mark.parametrize(
    ("page", "link"),
    [("order.md", "deep/two.md"), ("deep/order.md", "two.md"), ("a/b/c.md", "../../deep/two.md")],
)
def test_links_are_relative_to_the_page_with_the_list(page, link):
    assert contents_lines("Part [B]", page) == [item("Two", link, "The second.")]


def test_contents_follows_nav():
    nav = [{"Book": [*NAV[1]["Book"], "index.md"]}]
    assert contents_lines("Book", nav=nav) == [
        *contents_lines("Book"),
        item("Home", "index.md", "Where it begins."),
    ]


def test_missing_page_in_nav_is_skipped():
    nav = [{"Book": ["nowhere.md", "index.md"]}]
    assert contents_lines("Book", nav=nav) == [item("Home", "index.md", "Where it begins.")]
    assert len(overview("Book", nav, SOURCES, "index.md").splitlines()) == 2


@pytest.mark.parametrize(
    ("write_list", "message"),
    [
        (lambda: contents_lines("Boook"), "section 'Boook' is unknown; known are Book, Part [B], Names, Deep, Two, Nameless, Unknown"),
        (lambda: contents_lines("Home"), "section 'Home' is unknown; known are Book, Part [B], Names, Deep, Two, Nameless, Unknown"),
        (lambda: contents_lines("Book", nav=["index.md"]), "section 'Book' is unknown; known are none"),
        (lambda: contents_lines("Deep", nav=NAV[4:]), "docs/bare.md has no description"),
        (lambda: contents_lines("Nameless"), "docs/nameless.md has no title"),
        (lambda: overview("Unknown", NAV, SOURCES, "index.md"), "'attention_docs.shwo' is no name of the package"),
    ],
)  # fmt: skip
def test_missing_section_title_or_description_raises(write_list, message):
    with pytest.raises(LookupError) as caught:
        write_list()
    assert str(caught.value) == message


def test_overview_lists_names_with_docstring_summaries():
    _, _, *rows = overview("Names", NAV, SOURCES, "deep/one.md").splitlines()
    assert [row.split("`")[1] for row in rows] == ["merge_heads", "show", "softmax"]
    links = {"merge_heads": "names.md", "show": "../names.md"}
    for name, row in zip(links, rows, strict=False):
        summary = getattr(attention_docs, name).__doc__.partition("\n")[0]
        assert row == f"| [`{name}`]({links[name]}#attention_docs.{name}) | {summary} |"
    assert rows[2].startswith("| [`softmax`](../names.md#attention_docs.softmax.softmax) | Norm")


def test_overview_requires_docstrings_and_escapes_them(monkeypatch):
    show = attention_docs.show
    monkeypatch.setattr(show, "__doc__", "Print `a | b`\n    and go on.\n\n    More.")
    assert (
        overview("Names", NAV, SOURCES, "deep/one.md").count(r"| Print `a \| b` and go on. |") == 1
    )
    monkeypatch.setattr(show, "__doc__", None)
    with pytest.raises(LookupError, match=r"^'attention_docs\.show' has no docstring$"):
        overview("Names", NAV, SOURCES, "deep/one.md")
