"""An installed wheel, without a checkout, runs every command."""

import os
import subprocess
import sys
import textwrap

import pytest

from attention_docs import examples
from tests.conftest import ROOT

pytestmark = pytest.mark.thorough

BUILD = "import hatchling.build as b, sys; print(b.build_wheel(sys.argv[1]))"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder with the package as a wheel installs it, and nothing else of the repository."""
    folder = tmp_path_factory.mktemp("installed")
    wheel = subprocess.run(
        [sys.executable, "-c", BUILD, folder],
        cwd=ROOT, capture_output=True, encoding="utf-8", check=True,
    ).stdout.split()[-1]  # fmt: skip
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--target",
        "lib",
        wheel,
    ]
    subprocess.run(command, cwd=folder, check=True)
    return folder


def run(folder, *arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "attention_docs", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder / "lib")},
        capture_output=True,
        encoding="utf-8",
        **options,
    )


def test_every_command_runs_without_a_checkout(installed):
    code = "import attention_docs; print(attention_docs.__file__)"
    where = subprocess.run(
        [sys.executable, "-c", code], cwd=installed, capture_output=True, encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(installed / "lib")},
    ).stdout  # fmt: skip
    assert where.startswith(str(installed))
    assert not (installed / "lib" / "attention_docs" / "publish").exists()
    assert "distinct_sizes" in run(installed, "list").stdout
    shown = run(installed, "show", "distinct_sizes").stdout
    assert shown.strip() == examples.expected("distinct_sizes")
    assert run(installed, "verify").returncode == 0
    assert run(installed, "diagnose", input=shown.rpartition("3\n")[2]).returncode == 0


def test_a_function_of_the_reader_is_checked_without_a_checkout(installed):
    (installed / "mine.py").write_text(
        textwrap.dedent("""
        import numpy as np

        def attention(q, k, v):
            scores = q @ np.swapaxes(k, -1, -2)
            powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
            return powers / powers.sum(axis=-1, keepdims=True) @ v
        """)
    )
    found = run(installed, "check", "mine:attention")
    assert found.returncode == 1, found.stderr
    assert "its output is that of scores that are not scaled" in found.stdout
