"""Zensical between the two steps: python -m attention_docs.publish.generator.zensical SITE."""

import importlib.resources
import json
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml
from yaml.loader import SafeLoader
from yaml_env_tag import add_env_tag

from attention_docs.publish.after.site import finish
from attention_docs.publish.before.pages import Prepared, prepare
from attention_docs.publish.before.settings import settings
from attention_docs.publish.errors import PublishError, told
from attention_docs.publish.project import Project

# What Zensical passes over in silence.
OF_MKDOCS = ("exclude_docs", "hooks", "validation", "watch")


def build(root: Path, site: Path) -> None:
    """Build the site of a project.

    Args:
        root: the folder of the project.
        site: the folder of the site, which must not exist.

    Raises:
        PublishError: if something in the project cannot be published, or Zensical fails.
    """
    config = read(root / "mkdocs.yml")
    project = Project(root, config["site_name"], config["site_url"] or None)
    config |= settings(project, config["nav"])
    prepared = prepare(project, config["nav"])
    with TemporaryDirectory() as folder:
        write(Path(folder), config, prepared, root)
        run(Path(folder))
        shutil.move(Path(folder) / "site", site)
    templates = [root / config["theme"]["custom_dir"], templates_of_zensical()]
    finish(site, project, prepared, [str(folder) for folder in templates])


def read(file: Path) -> dict[str, Any]:
    """Read mkdocs.yml, with the values of the environment."""
    # The library changes a class of loaders, and says that it changes a loader.
    loader = add_env_tag(SafeLoader)  # type: ignore[arg-type]
    return dict(yaml.load(file.read_text(encoding="utf-8"), loader))


def write(folder: Path, config: dict[str, Any], prepared: Prepared, root: Path) -> None:
    """Write all that Zensical reads: settings, templates, pages, and what lies beside them."""
    kept = {name: value for name, value in config.items() if name not in OF_MKDOCS}
    kept["theme"] = {**config["theme"], "custom_dir": "theme"}
    # JSON is YAML.
    (folder / "mkdocs.yml").write_text(json.dumps(kept), encoding="utf-8")
    shutil.copytree(root / config["theme"]["custom_dir"], folder / "theme")
    excluded = shutil.ignore_patterns("*.md", "*.ipynb", "live")
    shutil.copytree(root / "docs", folder / "docs", ignore=excluded)
    pages = {path: page.encode() for path, page in prepared.pages.items()}
    for path, content in {**prepared.files, **pages}.items():
        (folder / "docs" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "docs" / path).write_bytes(content)


def run(folder: Path) -> None:
    command = [sys.executable, "-m", "zensical", "build", "--strict"]
    if status := subprocess.call(command, cwd=folder):
        raise PublishError(f"zensical build ended with status {status}")


def templates_of_zensical() -> Path:
    return Path(str(importlib.resources.files("zensical"))) / "templates"


if __name__ == "__main__":
    here = Path(__file__).parents[3]
    try:
        build(here, Path(sys.argv[1]))
    except Exception as error:
        sys.exit(told(error, here))
