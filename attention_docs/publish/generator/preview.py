"""What a preview does beside a build: it shows what is wrong, until that is mended."""

import logging
import os
import sys
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.pages import Page

from attention_docs.publish.errors import told
from attention_docs.publish.generator.rendered import Rendered

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
    rendered: Rendered
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

    def has_rendered(self, page: Page) -> bool:
        return not self.error and page in self.rendered

    def show_error(self, site: Path) -> None:
        """Put what went wrong, if anything did, in the place of every page of a site."""
        for page in site.rglob("*.html") if self.error else ():
            page.write_text(NOT_BUILT.format(escape(self.error)), encoding="utf-8")
