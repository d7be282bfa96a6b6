"""Live preview: import the package again for each build, and show its error instead of pages."""

import logging
import os
import sys
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError

from attention_docs.publish.errors import format_error

log = logging.getLogger("mkdocs.attention_docs")

NOT_BUILT = "<!doctype html><html><body><h1>Not built</h1><pre>{}</pre></body></html>"


def keep_bytecode_out_of_watched_folders(root: Path) -> None:
    """Make Python store bytecode in .cache.

    A new file beside the modules, in a folder that MkDocs watches, would trigger another build.
    """
    sys.pycache_prefix = str(root / ".cache" / "bytecode")
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix  # for notebook kernels


def unload_package() -> None:
    """Make the next import of the package read its files again, which may have changed."""
    for name in list(sys.modules):
        if name.partition(".")[0] == "attention_docs":
            del sys.modules[name]


class Build:
    """What the hooks of the running build pass on to each other.

    Attributes:
        prepared: the result of the phase before MkDocs.
        is_preview: whether MkDocs serves the site, and so goes on after an error.
    """

    root: Path
    error: str
    project: Any
    prepared: Any
    is_preview = False

    def reset(self, root: Path) -> None:
        self.root = root
        self.error = ""

    def attempt(self, function: Callable[[MkDocsConfig], Any], config: MkDocsConfig) -> Any:
        """Call a function with the configuration, and return its result.

        After an earlier error in the same build, do nothing and return None. A preview also returns
        None if the function raises, and logs the error.
        """
        if self.error:
            return None
        try:
            return function(config)
        except Exception as error:
            self.error = format_error(error, self.root)
            if not self.is_preview:
                raise PluginError(self.error) from error
            log.error(self.error)
            return None

    def show_error(self, site: Path) -> None:
        if self.error:
            for page in site.rglob("*.html"):
                page.write_text(NOT_BUILT.format(escape(self.error)), encoding="utf-8")
