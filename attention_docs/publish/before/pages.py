"""The step before the generator: `docs/` and the examples become Markdown that it understands."""

import json
import logging
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import NamedTuple

from attention_docs import examples
from attention_docs.publish import assets
from attention_docs.publish.before import (
    contents,
    diagrams,
    execution,
    lint,
    live,
    mermaid,
    notebooks,
    values,
)
from attention_docs.publish.before.contents import Nav
from attention_docs.publish.before.figures.registry import figure_block
from attention_docs.publish.before.provenance import provenance
from attention_docs.publish.before.results import measured
from attention_docs.publish.before.values import Macros, Place
from attention_docs.publish.errors import PublishError
from attention_docs.publish.parts import Parts
from attention_docs.publish.project import Project
from attention_docs.publish.sources import Source

# A child of MkDocs' logger, so a strict build counts its warnings.
log = logging.getLogger("mkdocs.attention_docs.before")
# In `docs/`, and so on GitHub, such a link leads to the notebook itself.
LINK_TO_NOTEBOOK = re.compile(r"(\]\([\w./]+)\.ipynb(?=[#)])")


class Prepared(NamedTuple):
    """What the generator and the step after it get.

    Attributes:
        pages: the Markdown of each page, by its address.
        sources: what each was made from, by the same address.
        files: what the site holds besides `docs/`, by its path in the site.
        parts: the HTML that pages have placeholders for.
    """

    pages: dict[str, str]
    sources: dict[str, Source]
    files: dict[str, bytes]
    parts: Parts


def prepare(project: Project, nav: Nav) -> Prepared:
    """Prepare the pages of a project.

    Args:
        project: the project.
        nav: the navigation, as in mkdocs.yml.

    Raises:
        PublishError: if something in a page, an example or a figure cannot be published; a line
            for each mistake gives its place.
    """
    sources = read(project)
    execution.prepare(project.root)
    with threads_to_wait() as threads, project.examples.begun():
        pages = Pages(project, nav, sources)
        found = [source for source in sources.values() if source.is_notebook]
        for notebook in found:
            pages.check_notebook(notebook)
        executed = [threads.submit(execution.html, notebook, project) for notebook in found]
        for source in sources.values():
            if not source.is_notebook:
                source.markdown = pages.markdown(source)
        for notebook, html in zip(found, executed, strict=True):
            notebook.markdown = pages.of_notebook(notebook, html.result())
        drawing = threads.submit(pages.drawings.draw)
        files = {**scripts(project), **notebooks.downloads(found)}
        pages.parts |= drawing.result()
    for name in sorted(set(examples.names()) - pages.described):
        log.warning(r"attention_docs/examples/%s.py: no page uses \example{%s}", name, name)
    written = {a: source.front_matter + source.markdown for a, source in sources.items()}
    return Prepared(written, sources, files, pages.parts)


def read(project: Project) -> dict[str, Source]:
    """Read `docs/`, by the address of each page's Markdown, which a notebook is to become."""
    folder = project.root / "docs"
    files = sorted([*folder.rglob("*.md"), *folder.rglob("*.ipynb")])
    return {
        path.relative_to(folder).with_suffix(".md").as_posix(): Source(
            path.relative_to(folder).as_posix(), path.read_text(encoding="utf-8-sig")
        )
        for path in files
    }


@contextmanager
def threads_to_wait() -> Iterator[ThreadPoolExecutor]:
    """Give threads that wait for other programs."""
    threads = ThreadPoolExecutor()
    try:
        yield threads
    finally:
        # Where a page is wrong, nobody needs the rest.
        threads.shutdown(cancel_futures=True)


def scripts(project: Project) -> dict[str, bytes]:
    """Return the scripts of the site that are not written in `docs/`, by their paths."""
    fetched = [assets.plotly_file(project.modules)]
    if project.offline:
        fetched.append(assets.worker_shim(project.modules))
    return {**dict(fetched), **live.published(project)}


class Pages:
    """The pages while they are prepared, one after the other.

    Attributes:
        parts: the HTML that they have placeholders for.
        drawings: the diagrams in them.
        described: the examples whose provenance they show.
    """

    def __init__(self, project: Project, nav: Nav, sources: dict[str, Source]) -> None:
        self.project = project
        self.nav = nav
        self.sources = sources
        self.parts = Parts()
        self.drawings = diagrams.Diagrams(project)
        self.described: set[str] = set()

    def markdown(self, source: Source) -> str:
        """Return the Markdown of a page with all that its macros and fences stand for."""
        self.check(source)
        resolved = values.resolve(source.prose, self.macros(source), source.location)
        return self.drawings.replace_fences(LINK_TO_NOTEBOOK.sub(r"\1.md", resolved))

    def macros(self, source: Source) -> Macros:
        r"""Return what a page may write: `\val{...}` and so on."""
        steps, named_steps = self.project.examples.steps, self.project.examples.named_steps
        defer = self.parts.defer
        macros: Macros = {
            # A step of an example, rounded: `example.step`. `[0]`, `[:,1]` and `[0,1]` pick a part,
            # `.shape` gives the shape, `.shape[0]` one size of it:
            "val": lambda reference, place: values.value(reference, steps, place),
            # A number that a source prints wrongly, quoted:
            "printed": values.printed,
            # A number that the text itself chooses, or arithmetic on such numbers, like `224 - 1`:
            "number": values.number,
            # A measured result, like `parity.date`:
            "measured": lambda reference, _: measured(reference),
            # These stand on lines of their own. Where the numbers of an example come from:
            "example": lambda name, _: self.provenance(name),
            # A figure with its caption:
            "figure": lambda name, _: values.resolve_caption(
                figure_block(name, named_steps, defer), macros
            ),
            # The pages of a section of `nav`:
            "contents": lambda name, _: contents.contents(
                name, self.nav, self.sources, source.address
            ),
            # The public names that the pages of a section document:
            "overview": lambda name, _: contents.overview(
                name, self.nav, self.sources, source.address
            ),
            # A part of the page on the check:
            "check": lambda name, _: check_part(name, defer),
        }
        return macros

    def check(self, source: Source) -> None:
        found = lint.problems(source.prose, mermaid.parse, contents.summary)
        if message := "\n".join(f"{source.location(line)}: {what}" for line, what in found):
            raise PublishError(message)

    def provenance(self, name: str) -> str:
        """Say where the numbers of an example come from; it is a part: nobody searches for it."""
        steps = self.project.examples.steps(name)
        self.described.add(name)

        def write() -> str:
            changeable = live.has_inputs(json.loads(self.project.examples.graph(name)))
            return provenance(name, steps, self.project.repository, can_be_changed=changeable)

        return self.parts.defer_writing(f"provenance_of_{name}", write)

    def check_notebook(self, source: Source) -> None:
        if not source.settings.get("description"):
            raise PublishError(f"{source.file}: the notebook's metadata has no description")
        self.check(source)
        values.resolve(source.prose, dict.fromkeys(self.macros(source), refused), source.location)

    def of_notebook(self, source: Source, html: str) -> str:
        """Return a notebook as Markdown, with the outputs that its cells gave."""
        written = notebooks.page(source, html, self.project.repository, self.parts.defer)
        return self.drawings.replace_fences(written)


def check_part(name: str, defer: Callable[[str], str]) -> str:
    """Write a part of the page on the check; only that page needs the examples of the check."""
    from attention_docs.publish.before import check_page

    return check_page.part(name, defer)


def refused(argument: str, place: Place) -> str:
    raise ValueError("a notebook shows what its own cells compute")
