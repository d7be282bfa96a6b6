"""The build of the site, event by event. `hooks.py` forwards MkDocs' events to here."""

import functools
import json
import os
import platform
import subprocess
import tomllib
from importlib.metadata import version
from pathlib import Path

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File
from mkdocs.utils import get_relative_url

from attention_docs.publish import (
    assets,
    computed,
    diagrams,
    figures,
    formulas,
    later,
    notebooks,
)
from attention_docs.publish.errors import PublishError
from attention_docs.publish.measured import measured
from attention_docs.publish.provenance import provenance, report_link
from attention_docs.publish.values import resolve

# Of one build: the hooks import this module afresh for the next.
typeset: dict[formulas.Formula, str] = {}


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
    root = project_root(config)
    computed.library()  # says at once if it cannot be had
    assets.ensure(root)
    diagrams.cache = diagrams.drawing_cache(root)
    notebooks.prepare(root, config.plugins["mkdocs-jupyter"].config)
    repository = repository_url(root)
    if repository and not config.site_url:
        owner, name = repository.split("/")[-2:]
        config.site_url = f"https://{owner.lower()}.github.io/{name}/"
    config.copyright = footer(root, repository)
    config.extra["repository"] = repository
    return config


def on_files(files, config):
    modules = project_root(config) / "node_modules"
    for path, content in (*assets.katex_files(modules), assets.plotly_file(modules)):
        files.append(File.generated(config, path, content=content))
    return files


@stops_the_build
def on_page_markdown(markdown, page, config, files):
    if is_notebook(page):
        return markdown
    # Front matter is cut off before this event; its lines still count.
    above = page.file.content_string.count("\n") - markdown.count("\n")
    return resolve(
        markdown,
        steps=computed.steps,
        describe=lambda name: provenance(name, config.extra["repository"]),
        draw=figures.placed,
        measure=lambda reference: measured(reference, project_root(config) / "results"),
        place=lambda line: f"docs/{page.file.src_uri}:{above + line + 1}",
    )


@stops_the_build
def on_page_content(html, page, config, files):
    if is_notebook(page):
        html = notebook_content(html, page, config, files)
    return formulas.exclude_from_search(html)


def is_notebook(page) -> bool:
    return page.file.src_uri.endswith(".ipynb")


def notebook_content(html, page, config, files):
    """Render the Markdown of a notebook as MkDocs renders a page; mkdocs-jupyter did not."""
    notebook = json.loads(page.file.content_string)
    page.meta["description"] = notebook["metadata"]["description"]
    name = page.file.src_uri.rpartition("/")[2]
    page.markdown = notebooks.page(notebook, html, name, config.extra["repository"])
    type(page).render(page, config, files)
    return page.content


@stops_the_build
def on_env(env, config, files):
    pages = (file.page for file in files.documentation_pages())
    wanted = formulas.first_pages((f"docs/{p.file.src_uri}", p.content or "") for p in pages)
    root = project_root(config)
    katex = root / "node_modules" / "katex"
    typeset.update(formulas.typeset(wanted, katex, formulas.katex_cache(root, katex)))
    if diagrams.cache:
        diagrams.cache.save()
    return env


def on_post_page(output, page, config):
    # The theme gives its search dialog no name for a screen reader.
    named = output.replace('role="dialog"', 'role="dialog" aria-label="Search"', 1)
    if 'class="arithmatex"' in named:
        named = named.replace("</head>", font_preloads(page) + "</head>", 1)
    return later.insert(formulas.insert(named, typeset))


def font_preloads(page) -> str:
    """Fetch the fonts of formulas early: one that arrives late may wrap a line anew."""
    addresses = (
        get_relative_url(f"assets/katex/fonts/{font}.woff2", page.url)
        for font in ("KaTeX_Main-Regular", "KaTeX_Math-Italic")
    )
    link = '<link rel="preload" href="{}" as="font" type="font/woff2" crossorigin>'
    return "".join(map(link.format, addresses))


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
    katex = json.loads((root / "node_modules" / "katex" / "package.json").read_text())["version"]
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
    described = subprocess.run(
        ["git", "describe", "--always", "--dirty=+", "--exclude=*"],
        cwd=root,
        capture_output=True,
        text=True,
    )
    return described.stdout.strip() or "unknown"
