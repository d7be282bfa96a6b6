"""Every way of reading shows the same: directly, by instant navigation, on paper, without scripts."""

import contextlib

import pytest

from tests.visit import CONTRAST, PAGES, SHOWN_AS, WIDER_THAN_PAGE, Visit, path

KINDS = {
    "formulas": ".katex",
    "diagrams": ".diagram > svg",
    "figures": ".drawing",
    "tables": ".md-content table",
    "code": ".md-content pre",
}
SHOWN = """
    kinds => Object.fromEntries(Object.entries(kinds).map(([kind, selector]) => [
        kind,
        [...document.querySelectorAll(selector)].filter(
            e => e.checkVisibility({visibilityProperty: true}) && e.getBoundingClientRect().width
        ).length,
    ]))
"""
# In which colours the elements of the text are.
COLOURS = """
    [...new Set([...document.querySelectorAll(".md-content *")].map(e => {
        const style = getComputedStyle(e);
        return [e.className, style.color, style.backgroundColor, style.fill, style.stroke].join();
    }))]
"""
AROUND_THE_TEXT = ".md-header, .md-tabs, .md-sidebar, .md-footer, .md-top, .md-code__nav, .explore"
# What would have to be scrolled, or reaches beyond the text by more than the theme's tables do.
CUT_OFF = """
    [...document.querySelectorAll(".md-content *:not(.katex-mathml *, svg *)")].filter(box => {
        const text = document.querySelector(".md-content__inner").getBoundingClientRect();
        return box.checkVisibility() && (
            box.getBoundingClientRect().right > text.right + 16
            || getComputedStyle(box).overflowX === "auto" && box.scrollWidth > box.clientWidth
        );
    }).map(box => box.outerHTML.slice(0, 200))
"""
DRAWN_FONTS = "[...document.fonts].filter(font => font.status === 'loaded').length"
NOTE_WHETHER_IT_WAITS = """
    addEventListener("DOMContentLoaded", () => {
        window.waits = document.documentElement.matches("[data-waits]");
    });
"""
STANDS_BELOW_THE_HEADER = """
    heading => {
        const header = document.querySelector(".md-header").getBoundingClientRect().bottom;
        const { top } = document.querySelector(heading).getBoundingClientRect();
        return header <= top && top <= header + 100;
    }
"""
BACKGROUND = "getComputedStyle(document.body).backgroundColor"
CHAPTER = "mechanisms/self_attention"
A4 = {"width": 680, "height": 1000}  # with margins of 15 mm


def counts(page):
    """How many formulas, diagrams, figures, tables and blocks of code a page shows."""
    return page.evaluate(SHOWN, KINDS)


@pytest.fixture(scope="module")
def written(browser, address):
    """What each page shows on a phone without JavaScript."""
    found = {}
    for page in PAGES:
        with Visit(browser, address + path(page), width=320, java_script_enabled=False) as visit:
            assert visit.page.locator("h1").is_visible()
            assert visit.page.evaluate(WIDER_THAN_PAGE) <= 0
            found[page] = counts(visit.page)
    return found


@pytest.fixture(scope="module", params=PAGES, ids=lambda page: page or "home")
def page(request):
    """Each page in turn."""
    return request.param


@pytest.fixture(scope="module", params=SHOWN_AS)
def scheme(request):
    """The scheme of the reader's system."""
    return request.param


@pytest.fixture(scope="module")
def visit(browser, address, page, scheme):
    """A page in a scheme, loaded once for the tests of this file."""
    with Visit(browser, address + path(page), scheme) as visit:
        yield visit


def test_directly_and_in_both_schemes_everything_is_there(visit, written, page, scheme):
    assert visit.page.evaluate("document.body.dataset.mdColorScheme") == SHOWN_AS[scheme]
    assert counts(visit.page) == written[page]


def test_a_page_asks_nobody_complains_of_nothing_and_keeps_still(visit, address):
    assert [r for r in visit.requests if not r.startswith((address, "data:"))] == []
    assert visit.complaints == []
    assert visit.page.evaluate("window.shift") <= 0.01


def test_what_is_fetched_early_is_what_runs_and_what_is_drawn(visit):
    def early(kind):
        links = visit.page.locator(f"link[rel=preload][as={kind}]")
        return sorted(links.evaluate_all("all => all.map(link => link.href)"))

    assert early("font") == sorted(url for url in visit.requests if url.endswith(".woff2"))
    assert visit.page.evaluate(DRAWN_FONTS) == len(early("font"))
    assert early("script") == sorted(
        visit.page.evaluate("[...document.scripts].map(s => s.src).filter(Boolean)")
    )


@pytest.mark.parametrize("scheme", ["dark"], scope="module")
def test_on_paper_the_text_is_dark_on_white_whole_and_alone(visit, axe, written, page):
    visit.page.emulate_media(media="print")
    visit.page.set_viewport_size(A4)
    assert visit.page.evaluate(BACKGROUND) in ("rgb(255, 255, 255)", "rgba(0, 0, 0, 0)")
    assert visit.page.locator(AROUND_THE_TEXT).locator("visible=true").count() == 0
    assert visit.page.evaluate(CUT_OFF) == []
    assert counts(visit.page) == written[page]
    visit.page.evaluate(axe)
    assert visit.page.evaluate(CONTRAST) == []
    from_dark = visit.page.evaluate(COLOURS)
    visit.page.emulate_media(media="print", color_scheme="light")
    visit.page.wait_for_selector("body[data-md-color-scheme=default]")
    assert visit.page.evaluate(COLOURS) == from_dark


@contextlib.contextmanager
def instantly(page):
    """Wait for the text that a click or a step back brings, without a load of the whole page."""
    page.evaluate("document.querySelector('h1').dataset.left = window.stays = 'so far'")
    yield
    page.wait_for_selector("h1:not([data-left])")
    assert page.evaluate("window.stays") == "so far"


def test_on_a_phone_from_page_to_page_and_back_everything_is_there(browser, address, written):
    with Visit(browser, address, width=320) as visit:
        order, following = [visit.page.url], visit.page.locator(".md-footer__link--next")
        while following.count():
            with instantly(visit.page):
                following.click()
            order.append(visit.page.url)
            assert counts(visit.page) == written[name(visit.page.url, address)]
            assert visit.page.evaluate(WIDER_THAN_PAGE) <= 0
        assert {name(url, address) for url in order} == set(PAGES)
        for url in reversed(order[:-1]):
            with instantly(visit.page):
                visit.page.go_back()
            assert visit.page.url == url
            assert counts(visit.page) == written[name(url, address)]
        for url in order[1:4]:
            with instantly(visit.page):
                visit.page.go_forward()
            assert visit.page.url == url
            assert counts(visit.page) == written[name(url, address)]
        assert visit.complaints == []


def name(url, address):
    """The entry of `PAGES` that an address stands for."""
    return url.removeprefix(address).rstrip("/")


@pytest.fixture
def chapter(browser, address):
    """A chapter with every kind of content."""
    with Visit(browser, address + path(CHAPTER)) as visit:
        yield visit


def test_a_link_to_a_heading_shows_it_below_the_header(chapter, written):
    page = chapter.page

    page.locator(".md-sidebar--secondary a[href$='#what-goes-wrong']").click()
    page.wait_for_function(STANDS_BELOW_THE_HEADER, arg="#what-goes-wrong")
    assert counts(page) == written[CHAPTER]
    page.reload()
    page.wait_for_function(STANDS_BELOW_THE_HEADER, arg="#what-goes-wrong")
    assert counts(page) == written[CHAPTER]


def test_a_link_to_a_heading_of_another_page_shows_it_below_the_header(browser, address, written):
    with Visit(browser, f"{address}errata/") as visit:
        link = visit.page.locator(".md-content a[href*='/#']:visible").first
        target = link.evaluate("a => a.href")
        with instantly(visit.page):
            link.click()
        page, _, heading = target.partition("#")
        visit.page.wait_for_function(STANDS_BELOW_THE_HEADER, arg=f"#{heading}")
        assert visit.page.url == target
        assert counts(visit.page) == written[name(page, address)]


def test_only_who_comes_to_the_top_has_the_rest_laid_out_later(browser, address):
    chapter = address + path(CHAPTER)
    with Visit(browser, address) as visit:
        visit.page.add_init_script(NOTE_WHETHER_IT_WAITS)
        for url, waits in ((chapter, True), (address, True), (f"{chapter}#what-goes-wrong", False)):
            visit.page.goto(url)
            assert visit.page.evaluate("window.waits") == waits
            visit.settle()


def test_a_first_visit_has_its_colours_before_the_theme_has_run(browser, address, scheme):
    context = browser.new_context(color_scheme=scheme)
    page = context.new_page()
    page.route("**/bundle.*.js", lambda route: route.abort())
    page.goto(address)
    assert page.evaluate("document.body.dataset.mdColorScheme") == SHOWN_AS[scheme]
    context.close()


def test_a_step_back_leads_to_where_one_was(chapter):
    page = chapter.page
    page.evaluate("window.scrollTo(0, 1500)")
    page.wait_for_timeout(500)  # the theme notes the place when it has not changed for 100 ms
    with instantly(page):
        page.locator(".md-footer__link--next").dispatch_event("click")
    page.wait_for_function("scrollY === 0")
    with instantly(page):
        page.go_back()
    page.wait_for_function("Math.abs(scrollY - 1500) <= 1")


def test_where_there_is_no_page_a_link_leads_home(browser, address):
    with Visit(browser, address + path("404.html")) as visit:
        visit.page.locator(".md-content a").click()
        visit.page.wait_for_url(address)
        visit.page.wait_for_selector("h1:text('Attention, computed')")
        assert visit.complaints == []


def test_the_switch_changes_the_scheme_and_nothing_else(chapter, written):
    for title, shown in (
        ("Follow the system; switch to light", "default"),
        ("Light; switch to dark", "slate"),
        ("Dark; switch to the system's", "default"),
    ):
        chapter.page.get_by_title(title).click()
        chapter.page.wait_for_selector(f"body[data-md-color-scheme={shown}]")
        assert counts(chapter.page) == written[CHAPTER]
    chapter.page.get_by_title("Follow the system; switch to light").click()
    chapter.page.get_by_title("Light; switch to dark").click()
    chapter.page.reload()
    chapter.page.wait_for_selector("body[data-md-color-scheme=slate]")
    assert counts(chapter.page) == written[CHAPTER]
