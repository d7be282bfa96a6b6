"""The site for those who read by ear, by keyboard, enlarged, without motion or in own colours."""

import pytest

from tests.browser.test_every_page import AXE, RULES, UNFOLD, WHOLE
from tests.browser.visit import CONTRAST, WIDER_THAN_PAGE, Visit, path

pytestmark = pytest.mark.first

WIDTHS = (320, 768, 1280)
# The shortest that has every kind of content, for the tests of what all pages share.
CHAPTER = "mechanisms/kv_cache"
# Which element has the focus, and whether it looks otherwise than without. A text field has its
# caret; of a switch one sees the label. After the last stop the focus is on the body.
# What has the focus, and whether what had it before is without its mark now.
FOCUS = """
    () => {
        const look = (element) => {
            const shown = element.type === "radio" ? element.nextElementSibling : element;
            const style = getComputedStyle(shown);
            return [style.outlineStyle, style.boxShadow, style.textDecorationLine].join();
        };
        const element = document.activeElement;
        const { last, focused } = window.reached ?? {};
        window.reached = { last: element, focused: look(element) };
        return [element.localName, !last || look(last) !== focused || last.type === "text"];
    }
"""


@pytest.fixture
def chapter(desktop, address):
    desktop.load_afresh(address + path(CHAPTER))
    return desktop


@pytest.mark.parametrize("page", [CHAPTER, "404.html"])
def test_wcag_2_2_in_each_scheme_at_each_width(desktop, address, axe, page):
    desktop.load_afresh(address + path(page))
    desktop.page.evaluate(axe)
    desktop.page.evaluate(UNFOLD)
    for scheme in ("light", "dark"):
        for width in WIDTHS:
            desktop.show(scheme, width)
            assert desktop.page.evaluate(WIDER_THAN_PAGE) <= 0
            assert desktop.page.evaluate(AXE, [WHOLE, RULES]) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_button_under_the_pointer_stands_out(chapter, axe, scheme):
    chapter.show(scheme)
    chapter.page.locator(".live-try").first.hover()
    chapter.page.evaluate(axe)
    assert chapter.page.evaluate(CONTRAST) == []


def test_print_stands_out(chapter, axe):
    chapter.page.emulate_media(media="print", color_scheme="dark")
    chapter.page.evaluate(axe)
    assert chapter.page.evaluate(CONTRAST) == []


@pytest.mark.parametrize("page", ["self_attention", "multi_head"])
def test_formulas_as_they_are_drawn_stand_out_in_both_schemes(desktop, address, axe, page):
    desktop.load_afresh(f"{address}mechanisms/{page}/")
    desktop.page.evaluate(axe)
    for scheme in ("light", "dark"):
        desktop.show(scheme)
        assert desktop.page.evaluate(CONTRAST) == []


def test_the_first_tab_stop_leads_past_the_navigation(chapter):
    page = chapter.page
    page.keyboard.press("Tab")
    skip = page.locator(":focus")
    assert skip.inner_text().strip() == "Skip to content"
    chapter.wait_until("getComputedStyle(document.activeElement).opacity === '1'")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:target")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('.md-content') !== null")


def test_what_the_keyboard_has_reached_is_seen(chapter):
    reached = [""]
    while reached[-1] != "body":
        chapter.page.keyboard.press("Tab")
        element, last_was_seen = chapter.page.evaluate(FOCUS)
        assert last_was_seen, reached[-1]
        reached.append(element)
        assert len(reached) < 500, "the Tab key does not lead out of the page"
    assert {"a", "button", "summary", "input", "div", "td"} <= set(reached)


def test_where_the_system_chooses_colours_a_diagram_stands_out(browser, address):
    url = f"{address}mechanisms/self_attention/"
    with Visit(browser, url, "dark", forced_colors="active") as visit:
        visit.page.get_by_title("switch to light").click()
        visit.page.wait_for_selector("body[data-md-color-scheme=default]")
        line = visit.page.locator(".diagram .lines").first
        assert line.evaluate("e => getComputedStyle(e).stroke") == "rgb(255, 255, 255)"
