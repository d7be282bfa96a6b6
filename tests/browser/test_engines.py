"""Every page in the three browser engines: Chromium, Firefox and WebKit."""

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

from tests.browser.visit import (
    CHROMIUM,
    NO_BACKGROUND_REQUESTS,
    PAGES,
    PREFIX,
    SANDBOX,
    Handler,
    first_installed,
    served,
    url_path,
)
from tests.conftest import ROOT

pytestmark = pytest.mark.independent_tests

WIDTHS = (1280, 375)
STEP_TIMEOUT = 20  # seconds for a step of a check, on a busy machine
ANSWER_TIMEOUT = 120  # seconds for all checks of a page
HERE = Path(__file__).parent
RECORD_ERRORS, CHECKS = HERE / "record_errors.js", HERE / "engine_checks.js"
# The page that shows the site in a frame and checks it.
HARNESS = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Engines</title></head>
<body><iframe style="height: 900px; border: 0"></iframe>
<script type="application/json" id="task">{task}</script><script src="engine_checks.js"></script></body></html>
"""
END_OF_POLICY = b"form-action 'none'\">"
# Turn off Firefox's welcome pages and background requests.
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
    """Serve the site and the harness, record errors on each page, and collect the answers."""

    def __init__(self, *arguments, answers, pages, step_timeout, **keywords):
        self.answers = answers
        self.task = {"pages": pages, "seconds": step_timeout, "home": PREFIX, "widths": WIDTHS}
        super().__init__(*arguments, **keywords)

    def do_GET(self):
        name = self.path.removeprefix(PREFIX)
        if name == "engines.html":
            return self.send(Path(name), HARNESS.format(task=json.dumps(self.task)).encode())
        if name in (RECORD_ERRORS.name, CHECKS.name):
            return self.send(Path(name), (HERE / name).read_bytes())
        return super().do_GET()

    def do_POST(self):
        self.answers.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()

    def content(self, file):
        content = super().content(file)
        if file.suffix == ".html":
            script = f'<script src="{PREFIX}{RECORD_ERRORS.name}"></script>'
            assert END_OF_POLICY in content, file
            content = content.replace(END_OF_POLICY, END_OF_POLICY + script.encode(), 1)
        return content


def skip_or_fail_without(program):
    """Skip the test because a program is missing, or fail it in CI, which installs them all."""
    skip_or_fail = pytest.fail if "CI" in os.environ and sys.platform == "linux" else pytest.skip
    skip_or_fail(f"{program} is missing")


def find_mini_browser():
    """Return the path of WebKitGTK's MiniBrowser, which Debian installs among libraries, or None."""
    return next(map(str, Path("/usr").glob("lib*/**/webkit2gtk-4.*/MiniBrowser")), None)


@contextlib.contextmanager
def running(command, **options):
    """Run a program for the duration of the context."""
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
    program = first_installed(*CHROMIUM) or skip_or_fail_without("Chromium")
    options = [
        "--headless=new",
        "--no-first-run",
        f"--user-data-dir={profile}",
        *SANDBOX,
        *NO_BACKGROUND_REQUESTS,
    ]
    return running([program, *options, address])


def firefox(address, profile):
    program = first_installed("firefox-esr", "firefox") or skip_or_fail_without("Firefox")
    lines = (
        f"user_pref({json.dumps(name)}, {json.dumps(value)});"
        for name, value in PREFERENCES.items()
    )
    (profile / "user.js").write_text("\n".join(lines), encoding="utf-8")
    return running([program, "--headless", "--no-remote", "--profile", profile, address])


@contextlib.contextmanager
def webkit(address, profile):
    program = find_mini_browser() or skip_or_fail_without("WebKitGTK's MiniBrowser")
    screen = first_installed("Xvfb") or skip_or_fail_without("Xvfb, a screen for WebKitGTK,")
    # Xvfb chooses a free display and writes its number to the pipe.
    reading, writing = os.pipe()
    options = ["-displayfd", str(writing), "-screen", "0", "1400x1000x24", "-nolisten", "tcp"]
    with running([screen, *options], pass_fds=[writing]):
        display = os.read(reading, 16).decode().strip()
        environment = {**os.environ, "DISPLAY": f":{display}", "HOME": str(profile)}
        environment |= {"GDK_BACKEND": "x11", "LIBGL_ALWAYS_SOFTWARE": "1", "NO_AT_BRIDGE": "1"}
        # Without a GPU, compositing on the CPU would take a third longer.
        environment["WEBKIT_DISABLE_COMPOSITING_MODE"] = "1"
        with running([program, "--private", address], env=environment) as browser:
            yield browser
    os.close(reading)
    os.close(writing)


# Faults that the checks must detect, besides those in `test_engine_checks_detect_each_fault`.
BROKEN = """
    <noscript><i class="katex"></i></noscript>
    <script src="nowhere.js"></script> <script>inline()</script>
    <img src="http://localhost:9/foreign.png" alt=""> <div style="width: 3000px">Wide</div>
    <div class="paste"><textarea></textarea><p role="status"></p>
      <template>[{"right": true, "rows": [[1]]}, {"rows": [[1]], "words": "a mistake"}]</template></div>
    <div class="all-heads" data-ready><output></output><div class="state"></div><i class="small"></i><select></select></div>
"""
each_engine = pytest.mark.parametrize(
    "engine", [chromium, firefox, webkit], ids=lambda engine: engine.__name__
)


def check_pages(engine, site, profile, pages, step_timeout=STEP_TIMEOUT):
    """Check pages of a site in an engine and return the failures by page."""
    answers = queue.SimpleQueue()
    handler = functools.partial(
        EngineHandler,
        answers=answers,
        pages=list(map(url_path, pages)),
        step_timeout=step_timeout,
    )
    failures = {}
    with served(site, handler) as home, engine(f"{home}engines.html", profile):
        while True:
            try:
                answer = answers.get(timeout=ANSWER_TIMEOUT)
            except queue.Empty:
                pytest.fail(f"no answer for {ANSWER_TIMEOUT} s after those of {list(failures)}")
            if "finished" in answer:
                return failures
            failures[answer["page"]] = answer["failures"]


NAV = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
# In reading order: each page links to the next.
IN_ORDER = sorted(PAGES, key=lambda page: re.search(rf" {page}(/?index)?\.\w+\n", NAV).start())
# Chromium loads all pages in test_every_page.py, so one page of each depth is enough here.
PAGE_BY_DEPTH = {url_path(page).count("/"): page for page in reversed(PAGES)}


# Every other page is loaded, and the page after it reached by instant navigation. WebKit starts one page later
# than Firefox, so that each page is loaded in one of them and reached by navigation in the other.
@pytest.mark.parametrize(
    ("engine", "pages"),
    [
        (chromium, list(PAGE_BY_DEPTH.values())),
        (firefox, IN_ORDER),
        (webkit, [*IN_ORDER[1:], IN_ORDER[0]]),
    ],
    ids=["chromium", "firefox", "webkit"],
)
def test_pages_work_in_engine(engine, pages, site, tmp_path):
    failures = check_pages(engine, site, tmp_path, pages)
    assert len(failures) == len(pages)
    assert {page: messages for page, messages in failures.items() if messages} == {}


@each_engine
def test_engine_checks_detect_each_fault(engine, site, tmp_path):
    """The page has every fault, and neither a search index nor a next page."""
    shutil.copytree(site / "assets", tmp_path / "site" / "assets")
    page = (site / "index.html").read_text(encoding="utf-8")
    for old, new in (
        ("<h1", "<h1 hidden"),
        ('data-md-component="palette"', 'data-md-component="none"'),
        ("md-footer__link--next", ""),
        ("</body>", f"{BROKEN}</body>"),
    ):
        assert old in page
        page = page.replace(old, new)
    (tmp_path / "site" / "index.html").write_text(page, encoding="utf-8")
    profile = tmp_path / "profile"
    profile.mkdir()
    messages = check_pages(engine, tmp_path / "site", profile, [""], step_timeout=1)["home"]
    for check in (
        *(f"{width} pixels wide: shows its title" for width in WIDTHS),
        *(f"{width} pixels wide: does not scroll sideways" for width in WIDTHS),
        "has the content of its file",
        "switches its scheme",
        "answers a search",
        "diagnoses a pasted output",
        "enlarges a head on another sentence",
        "navigates forward and back without a page load",
    ):
        assert any(message.startswith(f"{check}: ") for message in messages), (check, messages)
    errors = next(message for message in messages if message.startswith("reports no errors"))
    for fault in ("nowhere.js", "localhost:9", "script-src"):
        assert fault in errors
