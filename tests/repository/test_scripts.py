"""Scripts: build and serve, with one-line messages for failures."""

import contextlib
import importlib.util
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

from tests.conftest import cut_down, replace_in_file
from tests.repository.checkout import copy_scripts, create_venv, posix_only, run

pytestmark = pytest.mark.independent_tests


@pytest.fixture
def uninstalled(tmp_path):
    """A folder with the scripts and the locks, but without .venv and pages."""
    copy_scripts(tmp_path)
    return tmp_path


def error_line(process):
    """Return the only line that a failed script wrote to stderr."""
    assert process.returncode != 0
    lines = process.stderr.strip().splitlines()
    assert len(lines) == 1, process.stderr
    return lines[0]


RUN_AS_OLD_PYTHON = """
import runpy
import sys

folder, script = sys.argv[1:]
sys.version_info = (3, 10, 4, "final", 0)
sys.argv = [script]
sys.path.insert(0, folder)
runpy.run_path(f"{folder}/{script}", run_name="__main__")
"""


def test_old_python_is_reported(uninstalled):
    command = [sys.executable, "-c", RUN_AS_OLD_PYTHON, uninstalled / "scripts", "build"]
    process = subprocess.run(command, capture_output=True, encoding="utf-8")
    assert error_line(process) == "build: Python 3.11 or newer is needed; this is 3.10.4"


def test_port_in_use_is_reported(uninstalled):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        process = run(uninstalled, "serve", "--port", str(port))
    assert error_line(process) == f"serve: port {port} is taken; choose another: --port 8001"


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
def test_read_only_folder_is_reported(uninstalled):
    uninstalled.chmod(0o555)
    try:
        process = run(uninstalled, "build")
    finally:
        uninstalled.chmod(0o755)
    assert error_line(process).startswith("build: cannot write to")


@pytest.mark.thorough
def test_failed_installation_is_reported_and_not_recorded_as_done(uninstalled):
    process = run(uninstalled, "build", PIP_NO_INDEX="1", PIP_FIND_LINKS="")
    assert process.returncode != 0
    lines = process.stderr.splitlines()
    assert lines[0] == "Installing requirements/site.txt into .venv"
    assert "ERROR: No matching distribution found" in lines[-1]
    assert not (uninstalled / ".venv" / "installed.json").exists()


@pytest.fixture
def installed(project):
    """A copy of the project with the scripts and a .venv."""
    copy_scripts(project)
    create_venv(project)
    return project


def start(checkout, script, *arguments):
    """Start a script in a new process group, as a terminal does."""
    return subprocess.Popen(
        [sys.executable, checkout / "scripts" / script, *arguments],
        env={**os.environ, "PYTHONPATH": str(checkout)},
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        # Background jobs of a shell ignore SIGINT, and child processes inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


@posix_only
def test_failed_build_keeps_the_last_site(installed):
    cut_down(installed)
    (installed / "site").mkdir()
    (installed / "site" / "old.html").touch()
    assert run(installed, "build").returncode == 0
    assert not (installed / "site" / "old.html").exists()
    last_site = (installed / "site" / "index.html").read_bytes()
    with (installed / "docs" / "index.md").open("a") as page:
        page.write("\n\\val{self_attention.nope}\n")
    assert run(installed, "build").returncode != 0
    assert (installed / "site" / "index.html").read_bytes() == last_site
    assert not list(installed.glob(".site-*"))


@posix_only
@pytest.mark.skipif(importlib.util.find_spec("cupy") is not None, reason="CuPy is installed")
def test_build_passes_the_backend_to_the_generator(installed):
    process = run(installed, "build", "--backend", "cupy")
    assert process.returncode != 0
    assert "ATTENTION_BACKEND: backend 'cupy' needs CuPy" in process.stderr


@posix_only
@pytest.mark.parametrize(
    ("signal_number", "awaited_folder"),
    [(signal.SIGTERM, ".site-*"), (signal.SIGINT, ".site-*/new/assets")],
    ids=["termination at the start", "keyboard while files are written"],
)
def test_interrupted_build_keeps_the_last_site(installed, signal_number, awaited_folder):
    cut_down(installed)
    (installed / "site").mkdir()
    (installed / "site" / "index.html").write_text("good")
    build = start(installed, "build")
    while not list(installed.glob(awaited_folder)):
        assert build.poll() is None
        time.sleep(0.01)
    os.killpg(build.pid, signal_number)
    assert build.wait(timeout=30) != 0
    assert (installed / "site" / "index.html").read_text() == "good"
    assert not list(installed.glob(".site-*"))


@contextlib.contextmanager
def preview(checkout):
    """Serve the site with live reload, and yield the port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = start(checkout, "serve", "--port", str(port))
    try:
        yield port
    finally:
        server.terminate()
        server.wait(timeout=30)


# The file, text in it, wrong text that replaces it, and the error message.
WRONG_EDITS = [
    ("docs/index.md", "A sentence.", r"\val{self_attention.wieghts}", r"docs/index.md:7: \val{self_attention.wieghts}: step"),
    ("docs/index.md", "A sentence.", r"$\nope$", "docs/index.md:7: formula"),
    ("docs/index.md", "A sentence.", "::: attention_docs.nope", "docs/index.md:7: &#x27;attention_docs.nope&#x27; is not a name"),
    ("attention_docs/examples/self_attention.py", "def steps", "1 / 0\n\n\ndef steps", "attention_docs/examples/self_attention.py:"),
]  # fmt: skip


@posix_only
def test_serve_rebuilds_after_edits_and_shows_errors_until_they_are_fixed(installed):
    cut_down(installed, "# Home\n\nA sentence.\n\n\\figure{self_attention_lines}\n")
    package = installed / "attention_docs"
    figures = package / "figures" / "self_attention.py"
    with preview(installed) as port:
        html = wait_for(port, "A sentence.")
        assert "livereload" in html
        assert "Content-Security-Policy" not in html
        for path, correct, wrong, message in WRONG_EDITS:
            replace_in_file(installed / path, correct, wrong)
            assert "livereload" in wait_for(port, message)
            replace_in_file(installed / path, wrong, correct)
            wait_for(port, "A sentence.")
        bytecode = set(package.rglob("*.pyc"))
        replace_in_file(figures, "Who looks at whom.", "A new caption.")
        wait_for(port, "A new caption.")
        replace_in_file(package / "render" / "numbers.py", "DECIMALS = 4", "DECIMALS = 6")
        weight_with_six_decimals = "0.028705"
        wait_for(port, weight_with_six_decimals)
        # Bytecode in a watched folder would trigger another build.
        assert set(package.rglob("*.pyc")) == bytecode
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port))


def wait_for(port, text):
    """Poll the home page until it contains a text, and return it; fail after two minutes."""
    html = ""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=10) as response:
                html = response.read().decode()
        except OSError:
            pass  # the server has not started
        if text in html:
            return html
        time.sleep(0.1)
    pytest.fail(f"{text!r} was not served")
