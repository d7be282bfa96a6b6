"""Settings of the generator that come from the project: navigation, address and footer."""

import json
import platform
from importlib.metadata import version
from typing import Any

from attention_docs.publish import assets
from attention_docs.publish.project import Project
from attention_docs.publish.repository import commit, report_link

# Without these, the theme's logo would link to a folder, and its search fetch from another host.
OFFLINE_EXTRA = {"homepage": "index.html", "polyfills": ["assets/iframe-worker.js"]}


def project_settings(project: Project, nav: Any) -> dict[str, Any]:
    settings = {
        "copyright": footer(project),
        "nav": markdown_paths(nav),
        "site_url": project.address,
    }
    if project.repository:
        settings["edit_uri_template"] = f"{project.repository}/edit/main/docs/{{path}}"
    if project.offline:
        settings["extra"] = OFFLINE_EXTRA
    return settings


def markdown_paths(nav: Any) -> Any:
    """Return `nav` with the paths of notebooks replaced by the paths of their Markdown.

    >>> markdown_paths([{"Notebooks": ["toy.ipynb", {"Home": "index.md"}]}])
    [{'Notebooks': ['toy.md', {'Home': 'index.md'}]}]
    """
    if isinstance(nav, list):
        return [markdown_paths(item) for item in nav]
    if isinstance(nav, dict):
        return {title: markdown_paths(item) for title, item in nav.items()}
    return f"{nav.removesuffix('.ipynb')}.md" if nav.endswith(".ipynb") else nav


def footer(project: Project) -> str:
    """Return the footer of all pages as HTML, with the commit and the versions of the tools."""
    katex = json.loads(assets.read_file(project.node_modules, "katex/package.json"))["version"]
    links = ""
    if project.repository:
        source = f'<a href="{project.repository}">Source on GitHub</a>'
        links = f" {source}. {report_link(project.repository)}."
    return (
        f"Text CC BY 4.0, code MIT, the attention-docs contributors.{links}<br>Built with "
        f"attention-docs {version('attention-docs')}, commit {commit(project.root)}, "
        f"NumPy {version('numpy')}, Python {platform.python_version()}, KaTeX {katex}, "
        f"Material for MkDocs {version('mkdocs-material')}."
    )
