"""A checkout with the scripts, and what makes them run there."""

import hashlib
import json
import os
import shutil
import subprocess
import sys

import pytest

from tests.conftest import ROOT

# A shell script stands in for .venv/bin/python.
posix_only = pytest.mark.skipif(os.name == "nt", reason="the stand-in for .venv is a shell script")
SCRIPTS = ROOT / "scripts"


def copy_scripts(folder):
    shutil.copytree(SCRIPTS, folder / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "requirements", folder / "requirements")


def run(checkout, script, *arguments, **environment):
    """Run a script of a checkout, with the package of the checkout."""
    return subprocess.run(
        [sys.executable, checkout / "scripts" / script, *arguments],
        env={**os.environ, "PYTHONPATH": str(checkout), **environment},
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )


def create_venv(checkout):
    """Create a .venv that the scripts consider installed, and that runs this Python."""
    python = checkout / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    lock = (checkout / "requirements" / "site.txt").read_bytes()
    state = {"site": hashlib.sha256(lock).hexdigest()}
    (checkout / ".venv" / "installed.json").write_text(json.dumps(state))
