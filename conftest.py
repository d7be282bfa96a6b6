"""Run the doctests of the package and every code block of the pages.

A fenced block with `>>>` runs as a doctest, any other Python block runs as it is; all blocks of a
page share one namespace, which begins empty, so a reader can paste them too. Console blocks run
the command line of the package. Any other code in a page is an error: nothing would check it.
A block that names `torch` is skipped where PyTorch is missing, and with --torch it fails there.
"""

import doctest
import re
import shlex
import subprocess
import sys

import numpy as np
import pytest
from sybil import Sybil
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser
from xdist.scheduler import LoadScopeScheduling

import attention_docs

PROGRAM = "python -m attention_docs "
# What only a build of the site, a browser or npm can give: --quick leaves it out.
SLOW = {"assets", "project", "site"}
# The folders whose tests take longest come first, so that no process is left with one of them.
ORDER = ("browser", "build", "repository")
# The files whose tests are long and share nothing but the site. In all others one process runs all
# tests: they share fixtures, and the blocks of a page build on one another.
APART = (
    "test_engines.py",
    "test_every_page.py",
    "test_notebooks.py",
    "test_origins.py",
    "test_scripts.py",
    "test_site.py",
)


def pytest_addoption(parser):
    for needed in ("browser", "torch", "gpu"):
        parser.addoption(f"--{needed}", action="store_true", help=f"fail where {needed} is missing")
    parser.addoption(
        "--quick", action="store_true", help="only what needs no built site and is not thorough"
    )


def pytest_collection_modifyitems(config, items):
    if config.getoption("quick"):
        slow = [item for item in items if is_slow(item)]
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if item not in set(slow)]
    items.sort(key=place_in_line)


def is_slow(item):
    needs_build = SLOW & set(getattr(item, "fixturenames", ()))
    return needs_build or item.get_closest_marker("thorough") is not None


def place_in_line(item):
    folder = item.path.parent.name
    return ORDER.index(folder) if folder in ORDER else len(ORDER)


class ByFile(LoadScopeScheduling):
    """Gives a process of a parallel run whole files, or single tests of the files in `APART`."""

    def _split_scope(self, nodeid):
        file = nodeid.partition("::")[0]
        return nodeid if file.endswith(APART) else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    return ByFile(config, log)


@pytest.fixture(autouse=True)
def names_in_docstrings(request):
    """Docstrings use the public names, NumPy and their own module's names without importing."""
    if isinstance(request.node, pytest.DoctestItem):
        names = {name: getattr(attention_docs, name) for name in attention_docs.__all__}
        request.getfixturevalue("doctest_namespace").update(np=np, **names)


def pytest_runtest_setup(item):
    """Skip a page's block that needs PyTorch where there is none, unless it is asked for."""
    if item.config.getoption("torch") or not is_of_a_page(item):
        return
    if re.search(r"\btorch\b", block_around(item.example)):
        reason = "PyTorch is missing, and this block of the page needs it"
        pytest.importorskip("torch", reason=reason, exc_type=ImportError)


def is_of_a_page(item):
    return hasattr(item, "example") and hasattr(item.example, "document")


def block_around(example):
    """Return the fenced block that an example stands in: a doctest is only one line of it."""
    blocks = re.finditer(r"^ *```\w.*?^ *```$", example.document.text, re.MULTILINE | re.DOTALL)
    return next(block[0] for block in blocks if block.start() <= example.start < block.end())


def run_console(example):
    """Run `$ python -m attention_docs ...` and compare what it prints, if the page says it."""
    command, _, expected = example.parsed.partition("\n")
    command = command.removeprefix("$ ")
    assert command.startswith(PROGRAM), f"only {PROGRAM}... can be checked: {command}"
    arguments = shlex.split(command.removeprefix(PROGRAM))
    done = subprocess.run(
        [sys.executable, "-m", "attention_docs", *arguments], capture_output=True, text=True
    )
    assert done.returncode == 0 or expected, done.stderr  # a check that fails shows how
    # A page may leave out a part of what is printed, with "...".
    matches = doctest.OutputChecker().check_output(expected, done.stdout, doctest.ELLIPSIS)
    assert not expected or matches, done.stdout


pytest_collect_file = Sybil(
    parsers=[
        PythonCodeBlockParser(doctest_optionflags=doctest.ELLIPSIS),
        CodeBlockParser("console", run_console),
    ],
    patterns=["*.md"],
).pytest()
