"""What readers do in a real browser: they search, and turn points in space."""

import re

import pytest

from tests.browser.visit import Visit


def test_search_finds_softmax_and_shows_no_markup(browser, address):
    with Visit(browser, address) as visit:
        visit.page.get_by_placeholder("Search").press_sequentially("softmax")
        results = visit.page.locator(".md-search-result__item")
        results.first.wait_for()
        shown = " ".join(results.all_inner_texts())
        assert "softmax" in shown.lower()
        # A "<" with a space is one of a comparison in code.
        assert not re.search(r"</?\w|\\|katex|&#", shown)


@pytest.mark.parametrize("way", ["directly", "by instant navigation"])
def test_points_can_be_turned_and_plotly_comes_on_request_only(browser, address, way):
    come_from = "self_attention" if way == "directly" else "additive_attention"
    with Visit(browser, f"{address}mechanisms/{come_from}/") as visit:
        if way == "by instant navigation":
            visit.page.locator(".md-footer__link--next").click()
            visit.page.get_by_role("heading", level=1, name="Self-attention").wait_for()
        assert not [url for url in visit.requests if "plotly" in url]
        drawing = visit.page.locator("svg[data-points]")
        visit.page.get_by_role("button", name="Explore in 3D").click()
        visit.page.locator(".space.js-plotly-plot").wait_for()
        assert not drawing.is_visible()
        assert [url for url in visit.requests if "plotly" in url] == [
            f"{address}assets/plotly/plotly-gl3d.min.js"
        ]
        assert [r for r in visit.requests if not r.startswith((address, "data:", "blob:"))] == []
        visit.page.get_by_role("button", name="Back to the drawing").click()
        assert drawing.is_visible()
        assert visit.page.locator(".space").count() == 0
