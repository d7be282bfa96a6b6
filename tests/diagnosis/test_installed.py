"""An installed wheel runs every command without a checkout."""

import os
import subprocess
import sys
import textwrap
import tomllib

import pytest

from attention_docs import examples
from attention_docs.__main__ import check_command
from attention_docs.diagnosis import calling
from tests.conftest import ROOT

pytestmark = pytest.mark.thorough

VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
BUILD_WHEEL = "import hatchling.build, sys; print(hatchling.build.build_wheel(sys.argv[1]))"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Return a folder that holds only the package, installed from its wheel."""
    folder = tmp_path_factory.mktemp("installed")
    wheel = subprocess.run(
        [sys.executable, "-c", BUILD_WHEEL, folder],
        cwd=ROOT, capture_output=True, encoding="utf-8", check=True,
    ).stdout.split()[-1]  # fmt: skip
    pip_install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    subprocess.run([*pip_install, "--target", "lib", wheel], cwd=folder, check=True)
    return folder


def run_python(folder, *arguments, **options):
    """Run Python in a folder, with the package that is installed there."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder / "lib")},
        capture_output=True,
        encoding="utf-8",
        **options,
    )


def run(folder, *arguments, **options):
    """Run a command of the installed package."""
    return run_python(folder, "-m", "attention_docs", *arguments, **options)


def test_wheel_contains_the_package_without_the_site_builder(installed):
    code = "import attention_docs; print(attention_docs.__file__)"
    assert run_python(installed, "-c", code).stdout.startswith(str(installed))
    assert not (installed / "lib" / "attention_docs" / "publish").exists()


def test_commands_on_examples_run_without_a_checkout(installed):
    assert "distinct_sizes" in run(installed, "list").stdout
    steps = run(installed, "show", "distinct_sizes").stdout
    assert steps.strip() == examples.expected("distinct_sizes")
    assert run(installed, "verify").returncode == 0
    output = steps.partition("output 4 x 3\n")[2]
    assert run(installed, "diagnose", input=output).returncode == 0


def test_check_runs_without_a_checkout_as_its_own_command(installed):
    (installed / "mine.py").write_text(
        textwrap.dedent("""
        import numpy as np

        def attention(q, k, v):
            scores = q @ np.swapaxes(k, -1, -2)
            exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
            return exponentials / exponentials.sum(axis=-1, keepdims=True) @ v
        """)
    )
    command = "import sys; from attention_docs.__main__ import check_command as c; sys.exit(c())"
    assert run_python(installed, "-c", command, "--version").stdout.split()[1] == VERSION
    completed = run_python(installed, "-c", command, "mine:attention")
    assert completed.returncode == 1, completed.stderr
    assert "its output is that of unscaled scores" in completed.stdout
    assert "docs/" not in completed.stdout  # which an installation does not have


def test_help_of_the_command_describes_every_layout(capsys):
    with pytest.raises(SystemExit):
        check_command(["--help"])
    text = capsys.readouterr().out
    assert all(f"\n  {layout} " in text for layout in calling.LAYOUTS)
