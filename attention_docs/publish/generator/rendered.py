"""Rendered pages and compiled templates of earlier builds."""

import json
import logging
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemBytecodeCache
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page
from mkdocs.structure.toc import AnchorLink, get_toc
from mkdocs.utils import CountHandler

from attention_docs.publish.cache import digest, package_digest
from attention_docs.publish.project import Project

LOG = logging.getLogger("mkdocs")
WARNINGS = CountHandler(level=logging.WARNING)
LOG.addHandler(WARNINGS)
# A directive of mkdocstrings.
DIRECTIVE = re.compile(r"^::: ", re.MULTILINE).search


class Rendered:
    """The rendered pages of earlier builds.

    Nothing is stored once a build has a warning, or would not show one, so the next build repeats
    it.

    Args:
        project: the project.
        settings: the path of mkdocs.yml.
        files: the files of the site, which are the targets of links.
    """

    def __init__(self, project: Project, settings: Path, files: Files) -> None:
        targets = (f"{file.src_uri} {file.dest_uri}" for file in files)
        contents = (file.content_string for file in files.documentation_pages())
        self.cache = project.cache.with_key(settings.read_bytes(), *targets)
        # Pages of the reference link to each other, so they are rendered all or none.
        package = package_digest(project.root / "attention_docs")
        self.reference_digest = digest(package, *filter(DIRECTIVE, contents))
        self.warnings = WARNINGS.get_counts()

    def __contains__(self, page: Page) -> bool:
        return self.key(page) in self.cache

    def key(self, page: Page) -> str:
        content = page.file.content_string
        reference_digest = self.reference_digest if DIRECTIVE(content) else ""
        return "\n".join([page.file.src_uri, content, reference_digest])

    def restore(self, page: Page) -> str:
        """Set the attributes of a page that rendering it would set, and return its HTML."""
        html, toc, page.title, anchors = json.loads(self.cache[self.key(page)])
        page.toc, page.present_anchor_ids = get_toc(toc), set(anchors)
        return str(html)

    def store(self, page: Page) -> None:
        """Store a page whose references are resolved."""
        is_clean = LOG.isEnabledFor(logging.WARNING) and WARNINGS.get_counts() == self.warnings
        if is_clean and page not in self:
            anchors = sorted(page.present_anchor_ids or ())
            entry = [page.content, toc_tokens(page.toc), page.title, anchors]
            self.cache[self.key(page)] = json.dumps(entry)


def toc_tokens(links: Iterable[AnchorLink]) -> list[Any]:
    """Return a table of contents as the tokens that `get_toc` accepts."""
    return [
        {
            "name": link.title,
            "id": link.id,
            "level": link.level,
            "children": toc_tokens(link.children),
        }
        for link in links
    ]


def reference_templates(config: MkDocsConfig) -> Environment:
    mkdocstrings: Any = config.plugins["mkdocstrings"]
    env: Environment = mkdocstrings.get_handler("python").env
    return env


def cache_templates(env: Environment, root: Path) -> None:
    """Make Jinja keep compiled templates between builds."""
    folder = root / ".cache" / "templates"
    folder.mkdir(parents=True, exist_ok=True)
    env.bytecode_cache = FileSystemBytecodeCache(str(folder))
