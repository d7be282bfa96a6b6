"""What Markdown makes of a page, kept from the last build for each page that has not changed.

It takes a third of a build, most of all the highlighting and the reference.
"""

import json
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page
from mkdocs.structure.toc import AnchorLink, TableOfContents
from mkdocs.utils import CountHandler

from attention_docs.publish.cache import Cache, package_digest
from attention_docs.publish.diagrams import Diagrams

Record = dict[str, Any]
# In mkdocs.yml the reference is a plugin; this is another, which that one brings.
REFERENCES = "autorefs"


def page_cache(root: Path, files: Files) -> Cache:
    """Return the pages of the last build, if all but their Markdown is the same as then.

    That is the settings, every installed version, the sources that the reference is made from, how
    a diagram is written, and which files a link can lead to.
    """
    return Cache(
        root / ".cache" / "pages.json",
        package_digest(root / "attention_docs"),
        (root / "mkdocs.yml").read_bytes(),
        Path(__file__).with_name("diagrams.py").read_bytes(),
        *sorted(f"{file.src_uri} {file.dest_uri}" for file in files),
    )


def render(
    page: Page, config: MkDocsConfig, files: Files, cache: Cache, diagrams: Diagrams
) -> None:
    """Do what `page.render` does, or take its results from the cache.

    A page of which MkDocs has something to say is not stored, so the next build says it again.
    """
    key = f"{page.file.src_uri}\n{page.markdown}"
    references = config.plugins[REFERENCES]
    if key in cache:
        restore(json.loads(cache[key]), page, files, references, diagrams)
        return
    anchors: list[Any] = []
    with recorded(references, anchors), warnings() as told:
        type(page).render(page, config, files)
    if not told():
        cache[key] = json.dumps(record(page, anchors, diagrams))


@contextmanager
def recorded(references: Any, anchors: list[Any]) -> Iterator[None]:
    """Remember which anchors a page registers for cross-references."""

    def register(page: Page, *arguments: Any, **options: Any) -> None:
        anchors.append((arguments, options))
        type(references).register_anchor(references, page, *arguments, **options)

    references.register_anchor = register
    yield
    del references.register_anchor


@contextmanager
def warnings() -> Iterator[Callable[[], object]]:
    """Listen to MkDocs and its plugins; yields a function that tells whether one warns.

    In a quiet build it is always true, because there nobody can hear a warning.
    """
    counter = CountHandler()
    counter.setLevel(logging.WARNING)
    logger = logging.getLogger("mkdocs")
    logger.addHandler(counter)
    yield lambda: not logger.isEnabledFor(logging.WARNING) or counter.get_counts()
    logger.removeHandler(counter)


def record(page: Page, anchors: list[Any], diagrams: Diagrams) -> Record:
    """Return as JSON all that rendering has left in a page, in the references and the diagrams."""
    links = page.links_to_anchors or {}
    return {
        "content": page.content,
        "toc": [contents(anchor) for anchor in page.toc],
        "title": page._title_from_render,
        "ids": sorted(page.present_anchor_ids or ()),
        "links": {file.src_uri: found for file, found in links.items()},
        "anchors": anchors,
        "diagrams": diagrams.sources_in(page.content or ""),
    }


def restore(found: Record, page: Page, files: Files, references: Any, diagrams: Diagrams) -> None:
    page.content = found["content"]
    page.toc = TableOfContents([anchor_link(entry) for entry in found["toc"]])
    page._title_from_render = found["title"]
    page.present_anchor_ids = set(found["ids"])
    links = ((files.get_file_from_path(uri), linked) for uri, linked in found["links"].items())
    page.links_to_anchors = {file: linked for file, linked in links if file}
    for arguments, options in found["anchors"]:
        references.register_anchor(page, *arguments, **options)
    diagrams.sources.update(found["diagrams"])


def contents(anchor: AnchorLink) -> list[Any]:
    return [anchor.title, anchor.id, anchor.level, [contents(child) for child in anchor.children]]


def anchor_link(entry: list[Any]) -> AnchorLink:
    title, name, level, children = entry
    anchor = AnchorLink(title, name, level)
    anchor.children = [anchor_link(child) for child in children]
    return anchor
