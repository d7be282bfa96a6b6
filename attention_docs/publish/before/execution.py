"""Execution of notebooks by mkdocs-jupyter: settings and error messages."""

import json
import os
import re
from functools import partial
from pathlib import Path
from typing import Any

from attention_docs.publish.cache import package_digest
from attention_docs.publish.errors import PublishError
from attention_docs.publish.page_files import PageFile
from attention_docs.publish.project import Project

# In IPython's tracebacks: the number of a code cell, and the line in it, both counted from 1.
LINE_IN_CELL = re.compile(r"In\[(?P<cell>\d+)\], line (?P<line>\d+)")
ANSI = re.compile(r"\x1b\[[\d;]*m")
STDERR = "application/vnd.jupyter.stderr"  # the MIME type of such an output
CELLS_START = '<div class="jp-Notebook"'
KERNEL_DIED = "Kernel died before replying"  # in an error of jupyter_client
KERNEL_SETTINGS = {
    # Silences ipykernel's warning about TCP, which a build uses on the loopback device only.
    "IPKernelApp": {"log_level": "ERROR"},
    "HistoryManager": {"enabled": False},
}
# The kernel sends printed text in pieces that depend on timing, so they are joined to make pages
# reproducible. By default nbconvert would join them before the notebook is executed.
NBCONVERT_SETTINGS = {
    "Exporter": {
        "default_preprocessors": [
            f"nbconvert.preprocessors.{name}Preprocessor"
            for name in ("Execute", "CoalesceStreams", "HighlightMagics")
        ]
    },
    "CoalesceStreamsPreprocessor": {"enabled": True},
    # Otherwise a kernel may hang on shutdown for 2.5 s. This is set on the base class
    # NotebookClient, because mkdocs-jupyter replaces the settings of ExecutePreprocessor.
    "NotebookClient": {"shutdown_kernel": "immediate"},
}


def notebook_html(page_file: PageFile, project: Project) -> str:
    """Return an executed notebook as HTML from mkdocs-jupyter, cached if nothing has changed."""
    cache = project.cache.with_version("notebooks", package_digest(project.root / "attention_docs"))
    if page_file.content in cache:
        return cache[page_file.content]
    html = execute(page_file, project.root)
    # A cell that writes to stderr stops the build later. The next build tries again, because the
    # machine may be at fault.
    if STDERR not in html:
        cache[page_file.content] = html
    return html


def execute(page_file: PageFile, root: Path) -> str:
    # Imported here, because the import takes longer than a build whose notebooks are cached.
    from mkdocs_jupyter.convert import nb2html
    from nbclient.exceptions import CellExecutionError

    convert = partial(
        nb2html, str(root / page_file.file), execute=True, allow_errors=False, show_input=False
    )
    try:
        try:
            html: str = convert()
        except RuntimeError as error:
            # Jupyter looks for free ports and releases them before the kernel binds them, so
            # another process can take one in between.
            if KERNEL_DIED not in str(error):
                raise
            html = convert()
    except CellExecutionError as error:
        raise PublishError(
            f"{page_file.file}: {error_message(page_file.notebook, error)}"
        ) from error
    # Around the cells, nbconvert writes half a megabyte of style sheets.
    return html[html.index(CELLS_START) : html.rindex("<style>")]


def configure_jupyter(root: Path) -> None:
    """Make Jupyter use the project's settings instead of the user's, from files in .cache."""
    ipython = root / ".cache" / "ipython"
    jupyter = root / ".cache" / "jupyter"
    write_settings(ipython / "profile_default" / "ipython_kernel_config.json", KERNEL_SETTINGS)
    write_settings(jupyter / "jupyter_nbconvert_config.json", NBCONVERT_SETTINGS)
    os.environ |= {"IPYTHONDIR": str(ipython), "JUPYTER_CONFIG_DIR": str(jupyter)}


def write_settings(file: Path, settings: dict[str, Any]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(settings), encoding="utf-8")


def error_message(notebook: dict[str, Any], error: Any) -> str:
    """Return the error of a cell in one line, with the cell and the line in it if known."""
    message = f"{error.ename}: {error.evalue}" if error.evalue else error.ename
    location = LINE_IN_CELL.search(ANSI.sub("", error.traceback))
    if not location:
        return message
    code_cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    cell = code_cells[int(location["cell"]) - 1]
    line = int(location["line"])
    code = "".join(cell["source"]).splitlines()[line - 1].strip()
    return f"cell {cell['id']}, line {line}: `{code}`: {message}"
