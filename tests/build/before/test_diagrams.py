"""Diagrams as SVG: complete, themed by the style sheet, readable aloud, drawn once."""

import re
from itertools import combinations
from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup

from attention_docs.publish.before import diagrams
from attention_docs.publish.cache import Cache
from attention_docs.publish.parts import insert
from tests.conftest import ROOT

SOURCE = """graph TB
    accTitle: Three boxes
    accDescr: A leads to B & C.
    A["First<br/>n × d_model"]:::query -->|"W_Q"| B[Second]:::key
    A --- C["a < b"]
"""
OF_THE_PAGES = [
    pytest.param(source, id=f"{page.stem}-{number}")
    for page in sorted(ROOT.glob("docs/*/*.md"))
    for number, source in enumerate(
        re.findall(r"^```mermaid\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)
    )
]


@pytest.fixture
def drawn(assets, tmp_path):
    """Draw what a page has between its fences, with a cache that lives as long as the test."""

    def drawn(source):
        project = SimpleNamespace(modules=assets, cache=Cache(tmp_path))
        return drawings(project, [source])[source]

    return drawn


@pytest.fixture(scope="module")
def of_the_pages(assets, tmp_path_factory):
    """Give the drawing of each diagram of the pages, all of them drawn at once."""
    project = SimpleNamespace(modules=assets, cache=Cache(tmp_path_factory.mktemp("cache")))
    return drawings(project, [source.values[0] for source in OF_THE_PAGES])


def drawings(project, sources):
    """Draw what pages have between their fences."""
    build = diagrams.Diagrams(project)
    pages = {source: build.replace_fences(f"```mermaid\n{source}```\n") for source in sources}
    parts = build.draw()
    return {source: insert(page, parts) for source, page in pages.items()}


def test_every_box_has_its_text_and_role(drawn):
    page = BeautifulSoup(drawn(SOURCE), "html.parser")
    boxes = [(box.get("class"), text(box)) for box in page.select("g:has(rect)")]
    assert boxes == [(["query"], "First n × dmodel"), (["key"], "Second"), (None, "a < b")]


def text(box):
    return " ".join(line.text for line in box.select("text"))


def test_lines_have_tips_and_text_where_the_source_has_them(drawn):
    page = BeautifulSoup(drawn(SOURCE), "html.parser")
    assert page.select_one(".lines")["d"].count("M") == 2
    assert page.select_one(".tips")["d"].count("M") == 1
    assert [text(label).strip() for label in page.select(".beside")] == ["WQ"]


def test_an_index_is_set_lower_and_smaller(drawn):
    index = BeautifulSoup(drawn(SOURCE), "html.parser").find("tspan", string="model")
    assert int(index["dy"]) > 0
    assert int(index["font-size"]) < diagrams.FONT_SIZE


def test_a_screen_reader_gets_title_and_description(drawn):
    drawing = BeautifulSoup(drawn(SOURCE), "html.parser").svg
    named = [drawing.find(id=name).text for name in drawing["aria-labelledby"].split()]
    assert drawing["role"] == "img"
    assert named == ["Three boxes", "A leads to B & C."]


def test_colours_and_fonts_are_left_to_the_style_sheet(drawn):
    assert not re.search(r"<style|fill=|stroke=|font-family", drawn(SOURCE))


def test_another_diagram_has_other_ids(drawn):
    ids = re.compile(r' id="([^"]+)"')
    other = drawn(SOURCE.replace("Second", "Third"))
    assert not set(ids.findall(other)) & set(ids.findall(drawn(SOURCE)))


@pytest.mark.parametrize("source", OF_THE_PAGES)
def test_no_box_or_text_of_a_diagram_covers_another(source, of_the_pages):
    page = BeautifulSoup(of_the_pages[source], "html.parser")
    boxes = [rectangle(box) for box in page.select("rect")]
    for one, other in combinations(boxes, 2):
        assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
    for label in page.select(".beside text"):
        x, y = float(label["x"]), float(label["y"])
        assert not any(left < x < right and top < y < bottom for left, top, right, bottom in boxes)


def rectangle(box):
    left, top, width, height = (float(box[name]) for name in ("x", "y", "width", "height"))
    return left, top, left + width, top + height


@pytest.mark.parametrize("source", OF_THE_PAGES)
def test_each_line_ends_at_its_boxes_and_inside_the_drawing(source, of_the_pages):
    page = BeautifulSoup(of_the_pages[source], "html.parser")
    boxes = [rectangle(box) for box in page.select("rect")]
    left, top, width, height = map(float, page.svg["viewbox"].split())
    for line in page.select_one(".lines")["d"].split("M")[1:]:
        points = [tuple(map(float, pair)) for pair in re.findall(r"([-\d.]+),([-\d.]+)", line)]
        for x, y in (points[0], points[-1]):
            assert left <= x <= left + width
            assert top <= y <= top + height
            # The tip of an arrow takes some of the way.
            assert min(distance(x, y, box) for box in boxes) < 12


def distance(x, y, box):
    left, top, right, bottom = box
    return max(left - x, x - right, top - y, y - bottom, 0)


def test_a_diagram_is_drawn_once(drawn, monkeypatch):
    first = drawn(SOURCE)
    monkeypatch.setattr(diagrams, "run_node", lambda *_, **__: pytest.fail("drawn again"))
    assert drawn(SOURCE) == first
