"""The step after the generator: `site/` becomes what is published."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from attention_docs.arrays import Array
from attention_docs.publish import parts, repository
from attention_docs.publish.after import (
    fonts,
    formulas,
    links,
    origins,
    pictures,
    policy,
    preload,
    search,
    sitemap,
    styles,
)
from attention_docs.publish.after.formulas import Formula
from attention_docs.publish.before import live
from attention_docs.publish.before.pages import Prepared
from attention_docs.publish.before.values import look_up
from attention_docs.publish.errors import PublishError
from attention_docs.publish.project import Project
from attention_docs.publish.sources import Source

# A child of MkDocs' logger, so a strict build counts its warnings.
log = logging.getLogger("mkdocs.attention_docs.after")
FORMULA_STYLE = "assets/katex/katex.min.css"


def finish(site: Path, project: Project, prepared: Prepared, templates: Sequence[str]) -> None:
    """Finish a site that the generator has written; what must be mended in it is a warning.

    Args:
        site: the folder of the site.
        project: the project.
        prepared: what the pages were made from.
        templates: the folders of the theme, whose inline scripts may run.

    Raises:
        PublishError: if KaTeX rejects a formula, or a page would fetch or run what it must not.
    """
    pages = {path.relative_to(site).as_posix(): read(path) for path in site.rglob("*.html")}
    sources = {path: source for path in pages if (source := source_of(path, prepared.sources))}
    pages = {path: parts.insert(page, prepared.parts) for path, page in pages.items()}
    # Formulas, most of a page's HTML, have neither ids nor links, so they come later.
    seen = {path: links.seen(pages[path]) for path in sources}
    with ThreadPoolExecutor(1) as meanwhile:
        # KaTeX runs in a process of its own.
        typesetting = meanwhile.submit(typeset_formulas, project, dict(pages), sources)
        if project.address and not project.preview:
            pages |= pictures.with_pictures(site, pages, sources, project)
        typeset = typesetting.result()
    write(site / FORMULA_STYLE, fonts.style_sheet(project, typeset.values()))

    def matrix(reference: str) -> Array:
        return np.asarray(look_up(reference, project.examples.steps))

    for path, page in pages.items():
        done = formulas.insert(search.with_worker(page, offline=project.offline), typeset, matrix)
        # Browsers refuse a preload from a file.
        write(site / path, done if project.offline else preload.with_preloads(done))
    for path, script in live.graph_scripts(project.examples.graphs()).items():
        write(site / path, script)
    sitemap.date(site, repository.commit_day(project.root))
    search.cut_index(site, offline=project.offline)
    if problems := list(origin_problems(site, sources, templates)):
        raise PublishError("\n".join(problems))
    for problem in link_problems(site, sources, seen, project.root / "mkdocs.yml"):
        log.warning(problem)
    if not project.preview:
        styles.publish(site)
    # Live reload adds a script to each page, which the policy would block. So would it block the
    # shim of the offline search, whose inline script has the reader's own folder in it.
    if not (project.preview or project.offline):
        policy.enforce(site)
    project.cache.prune()


def read(path: Path) -> str:
    """Read a page and keep its line ends, which the hash of a script covers."""
    return path.read_bytes().decode()


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())


def source_of(path: str, sources: Mapping[str, Source]) -> Source | None:
    """Return what a page of the site was written from; the theme writes some by itself.

    >>> source_of("masks/index.html", {"masks.md": Source("masks.md", "# Masks")}).file
    'docs/masks.md'
    """
    stem = path.removesuffix(".html")
    return sources.get(f"{stem}.md") or sources.get(f"{stem.removesuffix('/index')}.md")


def typeset_formulas(
    project: Project, pages: Mapping[str, str], sources: Mapping[str, Source]
) -> dict[Formula, str]:
    """Typeset the formulas of all pages at once: to start KaTeX takes longer than to run it."""
    first = formulas.first_pages((sources[path], pages[path]) for path in sorted(sources))
    return formulas.typeset(first, project, lambda item: first[item].locate_text(item.tex))


def origin_problems(
    site: Path, sources: Mapping[str, Source], templates: Sequence[str]
) -> Iterator[str]:
    """Say where a page or a style sheet would run or fetch what it must not."""
    for path, problem in origins.site_problems(site, origins.known_scripts(templates)):
        place = f"{sources[path].file}: " if path in sources else ""
        yield f"{place}site/{path}: {problem}"


def link_problems(
    site: Path, sources: Mapping[str, Source], seen: Mapping[str, links.Seen], settings: Path
) -> Iterator[str]:
    """Say which ids pages have twice, and which links lead nowhere."""
    for path, page in seen.items():
        for name in links.repeated(page):
            yield f"{sources[path].locate_id(name)}: duplicate id {name!r}"

    def exists(url: str) -> bool:
        return (site / url).is_file() or (site / url / "index.html").is_file()

    by_url = {path.removesuffix("index.html") or "./": path for path in seen}
    pages = {url: seen[path] for url, path in by_url.items()}
    for url, link, target in links.broken(pages, exists):
        spot = sources[by_url[url]].locate_link(link, target, settings)
        yield f"{spot}: broken link {link!r}"
