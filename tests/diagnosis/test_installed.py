"""An installed wheel runs every command without a checkout."""

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
    """Return a folder that holds only the package, installed from its wheel."""
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
    path = subprocess.run(
        [sys.executable, "-c", code], cwd=installed, capture_output=True, encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(installed / "lib")},
    ).stdout  # fmt: skip
    assert path.startswith(str(installed))
    assert not (installed / "lib" / "attention_docs" / "publish").exists()
    assert "distinct_sizes" in run(installed, "list").stdout
    output = run(installed, "show", "distinct_sizes").stdout
    assert output.strip() == examples.expected("distinct_sizes")
    assert run(installed, "verify").returncode == 0
    assert run(installed, "diagnose", input=output.rpartition("3\n")[2]).returncode == 0


def test_check_runs_without_a_checkout(installed):
    (installed / "mine.py").write_text(
        textwrap.dedent("""
        import numpy as np

        def attention(q, k, v):
            scores = q @ np.swapaxes(k, -1, -2)
            powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
            return powers / powers.sum(axis=-1, keepdims=True) @ v
        """)
    )
    completed = run(installed, "check", "mine:attention")
    assert completed.returncode == 1, completed.stderr
    assert "its output is that of scores that are not scaled" in completed.stdout
