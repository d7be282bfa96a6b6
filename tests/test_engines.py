"""Every page in each of the three browser engines: Chromium, Firefox and WebKit."""

import contextlib
import functools
import html
import json
import os
import queue
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.visit import CHROMIUM, PAGES, PREFIX, QUIET, Handler, path, served

WIDTHS = (1280, 375)
PATIENCE = 120  # seconds without any answer
COMPLAINTS = ROOT / "tests" / "complaints.js"
ENGINES = ROOT / "tests" / "engines.js"
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
    """Serve the site, the page that asks, and take the answers."""

    def __init__(self, *arguments, answers, **keywords):
        self.answers = answers
        super().__init__(*arguments, **keywords)

    def do_GET(self):
        name = self.path.removeprefix(PREFIX)
        if name == "engines.html":
            task = {"home": PREFIX, "pages": list(map(path, PAGES)), "widths": WIDTHS}
            page = HARNESS.format(task=html.escape(json.dumps(task), quote=False))
            return self.send(Path(name), page.encode())
        if name in (COMPLAINTS.name, ENGINES.name):
            return self.send(Path(name), (ROOT / "tests" / name).read_bytes())
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
    program = found(*CHROMIUM) or pytest.skip("Chromium is missing")
    sandbox = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    options = ["--headless=new", "--no-first-run", f"--user-data-dir={profile}", *sandbox, *QUIET]
    return running([program, *options, address])


def firefox(address, profile):
    program = found("firefox-esr", "firefox") or pytest.skip("Firefox is missing")
    lines = (f"user_pref({json.dumps(k)}, {json.dumps(v)});" for k, v in PREFERENCES.items())
    (profile / "user.js").write_text("\n".join(lines), encoding="utf-8")
    return running([program, "--headless", "--no-remote", "--profile", profile, address])


@contextlib.contextmanager
def webkit(address, profile):
    program = mini_browser() or pytest.skip("WebKitGTK's MiniBrowser is missing")
    screen = found("Xvfb") or pytest.skip("Xvfb, a screen for WebKitGTK, is missing")
    reading, writing = os.pipe()
    size = ["-screen", "0", "1400x1000x24", "-nolisten", "tcp"]
    with running([screen, "-displayfd", str(writing), *size], pass_fds=[writing]):
        display = os.read(reading, 16).decode().strip()
        surroundings = {**os.environ, "DISPLAY": f":{display}", "HOME": str(profile)}
        surroundings |= {"GDK_BACKEND": "x11", "LIBGL_ALWAYS_SOFTWARE": "1", "NO_AT_BRIDGE": "1"}
        with running([program, "--private", address], env=surroundings) as browser:
            yield browser
    os.close(reading)
    os.close(writing)


@pytest.mark.parametrize("engine", [chromium, firefox, webkit], ids=lambda engine: engine.__name__)
def test_every_page_works_in(engine, request, site, tmp_path):
    answers = queue.SimpleQueue()
    handler = functools.partial(EngineHandler, answers=answers)
    faults, seen, last = {}, [], "nothing"
    with served(site, handler) as home, engine(f"{home}engines.html", tmp_path):
        while True:
            try:
                answer = answers.get(timeout=PATIENCE)
            except queue.Empty:
                pytest.fail(f"no answer for {PATIENCE} s; the last was of {last}")
            if "finished" in answer:
                break
            last = answer["page"]
            seen.append(last)
            if answer["faults"]:
                faults[last] = answer["faults"]
    assert faults == {}
    assert len(seen) == len(PAGES) * len(WIDTHS)
