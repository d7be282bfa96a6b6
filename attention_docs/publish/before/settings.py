"""What the generator's settings get from the project: the navigation, the address, the footer."""

import json
import platform
from importlib.metadata import version
from typing import Any

from attention_docs.publish import assets
from attention_docs.publish.project import Project
from attention_docs.publish.repository import commit, report_link

# Otherwise the theme's logo links to a folder, and its search asks another host.
OFFLINE = {"homepage": "index.html", "polyfills": ["assets/iframe-worker.js"]}


def settings(project: Project, nav: Any) -> dict[str, Any]:
    """Return the settings of the generator that depend on the project.

    Args:
        project: the project.
        nav: the navigation in mkdocs.yml.
    """
    found = {"copyright": footer(project), "nav": pages(nav), "site_url": project.address}
    return {**found, "extra": OFFLINE} if project.offline else found


def pages(nav: Any) -> Any:
    """Return a part of `nav` with the page that each notebook becomes.

    >>> pages([{"Notebooks": ["toy.ipynb", {"Home": "index.md"}]}])
    [{'Notebooks': ['toy.md', {'Home': 'index.md'}]}]
    """
    if isinstance(nav, list):
        return [pages(item) for item in nav]
    if isinstance(nav, dict):
        return {title: pages(item) for title, item in nav.items()}
    return f"{nav.removesuffix('.ipynb')}.md" if nav.endswith(".ipynb") else nav


def footer(project: Project) -> str:
    """Name the licences, and link to a report of a wrong number if the repository is known."""
    repository = project.repository
    report = f" {report_link(repository)}." if repository else ""
    return (
        "Text CC BY 4.0, code MIT, the attention-docs contributors."
        f"{report}<br>Built with {', '.join(versions(project))}."
    )


def versions(project: Project) -> list[str]:
    """List the commit being built and the versions of what builds it."""
    katex = json.loads(assets.content(project.modules, "katex/package.json"))["version"]
    return [
        f"attention-docs {version('attention-docs')}",
        f"commit {commit(project.root)}",
        f"NumPy {version('numpy')}",
        f"Python {platform.python_version()}",
        f"KaTeX {katex}",
        f"Material for MkDocs {version('mkdocs-material')}",
    ]
