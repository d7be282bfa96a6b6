"""MkDocs' entry point: it makes the object that handles all further events of a build."""

import errno
import importlib
import os
import sys
from pathlib import Path
from typing import Literal

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError

BYTECODE = Path(__file__).parents[2] / ".cache" / "bytecode"

serving = False


def on_startup(command: Literal["build", "gh-deploy", "serve"], dirty: bool) -> None:
    global serving
    serving = command == "serve"
    if serving:
        keep_bytecode_out_of_watched_folders()


def on_config(config: MkDocsConfig) -> None:
    """Import the package and start a build; MkDocs calls the events of a plugin that it has."""
    if serving:
        forget_package()
    # Not at the top: MkDocs loads this file once, and the package may change between two builds.
    site = importlib.import_module("attention_docs.publish.site")
    config.plugins["attention_docs"] = site.Site(config, serving=serving)


def on_build_error(error: Exception) -> None:
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        raise PluginError("the disk is full") from error


def keep_bytecode_out_of_watched_folders() -> None:
    """Python would write it beside the sources, and so start another rebuild."""
    sys.pycache_prefix = str(BYTECODE)
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix  # for the kernels of the notebooks


def forget_package() -> None:
    """Let the next import read the package's sources, which may have changed."""
    for name in list(sys.modules):
        if name.partition(".")[0] == "attention_docs":
            del sys.modules[name]
