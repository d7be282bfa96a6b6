"""Diagrams as SVG: content, styling, accessible names and cache."""

import re
from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup

from attention_docs.publish.before import diagrams
from attention_docs.publish.cache import Cache
from attention_docs.publish.inserts import insert

CHART = """graph TB
    accTitle: Three boxes
    accDescr: A leads to B & C.
    A["First<br/>n × d_model"]:::query -->|"W_Q"| B["Second<br/>0.125"]:::key
    A --- C["a < b"]
"""


@pytest.fixture
def draw(assets, tmp_path):
    """A function that draws a diagram, with a cache for the test."""

    def draw(chart):
        build = diagrams.Diagrams(SimpleNamespace(node_modules=assets, cache=Cache(tmp_path)))
        page = build.replace_fences(f"```mermaid\n{chart}```\n")
        return insert(page, build.draw())

    return draw


def test_boxes_have_text_and_role(draw):
    boxes = BeautifulSoup(draw(CHART), "html.parser").select(".node:has(polygon)")
    assert [(box["class"][1:], " ".join(line.text for line in box("text"))) for box in boxes] == [
        (["query"], "First n × dmodel"),
        (["key"], "Second 0.125"),
        ([], "a < b"),
    ]


def test_edges_have_arrowheads_and_labels_as_in_the_chart(draw):
    first, second = BeautifulSoup(draw(CHART), "html.parser").select(".edge:has(path)")
    assert first.polygon
    assert first.find("text").text.strip() == "WQ"
    assert not second.select("polygon, text")


def test_subscript_is_lower_and_smaller(draw):
    subscript = BeautifulSoup(draw(CHART), "html.parser").find("tspan", string="model")
    assert int(subscript["dy"]) > 0
    assert int(subscript["font-size"]) < 14  # of the text in boxes, in the style sheet


def test_diagram_has_accessible_title_and_description(draw):
    svg = BeautifulSoup(draw(CHART), "html.parser").svg
    assert svg["role"] == "img"
    assert svg.title.text == "Three boxes"
    assert svg.find(id=svg["aria-describedby"]).text == "A leads to B & C."


def test_diagram_sets_no_colours_or_fonts_and_names_no_boxes(draw):
    assert not re.search(r"<style|fill=|stroke=|font-family|<title>A<", draw(CHART))


def test_coordinates_are_rounded_but_not_text(draw):
    assert re.findall(r"\d\.\d\d+", draw(CHART)) == ["0.125"]
