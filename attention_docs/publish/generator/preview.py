"""What a preview shows beside a build: pages as they were rendered before, and what is wrong."""

import logging
import os
import sys
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

from attention_docs.publish.errors import told

log = logging.getLogger("mkdocs.attention_docs")

NOT_BUILT = "<!doctype html><html><body><h1>Not built</h1><pre>{}</pre></body></html>"


def keep_bytecode_out_of_watched_folders(root: Path) -> None:
    """Python would write it beside the sources, and so start another build."""
    sys.pycache_prefix = str(root / ".cache" / "bytecode")
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix  # for the kernels of the notebooks


def forget_package() -> None:
    """Let the next import read the sources, which may have changed since the last build."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "attention_docs"]:
        del sys.modules[name]


class Build:
    """The build that runs. Where it fails, a preview shows why, until a file is saved again."""

    project: Any
    prepared: Any
    is_preview = False

    def begin(self, root: Path) -> None:
        self.root = root
        self.error = ""

    def attempt(self, do: Callable[[MkDocsConfig], Any], config: MkDocsConfig) -> Any:
        """Do a part of the build, if the parts before it went well."""
        try:
            return None if self.error else do(config)
        except Exception as error:
            self.error = told(error, self.root)
            if not self.is_preview:
                raise PluginError(self.error) from error
            log.error(self.error)

    def show_error(self, site: Path) -> None:
        """Put what went wrong, if anything did, in the place of every page of a site."""
        for page in site.rglob("*.html") if self.error else ():
            page.write_text(NOT_BUILT.format(escape(self.error)), encoding="utf-8")


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
