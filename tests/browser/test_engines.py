"""One page of each kind, and with --weekly all of them, in Firefox and WebKit.

Debian has no driver for WebKit, so a page with engine_checks.js shows the site in a frame, checks it and
posts the answers. Chromium has the other tests of this folder.
"""

import contextlib
import functools
import json
import os
import queue
import subprocess
import sys
from pathlib import Path

import pytest

from tests.browser.visit import (
    PAGE_OF_EACH_KIND,
    PAGES,
    PREFIX,
    Handler,
    first_installed,
    served,
    url_path,
)

pytestmark = pytest.mark.independent_tests

WIDTHS = (1280, 375)
ANSWER_TIMEOUT = 300  # seconds for all checks of a page, on a busy machine
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
# The home page with every fault that the checks must detect.
BROKEN = "broken.html"
FAULTS = {
    b"<h1": b"<h1 hidden",
    b'data-md-component="palette"': b"",
    b'data-md-component="search-query"': b"",
    b"md-footer__link--next": b"",
    b"</body>": b"""
        <noscript><i class="katex"></i></noscript>
        <script src="nowhere.js"></script> <script>inline()</script>
        <img src="http://localhost:9/foreign.png" alt=""> <div style="width: 3000px">Wide</div>
        <div class="paste" data-ready><textarea></textarea><p role="status"></p>
          <template>[{"right": true, "rows": [[1]]}, {"rows": [[1]], "summary": "a mistake"}]</template></div>
        <div class="all-heads" data-ready><output></output><div class="state"></div><i class="small"></i><select></select></div>
        </body>""",
}
FAILING = (
    *(f"{width} pixels wide: shows its title" for width in WIDTHS),
    *(f"{width} pixels wide: does not scroll sideways" for width in WIDTHS),
    "has the content of its file",
    "switches its scheme",
    "answers a search",
    "enlarges a head on another sentence",
    "diagnoses a pasted output",
    "navigates forward and back without a page load",
    "reports no errors",
)


class EngineHandler(Handler):
    """Serve the site and the harness, record errors on each page, and collect the answers."""

    def __init__(self, *arguments, answers, pages, **keywords):
        self.answers = answers
        self.task = {"pages": [*pages, BROKEN], "broken": BROKEN, "home": PREFIX, "widths": WIDTHS}
        super().__init__(*arguments, **keywords)

    def do_GET(self):
        name = self.path.removeprefix(PREFIX)
        if name == "engines.html":
            return self.send(Path(name), HARNESS.format(task=json.dumps(self.task)).encode())
        if name in (RECORD_ERRORS.name, CHECKS.name):
            return self.send(Path(name), (HERE / name).read_bytes())
        if name == BROKEN:
            page = self.content(Path(self.directory, "index.html"))
            for old, new in FAULTS.items():
                assert old in page
                page = page.replace(old, new)
            return self.send(Path(name), page)
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


@contextlib.contextmanager
def running(command, **options):
    """Run a program for the duration of the context."""
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, **silent, **options) as process:
        try:
            yield
        finally:
            process.kill()


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
    # Debian installs it among libraries.
    program = next(Path("/usr").glob("lib*/**/webkit2gtk-4.*/MiniBrowser"), None)
    program = program or skip_or_fail_without("WebKitGTK's MiniBrowser")
    screen = first_installed("Xvfb") or skip_or_fail_without("Xvfb, a screen for WebKitGTK,")
    # Xvfb chooses a free display and writes its number to the pipe.
    reading, writing = os.pipe()
    options = ["-displayfd", str(writing), "-screen", "0", "1400x1000x24", "-nolisten", "tcp"]
    with running([screen, *options], pass_fds=[writing]):
        os.close(writing)  # so that reading ends if Xvfb does
        display = os.read(reading, 16).decode().strip()
        environment = {**os.environ, "DISPLAY": f":{display}", "HOME": str(profile)}
        environment |= {"GDK_BACKEND": "x11", "LIBGL_ALWAYS_SOFTWARE": "1", "NO_AT_BRIDGE": "1"}
        # Without a GPU, compositing on the CPU would take a third longer.
        environment["WEBKIT_DISABLE_COMPOSITING_MODE"] = "1"
        with running([program, "--private", address], env=environment):
            yield
    os.close(reading)


@pytest.mark.parametrize("engine", [firefox, webkit], ids=lambda engine: engine.__name__)
def test_pages_work_in_engine_and_a_broken_one_fails_every_check(engine, site, tmp_path, request):
    pages = PAGES if request.config.getoption("weekly") else PAGE_OF_EACH_KIND
    answers = queue.SimpleQueue()
    handler = functools.partial(EngineHandler, answers=answers, pages=[*map(url_path, pages)])
    failures = {}
    with served(site, handler) as home, engine(f"{home}engines.html", tmp_path):
        while BROKEN not in failures:
            try:
                failures.update(answers.get(timeout=ANSWER_TIMEOUT))
            except queue.Empty:
                pytest.fail(f"no answer for {ANSWER_TIMEOUT} s after those of {list(failures)}")
    of_the_broken_one = failures.pop(BROKEN)
    assert list(failures) == [url_path(page) for page in pages]
    assert {page: messages for page, messages in failures.items() if messages} == {}
    for check in FAILING:
        assert any(message.startswith(f"{check}: ") for message in of_the_broken_one), check
    for fault in ("nowhere.js", "localhost:9", "script-src"):
        assert fault in of_the_broken_one[-1]
