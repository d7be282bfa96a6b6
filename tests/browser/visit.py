"""Serve the built site as GitHub Pages does, and load its pages in Chromium."""

import contextlib
import functools
import gzip
import http.server
import shutil
import threading
from pathlib import Path

import pytest

from tests.conftest import ROOT

PREFIX = "/attention-docs/"
PAGES = sorted(
    page.relative_to(ROOT / "docs").with_suffix("").as_posix().removesuffix("index").rstrip("/")
    for kind in ("*.md", "*.ipynb")
    for page in (ROOT / "docs").rglob(kind)
)
# What needs much time is asked of these at each commit, and of all pages weekly.
PAGE_OF_EACH_KIND = (
    "",
    "check",  # diagnoses pasted outputs
    "course/at_full_size",  # shows all heads of a model
    "course/learned",  # trains a model
    "course/mask",  # has a side panel, dares and a mask to click
    "mechanisms/kv_cache",  # the shortest with every kind of content
    "notebooks/self_and_cross_attention",
    "reference/attention",
)
GZIPPED_SUFFIXES = {".html", ".css", ".js", ".json", ".svg", ".xml", ".map"}
# The theme's names for the system's colour schemes.
THEME_SCHEMES = {"light": "default", "dark": "slate"}
# Sums the layout shifts of a page in `window.shift`.
WATCH_SHIFTS = """
    window.shift = 0;
    new PerformanceObserver(list => {
        for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
    }).observe({type: "layout-shift", buffered: true});
"""
# By how many pixels the page is wider than the window.
HORIZONTAL_OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
WCAG_2_2 = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
AXE_VIOLATIONS = """
    ([context, runOnly, rules]) => axe.run(context, {runOnly, rules, resultTypes: ['violations']})
        .then(results => results.violations.map(v => `${v.id}: ${v.nodes[0].html.slice(0, 200)}`))
"""
WIDE, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
each_window = pytest.mark.parametrize("window", [WIDE, PHONE], ids=["wide", "phone"])
# What a page shows beside its text, with scripts, without them and on paper.
KINDS = {
    "formulas": ".katex:not(.hands-on *)",
    "diagrams": ".diagram > svg",
    # With scripts, a player shows one state at a time.
    "figures": ".drawing:not(.state + .state > *)",
    "tables": ".md-content table:not(.hands-on *)",
    "code": ".md-content pre:not(.tabbed-block + .tabbed-block *)",
}
# The number of visible formulas, diagrams, figures, tables and code blocks.
COUNTS = """
    kinds => Object.fromEntries(Object.entries(kinds).map(([kind, selector]) => [
        kind,
        [...document.querySelectorAll(selector)].filter(
            e => e.checkVisibility({visibilityProperty: true}) && e.getBoundingClientRect().width
        ).length,
    ]))
"""
# Axe checks the MathML of formulas; their HTML has thousands of elements, so its contrast is checked on
# two pages only, in test_accessibility.py.
FORMULA_HTML = [".katex-html"]
OPEN_DETAILS = "document.querySelectorAll('details').forEach(details => { details.open = true; })"
# Text in drawings and diagrams below a size in pixels on the screen, other than lowered indices.
SMALL_FIGURE_TEXT = """
    smallest => [...document.querySelectorAll(".md-content svg:is(.drawing, .step, .diagram > svg)")]
        .filter(svg => svg.checkVisibility())
        .flatMap(svg => [...svg.querySelectorAll("text, tspan:not([dy])")].filter(text =>
            parseFloat(getComputedStyle(text).fontSize) * svg.getScreenCTM().a < smallest - 0.05
        )).map(text => text.outerHTML.slice(0, 200))
"""
# Whether the middle of an element is in the window, and nothing lies over it.
IN_SIGHT = """
    element => {
        const {left, right, top, bottom} = element.getBoundingClientRect();
        const on_top = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
        return top >= 0 && bottom <= innerHeight && (element.contains(on_top) || on_top?.contains(element));
    }
"""
# Elements with too little contrast; needs axe.
LOW_CONTRAST = """
    axe.run('.md-content', {runOnly: ['color-contrast'], resultTypes: ['violations']})
        .then(results => results.violations.map(v => v.nodes[0].html.slice(0, 200)))
"""


def url_path(page):
    """Return the path of a page of `PAGES`, or of a file, below the home page."""
    return f"{page}/" if page and "." not in page else page


def first_installed(*names):
    """Return the path of the first program that is installed, or None."""
    return next(filter(None, map(shutil.which, names)), None)


@functools.lru_cache(maxsize=64)
def gzipped(content):
    """Compress the content of a file once, because GitHub Pages does not compress on each request."""
    return gzip.compress(content, 6)


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serve a folder under a sub-path with gzip, as GitHub Pages does."""

    def do_GET(self):
        if not self.path.startswith(PREFIX):
            return self.send_error(404)
        self.path = self.path.removeprefix(PREFIX.rstrip("/"))
        file = Path(self.translate_path(self.path))
        file = file / "index.html" if file.is_dir() else file
        if not file.is_file():
            return self.send_error(404)
        self.send(file, self.content(file))

    def content(self, file: Path) -> bytes:
        """Return the content to send for a file."""
        content = file.read_bytes()
        if file.name == "sitemap.xml":
            # Instant navigation only follows links to pages that the sitemap lists.
            content = content.replace(b"//127.0.0.1/", f"//{self.headers['Host']}/".encode())
        return content

    def send(self, file, content):
        """Send content with the headers for a file of this name."""
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(file)))
        if file.suffix in GZIPPED_SUFFIXES:
            content = gzipped(content)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        with contextlib.suppress(ConnectionError):  # the browser left the page
            self.wfile.write(content)

    def log_message(self, *arguments):
        """Log no requests."""


@contextlib.contextmanager
def served(folder, handler=Handler):
    """Serve a folder and yield the address of its home page."""
    with http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), lambda *arguments: handler(*arguments, directory=str(folder))
    ) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}{PREFIX}"
        server.shutdown()


class Visit:
    """A browser tab that records the requests and errors of its last page load."""

    def __init__(self, browser, url, scheme="light", width=1280, height=900, **options):
        self.context = browser.new_context(
            color_scheme=scheme, viewport={"width": width, "height": height}, **options
        )
        self.page = self.context.new_page()
        self.page.on("request", self.on_request)
        self.page.on("requestfinished", self.on_request_finished)
        self.page.on("requestfailed", self.on_request_failed)
        self.page.on("console", self.on_console)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.add_init_script(WATCH_SHIFTS)
        self.load(url)

    def load(self, url):
        self.requests, self.errors, self.finished, self.pending = [], [], [], set()
        self.page.goto(url)
        self.wait_for_requests()

    def load_uncached(self, url, scheme="light", width=1280, height=900):
        """Load a page as a first visit, with empty caches and storage."""
        # A new context would start a process, which takes twice as long as the page.
        self.page.goto("about:blank")
        self.page.mouse.move(0, 0)
        self.page.emulate_media(media="screen", color_scheme=scheme)
        self.page.set_viewport_size({"width": width, "height": height})
        devtools = self.context.new_cdp_session(self.page)
        devtools.send("Network.setCacheDisabled", {"cacheDisabled": True})
        storage = {"origin": url, "storageTypes": "local_storage"}
        devtools.send("Storage.clearDataForOrigin", storage)
        self.load(url)
        devtools.detach()

    def on_request(self, request):
        self.requests.append(request.url)
        self.pending.add(request)

    def on_request_finished(self, request):
        self.finished.append(request)
        self.pending.discard(request)

    def on_request_failed(self, request):
        self.errors.append(f"{request.url}: {request.failure}")
        self.pending.discard(request)

    def on_console(self, message):
        is_about_speed = "Canvas2D:" in message.text or "GPU stall" in message.text
        if message.type in ("error", "warning") and not is_about_speed:
            self.errors.append(message.text)

    def assert_no_errors(self):
        """Assert that there were no errors since the last load; navigation cancels requests."""
        assert [error for error in self.errors if "ERR_ABORTED" not in error] == []

    def wait_for_requests(self):
        """Wait for requests that scripts started before the load event."""
        while self.pending:
            self.page.wait_for_timeout(10)

    def transfer_sizes(self):
        sizes = {}
        for request in self.finished:
            size = request.sizes()
            sizes[request.url] = size["responseHeadersSize"] + size["responseBodySize"]
        return sizes

    def emulate(self, scheme="light", width=1280, height=900):
        """Change the system's colour scheme and the window size of the open page."""
        self.page.emulate_media(media="screen", color_scheme=scheme)
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.wait_for_selector(f'body[data-md-color-scheme="{THEME_SCHEMES[scheme]}"]')
        self.wait_for_frame()

    def emulate_print(self, scheme="light"):
        """Show the open page as on paper, after the event by which the theme unfolds all details."""
        self.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        self.page.emulate_media(media="print", color_scheme=scheme)
        self.page.set_viewport_size({"width": 680, "height": 1000})  # A4 with margins of 15 mm

    def wait_for_frame(self):
        """Wait for what happens when the page is painted, such as observers of sizes."""
        self.page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")

    def wait_until(self, expression):
        """Wait until a JavaScript expression is true."""
        # Playwright would evaluate a bare expression with `eval`, which the policy of pages forbids.
        self.page.wait_for_function(f"() => {expression}")

    def wait_for_rest(self):
        """Wait for prose and offscreen figures, which follow an edit 0.1 s after the numbers."""
        self.page.evaluate("new Promise(done => setTimeout(done, 150))")

    def wcag_violations(self, rules=None, **context):
        """Return the violations that axe, which must be loaded, finds in a part of the page."""
        return self.page.evaluate(AXE_VIOLATIONS, [context, WCAG_2_2, rules or {}])

    def finish_transitions(self):
        """Wait for colour transitions, during which text may have too little contrast."""
        self.page.evaluate("Promise.allSettled(document.getAnimations().map(a => a.finished))")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.context.close()
