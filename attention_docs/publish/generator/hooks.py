"""MkDocs between the two steps of this project, by its public events alone."""

import importlib
import logging
import os
import re
import sys
from collections.abc import Callable
from html import escape
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files, InclusionLevel

from attention_docs.publish.errors import told

# Nobody searches for TeX or code.
UNSEARCHED = re.compile(r'<(?:span|div) (?=class="(?:arithmatex|highlight)")')
NOT_BUILT = "<!doctype html><html><body><h1>Not built</h1><pre>{}</pre></body></html>"
log = logging.getLogger("mkdocs.attention_docs")
# The build that runs: its project, its pages and, in a preview, what went wrong with them.
build: Any = SimpleNamespace(serving=False)


def on_startup(command: Literal["build", "gh-deploy", "serve"], dirty: bool) -> None:
    build.serving = command == "serve"
    if build.serving:
        # Python would write it beside the sources, and so start another build.
        sys.pycache_prefix = str(Path(__file__).parents[3] / ".cache" / "bytecode")
        os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix


def on_config(config: MkDocsConfig) -> None:
    build.root, build.error = Path(config.config_file_path).parent, None
    for name in [name for name in sys.modules if name.partition(".")[0] == "attention_docs"]:
        del sys.modules[name]  # its sources may have changed since the last build
    attempt(begin, config)


def begin(config: MkDocsConfig) -> None:
    offline = bool(config.plugins["material/offline"].config.enabled)
    build.project = step("project").Project(
        build.root, config.site_name, config.site_url, offline=offline, preview=build.serving
    )
    config.load_dict(step("before.settings").settings(build.project, config.nav or []))


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Put what the step before makes of `docs/` in its place."""
    originals = [file for file in files if file.src_uri.endswith((".md", ".ipynb"))]
    names = [re.sub(r"ipynb$", "md", file.src_uri) for file in originals]
    made = attempt(prepare, config) or dict.fromkeys(names, "# Not built")
    for file in originals:
        files.remove(file)
    for path, content in made.items():
        # Included, although docs/ has a folder of a script's path, which is not.
        file = File.generated(config, path, content=content, inclusion=InclusionLevel.INCLUDED)
        files.append(file)


def prepare(config: MkDocsConfig) -> dict[str, str | bytes]:
    build.prepared = step("before.pages").prepare(build.project, config.nav or [])
    return {**build.prepared.pages, **build.prepared.files}


def on_page_content(html: str, **_: Any) -> str:
    return UNSEARCHED.sub(r"\g<0>data-search-exclude ", html)


def on_post_build(config: MkDocsConfig) -> None:
    attempt(finish, config)
    for page in Path(config.site_dir).rglob("*.html") if build.error else ():
        page.write_text(NOT_BUILT.format(escape(build.error)), encoding="utf-8")


def finish(config: MkDocsConfig) -> None:
    site = Path(config.site_dir)
    step("after.site").finish(site, build.project, build.prepared, config.theme.dirs)


def attempt(action: Callable[..., Any], *arguments: Any) -> Any:
    """Do a part of a build. Where one fails, a preview shows why, until a file is saved again."""
    try:
        return None if build.error else action(*arguments)
    except Exception as error:
        build.error = told(error, build.root)
        if not build.serving:
            raise PluginError(build.error) from error
        log.error(build.error)


def step(name: str) -> Any:
    return importlib.import_module(f"attention_docs.publish.{name}")


def on_build_error(error: Exception) -> None:
    if isinstance(error, OSError):
        raise PluginError(told(error, build.root)) from error
