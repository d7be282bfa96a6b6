"""The public face of the package, and the direction of its imports."""

import shutil
import subprocess
import sys
from pathlib import Path

import attention_docs
from tests.conftest import ROOT


def test_all_names_what_is_there():
    assert attention_docs.__all__ == sorted(attention_docs.__all__)
    for name in attention_docs.__all__:
        assert getattr(attention_docs, name).__doc__


def test_imports_point_one_way():
    """The contracts stand in pyproject.toml."""
    linter = shutil.which("lint-imports", path=Path(sys.executable).parent)
    done = subprocess.run(
        [linter, "--no-cache"], cwd=ROOT, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stdout
