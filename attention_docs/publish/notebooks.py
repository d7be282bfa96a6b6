"""Notebooks: mkdocs-jupyter executes them, and the site's own Markdown writes the page.

Of mkdocs-jupyter's HTML only the outputs are taken. Text and code of the cells go through the same
Markdown as every page, and so get its formulas, code style, links that are checked, and table of
contents.
"""

import hashlib
import json
import os
import platform
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
from bs4 import BeautifulSoup, Tag
from nbclient.exceptions import CellExecutionError

from attention_docs.publish.errors import PublishError
from attention_docs.publish.later import WAITING, put_off

Notebook = dict[str, Any]

# A section, not a div: Material's search stops excluding at the end of the first inner element of
# the same name.
OUTPUT = '<section class="cell-output" data-search-exclude>\n{}\n</section>'
FIGURE = re.compile(r'<svg\b[^>]* class="drawing.*?</svg>', re.DOTALL)
# In what IPython shows of an error: the number of the cell, and the line in it.
PLACE_IN_CELL = re.compile(r"In\[(\d+)\], line (\d+)")
ANSI = re.compile(r"\x1b\[[\d;]*m")
FIRST_CELL = '<div class="jp-Notebook"'
KERNEL = {
    # It warns of TCP on the loopback device, which is all that a build uses.
    "IPKernelApp": {"log_level": "ERROR"},
    "HistoryManager": {"enabled": False},
}


def prepare(root: Path, settings: dict[str, Any]) -> None:
    """Choose the cache of mkdocs-jupyter, and keep the user's own IPython settings out.

    Args:
        root: the folder of the project.
        settings: of mkdocs-jupyter; its key holds the notebook and these settings alone.
    """
    caches = root / ".cache" / "notebooks"
    current = caches / digest(root / "attention_docs")
    for stale in set(caches.glob("*")) - {current}:
        shutil.rmtree(stale)
    settings["cache_dir"] = str(current)
    # Any other number makes mkdocs-jupyter 0.27 add a loader of MathJax to every page of the site;
    # 0.26 does not know the setting.
    settings["mathjax_version"] = 2
    profile = root / ".cache" / "ipython" / "profile_default"
    profile.mkdir(parents=True, exist_ok=True)
    (profile / "ipython_kernel_config.json").write_text(json.dumps(KERNEL), encoding="utf-8")
    os.environ["IPYTHONDIR"] = str(profile.parent)


def digest(package: Path) -> str:
    """Name all that an output depends on beside its notebook: the package and every version."""
    parts = [platform.python_version(), *installed()]
    for path in sorted(package.rglob("*.py")):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        parts.append(f"{path.relative_to(package).as_posix()} {content}")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def installed() -> list[str]:
    """List the distributions beside NumPy; the name of such a folder holds the version."""
    return sorted(path.name for path in Path(numpy.__file__).parents[1].glob("*.dist-info"))


def read(text: str, place: str) -> Notebook:
    """Read a notebook.

    Raises:
        PublishError: if it is broken or its metadata hold no description.
    """
    try:
        notebook: Notebook = json.loads(text)
    except json.JSONDecodeError as error:
        raise PublishError(f"{place}:{error.lineno}: {error.msg}") from error
    if not notebook["metadata"].get("description"):
        raise PublishError(f"{place}: its metadata hold no description")
    return notebook


def page(notebook: Notebook, html: str, name: str, repository: str | None) -> str:
    """Write a notebook as Markdown.

    Args:
        notebook: as it is stored.
        html: what mkdocs-jupyter made of it.
        name: the name of its file, for links and messages.
        repository: its address, if it is known.

    Raises:
        PublishError: if a cell writes to the error stream, or shows no figure where it should.
    """
    made = outputs(html)
    written = []
    for cell in notebook["cells"]:
        tags = cell["metadata"].get("tags", [])
        if "install" in tags:
            continue
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            written.append(source)
            continue
        place = f"docs/notebooks/{name}: cell {cell['id']}"
        shown = [output(tag, place) for tag in made.get(cell["id"], [])]
        if "figure" in tags and not any(WAITING.search(one) for one in shown):
            raise PublishError(f"{place}: a figure is expected, none came")
        written += [f"```python\n{source}\n```", *(OUTPUT.format(one) for one in shown)]
    written.insert(1, take_away(notebook, name, repository))
    return "\n\n".join(written)


def prose(notebook: Notebook) -> str:
    """Return the Markdown of a notebook alone."""
    cells = notebook["cells"]
    return "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")


def place_in_prose(notebook: Notebook, line: int) -> str:
    """Name the cell and its line in which a line of the prose stands, counted from 0."""
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            lines = "".join(cell["source"]).count("\n") + 2
            if line < lines:
                break
            line -= lines
    return f"cell {cell['id']}, line {line + 1}"


def failure(notebook: Notebook, error: CellExecutionError) -> str:
    """Say in one line which cell failed, at which of its lines, and how."""
    what = f"{error.ename}: {error.evalue}" if error.evalue else error.ename
    found = PLACE_IN_CELL.search(ANSI.sub("", error.traceback))
    if not found:
        return what
    codes = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    cell, line = codes[int(found[1]) - 1], int(found[2])
    code = "".join(cell["source"]).splitlines()[line - 1].strip()
    return f"cell {cell['id']}, line {line}: `{code}`: {what}"


def outputs(html: str) -> dict[str, list[Tag]]:
    """Find the outputs of each code cell, by its id; a figure is put off and need not be read."""
    slim = FIGURE.sub(_put_off_figure, html[html.index(FIRST_CELL) :])
    cells = BeautifulSoup(slim, "html.parser").find_all(class_="jp-CodeCell", id=True)
    return {
        str(cell["id"]).removeprefix("cell-id="): cell.find_all(class_="jp-OutputArea-output")
        for cell in cells
    }


def _put_off_figure(found: re.Match[str]) -> str:
    # nbconvert writes all attributes in small letters; SVG has one that is not.
    return put_off(found[0].replace(" viewbox=", " viewBox="))


def output(tag: Tag, place: str) -> str:
    """Write one output: a figure as it is, text as text.

    Raises:
        PublishError: if it is of another kind; what stands in the error stream is a warning.
    """
    match tag["data-mime-type"]:
        case "text/html":
            return tag.decode_contents().strip()
        case "text/plain" | "application/vnd.jupyter.stdout":
            return f"<pre>{tag.get_text().strip().replace('&', '&amp;').replace('<', '&lt;')}</pre>"
        case "application/vnd.jupyter.stderr":
            raise PublishError(f"{place}: {' '.join(tag.get_text().split())}")
        case kind:
            raise PublishError(f"{place}: output of kind {kind} has no form here")


def take_away(notebook: Notebook, name: str, repository: str | None) -> str:
    """Link to the file and, if it installs the package there, to Colab."""
    links = [f'<a href="{name}" download>Download this notebook</a>']
    if repository and any("install" in tags for tags in all_tags(notebook)):
        github = repository.removeprefix("https://github.com/")
        address = f"https://colab.research.google.com/github/{github}/blob/main/docs/notebooks/"
        links.append(f'<a href="{address}{name}">Open in Colab</a>')
    return f'<p class="take-away" data-search-exclude>{" · ".join(links)}</p>'


def all_tags(notebook: Notebook) -> Iterator[list[str]]:
    return (cell["metadata"].get("tags", []) for cell in notebook["cells"])
