"""Builds of small projects, in processes forked from one that has imported MkDocs.

The import takes twice as long as such a build. All these processes have one hash seed, so a test of
what depends on it takes the `mkdocs` of `tests.conftest`.
"""

import multiprocessing
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.conftest import environment_of_a_build

# Windows cannot fork, so there each process imports what it needs.
METHOD = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
PROCESSES = multiprocessing.get_context(METHOD)
PROCESSES.set_forkserver_preload(
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
    """Run MkDocs on a project, with that project's own package, as `tests.conftest.mkdocs` does."""
    environment = environment_of_a_build(root, **environment)
    with tempfile.TemporaryDirectory() as folder:
        process = PROCESSES.Process(target=run, args=(root, arguments, environment, Path(folder)))
        process.start()
        process.join()
        written = [(Path(folder) / name).read_text("utf-8") for name in ("stdout", "stderr")]
    return subprocess.CompletedProcess(arguments, process.exitcode, *written)


def run(root, arguments, environment, folder):
    for number, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(folder / name, os.O_WRONLY | os.O_CREAT), number)
    os.chdir(root)
    os.environ.clear()
    os.environ |= environment
    sys.path.insert(0, str(root))
    from mkdocs.__main__ import cli

    cli(arguments, prog_name="mkdocs")
