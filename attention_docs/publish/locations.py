"""Where in the sources something stands, for the messages of a build."""

import json
import re
from pathlib import Path

from mkdocs.structure.pages import Page
from mkdocs.utils.meta import get_data

from attention_docs.publish import notebooks


def is_notebook(page: Page) -> bool:
    return page.file.src_uri.endswith(".ipynb")


def location(page: Page, line: int | None = None) -> str:
    """Name a page and a line of its Markdown, counted from 0; in a notebook, the cell as well."""
    name = f"docs/{page.file.src_uri}"
    if line is None:
        return name
    source = page.file.content_string
    if is_notebook(page):
        return f"{name}: {notebooks.location_in_prose(json.loads(source), line)}"
    # MkDocs strips the front matter from the Markdown, but its lines count.
    front_matter = source.count("\n") - source_markdown(page).count("\n")
    return f"{name}:{front_matter + line + 1}"


def source_markdown(page: Page) -> str:
    """Return a page's Markdown before values are inserted; of a notebook, its Markdown cells."""
    if is_notebook(page):
        return notebooks.prose(json.loads(page.file.content_string))
    return str(get_data(page.file.content_string)[0])


def locate(pattern: str, page: Page) -> str:
    """Name a page and the line of its Markdown where a pattern first matches, if it does."""
    source, final = source_markdown(page), page.markdown or ""
    found = re.search(pattern, source)
    # Text with values in it is found in the final Markdown only. That has the same lines, unless
    # a table was inserted.
    if not found and final.count("\n") == source.count("\n"):
        found = re.search(pattern, final)
    return location(page, found and found.string.count("\n", 0, found.start()))


def locate_text(text: str, page: Page) -> str:
    """Locate a text of one or several lines, which the page may indent."""
    return locate(r"\s+".join(map(re.escape, text.split())), page)


def locate_id(name: str, page: Page) -> str:
    return locate(rf'(?:\{{#|id="){re.escape(name)}\b', page)


def locate_link(address: str, target: str, page: Page, settings: Path) -> str:
    """Locate a link in its page or, if the theme inserted it, in the settings.

    Args:
        address: the link as in the finished page. Markdown may have changed its path, but not
            its fragment.
        target: the URL it resolves to.
        page: the page that has the link.
        settings: the path of mkdocs.yml.
    """
    _, sign, fragment = address.partition("#")
    pattern = re.escape(sign + fragment if fragment else address)
    text = settings.read_text(encoding="utf-8")
    setting = re.search(rf"(?<![\w./-]){re.escape(target)}(?![\w./-])", text)
    if setting and not re.search(pattern, source_markdown(page)):
        line = text.count("\n", 0, setting.start()) + 1
        return f"{settings.name}:{line}"
    return locate(pattern, page)
