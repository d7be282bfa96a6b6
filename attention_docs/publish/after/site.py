"""The phase after the generator: turn its output into the published site."""

import re
import shutil
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from attention_docs import examples
from attention_docs.lookup import look_up, look_up_labels
from attention_docs.publish import inserts, repository
from attention_docs.publish.after import (
    fonts,
    formulas,
    layout,
    names,
    policy,
    preload,
    search,
    sitemap,
    styles,
    tables,
)
from attention_docs.publish.after.formulas import Formula, LabelledArray
from attention_docs.publish.before import live
from attention_docs.publish.before.pages import Prepared
from attention_docs.publish.page_files import PageFile
from attention_docs.publish.project import Project
from attention_docs.render.table import labels_of

SOURCE_MAP = re.compile(r"//# sourceMappingURL=\S+")
FORMULA_STYLE_SHEET = "assets/katex/katex.min.css"


def finish(site: Path, project: Project, prepared: Prepared) -> None:
    """Finish a site that the generator has written."""
    pages = {
        path: inserts.insert(page, prepared.inserts) for path, page in read_pages(site).items()
    }
    page_files = {
        path: page_file
        for path in pages
        if (page_file := find_page_file(path, prepared.page_files))
    }
    typeset = typeset_formulas(project, pages, page_files)
    search.write_index(site, pages, offline=project.offline)
    pages = complete_pages(pages, typeset, project)
    write_text(site / FORMULA_STYLE_SHEET, fonts.style_sheet(project, typeset.values()))
    for name in examples.names():
        script = live.graph_script(name, project.examples.graph(name))
        write_text(site / live.FOLDER / f"{name}.js", script)
    sitemap.set_date(site, repository.commit_day(project.root))
    if not project.preview:
        remove_unused_files(site)
        pages = styles.remove_unused(site, pages)
    # The policy would block the script of live reload, and the script of the offline search, which
    # contains the path of the reader's folder.
    if not (project.preview or project.offline):
        pages = policy.add_policy(pages)
    for path, page in pages.items():
        write_text(site / path, page)
    project.cache.prune()


def read_pages(site: Path) -> dict[str, str]:
    # read_text would change line endings, which the hashes of scripts cover.
    return {
        path.relative_to(site).as_posix(): path.read_bytes().decode()
        for path in site.rglob("*.html")
    }


def complete_pages(
    pages: Mapping[str, str], typeset: Mapping[Formula, str], project: Project
) -> dict[str, str]:
    """Return the pages with all that the generator left out: formulas, aligned tables and so on."""

    def look_up_matrix(reference: str) -> LabelledArray:
        array = np.asarray(look_up(reference, project.examples.steps))
        return LabelledArray(array, labels_of(look_up_labels(reference)))

    completed_pages = {}
    for path, page in pages.items():
        page = search.with_worker(page, offline=project.offline)
        page = formulas.insert(page, typeset, look_up_matrix)
        page = tables.align_numbers(page)
        page = names.allow_breaks(page)
        page = layout.add_classes(page)
        # Browsers refuse to preload from files.
        completed_pages[path] = page if project.offline else preload.with_preloads(page)
    return completed_pages


def write_text(path: Path, text: str) -> None:
    """Write text to a file without changing line endings; create the folder if it is missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())


def remove_unused_files(site: Path) -> None:
    """Remove the theme's source maps, and its search in other languages than English."""
    for path in site.rglob("*.map"):
        path.unlink()
        source = path.with_suffix("")
        write_text(source, SOURCE_MAP.sub("", source.read_bytes().decode()))
    shutil.rmtree(site / "assets" / "javascripts" / "lunr")


def find_page_file(path: str, page_files: Mapping[str, PageFile]) -> PageFile | None:
    """Return the file in `docs/` of a page, or None if the theme generated the page.

    >>> find_page_file("masks/index.html", {"masks.md": PageFile("masks.md", "# Masks")}).file
    'docs/masks.md'
    """
    stem = path.removesuffix(".html")
    return page_files.get(f"{stem}.md") or page_files.get(f"{stem.removesuffix('/index')}.md")


def typeset_formulas(
    project: Project, pages: Mapping[str, str], page_files: Mapping[str, PageFile]
) -> dict[Formula, str]:
    """Typeset the formulas of all pages at once: starting KaTeX takes longer than running it."""
    page_file_of_formula = formulas.first_pages(
        (page_files[path], pages[path]) for path in sorted(page_files)
    )

    def locate(formula: Formula) -> str:
        return page_file_of_formula[formula].locate_text(formula.tex)

    return formulas.typeset(page_file_of_formula, project, locate)
