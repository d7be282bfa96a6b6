"""Where in the sources something stands, for the messages of a build."""

import json
import re
from pathlib import Path

from mkdocs.structure.pages import Page
from mkdocs.utils.meta import get_data

from attention_docs.publish import notebooks


def is_notebook(page: Page) -> bool:
    return page.file.src_uri.endswith(".ipynb")


def place(page: Page, line: int | None = None) -> str:
    """Name a page and a line of its Markdown, counted from 0; of a notebook the cell, too."""
    name = f"docs/{page.file.src_uri}"
    if line is None:
        return name
    if is_notebook(page):
        return f"{name}: {notebooks.place_in_prose(json.loads(page.file.content_string), line)}"
    # Front matter is cut off from the Markdown; its lines still count.
    above = page.file.content_string.count("\n") - as_written(page).count("\n")
    return f"{name}:{above + line + 1}"


def as_written(page: Page) -> str:
    """Return the Markdown of a page before values are put in; of a notebook, of its cells."""
    if is_notebook(page):
        return notebooks.prose(json.loads(page.file.content_string))
    return str(get_data(page.file.content_string)[0])


def place_of(pattern: str, page: Page) -> str:
    """Name a page and the line of its Markdown where a pattern first fits, if it does."""
    written, made = as_written(page), page.markdown or ""
    found = re.search(pattern, written)
    # What holds values is in the finished Markdown; its lines count unless a table was put in.
    if not found and made.count("\n") == written.count("\n"):
        found = re.search(pattern, made)
    return place(page, found and found.string.count("\n", 0, found.start()))


def place_of_text(text: str, page: Page) -> str:
    """Name the place of a text of several lines, which may be indented there."""
    return place_of(r"\s+".join(map(re.escape, text.split())), page)


def place_of_id(name: str, page: Page) -> str:
    return place_of(rf'(?:\{{#|id="){re.escape(name)}\b', page)


def place_of_link(address: str, end: str, page: Page, settings: Path) -> str:
    """Name the place of a link that ends there: in the page, or where the theme has it from.

    Markdown may turn the path of a link into another; what follows the # stays as it is.
    """
    _, sign, anchor = address.partition("#")
    pattern = re.escape(sign + anchor if anchor else address)
    text = settings.read_text(encoding="utf-8")
    named = re.search(rf"(?<![\w./-]){re.escape(end)}(?![\w./-])", text)
    if named and not re.search(pattern, as_written(page)):
        line = text.count("\n", 0, named.start()) + 1
        return f"{settings.name}:{line}"
    return place_of(pattern, page)
