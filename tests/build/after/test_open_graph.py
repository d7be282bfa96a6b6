"""Open Graph tags, and the picture by which other sites show links to the site."""

import struct
from html import unescape

import pytest
from bs4 import BeautifulSoup

from tests.conftest import mkdocs

ADDRESS = "http://127.0.0.1/attention-docs/"
SIZE = (1200, 630)


@pytest.mark.parametrize(
    "environment",
    [{}, {"OFFLINE": "true", "SITE_URL": ADDRESS}],
    ids=["no address", "offline"],
)
def test_site_without_address_has_no_tags_and_no_links_to_its_repository(
    one_page_project, environment
):
    built = mkdocs(one_page_project, "build", "--strict", **environment)
    assert built.returncode == 0, built.stderr
    page = (one_page_project / "site" / "index.html").read_text(encoding="utf-8")
    assert "og:" not in page
    assert "twitter:" not in page
    assert "github.com" not in page


@pytest.fixture(scope="module")
def tags_by_page(site):
    """Title, canonical link and meta tags of each page, by address."""
    tags_by_page = {}
    for page in sorted(site.rglob("index.html")):
        html = page.read_text(encoding="utf-8").partition("</head>")[0]
        head_html = BeautifulSoup(html, "html.parser")
        meta_tags = [
            (tag.get("property") or tag.get("name"), tag["content"])
            for tag in head_html.find_all("meta", content=True)
        ]
        assert len(dict(meta_tags)) == len(meta_tags), f"{page}: duplicate tags"
        (canonical,) = head_html.find_all("link", rel="canonical")
        folder = page.parent.relative_to(site).as_posix()
        address = ADDRESS if folder == "." else f"{ADDRESS}{folder}/"
        tags_by_page[address] = {
            "title": head_html.title.string,
            "canonical": canonical["href"],
            **dict(meta_tags),
        }
    return tags_by_page


def test_every_page_has_its_title_address_and_a_unique_description(tags_by_page):
    assert len(tags_by_page) > 50
    for address, tags in tags_by_page.items():
        assert tags["title"]
        assert tags["canonical"] == tags["og:url"] == address
        assert tags["description"].strip()
        assert tags["description"] == unescape(tags["og:description"])
        assert tags["og:title"]
        assert tags["og:site_name"] == "Attention, computed"
        assert tags["og:type"] == ("website" if address == ADDRESS else "article")
        assert tags["og:image:alt"]
        assert (int(tags["og:image:width"]), int(tags["og:image:height"])) == SIZE
        assert tags["twitter:card"] == "summary_large_image"
    assert len({tags["description"] for tags in tags_by_page.values()}) == len(tags_by_page)


def test_every_page_has_the_picture_of_the_site(tags_by_page, site):
    (image,) = {tags["og:image"] for tags in tags_by_page.values()}
    assert image.startswith(ADDRESS)
    picture = (site / image.removeprefix(ADDRESS)).read_bytes()
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">II", picture[16:24]) == SIZE  # width and height in the header
    assert len(picture) < 100_000  # a third of what messengers fetch
