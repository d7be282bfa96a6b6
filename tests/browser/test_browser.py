"""What readers do in a real browser: they search, and turn points in space."""

import re

import pytest


def test_search_finds_softmax_and_shows_no_markup(come_to):
    visit = come_to()
    visit.page.get_by_placeholder("Search").press_sequentially("softmax")
    results = visit.page.locator(".md-search-result__item")
    results.filter(has_text=re.compile("softmax", re.IGNORECASE)).first.wait_for()
    shown = " ".join(results.all_inner_texts())
    # A "<" with a space is one of a comparison in code.
    assert not re.search(r"</?\w|\\|katex|&#", shown)


def test_search_shows_first_the_page_that_is_about_the_words(come_to):
    wanted = {
        "rotary": "mechanisms/rotary/",
        "softmax overflow": "mechanisms/softmax_overflow/",
        "causal mask": "course/mask/",
        "kv cache": "mechanisms/kv_cache/",
        "scaled_dot_product_attention": "reference/attention/",
        "vaswani": "references/",
    }
    visit = come_to()
    field = visit.page.get_by_placeholder("Search")
    for words, page in wanted.items():
        field.fill("")
        field.press_sequentially(words)
        first = f".md-search-result__item:first-child a[href*='{page}']"
        visit.page.locator(first).first.wait_for()


def fetched_for_search(visit):
    """What was asked for, of the documents and of the theme's worker."""
    paths = [url.partition("?")[0] for url in visit.requests]
    return [path for path in paths if "/search/documents" in path or "/workers/" in path]


def test_search_fetches_its_documents_when_a_reader_types_and_loses_no_letter(come_to):
    visit = come_to()
    page = visit.page
    held = []
    page.route("**/documents.json", lambda route: held.append(route), times=1)
    page.get_by_placeholder("Search").click()
    assert fetched_for_search(visit) == []
    with page.expect_request("**/documents.json"):
        page.keyboard.type("softm")
    page.keyboard.type("ax")
    page.wait_for_timeout(200)
    held[0].continue_()
    found = page.locator(".md-search-result__item")
    found.filter(has_text=re.compile("softmax", re.IGNORECASE)).first.wait_for()
    asked = fetched_for_search(visit)
    assert len([url for url in asked if "documents" in url]) == 1


def test_search_tries_again_after_a_failed_fetch(come_to):
    visit = come_to()
    page = visit.page
    page.route("**/documents.json", lambda route: route.abort(), times=1)
    with page.expect_event("requestfailed"):
        page.get_by_placeholder("Search").press_sequentially("s")
    assert page.locator(".md-search-result__item").count() == 0
    page.keyboard.type("oftmax")
    page.locator(".md-search-result__item").first.wait_for()


@pytest.mark.parametrize("way", ["directly", "by instant navigation"])
def test_points_can_be_turned_and_plotly_comes_on_request_only(come_to, address, way):
    come_from = "mechanisms/self_attention" if way == "directly" else "course/next_token"
    visit = come_to(come_from)
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
