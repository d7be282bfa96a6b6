"""The footer of every page: the licences, and the commit and versions that made the site."""

import json
import platform
from importlib.metadata import version
from pathlib import Path

from attention_docs.publish import assets
from attention_docs.publish.repository import commit, report_link


def footer(root: Path, repository: str | None) -> str:
    """Write the footer, with a link to report a wrong number if the repository's URL is known."""
    report = f" {report_link(repository)}." if repository else ""
    return (
        "Text CC BY 4.0, code MIT, the attention-docs contributors."
        f"{report}<br>Built with {', '.join(versions(root))}."
    )


def versions(root: Path) -> list[str]:
    """List the commit being built and the versions of what builds it."""
    katex = json.loads(assets.content(root / "node_modules", "katex/package.json"))["version"]
    return [
        f"attention-docs {version('attention-docs')}",
        f"commit {commit(root)}",
        f"NumPy {version('numpy')}",
        f"Python {platform.python_version()}",
        f"KaTeX {katex}",
        f"Material for MkDocs {version('mkdocs-material')}",
    ]
