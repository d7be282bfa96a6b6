"""The build of the site, event by event."""

import functools
import importlib
import json
import logging
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import cast

import numpy as np
from jinja2 import Environment
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page
from mkdocstrings import MkdocstringsPlugin

from attention_docs import examples
from attention_docs.arrays import Array
from attention_docs.publish import (
    assets,
    contents,
    fonts,
    formulas,
    links,
    lint,
    live,
    mermaid,
    notebook_execution,
    notebooks,
    origins,
    policy,
    preload,
    rendering,
    repository,
    search,
    social,
    styles,
    templates,
)
from attention_docs.publish.before.figures.registry import figure_block
from attention_docs.publish.computed import ComputedExamples
from attention_docs.publish.deferred import Deferred
from attention_docs.publish.diagrams import Diagrams, diagram_cache
from attention_docs.publish.errors import PublishError
from attention_docs.publish.footer import footer
from attention_docs.publish.locations import (
    is_notebook,
    locate_id,
    locate_link,
    locate_text,
    location,
)
from attention_docs.publish.provenance import provenance
from attention_docs.publish.results import measured
from attention_docs.publish.values import (
    Macros,
    Place,
    look_up,
    number,
    printed,
    resolve,
    resolve_caption,
    value,
)

# A child of MkDocs' logger, so a strict build counts its warnings.
log = logging.getLogger("mkdocs.attention_docs.site")

FORMULA_STYLE = "assets/katex/katex.min.css"
# What the second process does first. Ctrl-C ends it at once, and not its current job alone. It is
# silent, because what goes wrong in a job comes back with it. This is text, not a function of ours:
# on a full disk it may be that none can be imported.
IN_SECOND_PROCESS = """
import os, signal
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
"""
REFERENCE_STYLE = "assets/_mkdocstrings.css"


class Site:
    """One build: all that it remembers from one event to the next.

    MkDocs calls it as one of its plugins, after all others.
    """

    def __init__(self, config: MkDocsConfig, *, serving: bool = False) -> None:
        self.root = Path(config.config_file_path).parent
        self.serving = serving
        self.offline = bool(config.plugins["material/offline"].config.enabled)
        self.examples = ComputedExamples(self.root)
        assets.ensure(self.root)
        self.repository = repository.address(self.root)
        self.deferred = Deferred()
        self.diagrams = Diagrams(diagram_cache(self.root))
        # For what waits for another process.
        self.pool = ThreadPoolExecutor()
        # For what Python computes meanwhile.
        self.second_process = ProcessPoolExecutor(
            1, get_context("spawn"), exec, (IN_SECOND_PROCESS,)
        )
        self.execution = notebook_execution.Execution(self.pool)
        self.templates = templates.cache(self.root)
        # The examples whose provenance a page shows.
        self.described: set[str] = set()
        self.typeset: dict[formulas.Formula, str] = {}
        # By URL, each finished page with its ids and links.
        self.finished: dict[str, tuple[Page, links.Seen]] = {}
        self.configure(config)
        # Last: a build that cannot begin would leave this process behind.
        self.examples.start(self.second_process)

    def configure(self, config: MkDocsConfig) -> None:
        """Set what depends on the repository and on this object."""
        if self.offline:
            config.site_url = None
            # Otherwise the theme's logo links to a folder, and its search asks another host.
            config.extra["homepage"] = "index.html"
            config.extra["polyfills"] = ["assets/iframe-worker.js"]
        elif self.repository and not config.site_url:
            config.site_url = repository.pages_address(self.repository)
        config.copyright = footer(self.root, self.repository)
        fence = {"name": "mermaid", "class": "mermaid", "format": self.diagrams.fence}
        config.mdx_configs.setdefault("pymdownx.superfences", {})["custom_fences"] = [fence]
        notebook_execution.prepare(self.root, config.plugins["mkdocs-jupyter"].config)
        # The template gives it to the pages of the reference alone.
        config.extra_css.remove(REFERENCE_STYLE)
        reference = cast(MkdocstringsPlugin, config.plugins["mkdocstrings"])
        reference.get_handler("python").env.bytecode_cache = self.templates

    def on_files(self, files: Files, *, config: MkDocsConfig) -> None:
        for file in files:
            if file.src_uri.endswith(".ipynb"):
                # mkdocs-jupyter would end in a traceback at a notebook that is broken.
                notebooks.read(file.content_string, f"docs/{file.src_uri}")
        modules = self.root / "node_modules"
        copied = [assets.plotly_file(modules)]
        if self.offline:
            copied.append(assets.worker_shim(modules))
        for path, content in copied:
            files.append(File.generated(config, path, content=content))
        self.pages = rendering.page_cache(self.root, files)

    def on_nav(self, nav: Navigation, *, config: MkDocsConfig, files: Files) -> None:
        day = repository.commit_day(self.root)
        for page in [file.page for file in files.documentation_pages() if file.page]:
            # The sitemap names it; MkDocs has put the day of the build there.
            page.update_date = day or page.update_date
            if is_notebook(page):
                self.execution.start(page, config, files)

    def on_pre_page(self, page: Page, *, config: MkDocsConfig, files: Files) -> None:
        # That of a notebook is mkdocs-jupyter's.
        if is_notebook(page):
            return
        page.render = functools.partial(  # type: ignore[method-assign]  # MkDocs calls this name
            rendering.render, page, cache=self.pages, diagrams=self.diagrams
        )

    def on_page_markdown(
        self, markdown: str, *, page: Page, config: MkDocsConfig, files: Files
    ) -> str:
        macros = self.macros(page, config, files)
        if is_notebook(page):
            return self.notebook_markdown(page, config, files, macros)
        self.lint(markdown, page)
        return resolve(markdown, macros, lambda line: location(page, line))

    def macros(self, page: Page, config: MkDocsConfig, files: Files) -> Macros:
        r"""Return what a page may write: `\val{...}` and so on."""
        nav = config.nav or []
        read = functools.partial(text_of, files)
        defer = self.deferred.defer
        macros: Macros = {
            # A step of an example, rounded: `example.step`. `[0]`, `[:,1]` and `[0,1]` pick a part,
            # `.shape` gives the shape, `.shape[0]` one size of it:
            "val": lambda reference, place: value(reference, self.examples.steps, place),
            # A number that a source prints wrongly, quoted:
            "printed": printed,
            # A number that the text itself chooses, or arithmetic on such numbers, like `224 - 1`:
            "number": number,
            # A measured result, like `parity.date`:
            "measured": lambda reference, _: measured(reference),
            # These stand on lines of their own. Where the numbers of an example come from:
            "example": lambda name, _: self.describe(name),
            # A figure with its caption:
            "figure": lambda name, _: resolve_caption(
                figure_block(name, self.examples.named_steps, defer), macros
            ),
            # The pages of a section of `nav`:
            "contents": lambda name, _: contents.contents(name, nav, read, page.file.src_uri),
            # The public names that the pages of a section document:
            "overview": lambda name, _: contents.overview(name, nav, read),
            # A part of the page on the check:
            "check": lambda name, _: self.check(name),
        }
        return macros

    def check(self, name: str) -> str:
        """Write a part of the page on the check, which one page alone needs."""
        check_page = importlib.import_module("attention_docs.publish.check_page")
        part: str = check_page.part(name, self.deferred.defer)
        return part

    def lint(self, markdown: str, page: Page) -> None:
        found = lint.problems(markdown, mermaid.parse)
        if message := "\n".join(f"{location(page, line)}: {problem}" for line, problem in found):
            raise PublishError(message)

    def describe(self, name: str) -> str:
        """Write the provenance of an example; it is deferred, as nobody searches for it."""
        steps = self.examples.steps(name)
        self.described.add(name)

        def write() -> str:
            changeable = live.has_inputs(json.loads(self.examples.graph(name)))
            return provenance(name, steps, self.repository, can_be_changed=changeable)

        # Its graph takes longer than the page.
        return self.deferred.defer_writing(name, write)

    def notebook_markdown(
        self, page: Page, config: MkDocsConfig, files: Files, macros: Macros
    ) -> str:
        """Write a notebook as Markdown, which MkDocs then renders like any page."""
        notebook = notebooks.read(page.file.content_string, location(page))
        prose = notebooks.prose(notebook)
        self.lint(prose, page)
        resolve(prose, dict.fromkeys(macros, refused), lambda line: location(page, line))
        page.meta["description"] = notebook["metadata"]["description"]
        html = self.execution.html(notebook, page, config, files, location(page))
        name = page.file.src_uri.rpartition("/")[2]
        return notebooks.page(notebook, html, name, self.repository, self.deferred.defer)

    def on_page_content(self, html: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
        prose = formulas.exclude_from_search(self.deferred.defer_code(html))
        return search.leave_out_sections(prose)

    def on_env(self, env: Environment, *, config: MkDocsConfig, files: Files) -> None:
        env.bytecode_cache = self.templates
        env.add_extension(templates.Unindented)
        self.pages.save()
        for name in sorted(set(examples.names()) - self.described):
            log.warning(r"attention_docs/examples/%s.py: no page uses \example{%s}", name, name)
        # In a node process, as the formulas are.
        drawing = self.pool.submit(self.diagrams.draw, self.root / "node_modules")
        self.typeset_formulas([file.page for file in files.documentation_pages() if file.page])
        self.add_formula_style(config, files)
        self.add_live_scripts(config, files)
        drawing.result()
        if config.site_url and not self.serving:
            social.add_pictures(config, files, self.draw)

    def add_formula_style(self, config: MkDocsConfig, files: Files) -> None:
        """Publish KaTeX's style sheet with the glyphs that the formulas need, known only now."""
        style = fonts.style_sheet(
            self.root / "node_modules", self.typeset.values(), fonts.font_cache(self.root)
        )
        files.append(File.generated(config, FORMULA_STYLE, content=style))

    def add_live_scripts(self, config: MkDocsConfig, files: Files) -> None:
        """Publish what computes a page's examples anew: not before now, or MkDocs excludes it."""
        graphs = {name: self.examples.graph(name) for name in examples.names()}
        self.examples.cache.save()
        for path, content in live.published(self.root, self.root / "node_modules", graphs).items():
            files.append(File.generated(config, path, content=content))

    def typeset_formulas(self, pages: list[Page]) -> None:
        """Typeset the formulas of all pages at once: to start KaTeX takes longer than to run it."""
        katex = self.root / "node_modules" / "katex"
        cache = formulas.katex_cache(self.root, katex)
        first = formulas.first_pages((page, page.content or "") for page in pages)
        self.typeset = formulas.typeset(
            first, katex, cache, locate=lambda item: locate_text(item.tex, first[item])
        )

    def matrix(self, reference: str) -> Array:
        return np.asarray(look_up(reference, self.examples.steps))

    def on_post_template(self, output: str, *, template_name: str, config: MkDocsConfig) -> str:
        """Finish the 404 page, which the theme writes alone."""
        return self.with_search(output)

    def with_search(self, html: str) -> str:
        """Give the search dialog its name, and its worker; offline the theme has one of its own."""
        named = name_search_dialog(html)
        return named if self.offline else search.name_worker(named)

    def on_post_page(self, output: str, *, page: Page, config: MkDocsConfig) -> str:
        html = self.draw(self.with_search(output))
        # Formulas, most of a page's HTML, have neither ids nor links, so they come later.
        seen = links.seen(html)
        self.finished[page.url] = page, seen
        for name in links.repeated(seen):
            log.warning("%s: duplicate id %r", locate_id(name, page), name)
        html = formulas.insert(html, self.typeset, self.matrix)
        if self.offline:
            # Browsers refuse a preload from a file.
            return html
        return preload.with_preloads(html)

    def draw(self, html: str) -> str:
        """Insert the drawings that a page has placeholders for."""
        return self.diagrams.insert(self.deferred.insert(html))

    def on_build_error(self, error: Exception) -> None:
        # What still runs must not write into a cache while the next build does.
        self.pool.shutdown(cancel_futures=True)
        self.second_process.shutdown(cancel_futures=True)

    def on_post_build(self, *, config: MkDocsConfig) -> None:
        self.pool.shutdown()
        self.second_process.shutdown()
        site = Path(config.site_dir)
        if not self.offline:
            search.put_documents_apart(site)
        if problems := list(self.origin_problems(site, config.theme.dirs)):
            raise PublishError("\n".join(problems))
        for problem in self.broken_links(site, Path(config.config_file_path)):
            log.warning(problem)
        if not self.serving:
            styles.publish(site)
        # Live reload adds a script to each page, which the policy would block. So would it block
        # the shim of the offline search, whose inline script has the reader's own folder in it.
        if not (self.serving or self.offline):
            policy.enforce(site)

    def origin_problems(self, site: Path, templates: list[str]) -> Iterator[str]:
        """Say where a page or a style sheet would run or fetch what it must not."""
        sources = {page.file.dest_uri: f"{location(page)}: " for page, _ in self.finished.values()}
        for name, problem in origins.site_problems(site, origins.known_scripts(templates)):
            yield f"{sources.get(name, '')}site/{name}: {problem}"

    def broken_links(self, site: Path, settings: Path) -> Iterator[str]:
        def exists(url: str) -> bool:
            path = site / url
            return path.is_file() or (path / "index.html").is_file()

        pages = {url: seen for url, (_, seen) in self.finished.items()}
        for url, address, target in links.broken(pages, exists):
            spot = locate_link(address, target, self.finished[url][0], settings)
            yield f"{spot}: broken link {address!r}"


def text_of(files: Files, address: str) -> str | None:
    file = files.get_file_from_path(address)
    return file.content_string if file else None


def refused(argument: str, place: Place) -> str:
    raise ValueError("a notebook shows what its own cells compute")


def name_search_dialog(html: str) -> str:
    """Name the theme's search dialog for screen readers, which the theme does not."""
    return html.replace('role="dialog"', 'role="dialog" aria-label="Search"', 1)
