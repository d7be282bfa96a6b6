"""From page to page, back and forth, to headings and in other schemes: what is read is the same."""

import contextlib
import functools

import pytest

from tests.browser.test_every_page import COUNTS, KINDS
from tests.browser.visit import SHOWN_AS, path

STANDS_BELOW_THE_HEADER = """
    heading => {
        const header = document.querySelector(".md-header").getBoundingClientRect().bottom;
        const { top } = document.querySelector(heading).getBoundingClientRect();
        return header <= top && top <= header + 100;
    }
"""
CHAPTER = "mechanisms/self_attention"


def counts(page):
    """How many formulas, diagrams, figures, tables and blocks of code a page shows."""
    return page.evaluate(COUNTS, KINDS)


@pytest.fixture(scope="module")
def written(phone, address):
    """Tells what a page shows on a phone without JavaScript."""

    @functools.cache
    def shown(page):
        phone.load_afresh(address + path(page), width=320)
        return counts(phone.page)

    return shown


@contextlib.contextmanager
def instantly(page):
    """Wait for the text that a click or a step back brings, without a load of the whole page."""
    page.evaluate("document.querySelector('h1').dataset.left = window.stays = 'so far'")
    yield
    page.wait_for_selector("h1:not([data-left])")
    assert page.evaluate("window.stays") == "so far"


def test_pages_are_whole_on_the_way_forth_back_and_forth_again(come_to, address, written):
    """The first four; each page with its neighbours is asked in every engine, in test_engines.py."""
    visit = come_to(width=320)
    order = [visit.page.url]
    for _ in range(3):
        with instantly(visit.page):
            visit.page.locator(".md-footer__link--next").click()
        order.append(visit.page.url)
        assert counts(visit.page) == written(name(visit.page.url, address))
    for step, urls in ((visit.page.go_back, order[-2::-1]), (visit.page.go_forward, order[1:])):
        for url in urls:
            with instantly(visit.page):
                step()
            assert visit.page.url == url
            assert counts(visit.page) == written(name(url, address))
    assert visit.complaints == []


def name(url, address):
    """The entry of `PAGES` that an address stands for."""
    return url.removeprefix(address).rstrip("/")


@pytest.fixture
def chapter(come_to):
    """A chapter with every kind of content."""
    return come_to(CHAPTER)


def test_a_link_to_a_heading_shows_it_below_the_header(chapter, written):
    page = chapter.page

    page.locator(".md-sidebar--secondary a[href$='#what-goes-wrong']").click()
    page.wait_for_function(STANDS_BELOW_THE_HEADER, arg="#what-goes-wrong")
    assert counts(page) == written(CHAPTER)
    page.reload()
    page.wait_for_function(STANDS_BELOW_THE_HEADER, arg="#what-goes-wrong")
    assert counts(page) == written(CHAPTER)


def test_a_link_to_a_heading_of_another_page_shows_it_below_the_header(come_to, address, written):
    visit = come_to("errata")
    link = visit.page.locator(".md-content a[href*='/#']:not([href*='errata/#']):visible").first
    target = link.evaluate("a => a.href")
    link.scroll_into_view_if_needed()
    # Noted only after the click, the place on this page would become that on the next.
    visit.wait_until("history.state?.y === scrollY")
    with instantly(visit.page):
        link.click()
    page, _, heading = target.partition("#")
    visit.page.wait_for_function(STANDS_BELOW_THE_HEADER, arg=f"#{heading}")
    assert visit.page.url == target
    assert counts(visit.page) == written(name(page, address))


@pytest.mark.parametrize("scheme", SHOWN_AS)
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
    chapter.wait_until("history.state?.y === 1500")  # the theme has noted the place
    with instantly(page):
        page.locator(".md-footer__link--next").dispatch_event("click")
    chapter.wait_until("scrollY === 0")
    with instantly(page):
        page.go_back()
    chapter.wait_until("Math.abs(scrollY - 1500) <= 1")


def test_where_there_is_no_page_a_link_leads_home(come_to, address):
    visit = come_to("404.html")
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
        assert counts(chapter.page) == written(CHAPTER)
    chapter.page.get_by_title("Follow the system; switch to light").click()
    chapter.page.get_by_title("Light; switch to dark").click()
    chapter.page.reload()
    chapter.page.wait_for_selector("body[data-md-color-scheme=slate]")
    assert counts(chapter.page) == written(CHAPTER)
