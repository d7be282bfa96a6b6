"""What MkDocs and the theme prepared in earlier builds: rendered pages, compiled templates."""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemBytecodeCache
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page
from mkdocs.structure.toc import AnchorLink, get_toc

from attention_docs.publish.cache import digest, package_digest
from attention_docs.publish.project import Project

# What mkdocstrings replaces.
ENTRY = re.compile(r"^::: ", re.MULTILINE).search


class Rendered:
    """The rendered pages of earlier builds.

    Warnings of MkDocs about links in them are no loss: the step after it checks all links again.

    Args:
        project: the project.
        settings: the file with MkDocs' settings.
        files: all that a link can lead to.
    """

    def __init__(self, project: Project, settings: Path, files: Files) -> None:
        targets = (f"{file.src_uri} {file.dest_uri}" for file in files)
        entries = filter(ENTRY, (file.content_string for file in files.documentation_pages()))
        self.cache = project.cache.part(settings.read_bytes(), *targets)
        # Entries of the reference link to each other, so all are rendered, or none.
        self.reference = digest(package_digest(project.root / "attention_docs"), *entries)

    def __contains__(self, page: Page) -> bool:
        return self.key(page) in self.cache

    def key(self, page: Page) -> str:
        text = page.file.content_string
        return "\n".join([page.file.src_uri, text, self.reference if ENTRY(text) else ""])

    def restore(self, page: Page) -> str:
        """Set what MkDocs would learn of a page by rendering it, and return its HTML."""
        html, toc, page.title, anchors = json.loads(self.cache[self.key(page)])
        page.toc, page.present_anchor_ids = get_toc(toc), set(anchors)
        return str(html)

    def store(self, page: Page) -> None:
        """Store a page whose references are resolved."""
        if page not in self:
            rest = tokens(page.toc), page.title, sorted(page.present_anchor_ids or ())
            self.cache[self.key(page)] = json.dumps([page.content, *rest])


def tokens(links: Iterable[AnchorLink]) -> list[Any]:
    """Return a table of contents as what `get_toc` makes one of."""
    return [
        {"name": link.title, "id": link.id, "level": link.level, "children": tokens(link.children)}
        for link in links
    ]


def reference_templates(config: MkDocsConfig) -> Environment:
    mkdocstrings: Any = config.plugins["mkdocstrings"]
    env: Environment = mkdocstrings.get_handler("python").env
    return env


def keep_compiled_templates(env: Environment, root: Path) -> None:
    """Have Jinja store compiled templates between builds."""
    folder = root / ".cache" / "templates"
    folder.mkdir(parents=True, exist_ok=True)
    env.bytecode_cache = FileSystemBytecodeCache(str(folder))
