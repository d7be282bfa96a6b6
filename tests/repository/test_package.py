"""The import contracts of the package."""

import shutil
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT


def test_import_contracts_are_kept():
    """The contracts are in pyproject.toml."""
    linter = shutil.which("lint-imports", path=Path(sys.executable).parent)
    process = subprocess.run(
        [linter, "--no-cache"], cwd=ROOT, capture_output=True, encoding="utf-8", check=False
    )
    assert process.returncode == 0, process.stdout
