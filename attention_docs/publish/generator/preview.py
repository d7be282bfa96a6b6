"""What a preview shows beside a build: pages as they were rendered before, and what is wrong."""

import os
import sys
from html import escape
from pathlib import Path
from typing import Any

from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

NOT_BUILT = "<!doctype html><html><body><h1>Not built</h1><pre>{}</pre></body></html>"


def keep_bytecode_out_of_watched_folders(root: Path) -> None:
    """Python would write it beside the sources, and so start another build."""
    sys.pycache_prefix = str(root / ".cache" / "bytecode")
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix  # for the kernels of the notebooks


def show_error(site: Path, message: str) -> None:
    """Put a message in the place of every page of a site."""
    for page in site.rglob("*.html"):
        page.write_text(NOT_BUILT.format(escape(message)), encoding="utf-8")


class Kept:
    """What MkDocs made of the pages that have not changed since."""

    def __init__(self) -> None:
        self.rendered: dict[Any, tuple[Any, ...]] = {}

    def __contains__(self, page: Page) -> bool:
        return self.key(page) in self.rendered

    def key(self, page: Page) -> Any:
        """Name a page by all that its HTML depends on: its Markdown, and which pages there are."""
        return page.file.src_uri, page.file.content_string, self.pages

    def begin(self, files: Files) -> None:
        self.pages = tuple(file.src_uri for file in files.documentation_pages())

    def exchange(self, html: str, page: Page) -> str:
        """Return the HTML of a page: what is kept of it, or what was rendered and is now kept.

        What mkdocstrings writes depends on the package too, so such a page is not kept.
        """
        if page in self:
            html, page.toc, page.title, page.present_anchor_ids = self.rendered[self.key(page)]
        elif "\n::: " not in page.file.content_string:
            rest = page.toc, page.title, page.present_anchor_ids
            self.rendered[self.key(page)] = html, *rest
        return html
