"""The execution of notebooks: a kernel for each, the last build's outputs, what went wrong."""

import hashlib
import json
import logging
import os
import platform
import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import numpy

from attention_docs.publish.cache import Cache
from attention_docs.publish.errors import PublishError
from attention_docs.publish.notebooks import Notebook, Outputs

if TYPE_CHECKING:
    from nbclient.exceptions import CellExecutionError

log = logging.getLogger("mkdocs.attention_docs.notebooks")

# In IPython's traceback: the number of the cell, and the line in it.
LINE_IN_CELL = re.compile(r"In\[(\d+)\], line (\d+)")
ANSI = re.compile(r"\x1b\[[\d;]*m")
KERNEL = {
    # ipykernel warns about TCP on the loopback device, which is all that a build uses.
    "IPKernelApp": {"log_level": "ERROR"},
    "HistoryManager": {"enabled": False},
}


def output_cache(root: Path) -> Cache:
    """Return the outputs of the last build, if what notebooks import is the same as then."""
    return Cache(root / ".cache" / "notebooks.json", digest(root / "attention_docs"))


def digest(package: Path) -> str:
    """Hash what an output depends on besides its notebook: versions, and the sources it can see.

    `publish/` is not among them: nothing outside it imports it, and no notebook does.
    """
    parts = [platform.python_version(), *installed()]
    for path in sorted(set(package.rglob("*.py")) - set((package / "publish").rglob("*"))):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        parts.append(f"{path.relative_to(package).as_posix()} {content}")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def installed() -> list[str]:
    """List the distributions installed beside NumPy, by folder names, which hold the versions."""
    return sorted(path.name for path in Path(numpy.__file__).parents[1].glob("*.dist-info"))


def outputs(
    notebooks: Mapping[Path, Notebook], root: Path, cache: Cache
) -> dict[Path, dict[str, Outputs]]:
    """Return what the cells of notebooks show, by their ids, executed or from the cache.

    Args:
        notebooks: each notebook by its file.
        root: the folder of the project.
        cache: the outputs of the last build; it is updated and saved.

    Raises:
        PublishError: naming the cell that failed, and how.
    """
    keys = {path: json.dumps(notebook) for path, notebook in notebooks.items()}
    new = [path for path, key in keys.items() if key not in cache]
    if new:
        isolate(root)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        executed = pool.map(lambda path: execute(notebooks[path], path, root), new)
        for path, shown in zip(new, executed, strict=True):
            cache[keys[path]] = json.dumps(shown)
    found = {path: json.loads(cache[key]) for path, key in keys.items()}
    cache.save()
    return found


def isolate(root: Path) -> None:
    """Give the kernels an IPython profile that is not the user's own."""
    profile = root / ".cache" / "ipython" / "profile_default"
    profile.mkdir(parents=True, exist_ok=True)
    (profile / "ipython_kernel_config.json").write_text(json.dumps(KERNEL), encoding="utf-8")
    os.environ["IPYTHONDIR"] = str(profile.parent)


def execute(notebook: Notebook, path: Path, root: Path) -> dict[str, Outputs]:
    """Run a notebook in a kernel of its own; return what its cells show."""
    # Not at the top: these take half as long as all other imports, and most builds execute nothing.
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError

    name = path.relative_to(root).as_posix()
    log.info("Executing %s", name)
    whole = nbformat.reads(json.dumps(notebook), as_version=4)
    try:
        NotebookClient(whole, resources={"metadata": {"path": str(path.parent)}}).execute()
    except CellExecutionError as error:
        raise PublishError(f"{name}: {failure(notebook, error)}") from error
    return {cell["id"]: cell.get("outputs", []) for cell in whole["cells"]}


def failure(notebook: Notebook, error: "CellExecutionError") -> str:
    """Say in one line which cell failed, at which line, and how."""
    what = f"{error.ename}: {error.evalue}" if error.evalue else error.ename
    found = LINE_IN_CELL.search(ANSI.sub("", error.traceback))
    if not found:
        return what
    codes = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    cell, line = codes[int(found[1]) - 1], int(found[2])
    code = "".join(cell["source"]).splitlines()[line - 1].strip()
    return f"cell {cell['id']}, line {line}: `{code}`: {what}"
