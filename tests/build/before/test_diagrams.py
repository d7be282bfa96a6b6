"""Diagrams as SVG: content, styling, accessible names, layout and cache."""

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
PAGE_DIAGRAMS = [
    pytest.param(source, id=f"{page.stem}-{number}")
    for page in sorted(ROOT.glob("docs/*/*.md"))
    for number, source in enumerate(
        re.findall(r"^```mermaid\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)
    )
]


@pytest.fixture
def draw(assets, tmp_path):
    """A function that draws a diagram, with a cache for the test."""

    def draw(source):
        project = SimpleNamespace(node_modules=assets, cache=Cache(tmp_path))
        return drawings(project, [source])[source]

    return draw


@pytest.fixture(scope="module")
def page_diagrams(assets, tmp_path_factory):
    """The drawings of all diagrams of the pages, by source."""
    project = SimpleNamespace(node_modules=assets, cache=Cache(tmp_path_factory.mktemp("cache")))
    return drawings(project, [source.values[0] for source in PAGE_DIAGRAMS])


def drawings(project, sources):
    """Return the drawings of diagrams, by source."""
    build = diagrams.Diagrams(project)
    pages = {source: build.replace_fences(f"```mermaid\n{source}```\n") for source in sources}
    parts = build.draw()
    return {source: insert(page, parts) for source, page in pages.items()}


def test_boxes_have_text_and_role(draw):
    page = BeautifulSoup(draw(SOURCE), "html.parser")
    boxes = [(box.get("class"), text(box)) for box in page.select("g:has(rect)")]
    assert boxes == [(["query"], "First n × dmodel"), (["key"], "Second"), (None, "a < b")]


def text(box):
    return " ".join(line.text for line in box.select("text"))


def test_edges_have_arrowheads_and_labels_as_in_the_source(draw):
    page = BeautifulSoup(draw(SOURCE), "html.parser")
    assert page.select_one(".lines")["d"].count("M") == 2
    assert page.select_one(".tips")["d"].count("M") == 1
    assert [text(label).strip() for label in page.select(".beside")] == ["WQ"]


def test_subscript_is_lower_and_smaller(draw):
    index = BeautifulSoup(draw(SOURCE), "html.parser").find("tspan", string="model")
    assert int(index["dy"]) > 0
    assert int(index["font-size"]) < diagrams.FONT_SIZE


def test_diagram_has_accessible_title_and_description(draw):
    drawing = BeautifulSoup(draw(SOURCE), "html.parser").svg
    labels = [drawing.find(id=name).text for name in drawing["aria-labelledby"].split()]
    assert drawing["role"] == "img"
    assert labels == ["Three boxes", "A leads to B & C."]


def test_diagram_sets_no_colours_or_fonts(draw):
    assert not re.search(r"<style|fill=|stroke=|font-family", draw(SOURCE))


def test_ids_differ_between_diagrams(draw):
    ids = re.compile(r' id="([^"]+)"')
    other = draw(SOURCE.replace("Second", "Third"))
    assert not set(ids.findall(other)) & set(ids.findall(draw(SOURCE)))


@pytest.mark.parametrize("source", PAGE_DIAGRAMS)
def test_boxes_and_labels_of_a_diagram_do_not_overlap(source, page_diagrams):
    page = BeautifulSoup(page_diagrams[source], "html.parser")
    boxes = [rectangle(box) for box in page.select("rect")]
    for a, b in combinations(boxes, 2):
        assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
    for label in page.select(".beside text"):
        x, y = float(label["x"]), float(label["y"])
        assert not any(left < x < right and top < y < bottom for left, top, right, bottom in boxes)


def rectangle(box):
    left, top, width, height = (float(box[name]) for name in ("x", "y", "width", "height"))
    return left, top, left + width, top + height


@pytest.mark.parametrize("source", PAGE_DIAGRAMS)
def test_edges_end_at_boxes_inside_the_drawing(source, page_diagrams):
    page = BeautifulSoup(page_diagrams[source], "html.parser")
    boxes = [rectangle(box) for box in page.select("rect")]
    left, top, width, height = map(float, page.svg["viewbox"].split())
    for line in page.select_one(".lines")["d"].split("M")[1:]:
        points = [tuple(map(float, pair)) for pair in re.findall(r"([-\d.]+),([-\d.]+)", line)]
        for x, y in (points[0], points[-1]):
            assert left <= x <= left + width
            assert top <= y <= top + height
            # Arrowheads fill the gap.
            assert min(distance(x, y, box) for box in boxes) < 12


def distance(x, y, box):
    left, top, right, bottom = box
    return max(left - x, x - right, top - y, y - bottom, 0)


def test_diagrams_are_cached(draw, monkeypatch):
    first = draw(SOURCE)
    monkeypatch.setattr(diagrams, "run_node", lambda *_, **__: pytest.fail("not cached"))
    assert draw(SOURCE) == first
