"""Instant navigation, heading links and colour schemes."""

import contextlib

from tests.browser.visit import COUNTS, KINDS

# Whether a heading is at the top of the window, right below the site's header.
IS_BELOW_HEADER = """
    heading => {
        const header = document.querySelector(".md-header").getBoundingClientRect().bottom;
        const { top } = document.querySelector(heading).getBoundingClientRect();
        return header <= top && top <= header + 100;
    }
"""


def count_content(page):
    """Return the number of visible formulas, diagrams, figures, tables and code blocks."""
    return page.evaluate(COUNTS, KINDS)


@contextlib.contextmanager
def instant_navigation(page):
    """Wait for instant navigation, and assert that the document was not reloaded."""
    page.evaluate("window.isSameDocument = true")
    page.evaluate("document.querySelector('h1').dataset.isOld = ''")
    yield
    page.wait_for_selector("h1:not([data-is-old])")
    assert page.evaluate("window.isSameDocument")


def test_back_and_forward_show_pages_as_before(open_page):
    """test_engines.py compares each page with its file after a link is followed."""
    visit = open_page(width=320)
    page = visit.page

    def navigate(action):
        with instant_navigation(page):
            action()
        return page.url, count_content(page)

    follow_next = page.locator(".md-footer__link--next").click
    first = page.url, count_content(page)
    second = navigate(follow_next)
    third = navigate(follow_next)
    assert navigate(page.go_back) == second
    assert navigate(page.go_back) == first
    assert navigate(page.go_forward) == second
    assert navigate(page.go_forward) == third


def test_heading_link_scrolls_below_header(visit):
    page = visit.page
    page.locator(".md-sidebar--secondary a[href$='#what-goes-wrong']").click()
    page.wait_for_function(IS_BELOW_HEADER, arg="#what-goes-wrong")
    page.reload()
    page.wait_for_function(IS_BELOW_HEADER, arg="#what-goes-wrong")


def test_old_anchor_leads_to_the_moved_section_or_row(open_page, address):
    page = open_page().page
    for old, new, anchor in (
        ("mechanisms/masks", "mechanisms/local_window", "#the-second-way"),
        ("check", "mechanisms/common_mistakes", "#keys-reshaped"),  # in a folded table
    ):
        page.goto(f"{address}{old}/{anchor}")
        page.wait_for_url(f"{address}{new}/{anchor}")
        page.wait_for_function(IS_BELOW_HEADER, arg=anchor)


def test_old_anchor_shows_its_link_without_scripts(phone, address):
    phone.load(f"{address}mechanisms/masks/#the-second-way")
    links = phone.page.locator(".moved a:visible")
    assert links.evaluate_all("all => all.map(link => link.hash)") == ["#the-second-way"]
    phone.load(f"{address}mechanisms/masks/")
    assert links.count() == 0


def test_heading_link_to_another_page_scrolls_below_header(open_page):
    visit = open_page("errata")
    link = visit.page.locator(".md-content a[href*='/#']:not([href*='errata/#']):visible").first
    target = link.evaluate("a => a.href")
    link.scroll_into_view_if_needed()
    # The theme saves the scroll position late, and would apply it to the next page.
    visit.wait_until("history.state?.y === scrollY")
    with instant_navigation(visit.page):
        link.click()
    _, _, heading = target.partition("#")
    visit.page.wait_for_function(IS_BELOW_HEADER, arg=f"#{heading}")
    assert visit.page.url == target


def test_colour_scheme_and_absolute_stylesheet_urls_do_not_need_the_theme_script(browser, address):
    context = browser.new_context(color_scheme="dark")
    page = context.new_page()
    page.route("**/bundle.*.js", lambda route: route.abort())
    page.goto(address)
    assert page.evaluate("document.body.dataset.mdColorScheme") == "slate"
    links = page.locator("link[rel=stylesheet]").all()
    assert len(links) > 2
    assert all(link.get_attribute("href").startswith(address) for link in links)
    context.close()


def test_back_restores_scroll_position(visit):
    page = visit.page
    page.evaluate("window.scrollTo(0, 1500)")
    visit.wait_until("history.state?.y === 1500")  # the theme has saved the position
    with instant_navigation(page):
        page.locator(".md-footer__link--next").dispatch_event("click")
    visit.wait_until("history.state?.y === 0")  # or it would save this on the page before
    with instant_navigation(page):
        page.go_back()
    visit.wait_until("Math.abs(scrollY - 1500) <= 1")
