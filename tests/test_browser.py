"""The published site in a real browser: no foreign request, no complaint, light and still."""

import contextlib
import gzip
import http.server
import importlib
import os
import re
import shutil
import threading
from pathlib import Path

import pytest

from tests.conftest import ROOT, copy_project, cut_down, mkdocs

PREFIX = "/attention-docs/"
PAGES = sorted(
    str(page.relative_to(ROOT / "docs").with_suffix("")).removesuffix("index").rstrip("/")
    for kind in ("*.md", "*.ipynb")
    for page in (ROOT / "docs").rglob(kind)
)
COMPRESSED = {".html", ".css", ".js", ".json", ".svg", ".xml", ".map"}
CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Chromium's own errands, none of them the page's.
QUIET = ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
WIDTHS = (1280, 768, 320)
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# A formula's MathML is checked; its drawing, thousands of elements hidden from readers, is not.
AXE = "rules => axe.run({exclude: ['.katex-html']}, {runOnly: rules})"
WATCH_SHIFTS = """
    window.shift = 0;
    new PerformanceObserver(list => {
        for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
    }).observe({type: "layout-shift", buffered: true});
"""


@pytest.fixture(scope="session")
def browser(request):
    """The machine's own Chromium; Playwright's download of one is not needed."""
    found = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if found is None:
        message = f"no Chromium on this machine ({', '.join(CHROMIUM)})"
        pytest.fail(message) if request.config.getoption("browser") else pytest.skip(message)
    from playwright.sync_api import sync_playwright

    root = hasattr(os, "geteuid") and os.geteuid() == 0
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=found, args=[*QUIET, "--no-sandbox"] if root else QUIET
        )
        yield launched
        launched.close()


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serve a folder under a sub-path and compressed, as GitHub Pages does."""

    def do_GET(self):
        if not self.path.startswith(PREFIX):
            return self.send_error(404)
        self.path = self.path.removeprefix(PREFIX.rstrip("/"))
        file = Path(self.translate_path(self.path))
        file = file / "index.html" if file.is_dir() else file
        if not file.is_file():
            return self.send_error(404)
        content = file.read_bytes()
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(file)))
        if file.suffix in COMPRESSED:
            content = gzip.compress(content, 6)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *arguments):
        pass


@contextlib.contextmanager
def served(folder):
    """Serve a folder; yields the address of its home page."""
    with http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), lambda *arguments: Handler(*arguments, directory=str(folder))
    ) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}{PREFIX}"
        server.shutdown()


@pytest.fixture(scope="session")
def address(site):
    """Where the whole site is served."""
    with served(site) as home:
        yield home


@pytest.fixture(scope="session")
def axe(assets):
    """The accessibility checker, to be run in a page."""
    return (assets / "axe-core" / "axe.min.js").read_text(encoding="utf-8")


class Visit:
    """One load of one page, with all that the browser reported."""

    def __init__(self, browser, url, scheme="light", width=1280, **options):
        self.context = browser.new_context(
            color_scheme=scheme, viewport={"width": width, "height": 900}, **options
        )
        self.page = self.context.new_page()
        self.requests, self.complaints, self.transfers = [], [], {}
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", self.hear)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("requestfailed", lambda request: self.complaints.append(request.url))
        self.page.on("requestfinished", self.weigh)
        self.page.add_init_script(WATCH_SHIFTS)
        self.page.goto(url, wait_until="networkidle")

    def hear(self, message):
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def weigh(self, request):
        sizes = request.sizes()
        self.transfers[request.url] = sizes["responseHeadersSize"] + sizes["responseBodySize"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", PAGES)
def test_a_page_asks_nobody_complains_of_nothing_keeps_still_and_is_accessible(
    browser, address, axe, page, scheme
):
    with Visit(browser, address + (f"{page}/" if page else ""), scheme) as visit:
        assert [r for r in visit.requests if not r.startswith((address, "data:"))] == []
        assert visit.complaints == []
        assert visit.page.evaluate("window.shift") <= 0.01
        shown = visit.page.evaluate("document.body.dataset.mdColorScheme")
        assert shown == {"light": "default", "dark": "slate"}[scheme]
        visit.page.evaluate(axe)
        for width in WIDTHS:
            visit.page.set_viewport_size({"width": width, "height": 900})
            visit.page.wait_for_timeout(400)  # the theme's drawer slides away
            assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
            found = visit.page.evaluate(AXE, RULES)
            assert [f"{v['id']}: {v['nodes'][0]['html'][:200]}" for v in found["violations"]] == []


@pytest.mark.parametrize("page", PAGES)
def test_without_javascript_everything_is_there(browser, address, page):
    url = address + (f"{page}/" if page else "")
    count = "[...document.querySelectorAll('.katex, .diagram svg, .drawing, table, pre')].length"
    with Visit(browser, url) as visit, Visit(browser, url, java_script_enabled=False) as plain:
        assert plain.page.locator(".katex, .diagram svg, .drawing, table, pre").count() == (
            visit.page.evaluate(count)
        )
        assert plain.page.locator("h1").is_visible()


def test_search_finds_softmax_and_shows_no_markup(browser, address):
    with Visit(browser, address) as visit:
        visit.page.get_by_placeholder("Search").press_sequentially("softmax")
        results = visit.page.locator(".md-search-result__item")
        results.first.wait_for()
        shown = " ".join(results.all_inner_texts())
        assert "softmax" in shown.lower()
        # A "<" with a space is one of a comparison in code.
        assert not re.search(r"</?\w|\\|katex|&#", shown)


def test_instant_navigation_keeps_the_formulas(browser, address):
    with Visit(browser, f"{address}mechanisms/self_attention/") as visit:
        visit.page.get_by_role("link", name="Cross-attention", exact=True).first.click()
        visit.page.wait_for_url("**/mechanisms/cross_attention/")
        visit.page.get_by_role("heading", level=1, name="Cross-attention").wait_for()
        assert visit.page.locator(".katex").count() > 20
        assert visit.complaints == []


def test_a_page_of_thirty_formulas_is_light(browser, tmp_path, assets):
    formula = "The output:\n\n$$\n\\output{{O}}_{{{}}} = \\weights{{A}}\\,\\value{{V}} = \\val{{self_attention.output}}\n$$\n"
    page = "# Thirty formulas\n\n" + "\n".join(formula.format(i) for i in range(30))
    project = cut_down(copy_project(tmp_path), page)
    built = mkdocs(project, "build", "--strict", SITE_URL="http://127.0.0.1" + PREFIX)
    assert built.returncode == 0, built.stderr
    with (
        served(project / "site") as home,
        Visit(browser, home) as visit,
    ):
        assert visit.page.locator(".katex-display").count() == 30
        total = sum(visit.transfers.values())
        scripts = sum(size for url, size in visit.transfers.items() if url.endswith(".js"))
        print(f"transfer {total / 1000:.0f} KB, of it JavaScript {scripts / 1000:.0f} KB")
        assert total <= 220_000
        assert scripts <= 60_000
        assert not [url for url in visit.transfers if "katex" in url and url.endswith(".js")]
        assert visit.page.evaluate("window.shift") <= 0.01


def test_points_can_be_turned_and_plotly_comes_on_request_only(browser, address):
    with Visit(browser, address + "mechanisms/self_attention/") as visit:
        assert not [url for url in visit.requests if "plotly" in url]
        drawing = visit.page.locator("svg[data-points]")
        visit.page.get_by_role("button", name="Explore in 3D").click()
        visit.page.locator(".space.js-plotly-plot").wait_for()
        assert not drawing.is_visible()
        assert [url for url in visit.requests if "plotly" in url] == [
            f"{address}assets/plotly/plotly-gl3d.min.js"
        ]
        assert [r for r in visit.requests if not r.startswith((address, "data:", "blob:"))] == []
        visit.page.get_by_role("button", name="Back to the drawing").click()
        assert drawing.is_visible()
        assert visit.page.locator(".space").count() == 0


def test_a_notebook_is_at_most_150_kb_heavier_than_a_page(browser, address):
    def weight(page):
        with Visit(browser, f"{address}{page}/") as visit:
            figures = visit.page.evaluate(
                "[...document.querySelectorAll('.drawing')].map(f => f.outerHTML).join('')"
            )
            drawn = len(gzip.compress(figures.encode(), 6))
            return sum(visit.transfers.values()) - drawn

    page, notebook = weight("notation"), weight("notebooks/self_and_cross_attention")
    print(f"transfer without figures: page {page / 1000:.0f} KB, notebook {notebook / 1000:.0f} KB")
    assert notebook - page <= 150_000


def test_the_table_of_weights_is_what_the_browser_fetches(browser, address, site, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "scripts")
    table = {page: visit for visit, _, page in importlib.import_module("weights").weigh(site)}
    for page in ("./", "mechanisms/multi_head/", "errata/", "reference/render/"):
        with Visit(browser, address + page.removeprefix("./")) as visit:
            fetched = sum(visit.transfers.values())
            # Of the search's worker, some 10 KB, the browser tells the headers alone.
            assert abs(table[page] - 10_000 - fetched) < 5_000, page
