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

log = logging.getLogger("mkdocs")
warning_counter = CountHandler(level=logging.WARNING)
log.addHandler(warning_counter)
MKDOCSTRINGS_DIRECTIVE = re.compile(r"^::: ", re.MULTILINE)


class RenderedPages:
    """The rendered pages of earlier builds, in the cache.

    MkDocs warns of a page only while it renders it. So that the next build repeats the warnings, no
    page is stored after the first warning of a build, nor under --quiet, which hides warnings.

    Args:
        project: the project.
        config_file: the path of mkdocs.yml.
        files: the files of the site, which are the targets of links.
    """

    def __init__(self, project: Project, config_file: Path, files: Files) -> None:
        """Open the cache, and hash what all pages depend on, and all API pages."""
        link_targets = (f"{file.src_uri} {file.dest_uri}" for file in files)
        this_module = Path(__file__).read_bytes()  # which defines the format of an entry
        self.cache = project.cache.with_key(this_module, config_file.read_bytes(), *link_targets)
        # API pages link to each other, so they are rendered all or none.
        package = package_digest(project.root / "attention_docs")
        contents = (file.content_string for file in files.documentation_pages())
        api_pages = filter(MKDOCSTRINGS_DIRECTIVE.search, contents)
        self.api_digest = digest(package, *api_pages)
        self.earlier_warnings = warning_counter.get_counts()

    def __contains__(self, page: Page) -> bool:
        """Whether the HTML of a page is stored for what it depends on now."""
        return self.key(page) in self.cache

    def key(self, page: Page) -> str:
        """Return what the HTML of a page depends on besides the settings and the link targets."""
        content = page.file.content_string
        is_api_page = MKDOCSTRINGS_DIRECTIVE.search(content)
        api_digest = self.api_digest if is_api_page else ""
        return "\n".join([page.file.src_uri, content, api_digest])

    def restore(self, page: Page) -> str:
        """Set the attributes of a page that rendering it would set, and return its HTML."""
        entry = json.loads(self.cache[self.key(page)])
        page.title = entry["title"]
        page.toc = get_toc(entry["toc"])
        page.present_anchor_ids = set(entry["anchors"])
        return str(entry["html"])

    def store(self, page: Page) -> None:
        """Store a page after its cross-references are resolved, unless this build has a warning."""
        shows_warnings = log.isEnabledFor(logging.WARNING)
        has_warning = warning_counter.get_counts() != self.earlier_warnings
        if shows_warnings and not has_warning and page not in self:
            entry = {
                "html": page.content,
                "title": page.title,
                "toc": toc_tokens(page.toc),
                "anchors": sorted(page.present_anchor_ids or ()),
            }
            self.cache[self.key(page)] = json.dumps(entry)


def toc_tokens(links: Iterable[AnchorLink]) -> list[Any]:
    """Return a table of contents as the tokens from which `get_toc` restores it."""
    return [
        {
            "name": link.title,
            "id": link.id,
            "level": link.level,
            "children": toc_tokens(link.children),
        }
        for link in links
    ]


def mkdocstrings_templates(config: MkDocsConfig) -> Environment:
    """Return the Jinja environment in which mkdocstrings renders API pages."""
    mkdocstrings: Any = config.plugins["mkdocstrings"]
    env: Environment = mkdocstrings.get_handler("python").env
    return env


def cache_templates(env: Environment, root: Path) -> None:
    """Make Jinja keep compiled templates between builds."""
    folder = root / ".cache" / "templates"
    folder.mkdir(parents=True, exist_ok=True)
    env.bytecode_cache = FileSystemBytecodeCache(str(folder))
