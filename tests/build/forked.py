"""Builds of small projects, in processes forked from one that has imported MkDocs.

The import takes twice as long as such a build. All these processes share a hash seed, so tests of
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
        process = CONTEXT.Process(target=run, args=(root, arguments, environment, Path(folder)))
        process.start()
        process.join()
        outputs = [(Path(folder) / name).read_text("utf-8") for name in ("stdout", "stderr")]
    return subprocess.CompletedProcess(arguments, process.exitcode, *outputs)


def run(root, arguments, environment, folder):
    for descriptor, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(folder / name, os.O_WRONLY | os.O_CREAT), descriptor)
    os.chdir(root)
    os.environ.clear()
    os.environ |= environment
    sys.path.insert(0, str(root))
    from mkdocs.__main__ import cli

    cli(arguments, prog_name="mkdocs")
