"""Links: every address of the built site leads somewhere, to an id too, and no id is twice."""

import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import pytest

from attention_docs.publish.after.links import broken_links, ids_and_links

HOME = "http://127.0.0.1/attention-docs/"
IN_STYLE = re.compile(r"""url\(\s*(?P<quote>["']?)(?P<address>[^)"']+)(?P=quote)\s*\)""")


@pytest.mark.parametrize(
    ("address", "leads_nowhere"),
    [
        ("../b/", False),
        ("../b/#there", False),
        ("../b/?x=1#there", False),
        ("../b/#nope", True),
        ("#here", False),
        ("#nope", True),
        ("../assets/a%20b.css", False),
        ("../assets/nope.css", True),
        ("../c/", True),
        ("/b/", True),
        ("../../b/", True),
        ("https://example.org/nope", False),
        ("mailto:nobody", False),
        ("//example.org/nope", False),
    ],
)
def test_a_link_leads_to_a_page_its_id_or_a_file(address, leads_nowhere):
    files = {"a", "b", "assets/a b.css"}
    pages = {
        "a/": ids_and_links(f'<p id="here"><a href="{address}">'),
        "b/": ids_and_links('<p id="there">'),
    }
    assert [link for _, link, _ in broken_links(pages, files.__contains__)] == [
        address
    ] * leads_nowhere


def test_what_several_pages_link_to_is_reported_once():
    page = ids_and_links('<img src="../nope.svg">')
    assert list(broken_links({"a/": page, "b/": page}, lambda url: False)) == [
        ("a/", "../nope.svg", "nope.svg")
    ]


def test_pages_may_be_files_too():
    pages = {
        "a/b.html": ids_and_links('<a href="../c.html#x">'),
        "c.html": ids_and_links('<a href="a/b.html">'),
    }
    files = {"a/b.html", "c.html"}
    assert [end for _, _, end in broken_links(pages, files.__contains__)] == ["c.html#x"]


class Page(HTMLParser):
    """All ids of a page and all its references, read by a parser, unlike the build."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.addresses = Counter(), set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            match name:
                case "id":
                    self.ids[value] += 1
                case "href" | "xlink:href" | "src" | "poster" | "data" | "action":
                    self.addresses.add(value)
                case "srcset":
                    self.addresses.update(one.split()[0] for one in value.split(","))
                case "for" | "aria-labelledby" | "aria-describedby" | "aria-controls":
                    self.addresses.update(f"#{one}" for one in value.split())
                case _:
                    self.addresses.update(m["address"] for m in IN_STYLE.finditer(value or ""))


@pytest.fixture(scope="module")
def pages(site):
    """Each page by its address, 404.html included."""
    return {
        urljoin(HOME, file.relative_to(site).as_posix()).removesuffix("index.html"): Page(
            file.read_text(encoding="utf-8")
        )
        for file in sorted(site.rglob("*.html"))
    }


def file_at(site, address):
    file = site / unquote(urlsplit(address).path).removeprefix("/attention-docs/")
    return file / "index.html" if file.is_dir() else file


def test_every_reference_of_every_page_is_met(site, pages):
    missing = []
    for url, page in pages.items():
        for address in page.addresses:
            whole = urljoin(url, address)
            if not whole.startswith(HOME):
                assert urlsplit(whole).scheme in ("https", "http", "mailto", "data"), (url, address)
                continue
            target, _, anchor = whole.partition("#")
            if not file_at(site, target).is_file() or (
                anchor and target in pages and unquote(anchor) not in pages[target].ids
            ):
                missing.append((url, address))
    assert missing == []
    assert len(pages) > 35
    assert sum(len(page.addresses) for page in pages.values()) > 2000


def test_no_id_stands_twice_on_a_page(pages):
    assert {
        url: twice
        for url, page in pages.items()
        if (twice := [i for i, n in page.ids.items() if n > 1])
    } == {}


def test_every_address_in_a_style_sheet_is_met(site):
    missing = []
    for file in site.rglob("*.css"):
        for found in IN_STYLE.finditer(file.read_text(encoding="utf-8")):
            address = found["address"]
            if not address.startswith("data:") and not (file.parent / address).is_file():
                missing.append((file.name, address))
    assert missing == []


def test_every_page_of_the_sitemap_and_of_the_search_is_there(site, pages):
    listed = re.findall(r"<loc>([^<]+)</loc>", (site / "sitemap.xml").read_text(encoding="utf-8"))
    assert set(listed) == set(pages) - {HOME + "404.html"}


def test_addresses_and_anchors_that_others_may_link_to_go_on_working(site):
    """They are those of November 2026; a page or an anchor that moves must leave one behind."""
    for line in Path(__file__).with_name("addresses.txt").read_text("utf-8").splitlines():
        address, *anchors = line.split(" ")
        page = site / address / ("index.html" if address.endswith("/") else "")
        assert page.is_file(), address
        lost = set(anchors) - set(ids_and_links(page.read_text("utf-8")).ids) if anchors else set()
        assert not lost, address
