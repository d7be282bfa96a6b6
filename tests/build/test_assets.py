"""Browser assets: fetched once, whole or not at all, nothing of them committed."""

import json
import subprocess

import pytest

from attention_docs.publish import assets
from attention_docs.publish.errors import PublishError
from tests.conftest import ROOT


def manifest(folder):
    for name in assets.MANIFEST:
        (folder / name).write_bytes((ROOT / name).read_bytes())
    return folder


npm = pytest.mark.usefixtures("assets")


def test_only_another_lock_file_is_fetched_anew_and_a_failure_keeps_the_old(tmp_path, monkeypatch):
    manifest(tmp_path)
    fetched = []

    def fetch(root, folder):
        fetched.append(folder)
        (folder / "node_modules").mkdir()
        (folder / "node_modules" / "it").touch()

    monkeypatch.setattr(assets, "fetch", fetch)
    assert assets.ensure(tmp_path) == assets.ensure(tmp_path)
    assert len(fetched) == 1
    (tmp_path / "package-lock.json").write_text("{}")
    assets.ensure(tmp_path)
    assert len(fetched) == 2

    def broken(root, folder):
        (folder / "node_modules").mkdir()
        raise PublishError("no network")

    monkeypatch.setattr(assets, "fetch", broken)
    (tmp_path / "package-lock.json").write_text("[]")
    with pytest.raises(PublishError):
        assets.ensure(tmp_path)
    left = {path.name for path in tmp_path.iterdir()} - set(assets.MANIFEST)
    assert left == {"node_modules"}
    assert (tmp_path / "node_modules" / "it").exists()


@npm
def test_a_package_that_does_not_match_its_hash_is_refused(tmp_path):
    lock = json.loads((ROOT / "package-lock.json").read_text())
    lock["packages"]["node_modules/katex"]["integrity"] = "sha512-" + "A" * 86 + "=="
    manifest(tmp_path)
    (tmp_path / "package-lock.json").write_text(json.dumps(lock))
    with pytest.raises(PublishError, match=r"EINTEGRITY"):
        assets.ensure(tmp_path)


def test_no_lock_names_an_address():
    for path in [*ROOT.glob("requirements/*.txt"), ROOT / "package-lock.json", ROOT / ".npmrc"]:
        text = path.read_text(encoding="utf-8")
        assert "resolved" not in text.replace("omit-lockfile-registry-resolved", "")
        assert "index-url" not in text


def test_nothing_third_party_or_generated_is_committed():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    names = listed.stdout.splitlines()
    assert not [n for n in names if n.startswith(("node_modules/", "site/", ".venv/"))]
    assert not [n for n in names if n.endswith((".woff2", ".ttf", ".min.js", ".min.css", ".pyc"))]
