"""The pages in each of the three browser engines: Chromium, Firefox and WebKit."""

import contextlib
import functools
import json
import os
import queue
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.browser.visit import CHROMIUM, PAGES, PREFIX, QUIET, SANDBOX, Handler, path, served
from tests.conftest import ROOT

pytestmark = pytest.mark.apart

WIDTHS = (1280, 375)
PATIENCE = 20  # seconds for one thing to happen in a page, on a busy machine
SILENCE = 120  # seconds without any answer
HERE = Path(__file__).parent
COMPLAINTS, ENGINES = HERE / "complaints.js", HERE / "engines.js"
HARNESS = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Engines</title></head>
<body><iframe style="height: 900px; border: 0"></iframe>
<script type="application/json" id="task">{task}</script><script src="engines.js"></script></body></html>
"""
END_OF_POLICY = b"form-action 'none'\">"
# So that Firefox neither greets nor phones home.
PREFERENCES = {
    "app.normandy.enabled": False,
    "app.update.enabled": False,
    "browser.aboutwelcome.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.homepage_override.mstone": "ignore",
    "datareporting.policy.dataSubmissionEnabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "http://127.0.0.1:9",
    "toolkit.telemetry.reportingpolicy.firstRun": False,
}


class EngineHandler(Handler):
    """Serve the site and the page that asks, and take the answers."""

    def __init__(self, *arguments, answers, pages, patience, **keywords):
        self.answers = answers
        self.task = {"pages": pages, "seconds": patience, "home": PREFIX, "widths": WIDTHS}
        super().__init__(*arguments, **keywords)

    def do_GET(self):
        name = self.path.removeprefix(PREFIX)
        if name == "engines.html":
            return self.send(Path(name), HARNESS.format(task=json.dumps(self.task)).encode())
        if name in (COMPLAINTS.name, ENGINES.name):
            return self.send(Path(name), (HERE / name).read_bytes())
        return super().do_GET()

    def do_POST(self):
        self.answers.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()

    def content(self, file):
        content = super().content(file)
        if file.suffix == ".html":
            early = f'<script src="{PREFIX}{COMPLAINTS.name}"></script>'
            assert END_OF_POLICY in content, file
            content = content.replace(END_OF_POLICY, END_OF_POLICY + early.encode(), 1)
        return content


def miss(program):
    """Skip for want of a program; CI installs them all, so there it is a failure."""
    give_up = pytest.fail if "CI" in os.environ and sys.platform == "linux" else pytest.skip
    give_up(f"{program} is missing")


def found(*names):
    """The first of several programs that is there."""
    return next(filter(None, map(shutil.which, names)), None)


def mini_browser():
    """WebKitGTK's small browser, which Debian keeps among the libraries."""
    return next(map(str, Path("/usr").glob("lib*/**/webkit2gtk-4.*/MiniBrowser")), None)


@contextlib.contextmanager
def running(command, **options):
    """Run a program until its answers are there."""
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options
    )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def chromium(address, profile):
    program = found(*CHROMIUM) or miss("Chromium")
    options = ["--headless=new", "--no-first-run", f"--user-data-dir={profile}", *SANDBOX, *QUIET]
    return running([program, *options, address])


def firefox(address, profile):
    program = found("firefox-esr", "firefox") or miss("Firefox")
    lines = (f"user_pref({json.dumps(k)}, {json.dumps(v)});" for k, v in PREFERENCES.items())
    (profile / "user.js").write_text("\n".join(lines), encoding="utf-8")
    return running([program, "--headless", "--no-remote", "--profile", profile, address])


@contextlib.contextmanager
def webkit(address, profile):
    program = mini_browser() or miss("WebKitGTK's MiniBrowser")
    screen = found("Xvfb") or miss("Xvfb, a screen for WebKitGTK,")
    reading, writing = os.pipe()
    size = ["-screen", "0", "1400x1000x24", "-nolisten", "tcp"]
    with running([screen, "-displayfd", str(writing), *size], pass_fds=[writing]):
        display = os.read(reading, 16).decode().strip()
        surroundings = {**os.environ, "DISPLAY": f":{display}", "HOME": str(profile)}
        surroundings |= {"GDK_BACKEND": "x11", "LIBGL_ALWAYS_SOFTWARE": "1", "NO_AT_BRIDGE": "1"}
        # Without a graphics card its layers would be composed by the processor, at a third more.
        surroundings["WEBKIT_DISABLE_COMPOSITING_MODE"] = "1"
        with running([program, "--private", address], env=surroundings) as browser:
            yield browser
    os.close(reading)
    os.close(writing)


WRONG = """
    <noscript><i class="katex"></i></noscript>
    <script src="nowhere.js"></script> <script>inline()</script>
    <img src="http://localhost:9/foreign.png" alt=""> <div style="width: 3000px">Wide</div>
    <div class="paste"><textarea></textarea><p role="status"></p>
      <template>[{"right": true, "rows": [[1]]}, {"rows": [[1]], "words": "a mistake"}]</template></div>
"""
each_engine = pytest.mark.parametrize(
    "engine", [chromium, firefox, webkit], ids=lambda engine: engine.__name__
)


def faults(engine, site, profile, pages, patience=PATIENCE):
    """Ask pages of a site; returns the faults of each."""
    answers, found, last = queue.SimpleQueue(), {}, "nothing"
    ask = {"answers": answers, "pages": list(map(path, pages)), "patience": patience}
    handler = functools.partial(EngineHandler, **ask)
    with served(site, handler) as home, engine(f"{home}engines.html", profile):
        while True:
            try:
                answer = answers.get(timeout=SILENCE)
            except queue.Empty:
                pytest.fail(f"no answer for {SILENCE} s; the last was of {last}")
            if "finished" in answer:
                return found
            last = answer["page"]
            found[last] = answer["faults"]


NAV = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
# As one reads them: each links to the one that follows it.
IN_ORDER = sorted(PAGES, key=lambda page: re.search(rf" {page}(/?index)?\.\w+\n", NAV).start())
# What differs with the depth of a page is asked here; every page is, in test_every_page.py.
FIRST_OF_EACH_DEPTH = list({path(page).count("/"): page for page in reversed(PAGES)}.values())


# A page that one of Firefox and WebKit loads is one that the other comes to from the page before.
@pytest.mark.parametrize(
    ("engine", "pages"),
    [
        (chromium, FIRST_OF_EACH_DEPTH),
        (firefox, IN_ORDER),
        (webkit, [*IN_ORDER[1:], IN_ORDER[0]]),
    ],
    ids=["chromium", "firefox", "webkit"],
)
def test_pages_work_in(engine, pages, site, tmp_path):
    told = faults(engine, site, tmp_path, pages)
    assert len(told) == len(pages)
    assert {page: wrong for page, wrong in told.items() if wrong} == {}


@each_engine
def test_each_fault_of_a_page_is_told_by(engine, site, tmp_path):
    """A page alone, without an index for its search or a next page, and wrong in all else too."""
    shutil.copytree(site / "assets", tmp_path / "site" / "assets")
    page = (site / "index.html").read_text(encoding="utf-8")
    for old, new in (
        ("<h1", "<h1 hidden"),
        ('data-md-component="palette"', 'data-md-component="none"'),
        ("md-footer__link--next", ""),
        ("</body>", f"{WRONG}</body>"),
    ):
        assert old in page
        page = page.replace(old, new)
    (tmp_path / "site" / "index.html").write_text(page, encoding="utf-8")
    profile = tmp_path / "profile"
    profile.mkdir()
    told = faults(engine, tmp_path / "site", profile, [""], patience=1)["home"]
    for name in (
        *(f"{width} pixels wide: shows its title" for width in WIDTHS),
        *(f"{width} pixels wide: does not scroll sideways" for width in WIDTHS),
        "holds what its file holds",
        "switches its scheme",
        "answers a search",
        "names the mistake in a pasted output",
        "leads on and back without a load",
    ):
        assert any(wrong.startswith(f"{name}: ") for wrong in told), (name, told)
    complaint = next(wrong for wrong in told if wrong.startswith("complains of nothing"))
    for part in ("nowhere.js", "localhost:9", "script-src"):
        assert part in complaint
