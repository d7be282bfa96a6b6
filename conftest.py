"""Run the doctests of the package and every code block of the pages.

A fenced block with `>>>` runs as a doctest, any other Python block runs as it is, and each block is
one test; all blocks of a page share one namespace, which begins empty, so a reader can paste them
too. Console blocks run the command line of the package. Any other code in a page is an error:
nothing would check it.
Where PyTorch or CuPy is missing, what needs it is left out, a page's block that names `torch`
included, and one skipped test says so; with --torch or --gpu it fails there.
"""

import contextlib
import doctest
import functools
import importlib.util
import io
import re
import shlex
import sys
import tempfile
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from sybil import Sybil
from sybil.evaluators.doctest import DocTest
from sybil.evaluators.python import PythonEvaluator
from sybil.parsers.markdown import CodeBlockParser
from xdist.scheduler import LoadFileScheduling

import attention_docs
from attention_docs.__main__ import main
from attention_docs.arrays import backend

PROGRAM = "python -m attention_docs "
# The libraries that need not be installed: the name of each, and the option that makes it an error
# that it is missing, which is also the fixture that imports it.
OPTIONAL = {"torch": ("PyTorch", "torch"), "cupy": ("CuPy", "gpu")}
# What the package can import and `pip install .` does not bring: a page shows what a command prints
# without it.
NOT_IN_A_PLAIN_INSTALL = ("array_api_strict", "cupy", "jax", "ml_dtypes", "torch")


def pytest_addoption(parser):
    for needed in ("browser", "torch", "gpu"):
        parser.addoption(f"--{needed}", action="store_true", help=f"fail where {needed} is missing")
    parser.addoption(
        "--quick", action="store_true", help="only what needs no built site and is not thorough"
    )


def pytest_configure(config):
    """With --gpu, say in one line what is missing for it, before anything runs."""
    if config.getoption("gpu"):
        try:
            backend("cupy")
        except RuntimeError as error:
            raise pytest.UsageError(f"--gpu: {error}") from None


@pytest.hookimpl(trylast=True)  # after -k and -m: a test that stands for others is to run
def pytest_collection_modifyitems(config, items):
    chosen = [item for item in items if not (config.getoption("quick") and is_slow(item))]
    for library, (_, option) in OPTIONAL.items():
        if not config.getoption(option) and importlib.util.find_spec(library) is None:
            chosen = with_one_for_all(chosen, library)
    config.hook.pytest_deselected(items=set(items) - set(chosen))
    items[:] = in_line(chosen)


def with_one_for_all(items, library):
    """Keep one of the tests that need a missing library: it is skipped, and says why."""
    needing = [item for item in items if needs(item, library)]
    if needing:
        reason = f"{OPTIONAL[library][0]} is missing, and with it {len(needing)} tests that need it"
        needing[0].add_marker(pytest.mark.skip(reason=reason))
    left_out = set(needing[1:])
    return [item for item in items if item not in left_out]


def needs(item, library):
    """Whether a test has the library as a fixture, or runs a page's block that names PyTorch."""
    if is_of_a_page(item):
        return library == "torch" and re.search(r"\btorch\b", item.example.parsed)
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    return OPTIONAL[library][1] in item.fixturenames or parameters.get("xp") == library


def pytest_terminal_summary(terminalreporter, config):
    """Print how many examples agree with independent computations; with -v, print details."""
    properties = [
        p for report in terminalreporter.getreports("passed") for p in report.user_properties
    ]
    compared = [value for name, value in properties if name == "compared"]
    if compared:
        terminalreporter.write_line(f"{len(compared)} examples agree with independent computations")
    for line in sorted(compared) if config.get_verbosity() > 0 else ():
        terminalreporter.write_line(f"  {line}")


def is_slow(item):
    """Whether --quick leaves it out: it is thorough, or needs what npm brings, as the site does."""
    return "assets" in item.fixturenames or item.get_closest_marker("thorough") is not None


def in_line(items):
    """Put the files that take longest in front, so that no process is left with one of them."""
    slow = {item.path for item in items if is_slow(item)}

    def place(item):
        return item.get_closest_marker("first") is None, item.path not in slow

    return sorted(items, key=place)


class ByFile(LoadFileScheduling):
    """Gives a process of a parallel run whole files, or single tests of a file marked `apart`.

    The tests of a file share fixtures, and the blocks of a page build on one another. Only the
    other processes collect, so the mark is read in the file's text. (With pytest 9.2 the groups of
    pytest-xdist 3.8 have no effect.)
    """

    def _split_scope(self, nodeid):
        file = super()._split_scope(nodeid)
        return nodeid if is_apart(self.config.rootpath / file) else file


@functools.cache
def is_apart(file):
    return "pytestmark = pytest.mark.apart\n" in file.read_text(encoding="utf-8")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    return ByFile(config, log)


@pytest.fixture(autouse=True)
def names_in_docstrings(request):
    """Docstrings use the public names, NumPy and their own module's names without importing."""
    if isinstance(request.node, pytest.DoctestItem):
        names = {name: getattr(attention_docs, name) for name in attention_docs.__all__}
        request.getfixturevalue("doctest_namespace").update(np=np, **names)


def is_of_a_page(item):
    return hasattr(item, "example") and hasattr(item.example, "document")


def run_python(example):
    """Run a block as a doctest if it has prompts, and return what its lines print wrongly."""
    lines = doctest.DocTestParser().get_examples(example.parsed)
    if not lines:
        return PythonEvaluator()(example)
    wrong = []
    # Sybil's, because Python's own runs in a copy of the namespace.
    test = DocTest(lines, example.namespace, example.path, example.path, example.line, None)
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
    runner.run(test, out=wrong.append, clear_globs=False)
    return "".join(wrong)


def run_console(example):
    """Run `$ python -m attention_docs ...` and compare what it prints, if the page says it."""
    command, _, expected = example.parsed.partition("\n")
    command = command.removeprefix("$ ")
    assert command.startswith(PROGRAM), f"only {PROGRAM}... can be checked: {command}"
    with contextlib.redirect_stdout(io.StringIO()) as output, plain_install():
        status = main(shlex.split(command.removeprefix(PROGRAM)))
    printed = output.getvalue()
    assert status == 0 or expected, printed  # a check that fails shows how
    # A page may leave out a part of what is printed, with "...".
    matches = doctest.OutputChecker().check_output(expected, printed, doctest.ELLIPSIS)
    assert not expected or matches, printed


@contextlib.contextmanager
def plain_install():
    """Hide from what is imported meanwhile, here and by a check, what a plain install lacks."""
    with tempfile.TemporaryDirectory() as folder:
        for name in NOT_IN_A_PLAIN_INSTALL:
            Path(folder, f"{name}.py").write_text("raise ImportError(__name__)\n")
        with mock.patch.object(sys, "path", [folder, *sys.path]):  # which the check hands on
            yield


pytest_collect_file = Sybil(
    parsers=[
        CodeBlockParser("python", run_python),
        CodeBlockParser("console", run_console),
    ],
    patterns=["*.md"],
).pytest()
