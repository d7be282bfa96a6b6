"""Scripts: build, serve, pack and comparisons, with one-line messages for failures."""

import hashlib
import importlib.machinery
import importlib.util
import json
import mmap
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

from tests.build.before.test_notebooks import add_notebook
from tests.conftest import ROOT, cut_down

pytestmark = pytest.mark.independent_tests

SCRIPTS = ROOT / "scripts"
GIT_ENVIRONMENT = {
    **os.environ,
    **{
        f"GIT_{role}_{field}": "x"
        for role in ("AUTHOR", "COMMITTER")
        for field in ("NAME", "EMAIL")
    },
    "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z",
    "GIT_CONFIG_GLOBAL": os.devnull,
}


@pytest.fixture
def checkout(project):
    return add_scripts(project)


def add_scripts(project):
    """Add the scripts and the lock files to a copy of the project."""
    shutil.copytree(SCRIPTS, project / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "requirements", project / "requirements")
    return project


def run(checkout, script, *arguments, **options):
    return subprocess.run(
        [sys.executable, checkout / "scripts" / script, *arguments],
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        **options,
    )


def error_line(process):
    """Return the only line that a failed script wrote to stderr."""
    assert process.returncode not in (0, None)
    lines = process.stderr.strip().splitlines()
    return lines[-1] if len(lines) == 1 else pytest.fail(process.stderr)


def test_scripts_are_executable_and_parse_on_python_3_7():
    import ast

    for script in SCRIPTS.iterdir():
        if script.is_file():
            assert script.suffix or os.access(script, os.X_OK), script
            ast.parse(script.read_text(encoding="utf-8"), feature_version=(3, 7))


def test_old_python_is_reported(checkout):
    code = (
        "import sys, runpy; sys.version_info = (3, 10, 4, 'final', 0);"
        f"sys.argv = ['build']; sys.path.insert(0, r'{checkout / 'scripts'}');"
        f"runpy.run_path(r'{checkout / 'scripts' / 'build'}', run_name='__main__')"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8")
    assert error_line(process) == "build: Python 3.11 or newer is needed; this is 3.10.4"


def test_port_in_use_is_reported(checkout):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        process = run(checkout, "serve", "--port", str(port))
    assert error_line(process) == f"serve: port {port} is taken; choose another: --port 8001"


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
def test_read_only_folder_is_reported(checkout):
    checkout.chmod(0o555)
    try:
        process = run(checkout, "build")
    finally:
        checkout.chmod(0o755)
    assert error_line(process).startswith("build: cannot write to")


def test_missing_network_is_reported_and_install_can_resume(checkout):
    offline = {
        **{k: v for k, v in os.environ.items() if not k.startswith("PIP_")},
        "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_RETRIES": "0",
        "PIP_NO_CACHE_DIR": "1",
    }
    process = run(checkout, "build", env=offline)
    assert process.returncode != 0
    assert process.stderr.splitlines()[0] == "Creating .venv"
    assert process.stderr.splitlines()[-1].startswith("build: no network")
    assert not (checkout / "site").exists()
    state = (checkout / ".venv" / "attention-docs.json").read_text()
    assert state == '{"installing": "site"}'


@pytest.fixture
def installed(checkout):
    return add_environment(checkout)


def add_environment(checkout):
    """Add a .venv that the scripts consider installed, with this Python."""
    python = checkout / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    lock = (checkout / "requirements" / "site.txt").read_bytes()
    state = {"site": hashlib.sha256(lock).hexdigest()}
    (checkout / ".venv" / "attention-docs.json").write_text(json.dumps(state))
    return checkout


def start(checkout, script, *arguments):
    """Start a script in a new process group, like a terminal."""
    return subprocess.Popen(
        [sys.executable, checkout / "scripts" / script, *arguments],
        env={**os.environ, "PYTHONPATH": str(checkout)},
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        # Background jobs of a shell ignore SIGINT, and child processes inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


posix = pytest.mark.skipif(os.name == "nt", reason="the stand-in for .venv is a shell script")


@posix
def test_failed_build_keeps_the_last_site(installed):
    cut_down(installed)
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    process = run(installed, "build", env=environment)
    assert process.returncode == 0
    before = (installed / "site" / "index.html").read_bytes()
    with (installed / "docs" / "index.md").open("a") as page:
        page.write("\n\\val{self_attention.nope}\n")
    assert run(installed, "build", env=environment).returncode != 0
    assert (installed / "site" / "index.html").read_bytes() == before
    assert not list(installed.glob(".site-*"))


@posix
@pytest.mark.skipif(importlib.util.find_spec("cupy") is not None, reason="CuPy is installed")
def test_build_passes_on_the_backend(installed):
    process = run(
        installed, "build", "--backend", "cupy", env={**os.environ, "PYTHONPATH": str(installed)}
    )
    assert process.returncode != 0
    assert "ATTENTION_BACKEND: backend 'cupy' needs CuPy" in process.stderr


@posix
@pytest.mark.parametrize(
    ("signal_number", "pattern"),
    [
        (signal.SIGINT, ".site-*"),
        (signal.SIGTERM, ".site-*"),
        (signal.SIGINT, ".site-*/new/assets"),
    ],
)
def test_interrupted_build_keeps_the_last_site(installed, signal_number, pattern):
    cut_down(installed)
    (installed / "site").mkdir()
    (installed / "site" / "index.html").write_text("good")
    build = start(installed, "build")
    while not list(installed.glob(pattern)):
        assert build.poll() is None
        time.sleep(0.01)
    os.killpg(build.pid, signal_number)
    assert build.wait(timeout=30) != 0
    assert (installed / "site" / "index.html").read_text() == "good"
    assert not list(installed.glob(".site-*"))


@posix
def test_packages_are_reproducible_from_a_commit(tmp_path):
    packages = []
    for name in ("one", "other"):
        checkout = tmp_path / name
        shutil.copytree(ROOT / "attention_docs", checkout / "attention_docs")
        for file in ("pyproject.toml", "README.md", "LICENSE", ".gitignore"):
            shutil.copy(ROOT / file, checkout)
        add_environment(add_scripts(checkout))
        for command in (("init", "-q"), ("commit", "-q", "--allow-empty", "-m", "Begin")):
            subprocess.run(["git", *command], cwd=checkout, env=GIT_ENVIRONMENT, check=True)
        for file in checkout.rglob("*"):
            os.utime(file, (1e9, 1e9 + len(packages)))
        assert run(checkout, "pack").returncode == 0
        packages.append({file.name: file.read_bytes() for file in (checkout / "dist").iterdir()})
    assert sorted(name.rpartition(".")[2] for name in packages[0]) == ["gz", "whl"]
    assert packages[0] == packages[1]


@pytest.mark.parametrize("exception", [KeyboardInterrupt, OSError, SystemExit])
def test_interrupted_replacement_restores_the_last_site(tmp_path, monkeypatch, exception):
    build, rename = import_script("build", monkeypatch), os.rename
    site, new, old = (tmp_path / name for name in ("site", "new", "old"))
    for folder in (site, new):
        folder.mkdir()
        (folder / "index.html").write_text(folder.name)

    def cut_off(source, target):
        if source == new:
            raise exception
        rename(source, target)

    monkeypatch.setattr(os, "rename", cut_off)
    with pytest.raises(exception):
        build.replace(site, new, old)
    assert (site / "index.html").read_text() == "site"
    monkeypatch.setattr(os, "rename", rename)
    build.replace(site, new, old)
    assert (site / "index.html").read_text() == "new"


# Run in a mount namespace, without root: builds in a copy of $3 on a disk of $1 bytes at $2.
SMALL_DISK = """
mount -t tmpfs -o size=$1 tmpfs "$2" || exit
cp -R "$3/." "$2" && cd "$2"
PYTHONPATH="$2" "$4" scripts/build
echo "status $?, site: $(cat site/index.html), left: $(ls -d .site-* 2>/dev/null)"
"""


def memory_pages(folder):
    """Return the number of memory pages that a folder takes on a tmpfs."""
    sizes = (path.lstat().st_size for path in folder.rglob("*"))
    return sum(1 + size // mmap.PAGESIZE for size in sizes)


@posix
@pytest.mark.parametrize("free_bytes", [200_000, 1_000_000])
def test_full_disk_is_reported_and_keeps_the_last_site(installed, tmp_path_factory, free_bytes):
    cut_down(installed)
    shutil.rmtree(installed / ".cache", ignore_errors=True)
    (installed / "site").mkdir()
    (installed / "site" / "index.html").write_text("good")
    disk = tmp_path_factory.mktemp("disk")
    size = str(memory_pages(installed) * mmap.PAGESIZE + free_bytes)
    command = ["unshare", "-rm", "sh", "-c", SMALL_DISK, "sh", size, disk, installed]
    try:
        process = subprocess.run(
            [*command, sys.executable], capture_output=True, encoding="utf-8", timeout=120
        )
    except FileNotFoundError:
        pytest.skip("no unshare on this system to mount a small disk")
    if not process.stdout:
        pytest.skip(f"cannot mount a small disk: {process.stderr.strip()}")
    assert process.stdout == "status 1, site: good, left: \n"
    assert process.stderr.splitlines()[-1] == "Error: the disk is full"
    assert "Traceback" not in process.stderr


@posix
def test_serve_rebuilds_after_edits_of_pages_and_package(installed):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    add_notebook(cut_down(installed, "# Home\n\n\\figure{self_attention_lines}\n"))
    server = start(installed, "serve", "--port", str(port))
    try:
        html = wait_for(port, "Home")
        assert "livereload" in html
        assert "Content-Security-Policy" not in html
        assert "og:image" not in html
        page = installed / "docs" / "index.md"
        page.write_text(page.read_text(encoding="utf-8") + "\nA new sentence.\n", encoding="utf-8")
        wait_for(port, "A new sentence.")
        package = installed / "attention_docs"
        bytecode, results = set(package.rglob("*.pyc")), cached_results(installed)
        figures = package / "publish" / "before" / "figures"
        edit(figures / "mechanism.py", "Who looks at whom.", "A new caption.")
        wait_for(port, "A new caption.")
        assert len(cached_results(installed) - results) == 1  # the page, and no notebook
        edit(package / "render" / "numbers.py", "DECIMALS = 4", "DECIMALS = 6")
        wait_for(port, "0.028705")
        # Bytecode in a watched folder would trigger another build.
        assert set(package.rglob("*.pyc")) == bytecode
    finally:
        server.terminate()
        server.wait(timeout=30)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port))


def edit(file, old, new):
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")


def cached_results(project):
    """Return the names of cached results, such as rendered pages and executed notebooks."""
    return {file.name for file in (project / ".cache" / "results").iterdir()}


# File, text in it, wrong text that replaces it, and the error message.
WRONG_EDITS = [
    ("docs/index.md", "A sentence.", r"\val{self_attention.wieghts}", r"docs/index.md:7: \val{self_attention.wieghts}: step"),
    ("docs/index.md", "A sentence.", r"$\nope$", "docs/index.md:7: formula"),
    ("docs/index.md", "A sentence.", "::: attention_docs.nope", "docs/index.md:7: &#x27;attention_docs.nope&#x27; is no name"),
    ("attention_docs/examples/self_attention.py", "def steps", "1 / 0\n\n\ndef steps", "attention_docs/examples/self_attention.py:"),
    ("attention_docs/publish/before/figures/mechanism.py", "@site_figure", "1 +\n\n\n@site_figure", "attention_docs/publish/before/figures/mechanism.py:"),
]  # fmt: skip


def test_serve_shows_errors_until_they_are_fixed(installed):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    cut_down(installed, "# Home\n\nA sentence.\n\n\\val{self_attention.weights}\n")
    server = start(installed, "serve", "--port", str(port))
    try:
        wait_for(port, "A sentence.")
        for name, correct, wrong, message in WRONG_EDITS:
            edit(installed / name, correct, wrong)
            assert "livereload" in wait_for(port, message)
            edit(installed / name, wrong, correct)
            wait_for(port, "A sentence.")
    finally:
        server.terminate()
        server.wait(timeout=30)


def wait_for(port, text, path=""):
    """Poll a served page until it contains a text, and return it."""
    html = ""
    for _ in range(1200):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/{path}", timeout=10) as response:
                html = response.read().decode()
        except OSError:
            pass
        if text in html:
            return html
        time.sleep(0.1)
    pytest.fail(f"{text!r} was not served")


def import_script(name, monkeypatch):
    """Import a script without a file extension."""
    monkeypatch.syspath_prepend(SCRIPTS)
    loader = importlib.machinery.SourceFileLoader(name, str(SCRIPTS / name))
    script = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(script)
    return script


def test_compare_zensical_counts_differences_per_page(monkeypatch, capsys):
    script = import_script("compare_zensical", monkeypatch)
    ours = '<h1>Menu</h1><article><h1>A</h1><figure><svg></svg></figure><b class="katex x">1</b></article>'
    theirs = r'<article><h1>A</h1>\figure{a} <b class="arithmatex">\(1 \query{Q}\)</b></article>'
    both = {"same": script.counts(ours)}
    script.report({"a": script.counts(ours), "b": {}} | both, {"a": script.counts(theirs)} | both)
    lines = [line.split("  ") for line in capsys.readouterr().out.splitlines()]
    assert lines[:4] == [
        ["pages: 3 with MkDocs, 2 with Zensical"],
        ["missing: b"],
        ["added: none"],
        ["pages that differ: 1 of 2; MkDocs > Zensical"],
    ]
    header, row, _ = ([cell.strip() for cell in cells if cell] for cells in lines[4:])
    assert {name: cell for name, cell in zip(header, row, strict=True) if ">" in cell} == {
        "figures": "1 > 0",
        "drawings": "1 > 0",
        "formulas": "1 > 0",
        "TeX": "0 > 1",
        "macros": "0 > 1",
    }


def test_compare_sites_ignores_versions(tmp_path, monkeypatch, capsys):
    script = import_script("compare_sites", monkeypatch)
    site, other_site = tmp_path / "one", tmp_path / "other"
    for folder, python in ((site, "3.11.2"), (other_site, "3.14.0")):
        (folder / "assets").mkdir(parents=True)
        (folder / "assets" / "font.woff2").write_bytes(b"\xff\xfe")
        page = f"<p>0.0287</p>\n<p>CC BY<br>Built with NumPy 2, Python {python}</p>\n"
        (folder / "index.html").write_text(page, encoding="utf-8")

    def compare(*options):
        monkeypatch.setattr(sys, "argv", ["compare_sites", *options, str(site), str(other_site)])
        return script.main(), capsys.readouterr().out

    assert compare() == (0, "the same: 2 files\n")
    page = (site / "index.html").read_text(encoding="utf-8")
    (site / "index.html").write_text(page.replace("\n<p>", "<p >"), encoding="utf-8")
    assert compare()[0] == 1
    assert compare("--meaning") == (0, "the same: 2 files\n")
    (site / "index.html").write_text(page.replace("<p>0", "<p id='a'>0"), encoding="utf-8")
    assert compare("--meaning")[1] == "index.html:\n  - p [('id', 'a')]\n  + p []\n"
    (site / "index.html").write_text(page.replace("0.0287", "0.0278"), encoding="utf-8")
    (site / "assets" / "font.woff2").write_bytes(b"\xff")
    (other_site / "new.css").write_text("")
    status, output = compare()
    assert status == 1
    assert output.splitlines() == [
        f"new.css: only in {other_site}",
        "assets/font.woff2:",
        "  differ in their bytes",
        "index.html:",
        "  - <p>0.0278</p>",
        "  + <p>0.0287</p>",
    ]
    monkeypatch.setattr(sys, "argv", ["compare_sites", str(tmp_path), str(site)])
    with pytest.raises(SystemExit):
        script.main()
    assert f"{tmp_path} is no built site" in capsys.readouterr().err
