"""The phase after the generator: turn its output into the published site."""

import gzip
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from attention_docs.publish import inserts, repository
from attention_docs.publish.after import fonts, formulas, markup, policy, search, styles, tables
from attention_docs.publish.page_files import PageFile
from attention_docs.publish.project import Project

SOURCE_MAP = re.compile(r"//# sourceMappingURL=\S+")
LAST_MODIFIED = re.compile(r"(?<=<lastmod>)[^<]*")
FORMULA_STYLE_SHEET = "assets/katex/katex.min.css"


def finish(
    site: Path, project: Project, page_files: Mapping[str, PageFile], html: Mapping[str, str]
) -> None:
    """Finish a site that the generator has written.

    Args:
        page_files: the file of each page, by the path of its Markdown.
        html: what replaces the placeholders in pages.
    """
    # read_text would change line endings, which the hashes of scripts cover.
    pages = {
        path.relative_to(site).as_posix(): inserts.insert(path.read_bytes().decode(), html)
        for path in site.rglob("*.html")
    }
    typeset = typeset_formulas(project, pages, page_files)
    search.write_index(site, pages, offline=project.offline)
    for path, page in pages.items():
        page = search.with_worker(page, offline=project.offline)
        page = inserts.insert(formulas.insert(page, typeset), html)
        page = tables.align_numbers(page)
        page = markup.allow_breaks(page)
        page = markup.without_blank_lines(markup.add_classes(page))
        # Browsers refuse to preload from files.
        pages[path] = page if project.offline else markup.with_preloads(page)
    write_text(site / FORMULA_STYLE_SHEET, fonts.style_sheet(project, typeset.values()))
    set_date_of_sitemap(site, repository.commit_day(project.root))
    if not project.preview:
        remove_unused_files(site)
        pages = styles.remove_unused(site, pages)
    # The policy would block the script of live reload, and the script of the offline search, which
    # contains the path of the reader's folder.
    if not (project.preview or project.offline):
        pages = policy.add_policy(pages)
    for path, page in pages.items():
        write_text(site / path, page)
    for path, page_file in page_files.items():
        write_text(site / path, page_file.plain)
    project.cache.prune()


def typeset_formulas(
    project: Project, pages: Mapping[str, str], page_files: Mapping[str, PageFile]
) -> dict[formulas.Formula, str]:
    """Typeset the formulas of all pages at once: starting KaTeX takes longer than running it."""
    first_page: dict[formulas.Formula, PageFile] = {}
    for path, page in sorted(pages.items()):
        if page_file := find_page_file(path, page_files):
            for formula in formulas.formulas(page):
                first_page.setdefault(formula, page_file)
    return formulas.typeset(
        first_page, project, lambda formula: first_page[formula].locate_text(formula.tex)
    )


def find_page_file(path: str, page_files: Mapping[str, PageFile]) -> PageFile | None:
    """Return the file in `docs/` of a page, or None if the theme generated the page.

    >>> find_page_file("masks/index.html", {"masks.md": PageFile("masks.md", "# Masks")}).file
    'docs/masks.md'
    """
    stem = path.removesuffix(".html")
    return page_files.get(f"{stem}.md") or page_files.get(f"{stem.removesuffix('/index')}.md")


def write_text(path: Path, text: str) -> None:
    """Write text to a file without changing line endings; create the folder if it is missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())


def set_date_of_sitemap(site: Path, day: str) -> None:
    """Set all dates in the sitemap to the day of the last commit, if there is one.

    With the dates of the build, it would not be reproducible.
    """
    sitemap = site / "sitemap.xml"
    if day and sitemap.is_file():
        content = LAST_MODIFIED.sub(day, sitemap.read_text(encoding="utf-8")).encode()
        sitemap.write_bytes(content)
        # A time of 0 makes the archive reproducible.
        sitemap.with_suffix(".xml.gz").write_bytes(gzip.compress(content, mtime=0))


def remove_unused_files(site: Path) -> None:
    """Remove the theme's source maps, and its search in other languages than English."""
    for path in site.rglob("*.map"):
        path.unlink()
        source = path.with_suffix("")
        write_text(source, SOURCE_MAP.sub("", source.read_bytes().decode()))
    shutil.rmtree(site / "assets" / "javascripts" / "lunr", ignore_errors=True)  # Zensical has none
