"""Hooks by which MkDocs runs the phases before and after it."""

import importlib
import re
from pathlib import Path
from typing import Any, Literal

from jinja2 import Environment, FileSystemBytecodeCache
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

from attention_docs.publish.errors import format_error
from attention_docs.publish.generator import preview

build = preview.Build()  # a preview keeps it for all its builds


def on_startup(command: Literal["build", "gh-deploy", "serve"], dirty: bool) -> None:
    """Note whether MkDocs serves a preview, before the first build.

    MkDocs passes `dirty` by name, so the parameter has to be there.
    """
    build.is_preview = command == "serve"
    if build.is_preview:
        preview.keep_bytecode_out_of_watched_folders(Path(__file__).parents[3])


def on_config(config: MkDocsConfig) -> None:
    """Begin a build; in a preview, import the package again, whose files may have changed."""
    build.reset(Path(config.config_file_path).parent)
    if build.is_preview:
        preview.unload_package()
    build.attempt(create_project, config)


def create_project(config: MkDocsConfig) -> None:
    offline = bool(config.plugins["material/offline"].config.enabled)
    build.project = import_module("project").Project(
        build.root, config.site_name, config.site_url, offline=offline, preview=build.is_preview
    )
    settings = import_module("before.settings")
    config.load_dict(settings.project_settings(build.project, config.nav or []))


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Replace the pages and notebooks in `docs/` by the prepared pages and files."""
    source_files = [file for file in files if file.src_uri.endswith((".md", ".ipynb"))]
    not_in_nav = InclusionLevel.NOT_IN_NAV
    outside_nav = {file.src_uri for file in source_files if file.inclusion is not_in_nav}
    sources = {re.sub(r"ipynb$", "md", file.src_uri): file.src_uri for file in source_files}
    # After an error, a preview needs all pages, to show the error in place of each.
    generated_files = build.attempt(prepare, config) or dict.fromkeys(sources, "# Not built")
    for file in source_files:
        files.remove(file)
    for path, content in generated_files.items():
        # Explicitly included, because mkdocs.yml excludes the folder of some scripts.
        level = not_in_nav if path in outside_nav else InclusionLevel.INCLUDED
        file = File.generated(config, path, content=content, inclusion=level)
        file.edit_uri = sources.get(path)
        files.append(file)
    mkdocstrings: Any = config.plugins["mkdocstrings"]
    cache_templates(mkdocstrings.get_handler("python").env)


def prepare(config: MkDocsConfig) -> dict[str, str | bytes]:
    """Run the phase before MkDocs, and return the pages and other files, by their paths."""
    build.prepared = import_module("before.pages").prepare(build.project, config.nav or [])
    return {**build.prepared.pages, **build.prepared.files}


@event_priority(100)  # before the search plugin reads the page
def on_page_context(context: Any, page: Page, **_: Any) -> None:
    """Keep the code and the formulas of a page out of the search index.

    At this event, the links between API pages are resolved.
    """
    if not build.error:
        page.content = build.prepared.inserts.extract_code_and_formulas(page.content or "")


def on_env(env: Environment, **_: Any) -> None:
    cache_templates(env)


def cache_templates(env: Environment) -> None:
    """Make Jinja keep compiled templates, which takes more than a second off the next build."""
    folder = build.root / ".cache" / "templates"
    folder.mkdir(parents=True, exist_ok=True)
    env.bytecode_cache = FileSystemBytecodeCache(str(folder))


def on_post_build(config: MkDocsConfig) -> None:
    build.attempt(finish, config)
    build.show_error(Path(config.site_dir))


def finish(config: MkDocsConfig) -> None:
    site, prepared = Path(config.site_dir), build.prepared
    import_module("after.site").finish(site, build.project, prepared.page_files, prepared.inserts)


def import_module(name: str) -> Any:
    """Import a module of `publish/`.

    An import statement at the top would keep the module that the first build of a preview imported.
    """
    return importlib.import_module(f"attention_docs.publish.{name}")


def on_build_error(error: Exception) -> None:
    """Print an error of the operating system in one line, without a traceback."""
    if isinstance(error, OSError):
        raise PluginError(format_error(error, build.root)) from error
