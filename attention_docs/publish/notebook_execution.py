"""The execution of notebooks by mkdocs-jupyter: its settings, its cache, and what went wrong."""

import json
import os
import re
import shutil
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page
from nbclient.exceptions import CellExecutionError

from attention_docs.publish.cache import package_digest
from attention_docs.publish.errors import PublishError
from attention_docs.publish.notebooks import Notebook

# In IPython's traceback: the number of the cell, and the line in it.
LINE_IN_CELL = re.compile(r"In\[(\d+)\], line (\d+)")
ANSI = re.compile(r"\x1b\[[\d;]*m")
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


def prepare(root: Path, settings: dict[str, Any]) -> None:
    """Choose the cache of mkdocs-jupyter, and settings of Jupyter that are not the user's own.

    Args:
        root: the folder of the project.
        settings: mkdocs-jupyter's. Its own cache key holds the notebook and these settings alone.
    """
    caches = root / ".cache" / "notebooks"
    current = caches / package_digest(root / "attention_docs")
    for stale in set(caches.glob("*")) - {current}:
        shutil.rmtree(stale)
    settings["cache_dir"] = str(current)
    # Any other number makes mkdocs-jupyter 0.27 add MathJax's loader to every page of the site;
    # 0.26 does not have the setting.
    settings["mathjax_version"] = 2
    profile = root / ".cache" / "ipython" / "profile_default"
    write(profile / "ipython_kernel_config.json", KERNEL)
    os.environ["IPYTHONDIR"] = str(profile.parent)
    jupyter = root / ".cache" / "jupyter"
    write(jupyter / "jupyter_nbconvert_config.json", CONVERSION)
    os.environ["JUPYTER_CONFIG_DIR"] = str(jupyter)


def write(file: Path, settings: dict[str, Any]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(settings), encoding="utf-8")


class Execution:
    """The notebooks of a build, which run side by side, while MkDocs goes on with other pages.

    Args:
        pool: what starts them and waits for their kernels.
    """

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self.pool = pool
        self.jobs: dict[str, Future[None]] = {}

    def start(self, page: Page, config: MkDocsConfig, files: Files) -> Future[None]:
        """Have mkdocs-jupyter execute a notebook, or read its cache, once in a build."""
        name = page.file.src_uri
        if name not in self.jobs:
            # The plugin gives the page a `render` of its own.
            config.plugins["mkdocs-jupyter"].on_pre_page(page, config=config, files=files)
            self.jobs[name] = self.pool.submit(execute, page, config, files)
        return self.jobs[name]

    def html(
        self, notebook: Notebook, page: Page, config: MkDocsConfig, files: Files, location: str
    ) -> str:
        """Return the HTML that mkdocs-jupyter makes of a notebook.

        The plugin's `render` is removed, so MkDocs renders the page's Markdown afterwards as it
        does for any page.

        Raises:
            PublishError: naming the cell that failed, and how.
        """
        try:
            self.start(page, config, files).result()
        except CellExecutionError as error:
            raise PublishError(f"{location}: {failure(notebook, error)}") from error
        del vars(page)["render"]
        return page.content or ""


def execute(page: Page, config: MkDocsConfig, files: Files) -> None:
    """Execute a notebook, and begin again if its kernel dies before it can be asked anything.

    Jupyter looks for free ports and lets them go before the kernel takes them, so that another
    program may be faster.
    """
    try:
        page.render(config, files)
    except RuntimeError as error:
        if KERNEL_DIED not in str(error):
            raise
        page.render(config, files)


def failure(notebook: Notebook, error: CellExecutionError) -> str:
    """Say in one line which cell failed, at which line, and how."""
    what = f"{error.ename}: {error.evalue}" if error.evalue else error.ename
    found = LINE_IN_CELL.search(ANSI.sub("", error.traceback))
    if not found:
        return what
    codes = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    cell, line = codes[int(found[1]) - 1], int(found[2])
    code = "".join(cell["source"]).splitlines()[line - 1].strip()
    return f"cell {cell['id']}, line {line}: `{code}`: {what}"
