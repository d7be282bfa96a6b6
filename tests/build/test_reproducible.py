"""Builds of the same commit give the same bytes, independently of time and environment."""

import os
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
def twins(project, tmp_path_factory):
    """A repository, and a copy without caches at a longer path, created in reverse order."""
    author = {
        f"GIT_{role}_{field}": value
        for role in ("AUTHOR", "COMMITTER")
        for field, value in (("NAME", "a"), ("EMAIL", "a@b"), ("DATE", COMMIT_DATE))
    }
    for command in (
        ["init", "-q"],
        ["add", "docs", "attention_docs"],
        ["commit", "-q", "-m", "All"],
    ):
        subprocess.run(
            ["git", *command],
            cwd=project,
            env={**os.environ, **author, "GIT_CONFIG_GLOBAL": os.devnull},
            check=True,
        )
    twin = tmp_path_factory.mktemp("another") / "place with a space" / "and-a-longer-name"
    for file in sorted(project.rglob("*"), reverse=True):
        name = file.relative_to(project)
        if file.is_file() and name.parts[0] not in (".cache", "node_modules"):
            (twin / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, twin / name)
    link_folder((project / "node_modules").resolve(), twin / "node_modules")
    return project, twin


def files_of(site):
    return {
        file.relative_to(site).as_posix(): file.read_bytes()
        for file in site.rglob("*")
        if file.is_file()
    }


def test_build_is_reproducible_across_environments(twins):
    original, copy = twins
    address = {"SITE_URL": "https://example.org/docs/", "GITHUB_REPOSITORY": "someone/docs"}
    for root, umask, environment in (
        (original, 0o022, {"PYTHONHASHSEED": "0"}),
        (copy, 0o077, OTHER_ENVIRONMENT),
    ):
        built = mkdocs(root, "build", "--strict", umask=umask, **address, **environment)
        assert built.returncode == 0, built.stderr
    files, other_files = files_of(original / "site"), files_of(copy / "site")
    assert files.keys() == other_files.keys()
    assert [name for name in files if files[name] != other_files[name]] == []
    # The date of the commit, not of the build.
    assert files["sitemap.xml"].count(b"<lastmod>2024-02-29</lastmod>") > 35
    assert str(original).encode() not in b"".join(files.values())
