"""The commands a newcomer types: one clear line for each way they can fail."""

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

from tests.build.before.test_notebooks import with_notebook
from tests.conftest import ROOT, cut_down

pytestmark = pytest.mark.apart

SCRIPTS = ROOT / "scripts"
AUTHOR = {
    **os.environ,
    **{f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z",
    "GIT_CONFIG_GLOBAL": os.devnull,
}


@pytest.fixture
def checkout(project):
    return with_scripts(project)


def with_scripts(project):
    """Add the scripts to a copy of the project, and the locks they read."""
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


def one_line(done):
    assert done.returncode not in (0, None)
    lines = done.stderr.strip().splitlines()
    return lines[-1] if len(lines) == 1 else pytest.fail(done.stderr)


def test_every_script_is_executable_and_parses_on_an_old_python():
    import ast

    for script in SCRIPTS.iterdir():
        if script.is_file():
            assert script.suffix or os.access(script, os.X_OK), script
            ast.parse(script.read_text(encoding="utf-8"), feature_version=(3, 7))


def test_a_python_too_old_is_named(checkout):
    code = (
        "import sys, runpy; sys.version_info = (3, 10, 4, 'final', 0);"
        f"sys.argv = ['build']; sys.path.insert(0, r'{checkout / 'scripts'}');"
        f"runpy.run_path(r'{checkout / 'scripts' / 'build'}', run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8")
    assert one_line(done) == "build: Python 3.11 or newer is needed; this is 3.10.4"


def test_a_port_that_is_taken_is_named(checkout):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = run(checkout, "serve", "--port", str(port))
    assert one_line(done) == f"serve: port {port} is taken; choose another: --port 8001"


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_is_named(checkout):
    checkout.chmod(0o555)
    try:
        done = run(checkout, "build")
    finally:
        checkout.chmod(0o755)
    assert one_line(done).startswith("build: cannot write to")


def test_no_network_is_named_and_leaves_what_the_next_run_repairs(checkout):
    offline = {
        **{k: v for k, v in os.environ.items() if not k.startswith("PIP_")},
        "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_RETRIES": "0",
        "PIP_NO_CACHE_DIR": "1",
    }
    done = run(checkout, "build", env=offline)
    assert done.returncode != 0
    assert done.stderr.splitlines()[0] == "Creating .venv"
    assert done.stderr.splitlines()[-1].startswith("build: no network")
    assert not (checkout / "site").exists()
    state = (checkout / ".venv" / "attention-docs.json").read_text()
    assert state == '{"installing": "site"}'


@pytest.fixture
def ready(checkout):
    return with_environment(checkout)


def with_environment(checkout):
    """Add a .venv that the scripts take for ready: this Python, nothing installed."""
    python = checkout / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    lock = (checkout / "requirements" / "site.txt").read_bytes()
    state = {"site": hashlib.sha256(lock).hexdigest()}
    (checkout / ".venv" / "attention-docs.json").write_text(json.dumps(state))
    return checkout


def start(checkout, script, *arguments):
    """Start a script in a process group of its own, as a terminal does."""
    return subprocess.Popen(
        [sys.executable, checkout / "scripts" / script, *arguments],
        env={**os.environ, "PYTHONPATH": str(checkout)},
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        # A test run in the background of a shell ignores Ctrl-C, and its children would too.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


posix = pytest.mark.skipif(os.name == "nt", reason="the stand-in for .venv is a shell script")


@posix
def test_build_writes_the_site_and_a_failed_build_keeps_it(ready):
    cut_down(ready)
    environment = {**os.environ, "PYTHONPATH": str(ready)}
    done = run(ready, "build", env=environment)
    assert done.returncode == 0
    before = (ready / "site" / "index.html").read_bytes()
    with (ready / "docs" / "index.md").open("a") as page:
        page.write("\n\\val{self_attention.nope}\n")
    assert run(ready, "build", env=environment).returncode != 0
    assert (ready / "site" / "index.html").read_bytes() == before
    assert not list(ready.glob(".site-*"))


@posix
@pytest.mark.skipif(importlib.util.find_spec("cupy") is not None, reason="CuPy is installed")
def test_build_passes_the_backend_on(ready):
    done = run(ready, "build", "--backend", "cupy", env={**os.environ, "PYTHONPATH": str(ready)})
    assert done.returncode != 0
    assert "ATTENTION_BACKEND: backend 'cupy' needs CuPy" in done.stderr


@posix
@pytest.mark.parametrize(
    ("how", "written"),
    [
        (signal.SIGINT, ".site-*"),
        (signal.SIGTERM, ".site-*"),
        (signal.SIGINT, ".site-*/new/assets"),
    ],
)
def test_an_interrupted_build_keeps_the_last_good_site(ready, how, written):
    cut_down(ready)
    (ready / "site").mkdir()
    (ready / "site" / "index.html").write_text("good")
    build = start(ready, "build")
    while not list(ready.glob(written)):
        assert build.poll() is None
        time.sleep(0.01)
    os.killpg(build.pid, how)
    assert build.wait(timeout=30) != 0
    assert (ready / "site" / "index.html").read_text() == "good"
    assert not list(ready.glob(".site-*"))


@posix
def test_a_commit_gives_the_same_packages_whenever_it_was_checked_out(tmp_path):
    made = []
    for name in ("one", "other"):
        checkout = tmp_path / name
        shutil.copytree(ROOT / "attention_docs", checkout / "attention_docs")
        for file in ("pyproject.toml", "README.md", "LICENSE", ".gitignore"):
            shutil.copy(ROOT / file, checkout)
        with_environment(with_scripts(checkout))
        for command in (("init", "-q"), ("commit", "-q", "--allow-empty", "-m", "Begin")):
            subprocess.run(["git", *command], cwd=checkout, env=AUTHOR, check=True)
        for file in checkout.rglob("*"):
            os.utime(file, (1e9, 1e9 + len(made)))
        assert run(checkout, "pack").returncode == 0
        made.append({file.name: file.read_bytes() for file in (checkout / "dist").iterdir()})
    assert sorted(name.rpartition(".")[2] for name in made[0]) == ["gz", "whl"]
    assert made[0] == made[1]


@pytest.mark.parametrize("reason", [KeyboardInterrupt, OSError, SystemExit])
def test_cut_off_while_sites_are_exchanged_the_last_good_one_comes_back(
    tmp_path, monkeypatch, reason
):
    build, rename = loaded("build", monkeypatch), os.rename
    site, new, old = (tmp_path / name for name in ("site", "new", "old"))
    for folder in (site, new):
        folder.mkdir()
        (folder / "index.html").write_text(folder.name)

    def cut_off(source, target):
        if source == new:
            raise reason
        rename(source, target)

    monkeypatch.setattr(os, "rename", cut_off)
    with pytest.raises(reason):
        build.replace(site, new, old)
    assert (site / "index.html").read_text() == "site"
    monkeypatch.setattr(os, "rename", rename)
    build.replace(site, new, old)
    assert (site / "index.html").read_text() == "new"


# In a mount namespace of its own, which needs no rights: a disk of $1 bytes at $2, with $3 on it.
SMALL_DISK = """
mount -t tmpfs -o size=$1 tmpfs "$2" || exit
cp -R "$3/." "$2" && cd "$2"
PYTHONPATH="$2" "$4" scripts/build
echo "status $?, site: $(cat site/index.html), left: $(ls -d .site-* 2>/dev/null)"
"""


def pages_of_memory(folder):
    """How many pages the files and folders of a folder take on a disk in memory."""
    sizes = (path.lstat().st_size for path in folder.rglob("*"))
    return sum(1 + size // mmap.PAGESIZE for size in sizes)


@posix
@pytest.mark.parametrize("room", [200_000, 1_000_000])
def test_a_full_disk_is_named_and_the_last_good_site_stays(ready, tmp_path_factory, room):
    cut_down(ready)
    shutil.rmtree(ready / ".cache", ignore_errors=True)
    (ready / "site").mkdir()
    (ready / "site" / "index.html").write_text("good")
    disk = tmp_path_factory.mktemp("disk")
    size = str(pages_of_memory(ready) * mmap.PAGESIZE + room)
    command = ["unshare", "-rm", "sh", "-c", SMALL_DISK, "sh", size, disk, ready]
    try:
        done = subprocess.run(
            [*command, sys.executable], capture_output=True, encoding="utf-8", timeout=120
        )
    except FileNotFoundError:
        pytest.skip("no unshare on this system, to make a small disk with")
    if not done.stdout:
        pytest.skip(f"no small disk can be made here: {done.stderr.strip()}")
    assert done.stdout == "status 1, site: good, left: \n"
    assert done.stderr.splitlines()[-1] == "Error: the disk is full"
    assert "Traceback" not in done.stderr


@posix
def test_serve_shows_an_edit_of_a_page_and_of_the_package(ready):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with_notebook(cut_down(ready, "# Home\n\n\\figure{self_attention_lines}\n"))
    server = start(ready, "serve", "--port", str(port))
    try:
        shown = wait_for(port, "Home")
        assert "livereload" in shown
        assert "Content-Security-Policy" not in shown
        assert "og:image" not in shown
        page = ready / "docs" / "index.md"
        page.write_text(page.read_text(encoding="utf-8") + "\nA new sentence.\n", encoding="utf-8")
        wait_for(port, "A new sentence.")
        package = ready / "attention_docs"
        bytecode, executed = set(package.rglob("*.pyc")), results_of_builds(ready)
        figures = package / "publish" / "before" / "figures"
        edit(figures / "mechanism.py", "Who looks at whom.", "A new caption.")
        wait_for(port, "A new caption.")
        assert len(results_of_builds(ready) - executed) == 1  # the page
        edit(package / "render" / "numbers.py", "DECIMALS = 4", "DECIMALS = 6")
        wait_for(port, "0.028705")
        # Written beside a source that is watched, byte code would start one more rebuild.
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


def results_of_builds(project):
    """What builds have stored: an executed notebook would be one more."""
    return {file.name for file in (project / ".cache" / "results").iterdir()}


# By the file that is edited: the last of its lines, a wrong one in its place, and what is said.
WRONG = [
    ("docs/index.md", "A sentence.", r"\val{self_attention.wieghts}", r"docs/index.md:7: \val{self_attention.wieghts}: step"),
    ("docs/index.md", "A sentence.", r"$\nope$", "docs/index.md:7: formula"),
    ("docs/index.md", "A sentence.", "::: attention_docs.nope", "docs/index.md:7: &#x27;attention_docs.nope&#x27; is no name"),
    ("attention_docs/examples/self_attention.py", "def steps", "1 / 0\n\n\ndef steps", "attention_docs/examples/self_attention.py:"),
    ("attention_docs/publish/before/figures/mechanism.py", "@site_figure", "1 +\n\n\n@site_figure", "attention_docs/publish/before/figures/mechanism.py:"),
]  # fmt: skip


def test_serve_shows_what_is_wrong_and_where_until_it_is_mended(ready):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    cut_down(ready, "# Home\n\nA sentence.\n\n\\val{self_attention.weights}\n")
    server = start(ready, "serve", "--port", str(port))
    try:
        wait_for(port, "A sentence.")
        for name, right, wrong, message in WRONG:
            edit(ready / name, right, wrong)
            assert "livereload" in wait_for(port, message)
            edit(ready / name, wrong, right)
            wait_for(port, "A sentence.")
    finally:
        server.terminate()
        server.wait(timeout=30)


def wait_for(port, text, path=""):
    """Poll a served page until it shows `text`; return it."""
    shown = ""
    for _ in range(1200):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/{path}", timeout=10) as answer:
                shown = answer.read().decode()
        except OSError:
            pass
        if text in shown:
            return shown
        time.sleep(0.1)
    pytest.fail(f"{text!r} was not served")


def loaded(name, monkeypatch):
    """Import a script, whose file has no suffix."""
    monkeypatch.syspath_prepend(SCRIPTS)
    loader = importlib.machinery.SourceFileLoader(name, str(SCRIPTS / name))
    script = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(script)
    return script


def test_what_zensical_lacks_is_counted_page_by_page(monkeypatch, capsys):
    script = loaded("compare_zensical", monkeypatch)
    ours = '<h1>Menu</h1><article><h1>A</h1><figure><svg></svg></figure><b class="katex x">1</b></article>'
    theirs = r'<article><h1>A</h1>\figure{a} <b class="arithmatex">\(1 \query{Q}\)</b></article>'
    both = {"same": script.counts(ours)}
    script.report({"a": script.counts(ours), "b": {}} | both, {"a": script.counts(theirs)} | both)
    said = [line.split("  ") for line in capsys.readouterr().out.splitlines()]
    assert said[:4] == [
        ["pages: 3 with MkDocs, 2 with Zensical"],
        ["missing: b"],
        ["added: none"],
        ["pages that differ: 1 of 2; MkDocs > Zensical"],
    ]
    head, row, _ = ([cell.strip() for cell in cells if cell] for cells in said[4:])
    assert {name: cell for name, cell in zip(head, row, strict=True) if ">" in cell} == {
        "figures": "1 > 0",
        "drawings": "1 > 0",
        "formulas": "1 > 0",
        "TeX": "0 > 1",
        "macros": "0 > 1",
    }


def test_two_sites_are_compared_but_for_their_versions(tmp_path, monkeypatch, capsys):
    script = loaded("compare_sites", monkeypatch)
    one, other = tmp_path / "one", tmp_path / "other"
    for site, python in ((one, "3.11.2"), (other, "3.14.0")):
        (site / "assets").mkdir(parents=True)
        (site / "assets" / "font.woff2").write_bytes(b"\xff\xfe")
        page = f"<p>0.0287</p>\n<p>CC BY<br>Built with NumPy 2, Python {python}</p>\n"
        (site / "index.html").write_text(page, encoding="utf-8")

    def compared(*options):
        monkeypatch.setattr(sys, "argv", ["compare_sites", *options, str(one), str(other)])
        return script.main(), capsys.readouterr().out

    assert compared() == (0, "the same: 2 files\n")
    page = (one / "index.html").read_text(encoding="utf-8")
    (one / "index.html").write_text(page.replace("\n<p>", "<p >"), encoding="utf-8")
    assert compared()[0] == 1
    assert compared("--meaning") == (0, "the same: 2 files\n")
    (one / "index.html").write_text(page.replace("<p>0", "<p id='a'>0"), encoding="utf-8")
    assert compared("--meaning")[1] == "index.html:\n  - p [('id', 'a')]\n  + p []\n"
    (one / "index.html").write_text(page.replace("0.0287", "0.0278"), encoding="utf-8")
    (one / "assets" / "font.woff2").write_bytes(b"\xff")
    (other / "new.css").write_text("")
    status, told = compared()
    assert status == 1
    assert told.splitlines() == [
        f"new.css: only in {other}",
        "assets/font.woff2:",
        "  differ in their bytes",
        "index.html:",
        "  - <p>0.0278</p>",
        "  + <p>0.0287</p>",
    ]
    monkeypatch.setattr(sys, "argv", ["compare_sites", str(tmp_path), str(one)])
    with pytest.raises(SystemExit):
        script.main()
    assert f"{tmp_path} is no built site" in capsys.readouterr().err
