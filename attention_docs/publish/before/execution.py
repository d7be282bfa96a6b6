"""The execution of notebooks by mkdocs-jupyter: its settings, and what went wrong."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attention_docs.publish.cache import package_digest
from attention_docs.publish.errors import PublishError
from attention_docs.publish.project import Project
from attention_docs.publish.sources import Source

# In IPython's traceback: the number of the cell, and the line in it.
LINE_IN_CELL = re.compile(r"In\[(\d+)\], line (\d+)")
ANSI = re.compile(r"\x1b\[[\d;]*m")
FIRST_CELL = '<div class="jp-Notebook"'
KERNEL_DIED = "Kernel died before replying"  # as jupyter_client says
KERNEL = {
    # ipykernel warns about TCP on the loopback device, which is all that a build uses.
    "IPKernelApp": {"log_level": "ERROR"},
    "HistoryManager": {"enabled": False},
}
# The kernel sends what a cell prints whenever a timer fires. The pieces are put together, so that
# no page depends on it: nbconvert would do so before it executes the notebook, and not after.
CONVERSION = {
    "Exporter": {
        "default_preprocessors": [
            f"nbconvert.preprocessors.{name}Preprocessor"
            for name in ("Execute", "CoalesceStreams", "HighlightMagics")
        ]
    },
    "CoalesceStreamsPreprocessor": {"enabled": True},
    # A kernel that is asked to end may hang until it is killed 2.5 s later; no cell needs the time.
    # The settings of ExecutePreprocessor, a NotebookClient, are replaced by mkdocs-jupyter.
    "NotebookClient": {"shutdown_kernel": "immediate"},
}


def html(source: Source, project: Project) -> str:
    """Return the HTML that mkdocs-jupyter makes of a notebook and of what its cells give.

    Raises:
        PublishError: naming the cell that failed, and how.
    """
    cache = project.cache.part("notebooks", package_digest(project.root / "attention_docs"))
    if source.content not in cache:
        cache[source.content] = executed(source, project.root)
    return cache[source.content]


def executed(source: Source, root: Path) -> str:
    """Execute a notebook, and return its cells as HTML."""
    # Not at the top: they take longer to import than the rest of a build whose notebooks are known.
    from mkdocs_jupyter.convert import nb2html
    from nbclient.exceptions import CellExecutionError

    file = str(root / source.file)
    try:
        html = again_if_the_kernel_dies(
            lambda: nb2html(file, execute=True, allow_errors=False, show_input=False)
        )
    except CellExecutionError as error:
        raise PublishError(f"{source.file}: {failure(source.notebook, error)}") from error
    # Around the cells stand nbconvert's style sheets, half a megabyte of them.
    return html[html.index(FIRST_CELL) : html.rindex("<style>")]


def prepare(root: Path) -> None:
    """Give Jupyter settings of this project, which are not the user's."""
    kernel, conversion = root / ".cache" / "ipython", root / ".cache" / "jupyter"
    write(kernel / "profile_default" / "ipython_kernel_config.json", KERNEL)
    write(conversion / "jupyter_nbconvert_config.json", CONVERSION)
    os.environ |= {"IPYTHONDIR": str(kernel), "JUPYTER_CONFIG_DIR": str(conversion)}


def write(file: Path, settings: dict[str, Any]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(settings), encoding="utf-8")


def again_if_the_kernel_dies(convert: Callable[[], str]) -> str:
    """Begin again if a kernel dies before it can be asked anything.

    Jupyter looks for free ports and lets them go before the kernel takes them, so that another
    program may be faster.
    """
    try:
        return convert()
    except RuntimeError as error:
        if KERNEL_DIED not in str(error):
            raise
        return convert()


def failure(notebook: dict[str, Any], error: Any) -> str:
    """Say in one line which cell failed, at which line, and how."""
    what = f"{error.ename}: {error.evalue}" if error.evalue else error.ename
    found = LINE_IN_CELL.search(ANSI.sub("", error.traceback))
    if not found:
        return what
    codes = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    cell, line = codes[int(found[1]) - 1], int(found[2])
    code = "".join(cell["source"]).splitlines()[line - 1].strip()
    return f"cell {cell['id']}, line {line}: `{code}`: {what}"
