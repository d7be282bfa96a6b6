"""Pictures of pages, and their Open Graph tags."""

import re
import struct
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

import material
import numpy as np
import pytest
from bs4 import BeautifulSoup

from attention_docs.publish.after import pictures
from attention_docs.publish.cache import Cache
from attention_docs.render.figures import beside, figure, heatmap, matrix_panel
from attention_docs.render.figures.svg import ROLES
from tests.conftest import ROOT, mkdocs
from tests.figures.drawing import SVG

ADDRESS = "http://127.0.0.1/attention-docs/"
SIZE = (1200, 630)
THEME = Path(material.__file__).parent / "templates" / "assets" / "stylesheets"
DIAGRAM = '<svg role="img" width="{}" height="{}"><rect width="9" height="9"/></svg>'
WIDE_DIAGRAM, HIGH_DIAGRAM = DIAGRAM.format(900, 100), DIAGRAM.format(100, 900)


@pytest.fixture
def fonts(assets):
    return assets / pictures.FONTS


@pytest.fixture
def style():
    (theme_file,) = THEME.glob("main.*.min.css")
    theme = theme_file.read_text(encoding="utf-8")
    style_sheet = (ROOT / "docs" / pictures.STYLE_SHEET).read_text(encoding="utf-8")
    return pictures.Style(
        site_name="A site",
        icon=(ROOT / "docs" / pictures.ICON).read_text(encoding="utf-8"),
        variables=pictures.light_variables([theme, style_sheet]),
        diagram_rules="".join(pictures.DIAGRAM_RULE.findall(style_sheet)),
    )


@pytest.fixture
def draw(fonts, style):
    """A function that draws the picture of a page with a title and a drawing."""

    def draw(title, drawing=None):
        return pictures.png(pictures.picture_svg(title, drawing, style), fonts)

    return draw


def png_size(png):
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    return struct.unpack(">II", png[16:24])  # width and height in the header


@pytest.mark.parametrize(
    "drawing",
    [
        None,
        WIDE_DIAGRAM,
        HIGH_DIAGRAM,
        heatmap(np.eye(2), "A matrix"),
        pictures.first_drawing(beside([matrix_panel(np.eye(2), name) for name in "AB"], "Two")),
    ],
    ids=["none", "wide", "high", "figure", "panels"],
)
def test_picture_has_the_tagged_size_and_is_reproducible(draw, drawing):
    picture = draw("A page", drawing)
    assert png_size(picture) == SIZE
    assert picture == draw("A page", drawing)


def test_picture_shows_title_drawing_and_site_name(draw, fonts, style):
    picture = draw("A page", WIDE_DIAGRAM)
    assert picture != draw("Another page", WIDE_DIAGRAM)
    assert picture != draw("A page", HIGH_DIAGRAM)
    other_style = style._replace(site_name="Another site")
    of_other_site = pictures.picture_svg("A page", WIDE_DIAGRAM, other_style)
    assert picture != pictures.png(of_other_site, fonts)


def test_panels_of_a_figure_are_side_by_side():
    panels = [matrix_panel(np.eye(2), "A & B"), matrix_panel(np.eye(3), "C")]
    drawing = pictures.first_drawing(f"<p></p>{beside(panels, 'Two < three')}")
    left, right = BeautifulSoup(drawing, "html.parser").svg.find_all("svg")
    assert float(right["x"]) > float(left["x"]) + float(left["width"])
    total_width = float(right["x"]) + float(right["width"])
    assert pictures.drawing_size(drawing) == (total_width, float(right["height"]))
    assert pictures.drawing_name(drawing) == "Two < three"


def test_first_drawing_skips_the_side_panel():
    stage = figure(matrix_panel(np.eye(2), "A"), "A", "step")
    assert pictures.first_drawing(stage + WIDE_DIAGRAM) == WIDE_DIAGRAM


def test_first_drawing_is_the_first_figure_or_diagram():
    panels = beside([matrix_panel(np.eye(2), name) for name in "AB"], "Two")
    assert pictures.first_drawing(WIDE_DIAGRAM + panels) == WIDE_DIAGRAM
    assert pictures.drawing_name(pictures.first_drawing(panels + WIDE_DIAGRAM)) == "Two"


@pytest.mark.parametrize("drawing", [WIDE_DIAGRAM, HIGH_DIAGRAM], ids=["wide", "high"])
@pytest.mark.parametrize("title", ["One line", "A title that is long enough for two lines"])
def test_drawing_is_between_the_title_and_the_name_of_the_site(style, title, drawing):
    svg = pictures.picture_svg(title, drawing, style)
    title_lines = re.findall(r'<text x="60" y="([\d.]+)" font-size="56".*?>(.*?)</text>', svg)
    assert " ".join(text for _, text in title_lines) == title
    title_bottom = float(title_lines[-1][0])
    x, y, scale = map(float, re.search(r"translate\((.*?) (.*?)\) scale\((.*?)\)", svg).groups())
    width, height = pictures.drawing_size(drawing)
    assert x >= pictures.MARGIN
    assert x + scale * width <= pictures.WIDTH - pictures.MARGIN
    assert title_bottom < y
    assert y + scale * height < pictures.ICON_TOP


def test_every_colour_variable_has_a_light_value(style):
    colours = style.diagram_rules + "".join(ROLES.values())
    used = {name for name, _ in pictures.VARIABLE.findall(colours)}
    assert len(used) > 10
    assert used - set(style.variables) == {"--md-text-font-family"}
    assert style.variables["--md-primary-bg-color"] == "#1b1f24"  # from site.css, not the theme


def test_pictures_are_cached(fonts, style, tmp_path, monkeypatch):
    svg = pictures.picture_svg("A page", None, style)
    picture = pictures.cached_png(svg, fonts, Cache(tmp_path))
    monkeypatch.delattr(pictures, "png")
    assert pictures.cached_png(svg, fonts, Cache(tmp_path)) == picture


@pytest.mark.parametrize(
    "environment",
    [{}, {"OFFLINE": "true", "SITE_URL": ADDRESS}],
    ids=["no address", "offline"],
)
def test_site_without_address_has_no_pictures_or_tags(one_page_project, environment):
    built = mkdocs(one_page_project, "build", "--strict", **environment)
    assert built.returncode == 0, built.stderr
    assert not (one_page_project / "site" / "assets" / "pictures").exists()
    page = (one_page_project / "site" / "index.html").read_text(encoding="utf-8")
    assert "og:" not in page
    assert "twitter:" not in page


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


def test_every_page_has_title_address_and_unique_description(tags_by_page):
    assert len(tags_by_page) > 50
    for address, tags in tags_by_page.items():
        assert tags["title"]
        assert tags["canonical"] == tags["og:url"] == address
        assert tags["description"] == unescape(tags["og:description"])
    assert all(tags["description"].strip() for tags in tags_by_page.values())
    assert len({tags["description"] for tags in tags_by_page.values()}) == len(tags_by_page)


def test_every_page_has_open_graph_tags(tags_by_page):
    for tags in tags_by_page.values():
        assert tags["og:title"]
        assert tags["og:site_name"] == "Attention, computed"
        assert tags["og:image:alt"]
        assert (int(tags["og:image:width"]), int(tags["og:image:height"])) == SIZE
        assert tags["twitter:card"] == "summary_large_image"


def test_only_the_home_page_is_tagged_as_website(tags_by_page):
    websites = [address for address, tags in tags_by_page.items() if tags["og:type"] == "website"]
    assert websites == [ADDRESS]
    assert tags_by_page[ADDRESS]["og:title"] == "Attention, computed"


def test_every_picture_exists_and_is_small(tags_by_page, site):
    images = [tags["og:image"] for tags in tags_by_page.values()]
    assert all(image.startswith(ADDRESS) for image in images)
    files = {site / image.removeprefix(ADDRESS) for image in images}
    assert files == set(site.glob("assets/pictures/**/*.png"))
    assert len(files) == len(tags_by_page)
    for file in files:
        picture = file.read_bytes()
        assert png_size(picture) == SIZE
        assert len(picture) < 100_000, file  # a third of what messengers fetch


def test_picture_text_is_title_and_site_name_only(style):
    picture = ElementTree.fromstring(pictures.picture_svg("Q < K & V", None, style))
    assert [text.text for text in picture.iter(f"{SVG}text")] == ["Q < K & V", "A site"]
