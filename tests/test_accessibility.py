"""The site for those who read by ear, by keyboard, enlarged, without motion or in own colours."""

import itertools

import pytest

from tests.visit import CONTRAST, PAGES, WIDER_THAN_PAGE, Visit, path

WIDTHS = (320, 768, 1280)
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# A formula's MathML is checked; of its drawing, thousands of elements, the contrast on two pages.
AXE = """
    rules => axe.run(
        {exclude: ['.katex-html']}, {runOnly: rules, resultTypes: ['violations']}
    ).then(found => found.violations.map(v => `${v.id}: ${v.nodes[0].html.slice(0, 200)}`))
"""
# Boxes whose content is wider, and which the keyboard does not reach or which have no name.
OUT_OF_REACH = """
    [...document.querySelectorAll(".md-content *")].filter(box =>
        box.scrollWidth > box.clientWidth
        && ["auto", "scroll"].includes(getComputedStyle(box).overflowX)
        && box.checkVisibility()
        && !(box.tabIndex === 0 && box.ariaLabel)
    ).map(box => box.outerHTML.slice(0, 200))
"""
# What a drawing says of itself, to be read aloud.
SPOKEN = """
    [...document.querySelectorAll(".md-content :is(.diagram > svg, .drawing, img)")].map(drawing => [
        drawing.getAttribute("role") ?? drawing.localName,
        [...drawing.ariaLabelledByElements ?? [], ...drawing.ariaDescribedByElements ?? []]
            .map(e => e.textContent).join(" ") || drawing.alt,
    ])
"""
# Blocks of text that begin above the end of the one before.
OVERLAPS = """
    [...document.querySelectorAll(".md-content__inner")].flatMap(article => {
        const blocks = [...article.children].filter(e => e.offsetHeight && e.localName !== "form");
        return blocks.slice(1).filter((block, i) =>
            block.getBoundingClientRect().top < blocks[i].getBoundingClientRect().bottom - 1
        ).map(block => block.outerHTML.slice(0, 200));
    })
"""
# Text that is wider or higher than a box which neither shows nor scrolls it.
CUT_OFF = """
    [...document.querySelectorAll(".md-content *, .md-header *")].filter(box =>
        box.checkVisibility({opacityProperty: true, visibilityProperty: true})
        && !box.closest(".katex, svg, .md-search, label, [class*='copy']")
        && box.clientWidth > 1
        && (getComputedStyle(box).overflowX === "hidden" && box.scrollWidth > box.clientWidth + 1
            || getComputedStyle(box).overflowY === "hidden" && box.scrollHeight > box.clientHeight + 1)
    ).map(box => `${box.scrollWidth} in ${box.clientWidth}, ${box.scrollHeight} in ${box.clientHeight}: ${box.outerHTML.slice(0, 200)}`)
"""
MOVING = """
    [...document.querySelectorAll("*")].flatMap(e => ["", "::before", "::after"].map(part => {
        const style = getComputedStyle(e, part || null);
        const times = `${style.transitionDuration}, ${style.animationDuration}`.split(", ");
        const moves = Math.max(...times.map(parseFloat)) > 0.01 || style.scrollBehavior === "smooth";
        return moves ? e.outerHTML.slice(0, 100) + part : "";
    })).filter(Boolean)
"""
# Which element has the focus, and whether it looks otherwise than without. A text field has its
# caret; of a switch one sees the label. After the last stop the focus is on the body.
FOCUS = """
    () => {
        const element = document.activeElement;
        const shown = element.type === "radio" ? element.nextElementSibling : element;
        const look = () => {
            const style = getComputedStyle(shown);
            return [style.outlineStyle, style.boxShadow, style.textDecorationLine].join();
        };
        const focused = look();
        element.blur();
        return [
            element.localName,
            look() !== focused || element.type === "text" || element === document.body,
        ];
    }
"""


@pytest.fixture(scope="module", params=[*PAGES, "404.html"], ids=lambda page: page or "home")
def visit(request, browser, address, axe):
    """A page with all that unfolds in it open, by a reader whom motion makes ill.

    It is loaded once for all tests of this file.
    """
    with Visit(browser, address + path(request.param), reduced_motion="reduce") as visit:
        visit.page.evaluate(axe)
        visit.page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        yield visit


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_violates_wcag_2_2_and_nothing_scrolls_sideways(visit, scheme, width):
    visit.show(scheme, width)
    assert visit.page.evaluate(WIDER_THAN_PAGE) <= 0
    assert visit.page.evaluate(AXE, RULES) == []


def test_the_keyboard_reaches_what_scrolls(visit):
    visit.show(width=320)
    assert visit.page.evaluate(OUT_OF_REACH) == []


def test_drawings_say_what_they_show(visit):
    for role, spoken in visit.page.evaluate(SPOKEN):
        assert role == "img"
        assert len(spoken.split()) >= 5, spoken


def test_a_page_has_one_title_and_its_headings_do_not_jump(visit):
    headings = visit.page.locator(".md-content :is(h1, h2, h3, h4, h5, h6)")
    levels = [int(name[1]) for name in headings.evaluate_all("all => all.map(h => h.localName)")]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def test_nothing_moves_for_those_who_ask_for_it(visit):
    assert visit.page.evaluate(MOVING) == []


def test_enlarged_fourfold_nothing_is_lost(visit):
    visit.show(width=320, height=256)
    assert visit.page.evaluate(WIDER_THAN_PAGE) <= 0
    assert visit.page.evaluate(OVERLAPS) == []
    assert visit.page.evaluate(CUT_OFF) == []


@pytest.fixture
def chapter(browser, address):
    """The chapter with every kind of content, for the tests of what all pages share."""
    url = f"{address}mechanisms/self_attention/"
    with Visit(browser, url, reduced_motion="reduce") as visit:
        yield visit


@pytest.mark.parametrize("page", ["self_attention", "multi_head"])
def test_formulas_as_they_are_drawn_stand_out_in_both_schemes(browser, address, axe, page):
    with Visit(browser, f"{address}mechanisms/{page}/", reduced_motion="reduce") as visit:
        visit.page.evaluate(axe)
        for scheme in ("light", "dark"):
            visit.show(scheme)
            assert visit.page.evaluate(CONTRAST) == []


def test_the_first_tab_stop_leads_past_the_navigation(chapter):
    page = chapter.page
    page.keyboard.press("Tab")
    skip = page.locator(":focus")
    assert skip.inner_text().strip() == "Skip to content"
    page.wait_for_function("getComputedStyle(document.activeElement).opacity === '1'")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:target")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('.md-content') !== null")


def test_what_the_keyboard_has_reached_is_seen(chapter):
    reached = []
    while "body" not in reached:
        chapter.page.keyboard.press("Tab")
        element, is_seen = chapter.page.evaluate(FOCUS)
        assert is_seen, element
        reached.append(element)
    assert {"a", "button", "summary", "input", "div"} <= set(reached)


def test_where_the_system_chooses_colours_a_diagram_stands_out(browser, address):
    url = f"{address}mechanisms/self_attention/"
    with Visit(browser, url, "dark", forced_colors="active") as visit:
        visit.page.get_by_title("switch to light").click()
        visit.page.wait_for_selector("body[data-md-color-scheme=default]")
        line = visit.page.locator(".diagram .flowchart-link").first
        assert line.evaluate("e => getComputedStyle(e).stroke") == "rgb(255, 255, 255)"
