"""Build with Zensical: python -m attention_docs.publish.generator.zensical SITE."""

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
from attention_docs.publish.before.settings import project_settings
from attention_docs.publish.errors import PublishError, format_error
from attention_docs.publish.project import Project

# Settings of MkDocs that Zensical ignores.
MKDOCS_ONLY = ("exclude_docs", "hooks", "validation", "watch")


def build(root: Path, site: Path) -> None:
    """Build the site of a project in a folder that must not exist."""
    # The annotation in yaml_env_tag says that it takes a loader, but it takes a class.
    loader = add_env_tag(SafeLoader)  # type: ignore[arg-type]
    config = yaml.load((root / "mkdocs.yml").read_text(encoding="utf-8"), loader)
    project = Project(root, config["site_name"], config["site_url"] or None)
    config |= project_settings(project, config["nav"])
    prepared = prepare(project, config["nav"])
    with TemporaryDirectory() as folder:
        write_input(Path(folder), config, prepared, root)
        command = [sys.executable, "-m", "zensical", "build", "--strict"]
        status = subprocess.call(command, cwd=folder)
        if status:
            raise PublishError(f"zensical build ended with status {status}")
        shutil.move(Path(folder) / "site", site)
    finish(site, project, prepared.page_files, prepared.inserts)


def write_input(folder: Path, config: dict[str, Any], prepared: Prepared, root: Path) -> None:
    settings = {name: value for name, value in config.items() if name not in MKDOCS_ONLY}
    settings["theme"] = {**config["theme"], "custom_dir": "theme", "variant": "classic"}
    # JSON is valid YAML.
    (folder / "mkdocs.yml").write_text(json.dumps(settings), encoding="utf-8")
    shutil.copytree(root / config["theme"]["custom_dir"], folder / "theme")
    # These are replaced by prepared pages and files.
    ignore_sources = shutil.ignore_patterns("*.md", "*.ipynb", "live")
    shutil.copytree(root / "docs", folder / "docs", ignore=ignore_sources)
    pages = {path: page.encode() for path, page in prepared.pages.items()}
    for path, content in {**prepared.files, **pages}.items():
        file = folder / "docs" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


if __name__ == "__main__":
    root = Path(__file__).parents[3]
    try:
        build(root, Path(sys.argv[1]))
    except Exception as error:
        sys.exit(format_error(error, root))
