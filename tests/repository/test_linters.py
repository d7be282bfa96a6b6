"""Linters of imports, requirements and workflows, with their settings in pyproject.toml."""

import shutil
import subprocess
import sysconfig

import pytest

from tests.conftest import ROOT

COMMANDS = [
    "lint-imports --no-cache",
    "deptry attention_docs/publish",
    # What is in the wheel may not import the requirements of the site.
    "deptry attention_docs --extend-exclude attention_docs.publish"
    " --optional-dependencies-dev-groups site",
    "zizmor --offline --pedantic --strict-collection .github",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_linter_reports_nothing(command):
    name, *arguments = command.split()
    linter = shutil.which(name, path=sysconfig.get_path("scripts"))
    assert linter, "requirements/test.txt is not installed"
    process = subprocess.run([linter, *arguments], cwd=ROOT, capture_output=True, encoding="utf-8")
    assert process.returncode == 0, process.stdout + process.stderr
