"""The phase before the generator: convert `docs/` and the examples to standard Markdown."""

import json
import logging
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

from attention_docs import examples
from attention_docs.figures.course_at_full_size import sentence_scripts
from attention_docs.figures.course_writing import written_sentence
from attention_docs.figures.sentence import sentences
from attention_docs.figures.side_panel import side_panel
from attention_docs.lookup import CHECK_RESULTS, RESULTS
from attention_docs.publish import assets
from attention_docs.publish.before import (
    claims,
    contents,
    controls,
    diagrams,
    execution,
    lint,
    live,
    notebooks,
    plain,
    sessions,
    values,
)
from attention_docs.publish.before.contents import Nav
from attention_docs.publish.before.exercises import dares, questions
from attention_docs.publish.before.figures import figure_block
from attention_docs.publish.before.provenance import provenance
from attention_docs.publish.before.results import measured
from attention_docs.publish.before.values import Context, Macros
from attention_docs.publish.cache import files_digest
from attention_docs.publish.errors import PublishError
from attention_docs.publish.inserts import Inserts
from attention_docs.publish.page_files import PageFile
from attention_docs.publish.project import Project

# A child of MkDocs' logger, so a strict build counts its warnings.
log = logging.getLogger("mkdocs.attention_docs.before")
# In `docs/`, such a link leads to the notebook; on the site, it must lead to its page.
LINK_TO_NOTEBOOK = re.compile(r"(\]\([\w./]+)\.ipynb(?=[#)])")
EXAMPLE = re.compile(r"\\example\{([^{}]*)\}")
# The section of `nav` whose pages are numbered.
COURSE = "The course"


class Prepared(NamedTuple):
    """Input of the generator and of the phase after it.

    Attributes:
        pages: the Markdown of each page, by its path.
        page_files: the file of each page, by the same path.
        files: other files, by their paths in the site.
        inserts: the HTML that replaces placeholders in finished pages.
    """

    pages: dict[str, str]
    page_files: dict[str, PageFile]
    files: dict[str, bytes]
    inserts: Inserts


def prepare(project: Project, nav: Nav) -> Prepared:
    page_files = read_page_files(project)
    execution.configure_jupyter(project.root)
    converter = MarkdownConverter(project, nav, page_files)
    converter.convert_page_files()
    converter.inserts |= converter.diagrams.draw()
    files = {
        **live.bundled_scripts(project),
        **live.graph_scripts(project),
        **sentence_scripts(),
        **notebooks.downloads(page_files.values(), project.repository),
        "llms.txt": plain.index(project.name, nav, page_files, project.address).encode(),
    }
    if project.offline:
        # The shim that the search needs where the site is read from files.
        shim = assets.read_file(project.node_modules, "iframe-worker/shim/index.js")
        files["assets/iframe-worker.js"] = shim
    for name in sorted(set(examples.names()) - converter.used_examples):
        log.warning(r"attention_docs/examples/%s.py: no page uses \example{%s}", name, name)
    markdown = {
        path: page_file.front_matter + converter.with_progress(path, page_file.markdown)
        for path, page_file in page_files.items()
    }
    return Prepared(markdown, page_files, files, converter.inserts)


def read_page_files(project: Project) -> dict[str, PageFile]:
    """Read the pages and notebooks in `docs/`.

    The keys are the paths of their Markdown: `notebooks/toy.ipynb` has the key `notebooks/toy.md`.
    """
    folder = project.root / "docs"
    page_files = {}
    for file in sorted([*folder.rglob("*.md"), *folder.rglob("*.ipynb")]):
        path = file.relative_to(folder)
        content = file.read_text(encoding="utf-8-sig")
        page_files[path.with_suffix(".md").as_posix()] = PageFile(path.as_posix(), content)
    return page_files


class MarkdownConverter:
    """Converts the files of pages to Markdown for the generator.

    Attributes:
        used_examples: the examples whose provenance the pages show.
    """

    def __init__(self, project: Project, nav: Nav, page_files: dict[str, PageFile]) -> None:
        self.project = project
        self.nav = nav
        self.page_files = page_files
        self.inserts = Inserts()
        self.diagrams = diagrams.Diagrams(project)
        # The texts whose claims hold; checking those of all pages takes three seconds.
        self.checked = project.examples.cache.with_version(
            files_digest(Path(__file__).parent, RESULTS, CHECK_RESULTS)
        )
        self.used_examples: set[str] = set()

    def convert_page_files(self) -> None:
        """Set the attribute `markdown` of each page and notebook.

        Notebooks are executed in other processes while the pages are converted.
        """
        page_files = self.page_files.values()
        notebook_files = [page_file for page_file in page_files if page_file.is_notebook]
        for page_file in notebook_files:
            self.check_notebook(page_file)
        with ThreadPoolExecutor() as threads:
            executed = threads.map(
                partial(execution.notebook_html, project=self.project), notebook_files
            )
            for page_file in page_files:
                if not page_file.is_notebook:
                    page_file.markdown = self.page_markdown(page_file)
            for page_file, html in zip(notebook_files, executed, strict=True):
                markdown = notebooks.markdown_page(
                    page_file, html, self.project.repository, self.inserts.add
                )
                page_file.markdown = self.diagrams.replace_fences(markdown)
                page_file.plain = plain.plain_markdown(markdown)

    def page_markdown(self, page_file: PageFile) -> str:
        self.check(page_file)
        macros = self.macros(page_file)
        page_macros = self.macros_of_section(macros, page_file)
        resolved = values.resolve(page_file.prose, page_macros, page_file.location)
        page_file.plain = self.plain_markdown(page_file, macros)
        with_page_links = LINK_TO_NOTEBOOK.sub(r"\1.md", resolved)
        with_placeholders = self.diagrams.replace_fences(with_page_links)
        with_install = sessions.with_install_line(with_placeholders, self.project.repository)
        return sessions.mark_sessions(with_install)

    def plain_markdown(self, page_file: PageFile, macros: Macros) -> str:
        """Return the Markdown that is published beside the page, for other programs."""
        all_plain = plain.plain_macros(macros, self.project.examples.steps)
        plain_macros = self.macros_of_section(all_plain, page_file)
        resolved = values.resolve(page_file.prose, plain_macros, page_file.location)
        with_install = sessions.with_install_line(resolved, self.project.repository)
        return plain.plain_markdown(LINK_TO_NOTEBOOK.sub(r"\1.md", with_install))

    def macros_of_section(self, macros: Macros, page_file: PageFile) -> Macros:
        """Return macros that print short numbers on pages of the course and with `numbers: short`.

        Those of code and those that a dare compares are not short.
        """
        is_course = page_file.path.startswith("course/")
        is_short = is_course or "numbers: short" in page_file.front_matter
        if not is_short or page_file.path.endswith("yourself.md"):
            return macros
        exact = {name: macros[name] for name in ("example", "dare")}
        return {**values.with_short_numbers(macros), **exact}

    def with_progress(self, path: str, markdown: str) -> str:
        """Add “Course, page 2 of 10” below the title of a page of the course.

        Above the title, the search would take it for a section.
        """
        progress = contents.progress(COURSE, self.nav, path)
        if not progress:
            return markdown
        return contents.TITLE.sub(lambda title: f"{title[0]}\n\n{progress}", markdown, count=1)

    def macros(self, page_file: PageFile) -> Macros:
        steps = self.project.examples.steps
        add_insert = self.inserts.add
        navigation = (self.nav, self.page_files, page_file.path)
        macros: Macros = {
            # A step of an example, rounded: `example.step`. `[0]`, `[:,1]` and `[0,1]` index it,
            # `.shape` is its shape, `.shape[0]` one of its sizes:
            "val": lambda reference, context: values.value(reference, steps, context, add_insert),
            # A wrong number, quoted from a publication:
            "printed": values.printed,
            # Arithmetic on numbers that the text chooses, like `224 - 1`:
            "number": values.number,
            # A measured result, like `parity.date`:
            "measured": lambda reference, _: measured(reference),
            # The macros below stand on lines of their own. The provenance of an example's numbers:
            "example": lambda name, _: self.provenance(name, page_file),
            # A figure with its caption:
            "figure": lambda name, _: values.resolve_caption(
                figure_block(name, steps, add_insert), macros
            ),
            # The panel beside a page of the course:
            "panel": lambda name, _: side_panel(name, steps, add_insert),
            # Both sentences of the course in large words, with the shares of each word:
            "sentences": lambda _, __: sentences(steps, add_insert),
            # A sentence that the learned model writes:
            "writing": lambda _, __: written_sentence(steps, add_insert),
            # The pages of a section of `nav`:
            "contents": lambda title, _: contents.contents(title, *navigation),
            # The same with the time it takes to read each page:
            "lessons": lambda title, _: contents.contents(title, *navigation, has_minutes=True),
            # The time it takes to read the pages of a section, in running text:
            "minutes": lambda title, _: contents.minutes(title, self.nav, self.page_files),
            # The public names that the pages of a section document:
            "overview": lambda title, _: contents.overview(title, *navigation),
            # A button that copies the code of a section of this page:
            "program": lambda heading, _: add_insert(
                sessions.copy_button(page_file.prose, heading)
            ),
            # A question whose answer the page checks: `example.step[0,1] | name | hint`:
            "ask": lambda argument, _: add_insert(questions.question(argument, steps)),
            # A slider for a number of an input: `example.input[0] | name | 0.5 to 4 by 0.25`:
            "control": lambda argument, _: add_insert(controls.control(argument, steps)),
            # A task for sliders: `task | example.step[0] > 0.5 | sliders | answer | hint`:
            "dare": lambda argument, _: add_insert(dares.dare(argument, steps)),
            # A section of the page on the check:
            "check": lambda name, _: section_of_check_page(name, add_insert),
        }
        return macros

    def check(self, page_file: PageFile) -> None:
        text = page_file.prose_with_claims
        found = list(lint.find_problems(page_file.prose))
        if text not in self.checked:
            found += claims.find_problems(text, self.project.examples.steps)
        problems = [f"{page_file.location(line)}: {problem}" for line, problem in found]
        if problems:
            raise PublishError("\n".join(problems))
        self.checked[text] = ""

    def provenance(self, name: str, page_file: PageFile) -> str:
        """Return a placeholder for the provenance of an example, which the search leaves out."""
        self.used_examples.add(name)
        graph = json.loads(self.project.examples.graph(name))
        names_on_page = EXAMPLE.findall(page_file.prose)
        html = provenance(
            name,
            self.project.examples.steps(name),
            self.project.repository,
            is_editable=bool(graph["inputs"] or graph["shared"]),
            is_one_of_several=len(names_on_page) > 1,
            # The first block of a chapter says what readers can do with its numbers.
            has_hint=names_on_page[:1] == [name] and page_file.path.startswith("mechanisms/"),
        )
        return self.inserts.add(html)

    def check_notebook(self, page_file: PageFile) -> None:
        """Check the Markdown and the metadata of a notebook, and that it has no macros."""
        if not page_file.settings.get("description"):
            raise PublishError(f"{page_file.file}: the notebook's metadata has no description")
        self.check(page_file)
        macros = dict.fromkeys(self.macros(page_file), refuse_macro)
        values.resolve(page_file.prose, macros, page_file.location)


def section_of_check_page(name: str, add_insert: Callable[[str], str]) -> str:
    """Return a section of the page that describes the check: its cases, its mistakes and so on."""
    # Imported here, because it imports the whole package of the check, which takes about 0.1 s, and
    # no other page needs it.
    from attention_docs.publish.before import check_page

    return check_page.section(name, add_insert)


def refuse_macro(argument: str, context: Context) -> str:
    raise ValueError("expected no macros in a notebook, whose own cells compute its numbers")
