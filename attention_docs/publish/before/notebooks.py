"""Conversion of notebooks to Markdown, which the generator renders like any page.

Only the outputs come from mkdocs-jupyter's HTML. Text and code of the cells become Markdown, with
the same formulas, highlighting, link checks and table of contents as on other pages.
"""

import json
import re
from collections.abc import Callable, Iterable
from pathlib import PurePosixPath
from typing import Any

from bs4 import BeautifulSoup, Tag

from attention_docs.publish.before import execution
from attention_docs.publish.errors import PublishError
from attention_docs.publish.inserts import PLACEHOLDER
from attention_docs.publish.page_files import PageFile

Cell = dict[str, Any]

# A <section>, not a <div>: Material's search takes the first closing tag of the same name for the
# end of the exclusion, even if it closes a nested element.
OUTPUT = '<section class="cell-output" data-search-exclude>\n{}\n</section>'
LINKS = '<p class="take-away" data-search-exclude markdown="span">{}</p>'
INSTALL = """\
import importlib.util

if importlib.util.find_spec("attention_docs") is None:
    %pip install --quiet git+{}"""
FIGURE = re.compile(r'<svg\b[^>]* class="drawing.*?</svg>', re.DOTALL)


def markdown_page(
    page_file: PageFile, html: str, repository: str | None, add_insert: Callable[[str], str]
) -> str:
    outputs = cell_outputs(html, add_insert)
    blocks = []
    for cell in page_file.notebook["cells"]:
        location = f"{page_file.file}: cell {cell['id']}"
        blocks += cell_markdown(cell, outputs.get(cell["id"], []), location)
    links = [f"[Download this notebook]({PurePosixPath(page_file.path).name}){{download}}"]
    if repository:
        github = repository.removeprefix("https://github.com/")
        url = f"https://colab.research.google.com/github/{github}/blob/main/{page_file.file}"
        # Colab opens the notebook of the repository, which does not know its own address.
        links.append(f"[Open in Colab]({url}) and first run `%pip install git+{repository}`")
    # The first block is the title.
    blocks.insert(1, LINKS.format(" · ".join(links)))
    return "\n\n".join(blocks)


def downloads(page_files: Iterable[PageFile], repository: str | None) -> dict[str, bytes]:
    """Return the notebooks among page files, by the paths in the site where readers download them.

    A cell below the title installs the package from the repository, if its URL is known. Each has a
    second path, in the folder of its page, which earlier versions of the site had.
    """
    files = {}
    for page_file in page_files:
        if page_file.is_notebook:
            path = PurePosixPath(page_file.path)
            former_path = path.with_suffix("") / path.name
            content = page_file.content
            if repository:
                content = with_install_cell(page_file.notebook, repository)
            for download_path in (path, former_path):
                files[str(download_path)] = content.encode()
    return files


def with_install_cell(notebook: dict[str, Any], repository: str) -> str:
    title, *cells = notebook["cells"]
    install_cell: Cell = {
        "cell_type": "code",
        "execution_count": None,
        "id": "install",
        "metadata": {},
        "outputs": [],
        "source": INSTALL.format(repository).splitlines(keepends=True),
    }
    new_notebook = {**notebook, "cells": [title, install_cell, *cells]}
    return json.dumps(new_notebook, indent=1, ensure_ascii=False) + "\n"


def cell_markdown(cell: Cell, outputs: list[Tag], location: str) -> list[str]:
    text = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return [text]
    output_blocks = [output_html(tag, location) for tag in outputs]
    has_figure = "figure" in cell["metadata"].get("tags", [])
    if has_figure and not any(map(PLACEHOLDER.search, output_blocks)):
        raise PublishError(f"{location}: expected a figure, but the cell shows none")
    return [f"```python\n{text}\n```", *map(OUTPUT.format, output_blocks)]


def cell_outputs(html: str, add_insert: Callable[[str], str]) -> dict[str, list[Tag]]:
    """Return the outputs of each code cell by its id.

    Figures are replaced by placeholders first, because that speeds up parsing.
    """
    # nbconvert writes attributes in lower case, but SVG's viewBox is case-sensitive.
    without_figures = FIGURE.sub(
        lambda figure: add_insert(figure[0].replace(" viewbox=", " viewBox=")), html
    )
    page = BeautifulSoup(without_figures, "html.parser")
    return {
        str(cell["id"]).removeprefix("cell-id="): cell.find_all(class_="jp-OutputArea-output")
        for cell in page.find_all(class_="jp-CodeCell", id=True)
    }


def output_html(tag: Tag, location: str) -> str:
    match tag["data-mime-type"]:
        case "text/html":
            return tag.decode_contents().strip()
        case "text/plain" | "application/vnd.jupyter.stdout":
            text = tag.get_text().strip().replace("&", "&amp;").replace("<", "&lt;")
            return f"<pre>{text}</pre>"
        case execution.STDERR:
            message = " ".join(tag.get_text().split())
            raise PublishError(f"{location}: {message}")
        case kind:
            raise PublishError(f"{location}: output of kind {kind} is not supported")
