"""Links and ids of the built site."""

import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import pytest

HOME = "http://127.0.0.1/attention-docs/"
URL_IN_STYLE = re.compile(r"""url\(\s*(?P<quote>["']?)(?P<address>[^)"']+)(?P=quote)\s*\)""")


class Page(HTMLParser):
    """The ids and links of a page, collected by an HTML parser."""

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
                    self.addresses.update(item.split()[0] for item in value.split(","))
                case "for" | "aria-labelledby" | "aria-describedby" | "aria-controls":
                    self.addresses.update(f"#{html_id}" for html_id in value.split())
                case _:
                    urls = URL_IN_STYLE.finditer(value or "")
                    self.addresses.update(url["address"] for url in urls)


@pytest.fixture(scope="module")
def pages(site):
    """All pages by address, including 404.html."""
    pages = {}
    for file in sorted(site.rglob("*.html")):
        address = urljoin(HOME, file.relative_to(site).as_posix()).removesuffix("index.html")
        pages[address] = Page(file.read_text(encoding="utf-8"))
    return pages


@pytest.fixture(scope="module")
def links(pages):
    """The address of each page, and the absolute address of each of its links."""
    return [
        (url, urljoin(url, address)) for url, page in pages.items() for address in page.addresses
    ]


def file_at(site, url):
    file = site / unquote(urlsplit(url).path).removeprefix("/attention-docs/")
    return file / "index.html" if file.is_dir() else file


def is_broken(target_url, site, pages):
    """Whether the site lacks the file of an address, or its page has no element with the fragment.

    A fragment that begins with `try=` edits inputs of the page.
    """
    url, _, fragment = target_url.partition("#")
    is_edit = fragment.startswith("try=")
    lacks_id = fragment and url in pages and unquote(fragment) not in pages[url].ids and not is_edit
    return lacks_id or not file_at(site, url).is_file()


def test_every_link_to_the_site_resolves(site, pages, links):
    internal_links = [link for link in links if link[1].startswith(HOME)]
    assert len(internal_links) > 2000
    assert [link for link in internal_links if is_broken(link[1], site, pages)] == []


def test_every_other_link_has_a_known_scheme(links):
    schemes = {urlsplit(url).scheme for _, url in links if not url.startswith(HOME)}
    assert schemes <= {"https", "http", "mailto", "data"}


def test_no_page_has_duplicate_ids(pages):
    for url, page in pages.items():
        assert [html_id for html_id, count in page.ids.items() if count > 1] == [], url


def test_every_address_in_a_style_sheet_resolves(site):
    missing = []
    for file in site.rglob("*.css"):
        for url in URL_IN_STYLE.finditer(file.read_text(encoding="utf-8")):
            address = url["address"]
            if not address.startswith("data:") and not (file.parent / address).is_file():
                missing.append((file.name, address))
    assert missing == []


def test_sitemap_lists_exactly_the_pages(site, pages):
    listed = re.findall(r"<loc>([^<]+)</loc>", (site / "sitemap.xml").read_text(encoding="utf-8"))
    assert set(listed) == set(pages) - {HOME + "404.html"}


def test_old_addresses_and_anchors_still_exist(site):
    """Other sites may link to the addresses of November 2026, which addresses.txt lists."""
    for line in Path(__file__).with_name("addresses.txt").read_text("utf-8").splitlines():
        address, *anchors = line.split(" ")
        file = site / f"{address}index.html" if address.endswith("/") else site / address
        assert file.is_file(), address
        if anchors:
            ids = Page(file.read_text("utf-8")).ids
            assert set(anchors) <= ids.keys(), address
