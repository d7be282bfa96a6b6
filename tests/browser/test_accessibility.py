"""Accessibility checks on selected pages: WCAG, contrast, keyboard focus, forced colours."""

import pytest

from tests.browser.visit import (
    FORMULA_HTML,
    HORIZONTAL_OVERFLOW,
    LOW_CONTRAST,
    OPEN_DETAILS,
    Visit,
    url_path,
)

pytestmark = pytest.mark.first

# The shortest page with every kind of content.
CHAPTER = "mechanisms/kv_cache"
# The focused element, and whether the previous one looked different while it had the focus. Text fields show a
# caret, and radio buttons their label. After the last tab stop, the focus is on the body.
FOCUS = """
    () => {
        const styleOf = (element) => {
            const label = element.parentElement.querySelector(".tabbed-labels") ?? element.nextElementSibling;
            const visible = element.type === "radio" ? label : element;
            const { outlineStyle, boxShadow, textDecorationLine } = getComputedStyle(visible);
            return [outlineStyle, boxShadow, textDecorationLine].join();
        };
        const previous = window.previousFocus;
        const element = document.activeElement;
        window.previousFocus = { element, style: styleOf(element) };
        const wasVisible = !previous
            || previous.element.type === "text"
            || styleOf(previous.element) !== previous.style;
        return [element.localName, wasVisible];
    }
"""


@pytest.fixture
def chapter(desktop, address):
    desktop.load_uncached(address + url_path(CHAPTER))
    return desktop


@pytest.mark.parametrize("page", [CHAPTER, "404.html"])
def test_wcag_2_2_of_page_and_navigation(desktop, address, axe, page):
    desktop.load_uncached(address + url_path(page))
    desktop.page.evaluate(axe)
    desktop.page.evaluate(OPEN_DETAILS)
    for scheme, width in (("light", 320), ("dark", 1280)):
        desktop.emulate(scheme, width)
        assert desktop.page.evaluate(HORIZONTAL_OVERFLOW) <= 0
        assert desktop.wcag_violations(exclude=FORMULA_HTML) == []


@pytest.mark.parametrize(
    "page", ["kv_cache", "multi_head", pytest.param("self_attention", marks=pytest.mark.weekly)]
)
def test_formulas_hovered_button_and_print_have_enough_contrast(desktop, address, axe, page):
    desktop.load_uncached(f"{address}mechanisms/{page}/")
    desktop.page.evaluate(axe)
    for scheme in ("light", "dark"):
        desktop.emulate(scheme)
        desktop.page.locator(".live-try").first.hover()
        assert desktop.page.evaluate(LOW_CONTRAST) == []
    desktop.emulate_print("dark")
    assert desktop.page.evaluate(LOW_CONTRAST) == []


def test_first_tab_stop_skips_to_content(chapter):
    page = chapter.page
    page.keyboard.press("Tab")
    skip_link = page.locator(":focus")
    assert skip_link.inner_text().strip() == "Skip to content"
    chapter.wait_until("getComputedStyle(document.activeElement).opacity === '1'")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:target")
    page.keyboard.press("Tab")
    assert page.locator(".md-content :focus").count() == 1


def test_focus_is_visible_on_every_tab_stop(chapter):
    focused_elements = []
    while "body" not in focused_elements:
        chapter.page.keyboard.press("Tab")
        element, previous_was_visible = chapter.page.evaluate(FOCUS)
        assert previous_was_visible, focused_elements[-1]
        focused_elements.append(element)
        assert len(focused_elements) < 500, "the Tab key does not lead out of the page"
    assert {"a", "button", "summary", "input", "div", "td"} <= set(focused_elements)


def test_diagram_lines_follow_forced_colours_and_not_the_chosen_scheme(browser, address):
    url = f"{address}mechanisms/self_attention/"
    with Visit(browser, url, scheme="dark", forced_colors="active") as visit:
        visit.page.get_by_title("switch to light").click()
        visit.page.wait_for_selector("body[data-md-color-scheme=default]")
        line = visit.page.locator(".diagram .edge path").first
        white = "rgb(255, 255, 255)"  # on the black background that the dark system forces
        assert line.evaluate("e => getComputedStyle(e).stroke") == white
