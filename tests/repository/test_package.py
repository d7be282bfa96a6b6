"""Public names of the package, and its import contracts."""

import shutil
import subprocess
import sys
from pathlib import Path

import attention_docs
from tests.conftest import ROOT


def test_all_lists_documented_names_in_order():
    assert attention_docs.__all__ == sorted(attention_docs.__all__)
    for name in attention_docs.__all__:
        assert getattr(attention_docs, name).__doc__


def test_import_contracts_are_kept():
    """The contracts are in pyproject.toml."""
    linter = shutil.which("lint-imports", path=Path(sys.executable).parent)
    process = subprocess.run(
        [linter, "--no-cache"], cwd=ROOT, capture_output=True, encoding="utf-8", check=False
    )
    assert process.returncode == 0, process.stdout
