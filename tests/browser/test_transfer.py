"""Transfer sizes, fonts, and what stays in place while a page arrives."""

import threading

import pytest

from tests.browser.visit import Handler, Visit, served, url_path

BOX = """
    selector => {
        const {x, y, width, height} = document.querySelector(selector).getBoundingClientRect();
        return [x, y, width, height];
    }
"""
HAS_STYLES = "[...document.querySelectorAll('link[rel=stylesheet]')].every(link => link.sheet)"


def pausing_handler(place, may_continue):
    """Return a handler that sends a page up to a place, and the rest after an event."""

    class PausingHandler(Handler):
        def send(self, file, content):
            if file.suffix != ".html":
                return super().send(file, content)
            end = content.index(place)
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(content[:end])
            may_continue.wait(timeout=60)
            self.wfile.write(content[end:])

    return PausingHandler


def test_page_of_thirty_matrices_transfers_at_most_130_kb(open_page):
    visit = open_page("mechanisms/two_heads")
    assert visit.page.locator(".formula .matrix").count() >= 30
    sizes = visit.transfer_sizes()
    assert sum(sizes.values()) <= 130_000
    scripts = {url: size for url, size in sizes.items() if url.endswith(".js")}
    assert sum(scripts.values()) <= 60_000
    assert not [url for url in scripts if "katex" in url]


def test_katex_fonts_are_inlined_and_loaded_at_once(open_page):
    visit = open_page("notation")
    fonts = visit.page.evaluate(
        "document.fonts.ready.then(() =>"
        " [...document.fonts].map(font => `${font.family} ${font.status}`))"
    )
    assert "KaTeX_Size4 loaded" in fonts, "loaded although this page does not use it"
    assert {font.partition(" ")[2] for font in fonts} == {"loaded"}
    assert not [url for url in visit.requests if "woff" in url.partition(",")[0]]


@pytest.mark.parametrize("width", [412, 1280])
@pytest.mark.parametrize(
    ("page", "element", "end"),
    [
        ("", "h1", b"</h1>"),
        ("course/learned", ".panel > details", b"</aside>"),
    ],
)
def test_element_keeps_its_place_when_the_rest_of_the_page_arrives(
    browser, site, page, element, end, width
):
    rest_may_arrive = threading.Event()
    with (
        served(site, pausing_handler(end, rest_may_arrive)) as home,
        Visit(browser, "about:blank", width=width) as visit,
    ):
        visit.page.goto(home + url_path(page), wait_until="commit")
        visit.page.wait_for_selector(element)
        visit.wait_until(HAS_STYLES)
        box = visit.page.evaluate(BOX, element)
        rest_may_arrive.set()
        visit.page.wait_for_load_state()
        assert visit.page.evaluate(BOX, element) == box
