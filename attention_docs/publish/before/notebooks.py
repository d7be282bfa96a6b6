"""Notebooks as Markdown, which the generator renders like any page.

Of mkdocs-jupyter's HTML only the outputs are used. Text and code of the cells become Markdown, so
they get the same formulas, highlighting, link checks and table of contents as every page.
"""

import re
from collections.abc import Callable, Iterable
from pathlib import PurePosixPath
from typing import Any

from bs4 import BeautifulSoup, Tag

from attention_docs.publish.errors import PublishError
from attention_docs.publish.parts import PLACEHOLDER
from attention_docs.publish.sources import Source

Cell = dict[str, Any]

# A <section>, not a <div>: Material's search ends an exclusion at the first closing tag of the same
# name, even that of a nested element.
OUTPUT = '<section class="cell-output" data-search-exclude>\n{}\n</section>'
FIGURE = re.compile(r'<svg\b[^>]* class="drawing.*?</svg>', re.DOTALL)


def page(source: Source, html: str, repository: str | None, defer: Callable[[str], str]) -> str:
    """Write a notebook as Markdown.

    Args:
        source: the notebook as stored.
        html: what mkdocs-jupyter made of it.
        repository: the repository's URL, if known.
        defer: stores a figure, and returns a placeholder for it.

    Raises:
        PublishError: if a cell writes to the error stream, or lacks the figure it should show.
    """
    shown = outputs(html, defer)
    parts = []
    for cell in source.notebook["cells"]:
        if "install" not in tags(cell):
            location = f"{source.file}: cell {cell['id']}"
            parts += cell_markdown(cell, shown.get(cell["id"], []), location)
    parts.insert(1, download_links(source, repository))
    return "\n\n".join(parts)


def downloads(sources: Iterable[Source]) -> dict[str, bytes]:
    """Return each notebook as it is stored, by its paths in the site.

    Earlier builds had it in the folder of its page, to which others may link.
    """
    found = {PurePosixPath(source.address): source.content.encode() for source in sources}
    beside = {path.with_suffix("") / path.name: content for path, content in found.items()}
    return {str(path): content for path, content in {**found, **beside}.items()}


def cell_markdown(cell: Cell, shown: list[Tag], location: str) -> list[str]:
    """Write a cell as blocks of Markdown: its text, or its code and each output."""
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return [source]
    written = [output(tag, location) for tag in shown]
    if "figure" in tags(cell) and not any(map(PLACEHOLDER.search, written)):
        raise PublishError(f"{location}: expected a figure, but the cell shows none")
    return [f"```python\n{source}\n```", *map(OUTPUT.format, written)]


def outputs(html: str, defer: Callable[[str], str]) -> dict[str, list[Tag]]:
    """Find the outputs of each code cell by its id; figures are deferred, to parse less."""

    def defer_figure(found: re.Match[str]) -> str:
        # nbconvert writes attributes in lower case, and SVG has this one that is not.
        return defer(found[0].replace(" viewbox=", " viewBox="))

    cells = BeautifulSoup(FIGURE.sub(defer_figure, html), "html.parser").find_all(
        class_="jp-CodeCell", id=True
    )
    return {
        str(cell["id"]).removeprefix("cell-id="): cell.find_all(class_="jp-OutputArea-output")
        for cell in cells
    }


def output(tag: Tag, location: str) -> str:
    """Write one output: HTML, such as a figure, as it is, and text escaped.

    Raises:
        PublishError: for an output of another kind, and for the error stream, which is a warning.
    """
    match tag["data-mime-type"]:
        case "text/html":
            return tag.decode_contents().strip()
        case "text/plain" | "application/vnd.jupyter.stdout":
            return f"<pre>{tag.get_text().strip().replace('&', '&amp;').replace('<', '&lt;')}</pre>"
        case "application/vnd.jupyter.stderr":
            raise PublishError(f"{location}: {' '.join(tag.get_text().split())}")
        case kind:
            raise PublishError(f"{location}: output of kind {kind} is not supported")


def download_links(source: Source, repository: str | None) -> str:
    """Link to the file and, if a cell installs the package, to Colab."""
    links = [f"[Download this notebook]({PurePosixPath(source.address).name}){{download}}"]
    if repository and any("install" in tags(cell) for cell in source.notebook["cells"]):
        github = repository.removeprefix("https://github.com/")
        address = f"https://colab.research.google.com/github/{github}/blob/main/{source.file}"
        links.append(f"[Open in Colab]({address})")
    return f'<p class="take-away" data-search-exclude markdown="span">{" · ".join(links)}</p>'


def tags(cell: Cell) -> list[str]:
    found: list[str] = cell["metadata"].get("tags", [])
    return found
