"""Live preview: fresh imports for each build, and pages that show its error."""

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

from attention_docs.publish.errors import format_error
from attention_docs.publish.generator.rendered import Rendered

log = logging.getLogger("mkdocs.attention_docs")

NOT_BUILT = "<!doctype html><html><body><h1>Not built</h1><pre>{}</pre></body></html>"


def keep_bytecode_out_of_watched_folders(root: Path) -> None:
    """Store bytecode elsewhere, because a new file beside the sources would trigger a build."""
    sys.pycache_prefix = str(root / ".cache" / "bytecode")
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix  # for notebook kernels


def unload_package() -> None:
    """Make the next import read the sources again, which may have changed."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "attention_docs"]:
        del sys.modules[name]


class Build:
    """The running build, whose error a preview shows until a file changes."""

    project: Any
    prepared: Any
    rendered: Rendered
    is_preview = False

    def reset(self, root: Path) -> None:
        self.root = root
        self.error = ""

    def attempt(self, function: Callable[[MkDocsConfig], Any], config: MkDocsConfig) -> Any:
        """Call a function of the build unless an earlier one failed, and record its error."""
        try:
            return None if self.error else function(config)
        except Exception as error:
            self.error = format_error(error, self.root)
            if not self.is_preview:
                raise PluginError(self.error) from error
            log.error(self.error)

    def has_rendered(self, page: Page) -> bool:
        return not self.error and page in self.rendered

    def show_error(self, site: Path) -> None:
        """Replace every page of a site by the error, if there is one."""
        for page in site.rglob("*.html") if self.error else ():
            page.write_text(NOT_BUILT.format(escape(self.error)), encoding="utf-8")
