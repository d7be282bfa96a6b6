"""Scripts of the interactive pages: the bundled modules, and the graph of each example."""

import json
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from attention_docs import examples
from attention_docs.live.library import OPERATIONS
from attention_docs.publish.cache import files_digest
from attention_docs.publish.errors import PublishError
from attention_docs.publish.node import run_node
from attention_docs.publish.project import Project

SCRIPT = Path(__file__).with_name("bundle.mjs")
FOLDER = "assets/live"
# The two modules that list the operations.
IN_BROWSER = f"docs/{FOLDER}/operations.js"
IN_RECORDER = "attention_docs/live/library.py"


class Bundle(NamedTuple):
    """The bundled modules that run in the browser.

    Attributes:
        script: the modules that every page loads, as one classic script, because browsers refuse to
            load modules from a file.
        optional_scripts: scripts that few pages or visitors load, by name.
        operations: the operations that the modules implement, by names of the array API standard.
    """

    script: str
    optional_scripts: dict[str, str]
    operations: list[str]


def bundled_scripts(project: Project) -> dict[str, bytes]:
    """Return the scripts that pages share, by their paths in the site."""
    bundle = bundle_modules(project)
    check_operations(bundle.operations)
    scripts = {"live": bundle.script, **bundle.optional_scripts}
    return {f"assets/{name}.js": script.encode() for name, script in scripts.items()}


def graph_scripts(project: Project) -> dict[str, bytes]:
    """Return the graphs as classic scripts, because browsers refuse to fetch JSON from a file."""
    return {
        f"{FOLDER}/{name}.js": (
            f'attentionDocs.graphs["{name}"]={project.examples.graph(name)};'.encode()
        )
        for name in examples.names()
    }


def check_operations(implemented: Collection[str]) -> None:
    """Check that the modules implement exactly the operations that are recorded.

    >>> check_operations(OPERATIONS - {"exp"})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    attention_docs.publish.errors.PublishError: docs/assets/live/operations.js lacks exp, which ...
    """
    not_implemented = sorted(OPERATIONS - set(implemented))
    if not_implemented:
        names = ", ".join(not_implemented)
        raise PublishError(f"{IN_BROWSER} lacks {names}, which {IN_RECORDER} has")
    not_recorded = sorted(set(implemented) - OPERATIONS)
    if not_recorded:
        names = ", ".join(not_recorded)
        raise PublishError(f"{IN_RECORDER} lacks {names}, which {IN_BROWSER} has")


def bundle_modules(project: Project) -> Bundle:
    """Bundle the modules that run in the browser, or take the bundle from the cache."""
    folder = project.root / "docs" / FOLDER
    cache = project.cache.with_version("bundle", files_digest(SCRIPT, folder))
    if "bundle" not in cache:
        esbuild = project.node_modules / "esbuild" / "lib" / "main.js"
        cache["bundle"] = run_node(SCRIPT, esbuild, folder, error_prefix=f"docs/{FOLDER}/")
    return Bundle(**json.loads(cache["bundle"]))
