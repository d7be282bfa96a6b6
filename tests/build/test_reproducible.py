"""Reproducible: who builds the same commit, anywhere and at any time, gets the same bytes."""

import os
import shutil
import subprocess

import pytest

from tests.conftest import link_folder, mkdocs

COMMITTED = "2024-02-29T23:59:00+0000"
ELSEWHERE = {
    "TZ": "Pacific/Kiritimati",
    "LC_ALL": "C",
    "PYTHONCOERCECLOCALE": "0",
    "PYTHONUTF8": "0",
    "PYTHONHASHSEED": "1",
    "HOME": "/nonexistent",
}


@pytest.fixture
def twins(project, tmp_path_factory):
    """A repository, and its copy: at a longer path, its files made in the reverse order, cold."""
    author = {
        f"GIT_{role}_{what}": value
        for role in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "a"), ("EMAIL", "a@b"), ("DATE", COMMITTED))
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


def contents(site):
    return {
        file.relative_to(site).as_posix(): file.read_bytes()
        for file in site.rglob("*")
        if file.is_file()
    }


def test_a_build_elsewhere_is_the_same_to_the_byte(twins):
    here, there = twins
    address = {"SITE_URL": "https://example.org/docs/", "GITHUB_REPOSITORY": "someone/docs"}
    for root, umask, surroundings in (
        (here, 0o022, {"PYTHONHASHSEED": "0"}),
        (there, 0o077, ELSEWHERE),
    ):
        built = mkdocs(root, "build", "--strict", umask=umask, **address, **surroundings)
        assert built.returncode == 0, built.stderr
    one, other = contents(here / "site"), contents(there / "site")
    assert one.keys() == other.keys()
    assert [name for name in one if one[name] != other[name]] == []
    # Of the commit, not of today.
    assert one["sitemap.xml"].count(b"<lastmod>2024-02-29</lastmod>") > 35
    assert str(here).encode() not in b"".join(one.values())
