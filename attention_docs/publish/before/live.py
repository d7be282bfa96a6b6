"""Scripts of the interactive pages: the bundled modules, and the graph of each example."""

import json
from pathlib import Path

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


def bundled_scripts(project: Project) -> dict[str, bytes]:
    """Return the scripts that pages share, by their paths in the site, from the cache if possible.

    `live` has the modules that every page loads, as one classic script, because browsers refuse to
    load modules from a file; few pages or visitors load the others. The operations that the modules
    implement must be exactly those that are recorded.
    """
    folder = project.root / "docs" / FOLDER
    cache = project.cache.with_version("bundle", files_digest(SCRIPT, folder))
    if "bundle" not in cache:
        esbuild = project.node_modules / "esbuild" / "lib" / "main.js"
        cache["bundle"] = run_node(SCRIPT, esbuild, folder, error_prefix=f"docs/{FOLDER}/")
    bundle = json.loads(cache["bundle"])
    operations = {IN_BROWSER: set(bundle["operations"]), IN_RECORDER: OPERATIONS}
    for file, other_file in ((IN_BROWSER, IN_RECORDER), (IN_RECORDER, IN_BROWSER)):
        missing = sorted(operations[other_file] - operations[file])
        if missing:
            raise PublishError(f"{file} lacks {', '.join(missing)}, which {other_file} has")
    scripts = {"live": bundle["script"], **bundle["optional_scripts"]}
    return {f"assets/{name}.js": script.encode() for name, script in scripts.items()}


def graph_scripts(project: Project) -> dict[str, bytes]:
    """Return the graphs as classic scripts, because browsers refuse to fetch JSON from a file."""
    return {
        f"{FOLDER}/{name}.js": (
            f'attentionDocs.graphs["{name}"]={project.examples.graph(name)};'.encode()
        )
        for name in examples.names()
    }
