"""Every page in Chromium, loaded once and asked everything; pages of each kind in every window."""

import pytest

from tests.browser.visit import (
    COUNTS,
    FORMULA_HTML,
    HORIZONTAL_OVERFLOW,
    KINDS,
    LOW_CONTRAST,
    OPEN_DETAILS,
    PAGES,
    SMALL_FIGURE_TEXT,
    Handler,
    served,
    url_path,
)

pytestmark = pytest.mark.independent_tests

# Without scripts, a page shows its heading, and neither buttons nor words that ask for them.
IS_USABLE_WITHOUT_SCRIPTS = r"""
    document.querySelector("h1").checkVisibility()
    && [...document.querySelectorAll(".md-content button, .hands-on")].every(e => !e.checkVisibility())
    && !/\b(click|drag|point at|press a number)\b/i.test(document.querySelector("article").innerText)
"""
# The colours of visible elements only, as the theme may still be adding hidden ones.
COLOURS = """
    [...new Set([...document.querySelectorAll(".md-content *")].filter(e => e.checkVisibility()).map(e => {
        const style = getComputedStyle(e);
        return [e.className, style.color, style.backgroundColor, style.fill, style.stroke].join();
    }))]
"""
SITE_CHROME = ".md-header, .md-tabs, .md-sidebar, .md-footer, .md-code__nav, .hands-on, .live-try"
# Elements that would scroll, or overflow the text by more than the theme's tables do.
CLIPPED_IN_PRINT = """
    [...document.querySelectorAll(".md-content *:not(.katex-mathml *, svg *)")].filter(box => {
        const text = document.querySelector(".md-content__inner").getBoundingClientRect();
        return box.checkVisibility() && (
            box.getBoundingClientRect().right > text.right + 16
            || getComputedStyle(box).overflowX === "auto" && box.scrollWidth > box.clientWidth
        );
    }).map(box => box.outerHTML.slice(0, 200))
"""
# Lets Chromium paint a page only when all of it has arrived: this element follows the footer. Under load
# it would also paint a table whose last rows are missing, and move the first ones later.
PAINT_WHOLE_PAGE = b'<link rel="expect" href="#__config" blocking="render">'
BACKGROUND = "getComputedStyle(document.body).backgroundColor"
# The navigation and the landmarks, which come from the template, are checked in test_accessibility.py.
EXCLUDED_PER_PAGE = [*FORMULA_HTML, ".md-sidebar--primary"]
TEMPLATE_RULES = {"region": {"enabled": False}}
# The rules on colours and positions take axe two thirds of its time, and depend on the style sheets more than
# on the page, so they are asked of a page of each kind. (tests/figures/test_colours.py has those of figures.)
RULES_OF_STYLES = ("color-contrast", "link-in-text-block", "target-size")
RULES_PER_PAGE = TEMPLATE_RULES | {rule: {"enabled": False} for rule in RULES_OF_STYLES}
CLOSE_DETAILS = "document.querySelectorAll('details').forEach(details => { details.open = false; })"
# Scrolling boxes that have no name or cannot be reached by keyboard.
INACCESSIBLE_BOXES = """
    [...document.querySelectorAll(".md-content *")].filter(box =>
        box.scrollWidth > box.clientWidth
        && ["auto", "scroll"].includes(getComputedStyle(box).overflowX)
        && box.checkVisibility()
        && !(box.tabIndex === 0 && box.ariaLabel)
    ).map(box => box.outerHTML.slice(0, 200))
"""
# Blocks that overlap their predecessor, other than the progress, for which the title leaves room, and
# the panel in its column.
OVERLAPS = """
    [...document.querySelectorAll(".md-content__inner")].flatMap(article => {
        const blocks = [...article.children].filter(e =>
            e.offsetHeight && !e.matches("form, .progress, .md-content__button") && getComputedStyle(e).position !== "absolute");
        return blocks.slice(1).filter((block, i) =>
            block.getBoundingClientRect().top < blocks[i].getBoundingClientRect().bottom - 1
        ).map(block => block.outerHTML.slice(0, 200));
    })
"""
# Boxes with overflow: hidden that clip their text.
CLIPPED = """
    [...document.querySelectorAll(".md-content *, .md-header *")].filter(box =>
        box.checkVisibility({opacityProperty: true, visibilityProperty: true})
        && !box.closest(".katex, svg, .md-search, label, [class*='copy']")
        && box.clientWidth > 1
        && (getComputedStyle(box).overflowX === "hidden" && box.scrollWidth > box.clientWidth + 1
            || getComputedStyle(box).overflowY === "hidden" && box.scrollHeight > box.clientHeight + 1)
    ).map(box => `${box.scrollWidth} in ${box.clientWidth}, ${box.scrollHeight} in ${box.clientHeight}: ${box.outerHTML.slice(0, 200)}`)
"""
# Boxes that scroll sideways without a shadow where their content is cut, or with content whose background
# covers the shadow.
CUT_WITHOUT_A_SIGN = """
    [...document.querySelectorAll(".md-content *:not(svg *, .katex *)")].filter(box =>
        box.checkVisibility()
        && box.clientWidth
        && box.scrollWidth > box.clientWidth + 1
        && getComputedStyle(box).overflowX !== "visible"
        && (!getComputedStyle(box).backgroundAttachment.includes("local")
            || [...box.querySelectorAll("*")].some(e =>
                e.offsetWidth > box.clientWidth
                && getComputedStyle(e).backgroundColor !== "rgba(0, 0, 0, 0)"))
    ).map(box => box.outerHTML.slice(0, 200))
"""
# Code below 12 px.
SMALL_CODE = """
    [...document.querySelectorAll(".md-content code")].filter(
        code => code.checkVisibility() && parseFloat(getComputedStyle(code).fontSize) < 12
    ).map(code => code.outerHTML.slice(0, 200))
"""
# Elements that move although the visitor wants less motion, one for each combination of name and classes.
MOVING = """
    [...new Map([...document.querySelectorAll("*")].map(e => [`${e.localName} ${e.className}`, e])).values()]
    .flatMap(e => ["", "::before", "::after"].map(part => {
        const style = getComputedStyle(e, part || null);
        const times = `${style.transitionDuration}, ${style.animationDuration}`.split(", ");
        const moves = Math.max(...times.map(parseFloat)) > 0.01 || style.scrollBehavior === "smooth";
        return moves ? e.outerHTML.slice(0, 100) + part : "";
    })).filter(Boolean)
"""
# The boxes of all visible elements but the skip link, added tab stops, and sidebars, whose height the theme sets late.
BOXES = """
    () => new Map(
        [...document.querySelectorAll("body *:not(.md-skip, .live-stop, .md-sidebar__scrollwrap)")]
            .filter(e => e.checkVisibility({opacityProperty: true, visibilityProperty: true}))
            .map(e => [e, Object.values(e.getBoundingClientRect().toJSON()).map(Math.round).join()])
    )
"""
CHANGED_BOXES = """
    ([before, after]) => [...new Set([...before.keys(), ...after.keys()])]
        .filter(e => before.get(e) !== after.get(e))
        .map(e => `${before.get(e)} becomes ${after.get(e)}: ${e.outerHTML.slice(0, 200)}`)
"""


def loads_without_foreign_requests_errors_or_layout_shift(visit):
    own_urls = (visit.page.url.partition("/attention-docs/")[0], "data:")
    assert [url for url in visit.requests if not url.startswith(own_urls)] == []
    assert visit.errors == []
    assert visit.page.evaluate("window.shift") <= 0.01


def changes_no_visible_element_at_the_first_tab(visit):
    before = visit.page.evaluate_handle(BOXES)
    visit.page.keyboard.press("Tab")
    visit.page.evaluate("attentionDocs.loadLive()")
    visit.wait_for_requests()
    after = visit.page.evaluate_handle(BOXES)
    assert visit.page.evaluate(CHANGED_BOXES, [before, after]) == []


def fits_its_window_and_meets_wcag_2_2_when_unfolded(visit):
    visit.page.evaluate(OPEN_DETAILS)
    visit.wait_for_frame()  # after which scrolling boxes have their names
    assert visit.page.evaluate(HORIZONTAL_OVERFLOW) <= 0
    assert visit.page.evaluate(INACCESSIBLE_BOXES) == []
    assert visit.page.evaluate(SMALL_FIGURE_TEXT, 12) == []
    assert visit.wcag_violations(RULES_PER_PAGE, exclude=EXCLUDED_PER_PAGE) == []


CHECKS = (
    loads_without_foreign_requests_errors_or_layout_shift,
    changes_no_visible_element_at_the_first_tab,
    fits_its_window_and_meets_wcag_2_2_when_unfolded,
)


class WholePageHandler(Handler):
    """Serve pages with `PAINT_WHOLE_PAGE`."""

    def content(self, file):
        content = super().content(file)
        return content.replace(b"</title>", b"</title>" + PAINT_WHOLE_PAGE, 1)


@pytest.fixture(scope="module")
def whole_pages(site):
    """The address where the site is served by `WholePageHandler`."""
    with served(site, WholePageHandler) as address:
        yield address


each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page or "home")


@each_page
def test_page_passes_all_checks(desktop, whole_pages, axe, page, subtests):
    desktop.load_uncached(whole_pages + url_path(page))
    desktop.page.evaluate(axe)
    for check in CHECKS:
        with subtests.test(check.__name__):
            check(desktop)


@pytest.fixture
def counts(phone, address, page):
    """The content of a page that is usable without scripts: folded, and with open <details>."""
    phone.load(address + url_path(page))
    assert phone.page.evaluate(IS_USABLE_WITHOUT_SCRIPTS)
    assert phone.page.evaluate(HORIZONTAL_OVERFLOW) <= 0
    folded = phone.page.evaluate(COUNTS, KINDS)
    phone.page.evaluate(OPEN_DETAILS)
    return folded, phone.page.evaluate(COUNTS, KINDS)


@pytest.fixture
def loaded(desktop, address, page):
    desktop.load_uncached(address + url_path(page))
    return desktop


@pytest.mark.of_each_kind
@each_page
def test_page_is_complete_and_still_in_every_window_and_on_paper(loaded, counts, axe):
    links = loaded.page.locator("link[rel=preload]")
    scripts = loaded.page.locator("body script[src]")
    preloaded = links.evaluate_all("links => links.map(link => link.href)")
    assert preloaded == scripts.evaluate_all("scripts => scripts.map(script => script.src)")
    assert loaded.page.evaluate(MOVING) == []

    folded, unfolded = counts
    loaded.page.evaluate(axe)
    loaded.page.evaluate(OPEN_DETAILS)
    for scheme, width, height in (
        ("dark", 1280, 900),
        ("light", 768, 900),
        ("light", 390, 900),
        ("dark", 320, 256),  # equals 1280 x 1024 at 400% zoom
    ):
        loaded.emulate(scheme, width, height)
        assert loaded.page.evaluate(COUNTS, KINDS) == unfolded, width
        assert loaded.page.evaluate(HORIZONTAL_OVERFLOW) <= 0, width
        assert loaded.page.evaluate(INACCESSIBLE_BOXES) == [], width
        assert loaded.page.evaluate(SMALL_FIGURE_TEXT, 12 if width == 1280 else 11) == [], width
        if width == 768:
            assert loaded.page.evaluate(LOW_CONTRAST) == []
        if width < 400:
            assert loaded.page.evaluate(CUT_WITHOUT_A_SIGN) == [], width
            assert loaded.page.evaluate(SMALL_CODE) == [], width
    assert loaded.wcag_violations(TEMPLATE_RULES, exclude=EXCLUDED_PER_PAGE) == []
    assert loaded.page.evaluate(OVERLAPS) == []
    assert loaded.page.evaluate(CLIPPED) == []

    loaded.page.evaluate(CLOSE_DETAILS)
    loaded.emulate_print("dark")
    loaded.page.wait_for_selector("body[data-md-color-scheme=slate]")
    assert loaded.page.locator("details[open]").count() == 0
    assert loaded.page.evaluate(BACKGROUND) in ("rgb(255, 255, 255)", "rgba(0, 0, 0, 0)")
    assert loaded.page.locator(SITE_CHROME).locator("visible=true").count() == 0
    assert loaded.page.evaluate(CLIPPED_IN_PRINT) == []
    assert loaded.page.evaluate(COUNTS, KINDS) == folded
    colours_in_dark_scheme = loaded.page.evaluate(COLOURS)
    loaded.emulate_print("light")
    loaded.page.wait_for_selector("body[data-md-color-scheme=default]")
    assert loaded.page.evaluate(COLOURS) == colours_in_dark_scheme
