"""Diagrams as SVG: content, styling, accessible names, layout and cache."""

import re
from itertools import combinations
from types import SimpleNamespace
from typing import NamedTuple

import pytest
from bs4 import BeautifulSoup

from attention_docs.publish.before import diagrams
from attention_docs.publish.cache import Cache
from attention_docs.publish.inserts import insert
from tests.conftest import ROOT

CHART = """graph TB
    accTitle: Three boxes
    accDescr: A leads to B & C.
    A["First<br/>n × d_model"]:::query -->|"W_Q"| B[Second]:::key
    A --- C["a < b"]
"""
ARROWHEAD_LENGTH = 12  # at most, in pixels
MERMAID_BLOCK = re.compile(r"^```mermaid\n(.*?)^```", re.MULTILINE | re.DOTALL)
PAGE_CHARTS = {
    f"{page.stem}-{number}": chart
    for page in sorted(ROOT.glob("docs/*/*.md"))
    for number, chart in enumerate(MERMAID_BLOCK.findall(page.read_text(encoding="utf-8")))
}
each_page_chart = pytest.mark.parametrize("name", PAGE_CHARTS)


@pytest.fixture
def draw(assets, tmp_path):
    """A function that draws a diagram, with a cache for the test."""

    def draw(chart):
        project = SimpleNamespace(node_modules=assets, cache=Cache(tmp_path))
        return drawings(project, [chart])[chart]

    return draw


@pytest.fixture(scope="module")
def page_diagrams(assets, tmp_path_factory):
    """The drawings of all diagrams of the pages, by name."""
    project = SimpleNamespace(node_modules=assets, cache=Cache(tmp_path_factory.mktemp("cache")))
    by_chart = drawings(project, PAGE_CHARTS.values())
    return {name: by_chart[chart] for name, chart in PAGE_CHARTS.items()}


def drawings(project, charts):
    """Return the drawings of diagrams, by chart."""
    build = diagrams.Diagrams(project)
    pages = {chart: build.replace_fences(f"```mermaid\n{chart}```\n") for chart in charts}
    inserts = build.draw()
    return {chart: insert(page, inserts) for chart, page in pages.items()}


def test_boxes_have_text_and_role(draw):
    page = BeautifulSoup(draw(CHART), "html.parser")
    boxes = [(box.get("class"), text_of(box)) for box in page.select("g:has(rect)")]
    assert boxes == [(["query"], "First n × dmodel"), (["key"], "Second"), (None, "a < b")]


def text_of(group):
    return " ".join(line.text for line in group.select("text"))


def test_edges_have_arrowheads_and_labels_as_in_the_chart(draw):
    page = BeautifulSoup(draw(CHART), "html.parser")
    edges, arrowheads = page.select_one(".lines")["d"], page.select_one(".tips")["d"]
    assert edges.count("M") == 2
    assert arrowheads.count("M") == 1
    assert [text_of(label).strip() for label in page.select(".beside")] == ["WQ"]


def test_subscript_is_lower_and_smaller(draw):
    subscript = BeautifulSoup(draw(CHART), "html.parser").find("tspan", string="model")
    assert int(subscript["dy"]) > 0
    assert int(subscript["font-size"]) < diagrams.FONT_SIZE


def test_diagram_has_accessible_title_and_description(draw):
    svg = BeautifulSoup(draw(CHART), "html.parser").svg
    assert svg["role"] == "img"
    assert svg.title.text == "Three boxes"
    assert svg.find(id=svg["aria-describedby"]).text == "A leads to B & C."


def test_diagram_sets_no_colours_or_fonts(draw):
    assert not re.search(r"<style|fill=|stroke=|font-family", draw(CHART))


@each_page_chart
def test_boxes_and_labels_of_a_diagram_do_not_overlap(name, page_diagrams):
    page = BeautifulSoup(page_diagrams[name], "html.parser")
    boxes = [Rectangle.of(rect) for rect in page.select("rect")]
    for box, other in combinations(boxes, 2):
        is_beside = box.right <= other.left or other.right <= box.left
        is_above_or_below = box.bottom <= other.top or other.bottom <= box.top
        assert is_beside or is_above_or_below
    for label in page.select(".beside text"):
        for box in boxes:
            assert box.distance_to(float(label["x"]), float(label["y"])) > 0


class Rectangle(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float

    @classmethod
    def of(cls, rect):
        left, top, width, height = (float(rect[name]) for name in ("x", "y", "width", "height"))
        return cls(left, top, left + width, top + height)

    def distance_to(self, x, y):
        """Return the horizontal or the vertical distance of a point, the larger one; 0 inside."""
        return max(self.left - x, x - self.right, self.top - y, y - self.bottom, 0)


@each_page_chart
def test_edges_end_at_boxes_inside_the_drawing(name, page_diagrams):
    page = BeautifulSoup(page_diagrams[name], "html.parser")
    boxes = [Rectangle.of(rect) for rect in page.select("rect")]
    left, top, width, height = map(float, page.svg["viewbox"].split())
    for edge in page.select_one(".lines")["d"].split("M")[1:]:
        points = [tuple(map(float, pair)) for pair in re.findall(r"([-\d.]+),([-\d.]+)", edge)]
        for x, y in (points[0], points[-1]):
            assert left <= x <= left + width
            assert top <= y <= top + height
            assert min(box.distance_to(x, y) for box in boxes) < ARROWHEAD_LENGTH


def test_diagrams_are_cached(draw, monkeypatch):
    first = draw(CHART)
    monkeypatch.setattr(diagrams, "run_node", lambda *_, **__: pytest.fail("not cached"))
    assert draw(CHART) == first
