"""The scripts of a page that answers: those that compute, and the graph of each example."""

import itertools
import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from attention_docs.live.library import OPERATIONS
from attention_docs.publish.cache import sources_digest
from attention_docs.publish.errors import PublishError
from attention_docs.publish.node import run_node
from attention_docs.publish.project import Project

SCRIPT = Path(__file__).with_name("bundle.mjs")
FOLDER = "assets/live"
LIBRARY = "attention_docs/live/library.py"


class Bundle(NamedTuple):
    """The modules that run in the browser.

    Attributes:
        script: all of them in a classic script: browsers refuse modules from a file.
        operations: what they can compute, by the names of the array API standard.
    """

    script: str
    operations: list[str]


def published(project: Project) -> dict[str, bytes]:
    """Return the script of all pages, by its path in the site.

    Raises:
        PublishError: if the page computes other operations than examples are recorded with.
    """
    joined = bundle(project)
    check_operations(joined.operations)
    return {"assets/live.js": joined.script.encode()}


def graph_scripts(written: Mapping[str, str]) -> dict[str, str]:
    """Return the script of each example by its path in the site, from their graphs by name."""
    return {f"{FOLDER}/{name}.js": script(name, graph) for name, graph in written.items()}


def script(name: str, graph: str) -> str:
    """Write a graph as a classic script: from a file, browsers refuse to fetch JSON.

    >>> script("self_attention", '{"version":1}')
    'attentionDocs.graphs["self_attention"]={"version":1};'
    """
    return f'attentionDocs.graphs["{name}"]={graph};'


def has_inputs(graph: dict[str, Any]) -> bool:
    """Tell whether a reader can change what an example computes with.

    >>> has_inputs({"inputs": [], "shared": {"course_sentence.X": 0}})
    True
    """
    return bool(graph["inputs"] or graph.get("shared"))


def check_operations(computed: Collection[str]) -> None:
    """Refuse modules that compute other operations than examples are recorded with.

    >>> check_operations(OPERATIONS - {"exp"})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    attention_docs.publish.errors.PublishError: docs/assets/live/operations.js lacks exp, which ...
    """
    tables = {f"docs/{FOLDER}/operations.js": set(computed), LIBRARY: OPERATIONS}
    for (one, some), (other, others) in itertools.permutations(tables.items()):
        if missing := ", ".join(sorted(others - some)):
            raise PublishError(f"{one} lacks {missing}, which {other} has")


def bundle(project: Project) -> Bundle:
    """Join the modules, or return what the last build made of the same ones.

    Raises:
        PublishError: if one of them has a mistake.
    """
    folder = project.root / "docs" / FOLDER
    cache = project.cache.part("bundle", sources_digest(SCRIPT, folder))
    if "bundle" not in cache:
        esbuild = project.modules / "esbuild" / "lib" / "main.js"
        cache["bundle"] = run_node(SCRIPT, esbuild, folder, error_prefix=f"docs/{FOLDER}/")
    return Bundle(**json.loads(cache["bundle"]))
