"""Conversion of notebooks to Markdown, which the generator renders like any page.

Only the outputs come from mkdocs-jupyter's HTML. Text and code of the cells become Markdown, with
the same formulas, highlighting, link checks and table of contents as on other pages.
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


def page(source: Source, html: str, repository: str | None, add_part: Callable[[str], str]) -> str:
    """Return a notebook as Markdown.

    Args:
        source: the notebook.
        html: the HTML that mkdocs-jupyter made of it.
        repository: the repository's URL, if known.
        add_part: stores a figure, and returns its placeholder.

    Raises:
        PublishError: if a cell writes to the error stream, or lacks the figure it should show.
    """
    outputs = cell_outputs(html, add_part)
    blocks = []
    for cell in source.notebook["cells"]:
        if "install" not in tags(cell):
            location = f"{source.file}: cell {cell['id']}"
            blocks += cell_markdown(cell, outputs.get(cell["id"], []), location)
    blocks.insert(1, download_links(source, repository))
    return "\n\n".join(blocks)


def downloads(sources: Iterable[Source]) -> dict[str, bytes]:
    """Return the file of each notebook by its two paths in the site.

    The path in the folder of its page is that of earlier versions of the site.
    """
    files = {PurePosixPath(source.path): source.content.encode() for source in sources}
    old_paths = {path.with_suffix("") / path.name: content for path, content in files.items()}
    return {str(path): content for path, content in {**files, **old_paths}.items()}


def cell_markdown(cell: Cell, outputs: list[Tag], location: str) -> list[str]:
    """Return the Markdown blocks of a cell: its text, or its code and each output."""
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return [source]
    output_blocks = [output_html(tag, location) for tag in outputs]
    if "figure" in tags(cell) and not any(map(PLACEHOLDER.search, output_blocks)):
        raise PublishError(f"{location}: expected a figure, but the cell shows none")
    return [f"```python\n{source}\n```", *map(OUTPUT.format, output_blocks)]


def cell_outputs(html: str, add_part: Callable[[str], str]) -> dict[str, list[Tag]]:
    """Return the outputs of each code cell by its id. Placeholders for figures speed up parsing."""

    def add_figure(match: re.Match[str]) -> str:
        # nbconvert writes attributes in lower case, but SVG's viewBox is case-sensitive.
        return add_part(match[0].replace(" viewbox=", " viewBox="))

    cells = BeautifulSoup(FIGURE.sub(add_figure, html), "html.parser").find_all(
        class_="jp-CodeCell", id=True
    )
    return {
        str(cell["id"]).removeprefix("cell-id="): cell.find_all(class_="jp-OutputArea-output")
        for cell in cells
    }


def output_html(tag: Tag, location: str) -> str:
    """Return one output as HTML.

    Raises:
        PublishError: if its type is not supported, or it is written to stderr.
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
    """Return links to the file and, if a cell installs the package, to Colab."""
    links = [f"[Download this notebook]({PurePosixPath(source.path).name}){{download}}"]
    if repository and any("install" in tags(cell) for cell in source.notebook["cells"]):
        github = repository.removeprefix("https://github.com/")
        url = f"https://colab.research.google.com/github/{github}/blob/main/{source.file}"
        links.append(f"[Open in Colab]({url})")
    return f'<p class="take-away" data-search-exclude markdown="span">{" · ".join(links)}</p>'


def tags(cell: Cell) -> list[str]:
    cell_tags: list[str] = cell["metadata"].get("tags", [])
    return cell_tags
