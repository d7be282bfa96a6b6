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


def file_at(site, address):
    file = site / unquote(urlsplit(address).path).removeprefix("/attention-docs/")
    return file / "index.html" if file.is_dir() else file


def test_every_link_of_every_page_resolves(site, pages):
    broken = []
    for url, page in pages.items():
        for address in page.addresses:
            target_url = urljoin(url, address)
            if not target_url.startswith(HOME):
                scheme = urlsplit(target_url).scheme
                assert scheme in ("https", "http", "mailto", "data"), (url, address)
                continue
            target, _, fragment = target_url.partition("#")
            lacks_id = fragment and target in pages and unquote(fragment) not in pages[target].ids
            if lacks_id or not file_at(site, target).is_file():
                broken.append((url, address))
    assert broken == []
    assert len(pages) > 35
    assert sum(len(page.addresses) for page in pages.values()) > 2000


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
