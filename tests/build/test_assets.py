"""npm packages: installed once and atomically, and not committed."""

import base64
import json
import subprocess

import pytest

from attention_docs.publish import assets
from attention_docs.publish.errors import PublishError
from tests.conftest import ROOT

WRONG_HASH = "sha512-" + base64.b64encode(bytes(512 // 8)).decode()


def copy_npm_files(folder):
    for name in ("package.json", "package-lock.json", ".npmrc"):
        (folder / name).write_bytes((ROOT / name).read_bytes())


def test_npm_packages_are_installed_again_only_when_the_lock_changes(tmp_path, monkeypatch):
    copy_npm_files(tmp_path)
    installations = []

    def create_node_modules(root):
        installations.append(root)
        (root / "node_modules").mkdir(exist_ok=True)

    monkeypatch.setattr(assets, "run_npm_ci", create_node_modules)
    assert assets.install(tmp_path) == assets.install(tmp_path)
    assert len(installations) == 1
    (tmp_path / "package-lock.json").write_text("{}")
    assets.install(tmp_path)
    assert len(installations) == 2


def test_failed_npm_installation_is_repeated(tmp_path, monkeypatch):
    copy_npm_files(tmp_path)
    results = iter([PublishError("no network"), None])

    def fail_once(root):
        (root / "node_modules").mkdir(exist_ok=True)
        if error := next(results):
            raise error

    monkeypatch.setattr(assets, "run_npm_ci", fail_once)
    with pytest.raises(PublishError, match="no network"):
        assets.install(tmp_path)
    assets.install(tmp_path)


@pytest.mark.usefixtures("assets")  # needs npm and the network
def test_npm_package_with_wrong_hash_is_rejected(tmp_path):
    lock = json.loads((ROOT / "package-lock.json").read_text())
    lock["packages"]["node_modules/katex"]["integrity"] = WRONG_HASH
    copy_npm_files(tmp_path)
    (tmp_path / "package-lock.json").write_text(json.dumps(lock))
    with pytest.raises(PublishError, match=r"EINTEGRITY"):
        assets.install(tmp_path)


def test_missing_file_of_an_npm_package_is_reported(tmp_path):
    with pytest.raises(PublishError, match=r"^node_modules/katex/package\.json is missing; "):
        assets.read_file(tmp_path, "katex/package.json")


def test_npm_lock_contains_no_registry_urls():
    assert "resolved" not in (ROOT / "package-lock.json").read_text(encoding="utf-8")


def test_no_third_party_or_generated_file_is_committed():
    committed = subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).splitlines()
    assert committed
    for path in committed:
        assert not path.startswith(("node_modules/", "site/", ".venv/"))
        assert not path.endswith((".woff2", ".ttf", ".min.js", ".min.css", ".pyc"))
