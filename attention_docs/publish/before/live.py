"""Scripts of the interactive pages: the bundled modules, and the graph of each example."""

import itertools
import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from attention_docs.live.library import OPERATIONS
from attention_docs.publish.cache import files_digest
from attention_docs.publish.errors import PublishError
from attention_docs.publish.node import run_node
from attention_docs.publish.project import Project

SCRIPT = Path(__file__).with_name("bundle.mjs")
FOLDER = "assets/live"
LIBRARY = "attention_docs/live/library.py"


class Bundle(NamedTuple):
    """The bundled modules that run in the browser.

    Attributes:
        script: all modules as a classic script, since browsers refuse modules from a file.
        operations: the operations that they implement, by names of the array API standard.
    """

    script: str
    operations: list[str]


def bundled_script(project: Project) -> dict[str, bytes]:
    """Return the script of all pages, by its path in the site.

    Raises:
        PublishError: if it implements other operations than examples are recorded with.
    """
    modules = bundle(project)
    check_operations(modules.operations)
    return {"assets/live.js": modules.script.encode()}


def graph_scripts(graphs: Mapping[str, str]) -> dict[str, str]:
    """Return the script of each example by its path in the site, from the graphs by example."""
    return {f"{FOLDER}/{name}.js": graph_script(name, graph) for name, graph in graphs.items()}


def graph_script(name: str, graph: str) -> str:
    """Return a graph as a classic script, since browsers refuse to fetch JSON from a file.

    >>> graph_script("self_attention", '{"version":1}')
    'attentionDocs.graphs["self_attention"]={"version":1};'
    """
    return f'attentionDocs.graphs["{name}"]={graph};'


def has_inputs(graph: dict[str, Any]) -> bool:
    """Return whether readers can edit inputs of an example.

    >>> has_inputs({"inputs": [], "shared": {"course_sentence.X": 0}})
    True
    """
    return bool(graph["inputs"] or graph.get("shared"))


def check_operations(implemented: Collection[str]) -> None:
    """Raise if the modules implement other operations than examples are recorded with.

    >>> check_operations(OPERATIONS - {"exp"})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    attention_docs.publish.errors.PublishError: docs/assets/live/operations.js lacks exp, which ...
    """
    tables = {f"docs/{FOLDER}/operations.js": set(implemented), LIBRARY: OPERATIONS}
    for (file, names), (other_file, other_names) in itertools.permutations(tables.items()):
        if missing := ", ".join(sorted(other_names - names)):
            raise PublishError(f"{file} lacks {missing}, which {other_file} has")


def bundle(project: Project) -> Bundle:
    """Return the bundled modules, from the cache if they have not changed.

    Raises:
        PublishError: if a module has an error.
    """
    folder = project.root / "docs" / FOLDER
    cache = project.cache.with_key("bundle", files_digest(SCRIPT, folder))
    if "bundle" not in cache:
        esbuild = project.node_modules / "esbuild" / "lib" / "main.js"
        cache["bundle"] = run_node(SCRIPT, esbuild, folder, error_prefix=f"docs/{FOLDER}/")
    return Bundle(**json.loads(cache["bundle"]))
