"""Transfer sizes, fonts, and layout shift on a slow network."""

import gzip
import itertools
import time

import pytest

from tests.browser.visit import PREFIX, Handler, Visit, served, url_path
from tests.conftest import copy_project, cut_down, mkdocs

# At the end of the title, and before and after the side panel of the course.
CUTS = (b"</h1>", b'<aside class="panel"', b"</aside>")
# Long enough for the browser to paint what it has.
PAUSE_SECONDS = 0.3


class HandlerWithPauses(Handler):
    """Send a page in pieces, which end at the places of `CUTS`."""

    def send(self, file, content):
        if file.suffix != ".html":
            return super().send(file, content)
        ends = [0, *(content.index(cut) for cut in CUTS if cut in content), len(content)]
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        for start, end in itertools.pairwise(ends):
            time.sleep(PAUSE_SECONDS)
            self.wfile.write(content[start:end])


def test_page_of_thirty_formulas_transfers_at_most_130_kb(tab, tmp_path, site):
    formulas = (
        f"The output:\n\n$$\n\\output{{O}}_{{{i}}} = \\weights{{A}}\\,\\value{{V}}"
        " = \\val{self_attention.output}\n$$\n"
        for i in range(30)
    )
    page = "# Thirty formulas\n\n" + "\n".join(formulas)
    project = cut_down(copy_project(tmp_path), page)
    build = mkdocs(project, "build", "--strict", SITE_URL="http://127.0.0.1" + PREFIX)
    assert build.returncode == 0, build.stderr
    with served(project / "site") as home:
        tab.load_uncached(home)
        assert tab.page.locator(".formula .matrix").count() == 30
        sizes = tab.transfer_sizes()
        total = sum(sizes.values())
        scripts = sum(size for url, size in sizes.items() if url.endswith(".js"))
        assert total <= 130_000
        assert scripts <= 60_000
        assert not [url for url in sizes if "katex" in url and url.endswith(".js")]
        assert tab.page.evaluate("window.shift") <= 0.01


def test_notebook_transfers_at_most_150_kb_more_than_a_page(open_page):
    def size_without_figures(page):
        visit = open_page(page)
        drawings = visit.page.locator(".drawing").evaluate_all(
            "drawings => drawings.map(drawing => drawing.outerHTML).join('')"
        )
        drawings_size = len(gzip.compress(drawings.encode(), 6))
        return sum(visit.transfer_sizes().values()) - drawings_size

    page = size_without_figures("notation")
    notebook = size_without_figures("notebooks/self_and_cross_attention")
    assert notebook - page <= 150_000


def test_katex_fonts_are_inlined_and_loaded_at_once(browser, address):
    with Visit(browser, f"{address}notation/") as visit:
        fonts = visit.page.evaluate(
            "document.fonts.ready.then(() =>"
            " [...document.fonts].map(font => `${font.family} ${font.status}`))"
        )
        assert "KaTeX_Size4 loaded" in fonts, "loaded although this page does not use it"
        assert {font.partition(" ")[2] for font in fonts} == {"loaded"}
        assert not [url for url in visit.requests if "woff" in url.partition(",")[0]]


@pytest.mark.parametrize("width", [412, 1280])
def test_heaviest_page_has_no_layout_shift_on_slow_network(browser, site, address, width):
    heaviest = max(site.rglob("index.html"), key=lambda file: file.stat().st_size).parent
    url = f"{address}{heaviest.relative_to(site).as_posix()}/"
    with Visit(browser, url, width=width, is_slow=True) as visit:
        assert visit.page.evaluate("window.shift") <= 0.01


@pytest.mark.parametrize("page", ["", "course/averages", "course/learned"])
@pytest.mark.parametrize("width", [412, 1280])
def test_page_that_arrives_in_pieces_has_no_layout_shift(browser, site, page, width):
    with (
        served(site, HandlerWithPauses) as home,
        Visit(browser, home + url_path(page), width=width) as visit,
    ):
        assert visit.page.evaluate("window.shift") <= 0.01
