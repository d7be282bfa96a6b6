"""An installed wheel runs every command without a checkout."""

import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.thorough

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


def test_verify_runs_without_a_checkout(installed):
    assert run(installed, "verify").returncode == 0
