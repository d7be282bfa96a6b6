"""Run the doctests of the package and every code block of the pages.

A fenced block with `>>>` runs as a doctest, any other Python block runs as a script, and each block
is one test. All blocks of a page share one namespace, which starts empty, so that readers can paste
them. Console blocks run the command line of the package. Blocks in other languages are an error,
because nothing would check them.
Where PyTorch or CuPy is missing, the tests that need it are deselected, except one, which is
skipped with the reason. A block that names `torch` needs PyTorch. With --torch or --gpu, these
tests fail instead.
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
from attention_check.__main__ import main as check_command
from attention_docs.__main__ import main
from attention_docs.arrays import backend
from attention_docs.examples import computed

# Assertions of shared modules, too, show the values that they compare. mutmut runs pytest again in
# a process that has imported them.
if "tests" not in sys.modules:
    pytest.register_assert_rewrite("tests")

# The commands that pages show, and the function that runs each.
PROGRAMS = {"python -m attention_docs ": main, "attention-check ": check_command}
# Files that compute the worked examples, of which some train a model: once for all of them.
TRAINING = (
    "attention_docs/examples/",
    "tests/examples/test_examples.py",
    "docs/reference/index.md",
)
# Optional libraries by module: the name to print, and the option of pytest that requires the
# library. A fixture of the same name as the option imports it.
OPTIONAL = {"torch": ("PyTorch", "torch"), "cupy": ("CuPy", "gpu")}
# Packages that `pip install .` leaves out but the package can import: pages show the output of
# commands without them.
NOT_IN_MINIMAL_INSTALL = ("array_api_strict", "cupy", "jax", "ml_dtypes", "torch")


def pytest_addoption(parser):
    """Add an option for each thing that must not be missing, and for quick and complete runs."""
    for option in ("browser", "torch", "gpu"):
        parser.addoption(f"--{option}", action="store_true", help=f"fail where {option} is missing")
    parser.addoption("--quick", action="store_true", help="only fast tests that need no built site")
    parser.addoption("--weekly", action="store_true", help="also tests that CI runs once a week")


def pytest_configure(config):
    """Fail early, with one line, if --gpu is given without CuPy or a GPU."""
    if config.getoption("gpu"):
        try:
            backend("cupy")
        except RuntimeError as error:
            raise pytest.UsageError(f"--gpu: {error}") from None


@pytest.hookimpl(trylast=True)  # after -k and -m, so that the skipped representative is kept
def pytest_collection_modifyitems(config, items):
    """Deselect tests that the options or a missing library rule out, and sort the others."""
    selected = [item for item in items if not (config.getoption("quick") and is_slow(item))]
    if not config.getoption("weekly"):
        weekly = [item for item in selected if item.get_closest_marker("weekly")]
        selected = skip_all_as_one(selected, weekly, f"--weekly runs {len(weekly)} tests more")
    for library, (name, option) in OPTIONAL.items():
        if not config.getoption(option) and importlib.util.find_spec(library) is None:
            dependent = [item for item in selected if needs(item, library)]
            reason = f"{name} is missing, and with it {len(dependent)} tests that need it"
            selected = skip_all_as_one(selected, dependent, reason)
    config.hook.pytest_deselected(items=set(items) - set(selected))
    items[:] = slowest_files_first(selected)


def skip_all_as_one(items, skipped, reason):
    """Return tests without the skipped ones, except the first, which prints the reason."""
    for representative in skipped[:1]:
        representative.add_marker(pytest.mark.skip(reason=reason))
    deselected = set(skipped[1:])
    return [item for item in items if item not in deselected]


def needs(item, library):
    """Whether a test needs a library, by its fixtures, its parameter `xp` or its code block."""
    if is_page_block(item):
        return library == "torch" and re.search(r"\btorch\b", item.example.parsed) is not None
    _, fixture = OPTIONAL[library]
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    return fixture in item.fixturenames or parameters.get("xp") == library


def is_slow(item):
    """Whether --quick deselects a test: it has a mark that says so, or needs the npm packages."""
    marks = {mark.name for mark in item.iter_markers()}
    return "assets" in item.fixturenames or bool(marks & {"thorough", "weekly"})


def slowest_files_first(items):
    """Return tests marked `first`, then the tests of files that have slow ones, then the others."""
    # Otherwise one process would still run a slow file when the others are done.
    slow_files = {item.path for item in items if is_slow(item)}

    def sort_key(item):  # False sorts before True
        return item.get_closest_marker("first") is None, item.path not in slow_files

    return sorted(items, key=sort_key)


class ByFile(LoadFileScheduling):
    """Schedule whole files, but the tests of a file marked `independent_tests` one by one.

    The tests of a file share fixtures, the blocks of a page build on one another, and the files of
    `TRAINING` use the same trained models. The scheduler does not collect tests, so it
    looks for the mark in the text of the file. (Marking groups for pytest-xdist would be simpler,
    but has no effect in pytest-xdist 3.8 with pytest 9.2.)
    """

    def _split_scope(self, nodeid):
        """Return the name of the group of a test, whose tests run in the same process."""
        file = super()._split_scope(nodeid)
        if file.startswith(TRAINING):
            file = "tests/examples/test_examples.py"
        return nodeid if has_independent_tests(self.config.rootpath / file) else file


@functools.cache
def has_independent_tests(file):
    return "pytestmark = pytest.mark.independent_tests\n" in file.read_text(encoding="utf-8")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    return ByFile(config, log)


def pytest_sessionstart(session):
    """Refuse a path that does not exist, which pytest-xdist would pass over without a word."""
    for argument in session.config.args:
        path = argument.partition("::")[0]
        if not Path(path).exists():
            raise pytest.UsageError(f"there is no {path}")


@pytest.fixture(autouse=True)
def names_in_docstrings(request):
    """Make the public names, `computed` and NumPy available in docstrings."""
    if isinstance(request.node, pytest.DoctestItem):
        names = {name: getattr(attention_docs, name) for name in attention_docs.__all__}
        request.getfixturevalue("doctest_namespace").update(np=np, computed=computed, **names)


def is_page_block(item):
    """Whether a test is a code block of a page, which Sybil has collected."""
    return hasattr(item, "example") and hasattr(item.example, "document")


def run_python(example):
    """Run a page's block, a doctest or a script, in its namespace, and return failures as text."""
    statements = doctest.DocTestParser().get_examples(example.parsed)
    if not statements:
        return PythonEvaluator()(example)
    failures = []
    # Python's own DocTest would copy the namespace, so that later blocks could not use its names.
    test = DocTest(statements, example.namespace, example.path, example.path, example.line, None)
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
    runner.run(test, out=failures.append, clear_globs=False)
    return "".join(failures)


def run_console(example):
    """Run a block like `$ python -m attention_docs show NAME`; `...` stands for omitted output."""
    command, _, expected = example.parsed.partition("\n")
    command = command.removeprefix("$ ")
    program = next((program for program in PROGRAMS if command.startswith(program)), None)
    assert program, f"only {' and '.join(PROGRAMS)} can be checked: {command}"
    with contextlib.redirect_stdout(io.StringIO()) as output, minimal_install():
        status = PROGRAMS[program](shlex.split(command.removeprefix(program)))
    printed = output.getvalue()
    if expected:
        assert doctest.OutputChecker().check_output(expected, printed, doctest.ELLIPSIS), printed
    else:
        assert status == 0, printed


@contextlib.contextmanager
def minimal_install():
    """Make imports of packages that a minimal install lacks fail, also in a worker process."""
    # Modules that raise ImportError come first on `sys.path`, which a worker process inherits.
    with tempfile.TemporaryDirectory() as folder:
        for name in NOT_IN_MINIMAL_INSTALL:
            Path(folder, f"{name}.py").write_text("raise ImportError(__name__)\n")
        with mock.patch.object(sys, "path", [folder, *sys.path]):
            yield


pytest_collect_file = Sybil(
    parsers=[
        CodeBlockParser("python", run_python),
        CodeBlockParser("console", run_console),
    ],
    patterns=["*.md"],
).pytest()
