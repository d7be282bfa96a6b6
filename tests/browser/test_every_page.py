"""Every page in a real browser, loaded once with scripts and once without, and then asked everything."""

import itertools

import pytest

from tests.browser.visit import PAGES, WIDER_THAN_PAGE, path

pytestmark = pytest.mark.apart

KINDS = {
    "formulas": ".katex",
    "diagrams": ".diagram > svg",
    "figures": ".drawing",
    "tables": ".md-content table",
    "code": ".md-content pre",
}
# With no script, a page has its heading and no button that would do nothing.
WORKS_WITHOUT_SCRIPTS = """
    document.querySelector("h1").checkVisibility()
    && [...document.querySelectorAll(".md-content button")].every(b => !b.checkVisibility())
"""
# How many formulas, diagrams, figures, tables and blocks of code can be seen.
COUNTS = """
    kinds => Object.fromEntries(Object.entries(kinds).map(([kind, selector]) => [
        kind,
        [...document.querySelectorAll(selector)].filter(
            e => e.checkVisibility({visibilityProperty: true}) && e.getBoundingClientRect().width
        ).length,
    ]))
"""
# The colours of what is shown of the text; what is not, the theme may still be adding.
COLOURS = """
    [...new Set([...document.querySelectorAll(".md-content *")].filter(e => e.checkVisibility()).map(e => {
        const style = getComputedStyle(e);
        return [e.className, style.color, style.backgroundColor, style.fill, style.stroke].join();
    }))]
"""
AROUND_THE_TEXT = (
    ".md-header, .md-tabs, .md-sidebar, .md-footer, .md-top, .md-code__nav, .explore, .live-try"
)
# What would have to be scrolled, or reaches beyond the text by more than the theme's tables do.
CUT_OFF_ON_PAPER = """
    [...document.querySelectorAll(".md-content *:not(.katex-mathml *, svg *)")].filter(box => {
        const text = document.querySelector(".md-content__inner").getBoundingClientRect();
        return box.checkVisibility() && (
            box.getBoundingClientRect().right > text.right + 16
            || getComputedStyle(box).overflowX === "auto" && box.scrollWidth > box.clientWidth
        );
    }).map(box => box.outerHTML.slice(0, 200))
"""
BACKGROUND = "getComputedStyle(document.body).backgroundColor"
A4 = {"width": 680, "height": 1000}  # with margins of 15 mm
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# Axe asks one page after the other in these, in turn; two pages in all, in test_accessibility.py.
LOOKS = (("light", 1280), ("dark", 320), ("dark", 1280), ("light", 320))
# A formula's MathML is checked; of its drawing, thousands of elements, the contrast on two pages.
WHOLE = [".katex-html"]
# The navigation, the same on every page and most of a short one, is checked on two pages as well,
# and so is what the template alone decides: that everything stands in a landmark.
ITS_OWN = [*WHOLE, ".md-sidebar--primary"]
OF_THE_TEMPLATE = {"region": {"enabled": False}}
AXE = """
    ([exclude, runOnly, rules = {}]) => axe.run(
        {exclude}, {runOnly, rules, resultTypes: ['violations']}
    ).then(found => found.violations.map(v => `${v.id}: ${v.nodes[0].html.slice(0, 200)}`))
"""
FOLD = "document.querySelectorAll('details').forEach(details => { details.open = false; })"
UNFOLD = "document.querySelectorAll('details').forEach(details => { details.open = true; })"
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
# Elements that move; of those alike in name and classes, the first.
MOVING = """
    [...new Map([...document.querySelectorAll("*")].map(e => [`${e.localName} ${e.className}`, e])).values()]
    .flatMap(e => ["", "::before", "::after"].map(part => {
        const style = getComputedStyle(e, part || null);
        const times = `${style.transitionDuration}, ${style.animationDuration}`.split(", ");
        const moves = Math.max(...times.map(parseFloat)) > 0.01 || style.scrollBehavior === "smooth";
        return moves ? e.outerHTML.slice(0, 100) + part : "";
    })).filter(Boolean)
"""


def loads_without_foreign_requests_errors_or_layout_shift(visit, written):
    assert [r for r in visit.requests if not r.startswith((visit.home, "data:"))] == []
    assert visit.complaints == []
    assert visit.page.evaluate("window.shift") <= 0.01


def preloads_its_scripts(visit, written):
    links = visit.page.locator("link[rel=preload]")
    early = links.evaluate_all("all => all.map(link => link.href)")
    assert early == visit.page.evaluate(
        "[...document.querySelectorAll('body script[src]')].map(s => s.src)"
    )


def has_one_title_and_headings_that_skip_no_level(visit, written):
    headings = visit.page.locator(".md-content :is(h1, h2, h3, h4, h5, h6)")
    levels = [int(name[1]) for name in headings.evaluate_all("all => all.map(h => h.localName)")]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def has_drawings_that_say_what_they_show(visit, written):
    for role, spoken in visit.page.evaluate(SPOKEN):
        assert role == "img"
        assert len(spoken.split()) >= 5, spoken


def moves_nothing_for_readers_who_ask_for_no_motion(visit, written):
    assert visit.page.evaluate(MOVING) == []


def is_whole_in_every_window_and_meets_wcag_2_2(visit, written):
    visit.page.evaluate(UNFOLD)
    for scheme, width, height in windows(visit.look):
        visit.show(scheme, width, height)
        assert visit.page.evaluate(COUNTS, KINDS) == written["unfolded"], (scheme, width)
        assert visit.page.evaluate(WIDER_THAN_PAGE) <= 0, (scheme, width)
        assert visit.page.evaluate(OUT_OF_REACH) == [], (scheme, width)
        if (scheme, width) == visit.look:
            assert visit.page.evaluate(AXE, [ITS_OWN, RULES, OF_THE_TEMPLATE]) == [], visit.look


def windows(look):
    """The schemes and sizes of a page's windows; in one of them, the page's look, axe asks.

    The last is one of 1280 x 1024 pixels with everything four times as large.
    """
    scheme, _ = look
    return ("light", 1280, 900), ("dark", 1280, 900), (scheme, 768, 900), (scheme, 320, 256)


def loses_nothing_at_four_times_the_size(visit, written):
    assert visit.page.evaluate(OVERLAPS) == []
    assert visit.page.evaluate(CUT_OFF) == []


def prints_the_text_alone_whole_and_dark_on_white(visit, written):
    visit.page.evaluate(FOLD)
    visit.page.emulate_media(media="print", color_scheme="dark")
    visit.page.wait_for_selector("body[data-md-color-scheme=slate]")
    visit.page.set_viewport_size(A4)
    assert visit.page.evaluate(BACKGROUND) in ("rgb(255, 255, 255)", "rgba(0, 0, 0, 0)")
    assert visit.page.locator(AROUND_THE_TEXT).locator("visible=true").count() == 0
    assert visit.page.evaluate(CUT_OFF_ON_PAPER) == []
    assert visit.page.evaluate(COUNTS, KINDS) == written["folded"]
    from_dark = visit.page.evaluate(COLOURS)
    visit.page.emulate_media(media="print", color_scheme="light")
    visit.page.wait_for_selector("body[data-md-color-scheme=default]")
    assert visit.page.evaluate(COLOURS) == from_dark


# In this order: one of them looks at the window that the one before has left.
QUESTIONS = (
    loads_without_foreign_requests_errors_or_layout_shift,
    preloads_its_scripts,
    has_one_title_and_headings_that_skip_no_level,
    has_drawings_that_say_what_they_show,
    moves_nothing_for_readers_who_ask_for_no_motion,
    is_whole_in_every_window_and_meets_wcag_2_2,
    loses_nothing_at_four_times_the_size,
    prints_the_text_alone_whole_and_dark_on_white,
)


@pytest.mark.parametrize(
    ("page", "look"),
    list(zip(PAGES, itertools.cycle(LOOKS))),
    ids=[page or "home" for page in PAGES],
)
def test_page(phone, desktop, address, axe, page, look, subtests):
    url = address + path(page)
    phone.load(url)
    assert phone.page.evaluate(WORKS_WITHOUT_SCRIPTS)
    assert phone.page.evaluate(WIDER_THAN_PAGE) <= 0
    written = {"folded": phone.page.evaluate(COUNTS, KINDS)}
    phone.page.evaluate(UNFOLD)
    written["unfolded"] = phone.page.evaluate(COUNTS, KINDS)
    desktop.load_afresh(url)
    desktop.home, desktop.look = address, look
    desktop.page.evaluate(axe)
    for question in QUESTIONS:
        with subtests.test(question.__name__):
            question(desktop, written)
