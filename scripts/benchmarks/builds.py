"""The site against a plain Material site of the same pages, side by side in one run.

The plain one has the same theme and the same text, without values, formulas, diagrams and figures,
and notebooks as plain pages that nobody executes.
"""

import argparse
import contextlib
import json
import os
import pathlib
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

import results

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILES = ("mkdocs.yml", "package.json", "package-lock.json", ".npmrc", "pyproject.toml")
MADE_AT_BUILD = re.compile(
    r"^ *```mermaid\n.*?^ *```$|\$\$.*?\$\$|\$[^$\n]+\$"
    r"|\\(?:val|printed|measured|example|figure)\{[^{}]*\}"
    r"|^:::[^\n]*\n(?:    [^\n]*\n)*",
    re.MULTILINE | re.DOTALL,
)
OURS_ALONE = re.compile(
    r"^  - (?:mkdocs-jupyter|mkdocstrings):\n(?:      .*\n)+"
    r"|^hooks:\n(?:  .*\n)+|^watch:\n(?:  .*\n)+|^  - pymdownx.arithmatex:\n(?:      .*\n)+"
    r"|^  custom_dir: .*\n|^      custom_fences:\n(?:        .*\n)+|^  - assets/katex.*\n",
    re.MULTILINE,
)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("json", nargs="?", help="also write the result to this file")
    parser.add_argument("--pairs", type=int, default=9)
    options = parser.parse_args()
    result = {**results.circumstances(), "pairs": options.pairs, **measure(options.pairs)}
    if options.json:
        results.write(result, options.json)


def measure(pairs):
    """Print each comparison, and return them all."""
    with tempfile.TemporaryDirectory() as folder:
        ours, plain = pathlib.Path(folder, "ours"), pathlib.Path(folder, "plain")
        make_ours(ours)
        make_plain(plain)
        print("cold build, seconds: {:.1f}".format(build_time(ours)))
        once = compare("warm build, seconds", build_time, ours, plain, pairs)
        with chapters_three_times(ours), chapters_three_times(plain):
            thrice = compare("the same, each chapter thrice", build_time, ours, plain, pairs)
        further = (thrice["ours"] - once["ours"]) / (thrice["plain"] - once["plain"])
        print("cost of further chapters: ratio {:.2f}".format(further))
        with serving(ours) as our_server, serving(plain) as plain_server:
            edit = compare("edit until served, seconds", edit_time, our_server, plain_server, pairs)
    return {"build": once, "build_thrice": thrice, "further_chapters": further, "edit": edit}


def make_ours(folder):
    folder.mkdir()
    for name in FILES:
        shutil.copy(ROOT / name, folder)
    for name in ("docs", "attention_docs", "results"):
        shutil.copytree(ROOT / name, folder / name)
    (folder / "node_modules").symlink_to(ROOT / "node_modules", target_is_directory=True)


def make_plain(folder):
    folder.mkdir()
    shutil.copytree(ROOT / "docs", folder / "docs")
    for notebook in (folder / "docs").rglob("*.ipynb"):
        notebook.with_suffix(".md").write_text(plain_text(notebook), encoding="utf-8")
        notebook.unlink()
    for page in (folder / "docs").rglob("*.md"):
        text = page.read_text(encoding="utf-8")
        page.write_text(MADE_AT_BUILD.sub("", text), encoding="utf-8")
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    settings = OURS_ALONE.sub("", settings).replace(".ipynb", ".md")
    (folder / "mkdocs.yml").write_text(settings, encoding="utf-8")


def plain_text(notebook):
    """Return the text and the code of a notebook."""
    written = []
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        is_code = cell["cell_type"] == "code"
        written.append("```python\n{}\n```".format(source) if is_code else source)
    return "\n\n".join(written)


@contextlib.contextmanager
def chapters_three_times(folder):
    """Copy the chapters twice: the build's extra time is what further pages cost."""
    chapters = folder / "docs" / "mechanisms"
    copies = [chapters.with_name("mechanisms_{}".format(number)) for number in (2, 3)]
    for copy in copies:
        shutil.copytree(chapters, copy)
    yield
    for copy in copies:
        shutil.rmtree(copy)


def compare(what, time_of, ours, plain, pairs):
    """Time both in turn; print and return the medians, and those of ratio and difference."""
    time_of(ours), time_of(plain)
    times = [(time_of(ours), time_of(plain)) for _ in range(pairs)]
    our_median, plain_median = (statistics.median(column) for column in zip(*times))
    ratio = statistics.median(one / other for one, other in times)
    difference = statistics.median(one - other for one, other in times)
    print(
        "{}: ours {:.2f}, plain {:.2f}, ratio {:.2f}, difference {:+.2f} ({} pairs)".format(
            what, our_median, plain_median, ratio, difference, pairs
        )
    )
    return {"ours": our_median, "plain": plain_median, "ratio": ratio, "difference": difference}


def mkdocs(folder, *arguments):
    environment = dict(os.environ, PYTHONPATH=str(folder), NO_MKDOCS_2_WARNING="1")
    return subprocess.Popen(
        [sys.executable, "-m", "mkdocs", *arguments],
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def build_time(folder):
    start = time.perf_counter()
    if mkdocs(folder, "build").wait():
        sys.exit("the build in {} failed".format(folder))
    return time.perf_counter() - start


@contextlib.contextmanager
def serving(folder):
    """Serve a folder; yields the folder and the address of its home page."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = "127.0.0.1:{}".format(probe.getsockname()[1])
    server = mkdocs(folder, "serve", "--livereload", "--dev-addr", address)
    try:
        wait_for("http://{}/".format(address), "Where to begin")
        yield folder, "http://{}/".format(address)
    finally:
        server.terminate()
        server.wait()


def edit_time(served):
    folder, address = served
    page, mark = folder / "docs" / "index.md", "edited at {}".format(time.monotonic_ns())
    text = page.read_text(encoding="utf-8")
    start = time.perf_counter()
    page.write_text("{}\n\n{}\n".format(text, mark), encoding="utf-8")
    wait_for(address, mark)
    return time.perf_counter() - start


def wait_for(address, text):
    for _ in range(3000):
        with contextlib.suppress(OSError), urllib.request.urlopen(address, timeout=30) as answer:
            if text in answer.read().decode():
                return
        time.sleep(0.02)
    sys.exit("{} did not show {!r} within a minute".format(address, text))


if __name__ == "__main__":
    main()
