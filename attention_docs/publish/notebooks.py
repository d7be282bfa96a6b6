"""Notebooks as Markdown, which MkDocs renders like any page.

Text and code of the cells become Markdown, so they get the same formulas, highlighting, link checks
and table of contents as every page.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from mkdocs.structure.files import File

from attention_docs.publish.deferred import PLACEHOLDER
from attention_docs.publish.errors import PublishError

Notebook = dict[str, Any]
Cell = dict[str, Any]
Outputs = list[dict[str, Any]]

# A <section>, not a <div>: Material's search ends an exclusion at the first closing tag of the same
# name, even that of a nested element.
OUTPUT = '<section class="cell-output" data-search-exclude>\n{}\n</section>'
FIGURE = re.compile(r'<svg\b[^>]* class="drawing.*?</svg>', re.DOTALL)


class NotebookFile(File):
    """A notebook, which is a page too."""

    def is_documentation_page(self) -> bool:
        return True


def as_page(file: File) -> File:
    """Return a file of the site, and a notebook as a page."""
    if not file.src_uri.endswith(".ipynb"):
        return file
    return NotebookFile(file.src_uri, file.src_dir, file.dest_dir, file.use_directory_urls)


def read(text: str, location: str) -> Notebook:
    """Read a notebook.

    Raises:
        PublishError: if it is not valid JSON, or its metadata has no description.
    """
    try:
        notebook: Notebook = json.loads(text)
    except json.JSONDecodeError as error:
        raise PublishError(f"{location}:{error.lineno}: {error.msg}") from error
    if not notebook["metadata"].get("description"):
        raise PublishError(f"{location}: the notebook's metadata has no description")
    return notebook


def page(
    notebook: Notebook,
    shown: Mapping[str, Outputs],
    name: str,
    repository: str | None,
    defer: Callable[[str], str],
) -> str:
    """Write a notebook as Markdown.

    Args:
        notebook: the notebook as stored.
        shown: the outputs of each cell, by its id.
        name: its file name, for links and messages.
        repository: the repository's URL, if known.
        defer: stores a figure, and returns a placeholder for it.

    Raises:
        PublishError: if a cell writes to the error stream, or lacks the figure it should show.
    """
    parts = []
    for cell in notebook["cells"]:
        if "install" not in tags(cell):
            location = f"docs/notebooks/{name}: cell {cell['id']}"
            parts += cell_markdown(cell, shown.get(cell["id"], []), location, defer)
    parts.insert(1, download_links(notebook, name, repository))
    return "\n\n".join(parts)


def cell_markdown(
    cell: Cell, shown: Outputs, location: str, defer: Callable[[str], str]
) -> list[str]:
    """Write a cell as blocks of Markdown: its text, or its code and each output."""
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return [source]
    written = [output(one, location, defer) for one in shown]
    if "figure" in tags(cell) and not any(map(PLACEHOLDER.search, written)):
        raise PublishError(f"{location}: expected a figure, but the cell shows none")
    return [f"```python\n{source}\n```", *map(OUTPUT.format, written)]


def prose(notebook: Notebook) -> str:
    """Return the Markdown cells of a notebook as one text."""
    cells = notebook["cells"]
    return "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")


def location_in_prose(notebook: Notebook, line: int) -> str:
    """Name the cell, and the line in it, of a line of the prose, counted from 0."""
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            lines = "".join(cell["source"]).count("\n") + 2
            if line < lines:
                break
            line -= lines
    return f"cell {cell['id']}, line {line + 1}"


def output(shown: dict[str, Any], location: str, defer: Callable[[str], str]) -> str:
    """Write one output: HTML as it is, with its figures deferred, and text escaped.

    Raises:
        PublishError: for an output of another kind, and for the error stream, which is a warning.
    """
    match shown:
        case {"name": "stderr", "text": text}:
            raise PublishError(f"{location}: {' '.join(text.split())}")
        case {"data": {"text/html": html}}:
            return FIGURE.sub(lambda found: defer(found[0]), html.strip())
        case {"data": {"text/plain": text, **others}} if not others:
            return preformatted(text)
        case {"name": "stdout", "text": text}:
            return preformatted(text)
        case _:
            kind = next(kind for kind in shown["data"] if kind != "text/plain")
            raise PublishError(f"{location}: output of kind {kind} is not supported")


def preformatted(text: str) -> str:
    return f"<pre>{text.strip().replace('&', '&amp;').replace('<', '&lt;')}</pre>"


def download_links(notebook: Notebook, name: str, repository: str | None) -> str:
    """Link to the file and, if a cell installs the package, to Colab."""
    links = [f'<a href="{name}" download>Download this notebook</a>']
    if repository and any("install" in tags(cell) for cell in notebook["cells"]):
        github = repository.removeprefix("https://github.com/")
        address = f"https://colab.research.google.com/github/{github}/blob/main/docs/notebooks/"
        links.append(f'<a href="{address}{name}">Open in Colab</a>')
    return f'<p class="take-away" data-search-exclude>{" · ".join(links)}</p>'


def tags(cell: Cell) -> list[str]:
    found: list[str] = cell["metadata"].get("tags", [])
    return found
