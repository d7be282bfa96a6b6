"""Search that finds what people type, and loads its index only when they do.

The theme would fetch its search worker and the whole index on each first visit. So the sections are
moved from the index to a file of their own, and pages start a small worker,
`docs/assets/search.js`, which fetches the theme's worker and the sections when they are needed.
Each section is also found by the title of its page, by what it sets in bold at the beginning of a
paragraph, and by other words for these (`search_terms.csv`).
"""

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from html import unescape
from pathlib import Path
from typing import Any

from attention_docs.publish.formula_text import formula_text
from attention_docs.publish.inserts import FORMULA

# Notebooks, lists, code and exercises repeat chapters; papers and links have pages of their own.
EXCLUDED_SECTIONS = re.compile(
    "(notebooks|reading_order)/.*#|"
    "#(exercises|in-code|what-this-page-leaves-out|what-was-read|where-this-comes-from)$"
)
# Nobody searches for an array or a rounded number, and digits compress badly. Versions stay.
NUMBERS = re.compile(r"\[[-−\d\s.,\[\]]+\]| ?−?(?<![.\d])\b\d{1,3}\.\d{2,4}\b(?![.\d])")
# The weight of the sections of some pages in the ranking, by the start of their location. Tuned by
# hand until tests/browser/queries.txt led to its pages.
BOOSTS = {
    "course/test_yourself/": 0.5,
    "course/": 1.5,
    "glossary/": 2.0,
    "mechanisms/kv_cache/": 1.8,
    "mechanisms/quantised_cache/": 0.7,
    "mechanisms/rotary/": 1.4,
    "mechanisms/self_attention/": 1.7,
    "notebooks/": 0.5,
    "questions/": 0.7,
    "reading_order/": 0.5,
    "reference/": 0.6,
}
# For a phrase in a title, a lead or a description, other search terms. The last word of a phrase
# may be cut short, so that "grouped quer" stands for "grouped query" and "grouped queries".
with Path(__file__).with_name("search_terms.csv").open(encoding="utf-8") as file:
    SYNONYMS = {
        re.compile(rf"\b{re.escape(row['phrase'])}", re.IGNORECASE): row["terms"]
        for row in csv.DictReader(file)
    }
THEME_WORKER = re.compile(
    r'"search": "(?P<root>[^"]*)assets/(?P<worker>javascripts/workers/[\w.]+\.js)"'
)
OUR_WORKER = r'"search": "\g<root>assets/search.js?\g<worker>"'
TERM = re.compile(r'<dt id="(?P<id>[^"]+)">(?P<term>.*?)</dt>\s*<dd>(?P<text>.*?)</dd>', re.DOTALL)
DESCRIPTION = re.compile(r'<meta name="description" content="([^"]*)"')
TAG = re.compile(r"<[^>]*>")
HEADING = re.compile(r'<h[1-6] (?:data-\w+="[\w-]+" )*id="([^"]*)"')
LEAD = re.compile(r"<p><strong>(.*?)</strong>", re.DOTALL)

# A section of the theme's index: its location, title and text.
Section = dict[str, Any]


def with_worker(page: str, *, offline: bool = False) -> str:
    """Make a page start our search worker, with the address of the theme's as its query string.

    >>> with_worker('{"search": "../assets/javascripts/workers/search.a7.min.js"}')
    '{"search": "../assets/search.js?javascripts/workers/search.a7.min.js"}'
    """
    # The theme omits the accessible name.
    page = page.replace('role="dialog"', 'role="dialog" aria-label="Search"', 1)
    return page if offline else THEME_WORKER.sub(OUR_WORKER, page)


def write_index(site: Path, pages: Mapping[str, str], *, offline: bool = False) -> None:
    """Add search terms to a site's index, and move its sections to documents.json.

    The offline site keeps them in the index, for the theme's worker. Zensical's index, which has
    another name, stays as it is.
    """
    index_file = site / "search" / "search_index.json"
    if not index_file.is_file():
        return
    index = json.loads(index_file.read_text(encoding="utf-8"))
    sections = list(searchable_sections(index["docs"], pages))
    if offline:
        write_json(index_file, {**index, "docs": sections})
    else:
        write_json(index_file, {**index, "docs": []})
        write_json(index_file.with_name("documents.json"), {"docs": sections})


def searchable_sections(sections: Iterable[Section], pages: Mapping[str, str]) -> Iterator[Section]:
    """Yield the sections worth searching, with keywords; each term of a glossary is a section."""
    page_title = ""
    html_of_sections: dict[str, str] = {}
    for section in sections:
        url, _, fragment = section["location"].partition("#")
        if EXCLUDED_SECTIONS.search(section["location"]):
            continue
        section = {**section, "text": NUMBERS.sub("", section["text"])}
        if fragment:
            yield with_keywords(section, page_title, bold_leads=leads(html_of_sections[fragment]))
            continue
        # A section without a fragment is the beginning of a page, before its other sections.
        page_title = section["title"]
        # The offline site has the URL of the file, not of its folder.
        html = pages.get(f"{url}index.html") or pages.get(url, "")
        _, *ids_and_html = HEADING.split(html)
        html_of_sections = dict(zip(ids_and_html[::2], ids_and_html[1::2], strict=True))
        terms = list(definitions(url, html))
        # The terms become sections of their own, so the beginning need not repeat them.
        text = "" if terms else section["text"]
        description = DESCRIPTION.search(html)
        yield with_keywords(
            {**section, "text": text}, page_title, description[1] if description else ""
        )
        for term in terms:
            yield with_keywords(term, page_title)


def leads(html: str) -> str:
    """Return the beginnings of paragraphs that are bold, as text.

    >>> leads("<p><strong>Paged <em>caches</em>.</strong> A page holds rows.</p>")
    'Paged caches.'
    """
    return TAG.sub("", " ".join(LEAD.findall(html)))


def with_keywords(
    section: Section, page_title: str, page_description: str = "", bold_leads: str = ""
) -> Section:
    """Add a ranking weight and keywords; a page's first section has the page's description, too.

    >>> section = {"location": "course/scores/#rotary", "title": "Rotary positions"}
    >>> with_keywords(section, "Order")  # "pe" stands for "position", the others for "rotary"
    {'location': 'course/scores/#rotary', 'title': 'Rotary positions', \
'keywords': 'Order pe rope ...', 'leads': '', 'boost': 1.5}
    """
    text = f"{section['title']} {page_description} {bold_leads}"
    synonyms = (terms for pattern, terms in SYNONYMS.items() if pattern.search(text))
    keywords = " ".join(filter(None, (page_title, page_description, *synonyms)))
    boosts = (BOOSTS[start] for start in BOOSTS if section["location"].startswith(start))
    return {**section, "keywords": keywords, "leads": bold_leads, "boost": next(boosts, 1.0)}


def definitions(url: str, html: str) -> Iterator[Section]:
    """Yield a section for each term that a page defines.

    >>> html = '<dt id="head">Head</dt><dd>An <a href="..">attention</a>.</dd>'
    >>> list(definitions("glossary/", html))
    [{'location': 'glossary/#head', 'title': 'Head', 'text': 'An attention.'}]
    """
    for match in TERM.finditer(html):
        text = FORMULA.sub(lambda formula: formula_text(unescape(formula["tex"])), match["text"])
        yield {
            "location": f"{url}#{match['id']}",
            "title": TAG.sub("", match["term"]),
            "text": TAG.sub("", text),
        }


def write_json(path: Path, content: Any) -> None:
    """Write content as compact JSON, whose bytes are the same in each build."""
    path.write_text(json.dumps(content, separators=(",", ":"), sort_keys=True), encoding="utf-8")
