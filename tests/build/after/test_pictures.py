"""The tags and the picture by which other sites show a link to a page."""

import re
import struct
from html import unescape
from pathlib import Path

import material
import numpy as np
import pytest
from bs4 import BeautifulSoup

from attention_docs.publish.after import pictures, truetype
from attention_docs.publish.cache import Cache
from attention_docs.render.figures import beside, heatmap, matrix_panel
from attention_docs.render.figures.svg import ROLES
from tests.build.forked import mkdocs
from tests.conftest import ROOT

ADDRESS = "http://127.0.0.1/attention-docs/"
THEME = Path(material.__file__).parent / "templates" / "assets" / "stylesheets"
DIAGRAM = '<svg role="img" width="{}" height="{}"><rect width="9" height="9"/></svg>'


@pytest.fixture
def fonts(assets):
    return assets / pictures.FONTS


@pytest.fixture
def look(fonts):
    (theme,) = THEME.glob("main.*.min.css")
    styles = [
        file.read_text(encoding="utf-8") for file in (theme, ROOT / "docs" / pictures.STYLE_SHEET)
    ]
    icon = (ROOT / "docs" / "assets" / "favicon.svg").read_text(encoding="utf-8")
    rules = "".join(pictures.DIAGRAM_RULE.findall(styles[1]))
    bold = truetype.character_widths(fonts / pictures.BOLD)
    return pictures.Style("A site", icon, pictures.light_variables(styles), rules, bold)


@pytest.fixture
def draw(fonts, look):
    """Draw the picture of a page with that title and drawing."""
    return lambda title, drawing=None: pictures.png(
        pictures.picture_svg(title, drawing, look), fonts
    )


def size(png):
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    return struct.unpack(">II", png[16:24])


@pytest.mark.parametrize(
    "drawing",
    [
        None,
        DIAGRAM.format(900, 100),
        DIAGRAM.format(100, 900),
        heatmap(np.eye(2), "A matrix"),
        pictures.first_drawing(beside([matrix_panel(np.eye(2), name) for name in "AB"], "Two")),
    ],
    ids=["plain", "wide", "high", "figure", "panels"],
)
def test_a_picture_has_the_size_that_its_tags_tell_and_the_same_bytes_each_time(draw, drawing):
    picture = draw("A page", drawing)
    assert size(picture) == (1200, 630)
    assert picture == draw("A page", drawing)


def test_a_picture_shows_title_drawing_and_the_name_of_the_site(draw, fonts, look):
    drawing = DIAGRAM.format(90, 90)
    picture = draw("A page", drawing)
    assert picture != draw("Another page", drawing)
    assert picture != draw("A page")
    assert picture != draw("A page", drawing.replace("9", "8"))
    elsewhere = pictures.picture_svg("A page", drawing, look._replace(name="Another site"))
    assert picture != pictures.png(elsewhere, fonts)


def test_the_drawings_of_a_figure_stand_in_a_row():
    panels = [matrix_panel(np.eye(n), name) for n, name in ((2, "A & B"), (3, "C"))]
    after = DIAGRAM.format(900, 100)
    drawing = pictures.first_drawing(f"<p></p>{beside(panels, 'Two < three')}{after}")
    one, two = BeautifulSoup(drawing, "html.parser").svg.find_all("svg")
    assert float(two["x"]) > float(one["x"]) + float(one["width"])
    assert pictures.drawing_size(drawing) == (
        float(two["x"]) + float(two["width"]),
        float(two["height"]),
    )
    assert pictures.drawing_name(drawing) == "Two < three"
    assert pictures.first_drawing(after + drawing) == after


def test_a_drawing_stands_where_it_can_be_larger():
    wide, high = DIAGRAM.format(900, 100), DIAGRAM.format(100, 900)
    assert pictures.scale(wide, pictures.BELOW) > pictures.scale(wide, pictures.BESIDE)
    assert pictures.scale(high, pictures.BESIDE) > pictures.scale(high, pictures.BELOW)


@pytest.mark.parametrize("drawing", [None, DIAGRAM.format(900, 100), DIAGRAM.format(100, 900)])
@pytest.mark.parametrize(
    "title", ["Masks", "Self-attention" + " and masks" * 3, "Incomprehensibilities" * 3]
)
def test_a_title_keeps_within_its_room(look, title, drawing):
    svg = pictures.picture_svg(title, drawing, look)
    texts = re.findall(r'<text x="60" y="([\d.]+)" font-size="([\d.]+)".*?>(.*?)</text>', svg)
    assert " ".join(text for _, _, text in texts) == title
    room = pictures.COLUMN if drawing == DIAGRAM.format(100, 900) else pictures.BELOW.width
    for y, font, text in texts:
        assert pictures.text_width(text, look.bold_widths) * float(font) < 1.01 * room
        assert float(y) < 500


def test_every_colour_of_figures_and_diagrams_has_a_light_value(look):
    used = {name for name, _ in pictures.VARIABLE.findall(look.rules + "".join(ROLES.values()))}
    assert len(used) > 10
    assert used - set(look.variables) == {"--md-text-font-family"}
    assert look.variables["--md-primary-fg-color"] == "#1d3557"  # ours, not the theme's


def test_a_title_is_text_and_not_markup(look):
    assert "Q &lt; K &amp; V" in pictures.picture_svg("Q < K & V", None, look)


def test_a_picture_is_drawn_once(fonts, look, tmp_path, monkeypatch):
    card = pictures.picture_svg("A page", None, look)
    picture = pictures.cached_png(card, fonts, Cache(tmp_path))
    monkeypatch.delattr(pictures, "png")
    assert pictures.cached_png(card, fonts, Cache(tmp_path)) == picture


@pytest.mark.parametrize(
    "surroundings",
    [{}, {"OFFLINE": "true", "SITE_URL": ADDRESS}],
    ids=["no address", "offline"],
)
def test_without_an_address_there_are_no_pictures_and_no_tags(one_page, surroundings):
    built = mkdocs(one_page, "build", "--strict", **surroundings)
    assert built.returncode == 0, built.stderr
    assert not (one_page / "site" / "assets" / "pictures").exists()
    page = (one_page / "site" / "index.html").read_text(encoding="utf-8")
    assert "og:" not in page
    assert "twitter:" not in page


@pytest.fixture(scope="module")
def heads(site):
    """By its address, the head of each page: its title, its tags' contents and its links."""
    found = {}
    for page in sorted(site.rglob("index.html")):
        head = BeautifulSoup(
            page.read_text(encoding="utf-8").partition("</head>")[0], "html.parser"
        )
        tags = [
            (tag.get("property") or tag.get("name"), tag["content"])
            for tag in head.find_all("meta", content=True)
        ]
        assert len(dict(tags)) == len(tags), f"{page}: a tag twice"
        (canonical,) = head.find_all("link", rel="canonical")
        folder = page.parent.relative_to(site).as_posix()
        address = ADDRESS if folder == "." else f"{ADDRESS}{folder}/"
        found[address] = {"title": head.title.string, "canonical": canonical["href"], **dict(tags)}
    return found


def test_every_page_has_a_title_its_address_and_a_description_of_its_own(heads):
    assert len(heads) > 50
    for address, head in heads.items():
        assert head["title"]
        assert head["canonical"] == head["og:url"] == address
        assert head["description"] == unescape(head["og:description"])
    assert all(head["description"].strip() for head in heads.values())
    assert len({head["description"] for head in heads.values()}) == len(heads)


def test_every_page_has_a_title_and_a_picture_for_other_sites(heads):
    for head in heads.values():
        assert head["og:title"]
        assert head["og:site_name"] == "Attention, computed"
        assert head["og:image:alt"]
        assert (head["og:image:width"], head["og:image:height"]) == ("1200", "630")
        assert head["twitter:card"] == "summary_large_image"
    assert [a for a, head in heads.items() if head["og:type"] == "website"] == [ADDRESS]
    assert heads[ADDRESS]["og:title"] == "Attention, computed"


def test_every_picture_lies_in_the_site_and_is_small(heads, site):
    images = [head["og:image"] for head in heads.values()]
    assert all(image.startswith(ADDRESS) for image in images)
    files = {site / image.removeprefix(ADDRESS) for image in images}
    assert files == set(site.glob("assets/pictures/**/*.png"))
    assert len(files) == len(heads)
    for file in files:
        picture = file.read_bytes()
        assert size(picture) == (1200, 630)
        assert len(picture) < 60_000, file


def test_picture_says_its_title_and_the_name_of_the_site_alone(look):
    picture = BeautifulSoup(pictures.picture_svg("Attention", None, look), "html.parser")
    assert [text.get_text() for text in picture.select("text")] == ["Attention", "A site"]
