"""The build of the site, event by event. `hooks.py` forwards MkDocs' events to here."""

import functools
import json
import logging
import os
import platform
import subprocess
import tomllib
from importlib.metadata import version
from pathlib import Path

from jinja2 import FileSystemBytecodeCache
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url
from nbclient.exceptions import CellExecutionError

from attention_docs import examples
from attention_docs.publish import (
    assets,
    checks,
    computed,
    contents,
    diagrams,
    early,
    figures,
    formulas,
    later,
    links,
    notebooks,
    origins,
    policy,
)
from attention_docs.publish.errors import PublishError
from attention_docs.publish.measured import measured
from attention_docs.publish.places import (
    is_notebook,
    place,
    place_of_id,
    place_of_link,
    place_of_text,
)
from attention_docs.publish.provenance import provenance, report_link
from attention_docs.publish.values import macros, resolve

# A child of MkDocs' logger: its warnings stop a strict build.
log = logging.getLogger("mkdocs.attention_docs.site")
# Of one build: the hooks import this module afresh for the next.
described: set[str] = set()
typeset: dict[formulas.Formula, str] = {}
written: dict[str, tuple[Page, links.Seen]] = {}


def stops_the_build(event):
    """Turn our error into MkDocs' own, which ends the build with one clear message."""

    @functools.wraps(event)
    def guarded(*args, **keywords):
        try:
            return event(*args, **keywords)
        except PublishError as error:
            raise PluginError(str(error)) from error

    return guarded


@stops_the_build
def on_config(config):
    computed.library()  # says at once if it cannot be had
    root = project_root(config)
    if last_commit := git(root, "log", "-1", "--format=%ct"):
        # The day that the sitemap names, of which MkDocs would make the day of the build.
        os.environ.setdefault("SOURCE_DATE_EPOCH", last_commit)
    assets.ensure(root)
    diagrams.cache = diagrams.drawing_cache(root)
    notebooks.prepare(root, config.plugins["mkdocs-jupyter"].config)
    repository = repository_url(root)
    if is_offline(config):
        config.site_url = None
        # Without these, the theme's logo leads to a folder, and its search to a foreign host.
        config.extra["homepage"] = "index.html"
        config.extra["polyfills"] = ["assets/iframe-worker.js"]
    elif repository and not config.site_url:
        owner, name = repository.split("/")[-2:]
        config.site_url = f"https://{owner.lower()}.github.io/{name}/"
    config.copyright = footer(root, repository)
    config.extra["repository"] = repository
    return config


@stops_the_build
def on_files(files, config):
    modules = project_root(config) / "node_modules"
    wanted = [*assets.katex_files(modules), assets.plotly_file(modules)]
    if is_offline(config):
        wanted.append(assets.worker_shim(modules))
    for path, content in wanted:
        files.append(File.generated(config, path, content=content))
    return files


@stops_the_build
def on_pre_page(page, config, files):
    if is_notebook(page):
        notebook = notebooks.read(page.file.content_string, place(page))
        page.render = stops_the_build(functools.partial(execute, notebook, page, page.render))
    return page


def execute(notebook: notebooks.Notebook, page: Page, render, config, files) -> None:
    """Let mkdocs-jupyter execute a notebook; of a failure tell the place and no more."""
    try:
        render(config, files)
    except CellExecutionError as error:
        raise PublishError(f"{place(page)}: {notebooks.failure(notebook, error)}") from error


@stops_the_build
def on_page_markdown(markdown, page, config, files):
    if is_notebook(page):
        return markdown
    check(markdown, page)

    def describe(name):
        described.add(name)
        return provenance(name, config.extra["repository"])

    read = functools.partial(text_of, files)
    nav = config.nav or []
    return resolve(
        markdown,
        steps=computed.steps,
        describe=describe,
        draw=figures.placed,
        measure=measured,
        contents=lambda name: contents.contents(name, nav, read, page.file.src_uri),
        overview=lambda name: contents.overview(name, nav, read),
        place=lambda line: place(page, line),
    )


def text_of(files, address: str) -> str | None:
    file = files.get_file_from_path(address)
    return file and file.content_string


@stops_the_build
def on_page_content(html, page, config, files):
    if is_notebook(page):
        html = notebook_content(html, page, config, files)
    return formulas.exclude_from_search(html)


def check(markdown: str, page: Page) -> None:
    faults = checks.faults(markdown, diagrams.try_out)
    if told := "\n".join(f"{place(page, line)}: {fault}" for line, fault in faults):
        raise PublishError(told)


def notebook_content(html, page, config, files):
    """Render the Markdown of a notebook as MkDocs renders a page; mkdocs-jupyter did not."""
    notebook = notebooks.read(page.file.content_string, place(page))
    prose = notebooks.prose(notebook)
    check(prose, page)
    for macro, _ in macros(prose):
        spot = place(page, prose.count("\n", 0, macro.start()))
        raise PublishError(f"{spot}: {macro[0]}: a notebook shows what its own cells compute")
    page.meta["description"] = notebook["metadata"]["description"]
    name = page.file.src_uri.rpartition("/")[2]
    page.markdown = notebooks.page(notebook, html, name, config.extra["repository"])
    type(page).render(page, config, files)
    return page.content


@stops_the_build
def on_env(env, config, files):
    # The theme has some fifty templates; to compile them anew took a tenth of each build.
    kept = project_root(config) / ".cache" / "templates"
    kept.mkdir(parents=True, exist_ok=True)
    env.bytecode_cache = FileSystemBytecodeCache(str(kept))
    for name in sorted(set(examples.names()) - described):
        log.warning(r"attention_docs/examples/%s.py: no page names it by \example{%s}", name, name)
    pages = (file.page for file in files.documentation_pages())
    first = formulas.first_pages((page, page.content or "") for page in pages)
    root = project_root(config)
    katex = root / "node_modules" / "katex"
    known = formulas.katex_cache(root, katex)
    made = formulas.typeset(
        first, katex, known, place=lambda item: place_of_text(item.tex, first[item])
    )
    typeset.update(made)
    if diagrams.cache:
        diagrams.cache.save()
    return env


def on_post_template(output, template_name, config):
    """Finish the page of what is not found: it comes from the theme alone."""
    return with_named_search(output)


def with_named_search(html: str) -> str:
    # The theme gives its search dialog no name for a screen reader.
    return html.replace('role="dialog"', 'role="dialog" aria-label="Search"', 1)


def on_post_page(output, page, config):
    whole = later.insert(with_named_search(output))
    # Before the formulas, most of a page's HTML: they have neither ids nor links.
    seen = links.seen(whole)
    written[page.url] = page, seen
    for name in links.repeated(seen):
        log.warning("%s: the id %r stands twice on this page", place_of_id(name, page), name)
    done = formulas.insert(whole, typeset)
    # From a file a browser refuses the request that a preload makes.
    return (
        done if is_offline(config) else early.preload(done, get_relative_url(early.FONTS, page.url))
    )


@stops_the_build
def on_post_build(config):
    refuse_strangers(config)

    def exists(url):
        path = Path(config.site_dir, url)
        return path.is_file() or (path / "index.html").is_file()

    pages = {url: seen for url, (_, seen) in written.items()}
    for url, address, end in links.broken(pages, exists):
        spot = place_of_link(address, end, written[url][0], Path(config.config_file_path))
        log.warning("%s: %r leads nowhere", spot, address)


def refuse_strangers(config) -> None:
    """Stop where a page or a style sheet would run or fetch what it must not."""
    site = Path(config.site_dir)
    sources = {page.file.dest_uri: f"{place(page)}: " for page, _ in written.values()}
    known = origins.known_scripts(config.theme.dirs)
    told = []
    for file in sorted(site.rglob("*.html")) + sorted(site.rglob("*.css")):
        name, text = file.relative_to(site).as_posix(), file.read_text(encoding="utf-8")
        is_page = file.suffix == ".html"
        faults = origins.faults_of_page(text, known) if is_page else origins.faults_of_style(text)
        told += [f"{sources.get(name, '')}site/{name}: {fault}" for fault in faults]
    if told:
        raise PublishError("\n".join(told))


def lock_down(config):
    # The search's shim offline writes an inline script that names the folder on the reader's disk:
    # nobody can know its hash.
    if not is_offline(config):
        policy.enforce(Path(config.site_dir))


def is_offline(config) -> bool:
    """Tell whether the site is built to be read from a folder, without a server."""
    return bool(config.plugins["material/offline"].config.enabled)


def project_root(config) -> Path:
    return Path(config.config_file_path).parent


def repository_url(root: Path) -> str | None:
    """The repository that is built, from the environment; elsewhere as pyproject.toml names it."""
    name = os.environ.get("GITHUB_REPOSITORY")
    if name:
        return f"{os.environ.get('GITHUB_SERVER_URL', 'https://github.com')}/{name}"
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return project.get("urls", {}).get("Repository")


def footer(root: Path, repository: str | None) -> str:
    """Say which commit and which versions made this site."""
    katex = json.loads(assets.content(root / "node_modules", "katex/package.json"))["version"]
    made_with = ", ".join(
        [
            f"attention-docs {version('attention-docs')}",
            f"commit {commit(root)}",
            f"NumPy {version('numpy')}",
            f"Python {platform.python_version()}",
            f"KaTeX {katex}",
            f"Material for MkDocs {version('mkdocs-material')}",
        ]
    )
    report = f" {report_link(repository)}." if repository else ""
    return (
        "Text CC BY 4.0, code MIT, the attention-docs contributors."
        f"{report}<br>Built with {made_with}."
    )


def commit(root: Path) -> str:
    """Short hash of the commit that is built, with a plus sign if files have changed since."""
    return git(root, "describe", "--always", "--dirty=+", "--exclude=*") or "unknown"


def git(root: Path, *command: str) -> str:
    """Ask git; nothing is the answer where there is no repository, or no git."""
    try:
        done = subprocess.run(["git", *command], cwd=root, capture_output=True, text=True)
    except FileNotFoundError:
        return ""
    return done.stdout.strip()
