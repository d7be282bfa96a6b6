"""MkDocs between the two steps of this project, by its public events alone."""

import importlib
import re
from pathlib import Path
from typing import Any, Literal

from jinja2 import Environment
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

from attention_docs.publish.errors import told
from attention_docs.publish.generator import preview, rendered

build = preview.Build()


def on_startup(command: Literal["build", "gh-deploy", "serve"], dirty: bool) -> None:
    build.is_preview = command == "serve"
    if build.is_preview:
        preview.keep_bytecode_out_of_watched_folders(Path(__file__).parents[3])


def on_config(config: MkDocsConfig) -> None:
    build.begin(Path(config.config_file_path).parent)
    if build.is_preview:
        preview.forget_package()
    build.attempt(begin, config)


def begin(config: MkDocsConfig) -> None:
    offline = bool(config.plugins["material/offline"].config.enabled)
    build.project = step("project").Project(
        build.root, config.site_name, config.site_url, offline=offline, preview=build.is_preview
    )
    config.load_dict(step("before.settings").settings(build.project, config.nav or []))


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Put what the step before makes of `docs/` in its place."""
    originals = [file for file in files if file.src_uri.endswith((".md", ".ipynb"))]
    names = [re.sub(r"ipynb$", "md", file.src_uri) for file in originals]
    made = build.attempt(prepare, config) or dict.fromkeys(names, "# Not built")
    for file in originals:
        files.remove(file)
    for path, content in made.items():
        # Included, although docs/ has a folder of a script's path, which is not.
        file = File.generated(config, path, content=content, inclusion=InclusionLevel.INCLUDED)
        files.append(file)
    rendered.keep_compiled_templates(rendered.reference_templates(config), build.root)
    if not build.error:
        build.rendered = rendered.Rendered(build.project, Path(config.config_file_path), files)


def prepare(config: MkDocsConfig) -> dict[str, str | bytes]:
    build.prepared = step("before.pages").prepare(build.project, config.nav or [])
    return {**build.prepared.pages, **build.prepared.files}


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    return "" if build.has_rendered(page) else markdown


def on_page_content(html: str, page: Page, **_: Any) -> str:
    return build.rendered.restore(page) if build.has_rendered(page) else html


@event_priority(100)  # before the search, which reads the page
def on_page_context(context: Any, page: Page, **_: Any) -> None:
    if not build.error:
        build.rendered.store(page)
        page.content = build.prepared.parts.defer_code_and_formulas(page.content or "")


def on_env(env: Environment, **_: Any) -> None:
    rendered.keep_compiled_templates(env, build.root)


def on_post_build(config: MkDocsConfig) -> None:
    build.attempt(finish, config)
    build.show_error(Path(config.site_dir))


def finish(config: MkDocsConfig) -> None:
    site, templates = Path(config.site_dir), config.theme.dirs
    step("after.site").finish(site, build.project, build.prepared, templates)


def step(name: str) -> Any:
    return importlib.import_module(f"attention_docs.publish.{name}")


def on_build_error(error: Exception) -> None:
    if isinstance(error, OSError):
        raise PluginError(told(error, build.root)) from error
