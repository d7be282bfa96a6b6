"""Browser assets: fetched once and atomically, and not committed."""

import json
import subprocess

import pytest

from attention_docs.publish import assets
from attention_docs.publish.errors import PublishError
from tests.conftest import ROOT


def copy_manifest(folder):
    for name in assets.MANIFEST:
        (folder / name).write_bytes((ROOT / name).read_bytes())
    return folder


npm = pytest.mark.usefixtures("assets")


def test_assets_are_refetched_only_when_the_lock_file_changes(tmp_path, monkeypatch):
    copy_manifest(tmp_path)
    fetches = []

    def fetch(root, folder):
        fetches.append(folder)
        (folder / "node_modules").mkdir()
        (folder / "node_modules" / "package").touch()

    monkeypatch.setattr(assets, "fetch", fetch)
    assert assets.ensure(tmp_path) == assets.ensure(tmp_path)
    assert len(fetches) == 1
    (tmp_path / "package-lock.json").write_text("{}")
    assets.ensure(tmp_path)
    assert len(fetches) == 2

    def fail(root, folder):
        (folder / "node_modules").mkdir()
        raise PublishError("no network")

    monkeypatch.setattr(assets, "fetch", fail)
    (tmp_path / "package-lock.json").write_text("[]")
    with pytest.raises(PublishError):
        assets.ensure(tmp_path)
    remaining = {path.name for path in tmp_path.iterdir()} - set(assets.MANIFEST)
    assert remaining == {"node_modules"}
    assert (tmp_path / "node_modules" / "package").exists()


@npm
def test_npm_package_with_wrong_hash_is_rejected(tmp_path):
    lock = json.loads((ROOT / "package-lock.json").read_text())
    lock["packages"]["node_modules/katex"]["integrity"] = "sha512-" + "A" * 86 + "=="
    copy_manifest(tmp_path)
    (tmp_path / "package-lock.json").write_text(json.dumps(lock))
    with pytest.raises(PublishError, match=r"EINTEGRITY"):
        assets.ensure(tmp_path)


def test_lock_files_contain_no_registry_urls():
    for path in [*ROOT.glob("requirements/*.txt"), ROOT / "package-lock.json", ROOT / ".npmrc"]:
        text = path.read_text(encoding="utf-8")
        assert "resolved" not in text.replace("omit-lockfile-registry-resolved", "")
        assert "index-url" not in text


def test_no_third_party_or_generated_file_is_committed():
    process = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    names = process.stdout.splitlines()
    assert not [n for n in names if n.startswith(("node_modules/", "site/", ".venv/"))]
    assert not [n for n in names if n.endswith((".woff2", ".ttf", ".min.js", ".min.css", ".pyc"))]
