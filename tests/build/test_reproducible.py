"""Builds of the same commit give the same bytes, independently of time and environment."""

import os
import re
import shutil
import subprocess

import pytest

from tests.conftest import link_folder, mkdocs

COMMIT_DATE = "2024-02-29T23:59:00+0000"
OTHER_ENVIRONMENT = {
    "TZ": "Pacific/Kiritimati",
    "LC_ALL": "C",
    "PYTHONCOERCECLOCALE": "0",
    "PYTHONUTF8": "0",
    "PYTHONHASHSEED": "1",
    "HOME": "/nonexistent",
}


@pytest.fixture
def repository(project):
    """A copy of the project with one commit."""
    dates = {"GIT_AUTHOR_DATE": COMMIT_DATE, "GIT_COMMITTER_DATE": COMMIT_DATE}
    environment = {**os.environ, **dates, "GIT_CONFIG_GLOBAL": os.devnull}

    def git(*arguments):
        author = ("-c", "user.name=a", "-c", "user.email=a@b")
        subprocess.run(["git", *author, *arguments], cwd=project, env=environment, check=True)

    git("init", "-q")
    git("add", "docs", "attention_docs")
    git("commit", "-q", "-m", "All")
    return project


@pytest.fixture
def repository_copy(repository, tmp_path_factory):
    """A copy without caches at a longer path, whose files are created in reverse order."""
    copy = tmp_path_factory.mktemp("another") / "folder with a space" / "and-a-longer-name"
    for file in sorted(repository.rglob("*"), reverse=True):
        path = file.relative_to(repository)
        if file.is_file() and path.parts[0] not in (".cache", "node_modules"):
            (copy / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, copy / path)
    link_folder((repository / "node_modules").resolve(), copy / "node_modules")
    return copy


def build(root, umask, environment):
    """Build the site, and return the content of its files by their paths."""
    address = {"SITE_URL": "https://example.org/docs/", "GITHUB_REPOSITORY": "someone/docs"}
    built = mkdocs(root, "build", "--strict", umask=umask, **address, **environment)
    assert built.returncode == 0, built.stderr
    site = root / "site"
    files = (file for file in site.rglob("*") if file.is_file())
    return {file.relative_to(site).as_posix(): file.read_bytes() for file in files}


@pytest.mark.weekly
def test_build_is_reproducible_across_environments(repository, repository_copy):
    files = build(repository, 0o022, {"PYTHONHASHSEED": "0"})
    files_of_copy = build(repository_copy, 0o077, OTHER_ENVIRONMENT)
    assert files.keys() == files_of_copy.keys()
    assert [path for path in files if files[path] != files_of_copy[path]] == []
    # Both builds are of the same day, so equality alone would not exclude its date.
    dates = set(re.findall("<lastmod>(.*?)</lastmod>", files["sitemap.xml"].decode()))
    assert dates == {COMMIT_DATE.partition("T")[0]}
