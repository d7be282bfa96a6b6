"""Builds of small projects, in processes forked from one that has already imported MkDocs.

Importing MkDocs takes twice as long as such a build. The processes share a hash seed, so tests of
reproducibility use the `mkdocs` of `tests.conftest` instead.
"""

import multiprocessing
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.conftest import environment_of_a_build

# Windows cannot fork, so each process imports MkDocs there.
START_METHOD = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
CONTEXT = multiprocessing.get_context(START_METHOD)
CONTEXT.set_forkserver_preload(
    [
        __name__,
        "fontTools.subset",
        "mkdocs.__main__",
        "mkdocs.commands.build",
        "mkdocs_jupyter.plugin",
        "mkdocstrings_handlers.python",
    ]
)


def mkdocs(root, *arguments, **environment):
    """Run MkDocs on a project with the project's own package, like `tests.conftest.mkdocs`."""
    environment = environment_of_a_build(root, **environment)
    with tempfile.TemporaryDirectory() as folder:
        stdout, stderr = Path(folder, "stdout"), Path(folder, "stderr")
        process = CONTEXT.Process(
            target=run_mkdocs, args=(root, arguments, environment, stdout, stderr)
        )
        process.start()
        process.join()
        return subprocess.CompletedProcess(
            arguments, process.exitcode, stdout.read_text("utf-8"), stderr.read_text("utf-8")
        )


def run_mkdocs(root, arguments, environment, stdout, stderr):
    """Run MkDocs in this process, with its output redirected to files."""
    for descriptor, file in ((1, stdout), (2, stderr)):
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT), descriptor)
    os.chdir(root)
    os.environ.clear()
    os.environ |= environment
    sys.path.insert(0, str(root))
    from mkdocs.__main__ import cli

    cli(arguments, prog_name="mkdocs")
