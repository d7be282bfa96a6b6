"""The built site, served as GitHub Pages does, and one load of one page in a real browser."""

import contextlib
import functools
import gzip
import http.server
import os
import shutil
import threading
from pathlib import Path

from tests.conftest import ROOT

PREFIX = "/attention-docs/"
PAGES = sorted(
    page.relative_to(ROOT / "docs").with_suffix("").as_posix().removesuffix("index").rstrip("/")
    for kind in ("*.md", "*.ipynb")
    for page in (ROOT / "docs").rglob(kind)
)
CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Chromium's own errands, none of them the page's.
QUIET = ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
# Chromium's sandbox refuses root; Windows has no such user.
IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
SANDBOX = ["--no-sandbox"] if IS_ROOT else []
COMPRESSED = {".html", ".css", ".js", ".json", ".svg", ".xml", ".map"}
SLOW = {"offline": False, "latency": 40, "downloadThroughput": 1.25e6, "uploadThroughput": 1.25e6}
SHOWN_AS = {"light": "default", "dark": "slate"}
WATCH_SHIFTS = """
    window.shift = 0;
    new PerformanceObserver(list => {
        for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
    }).observe({type: "layout-shift", buffered: true});
"""
# How much wider than the window the page is.
WIDER_THAN_PAGE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
# Text that does not stand out, once axe is there.
CONTRAST = """
    axe.run('.md-content', {runOnly: ['color-contrast'], resultTypes: ['violations']})
        .then(found => found.violations.map(v => v.nodes[0].html.slice(0, 200)))
"""


def path(page):
    """Where a page of `PAGES`, or a file, lies below the home page."""
    return f"{page}/" if page and "." not in page else page


def find_chromium():
    """Return the path of the machine's Chromium.

    Raises:
        FileNotFoundError: if it has none.
    """
    found = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if found is None:
        raise FileNotFoundError(f"no Chromium on this machine ({', '.join(CHROMIUM)})")
    return found


@contextlib.contextmanager
def launched(chromium):
    """Start the Chromium at a path, without a window; yields Playwright's browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=[*QUIET, *SANDBOX])
        yield browser
        browser.close()


@functools.lru_cache(maxsize=64)
def compressed(content):
    """Compress a file, once: GitHub has it compressed already, and a page would wait for it."""
    return gzip.compress(content, 6)


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
        self.send(file, self.content(file))

    def content(self, file):
        """What is sent for a file."""
        content = file.read_bytes()
        if file.name == "sitemap.xml":
            # Pages that it does not name are no target of instant navigation.
            content = content.replace(b"//127.0.0.1/", f"//{self.headers['Host']}/".encode())
        return content

    def send(self, file, content):
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(file)))
        if file.suffix in COMPRESSED:
            content = compressed(content)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        with contextlib.suppress(ConnectionError):  # the browser has gone to another page
            self.wfile.write(content)

    def log_message(self, *arguments):
        pass


@contextlib.contextmanager
def served(folder, handler=Handler):
    """Serve a folder; yields the address of its home page."""
    with http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), lambda *arguments: handler(*arguments, directory=str(folder))
    ) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}{PREFIX}"
        server.shutdown()


def slow_down(page):
    """Give a page 10 Mbit/s, answers after 40 ms, and a quarter of the processor."""
    devtools = page.context.new_cdp_session(page)
    devtools.send("Network.enable")
    devtools.send("Network.emulateNetworkConditions", SLOW)
    devtools.send("Emulation.setCPUThrottlingRate", {"rate": 4})


class Visit:
    """One load after another of pages in one tab, with all that the browser reported of the last."""

    def __init__(
        self, browser, url, scheme="light", width=1280, height=900, is_slow=False, **options
    ):
        self.context = browser.new_context(
            color_scheme=scheme, viewport={"width": width, "height": height}, **options
        )
        self.page = self.context.new_page()
        self.page.on("request", self.ask)
        self.page.on("requestfinished", self.answer)
        self.page.on("requestfailed", self.miss)
        self.page.on("console", self.hear)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.add_init_script(WATCH_SHIFTS)
        if is_slow:
            slow_down(self.page)
        self.load(url)

    def load(self, url):
        self.requests, self.complaints, self.answered, self.pending = [], [], [], set()
        self.page.goto(url)
        self.settle()

    def load_afresh(self, url, scheme="light", width=1280, height=900):
        """Load a further page as a first one, with nothing cached or stored.

        For a new reader Chromium would start a process, which takes twice as long as the page.
        """
        self.page.goto("about:blank")
        self.page.mouse.move(0, 0)
        self.page.emulate_media(media="screen", color_scheme=scheme)
        self.page.set_viewport_size({"width": width, "height": height})
        devtools = self.context.new_cdp_session(self.page)
        devtools.send("Network.setCacheDisabled", {"cacheDisabled": True})
        stored = {"origin": url, "storageTypes": "local_storage"}
        devtools.send("Storage.clearDataForOrigin", stored)
        self.load(url)
        devtools.detach()

    def ask(self, request):
        self.requests.append(request.url)
        self.pending.add(request)

    def answer(self, request):
        self.answered.append(request)
        self.pending.discard(request)

    def miss(self, request):
        self.complaints.append(f"{request.url}: {request.failure}")
        self.pending.discard(request)

    def hear(self, message):
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def settle(self):
        """Wait for what the page's scripts asked for; before the load event they all have."""
        while self.pending:
            self.page.wait_for_timeout(10)

    def weights(self):
        """Return the bytes that came over the network for each address."""
        sizes = {request.url: request.sizes() for request in self.answered}
        return {u: s["responseHeadersSize"] + s["responseBodySize"] for u, s in sizes.items()}

    def show(self, scheme="light", width=1280, height=900):
        """Give the open page another scheme, as its reader's system does, and another size."""
        self.page.emulate_media(media="screen", color_scheme=scheme)
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.wait_for_selector(f'body[data-md-color-scheme="{SHOWN_AS[scheme]}"]')
        self.page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")

    def wait_until(self, expression):
        """Wait until an expression holds.

        Playwright reads a function once, but an expression anew at each frame, by `eval`, which the
        pages' policy forbids: it would fail unless it held at once.
        """
        self.page.wait_for_function(f"() => {expression}")

    def finish_transitions(self):
        """Wait until no colour is on its way to another: on the way, text may not stand out."""
        self.page.evaluate("Promise.allSettled(document.getAnimations().map(a => a.finished))")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.context.close()
