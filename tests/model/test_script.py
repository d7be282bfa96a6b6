"""The script that reads a sentence with a model, run on the tiny model."""

import subprocess
import sys

from tests.conftest import ROOT
from tests.model import tiny

READ = ROOT / "scripts" / "real_model" / "read.py"


def run_script(text, page, gguf):
    return subprocess.run(
        [sys.executable, READ, text, page, gguf], capture_output=True, text=True, cwd=ROOT
    )


def test_script_writes_a_page_with_every_head(tmp_path, gguf):
    run = run_script("The cat sat", tmp_path / "page.html", gguf)
    assert (run.returncode, run.stderr) == (0, "")
    assert "tokens: T | h | e |   | cat |" in run.stdout
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.count("<title>layer ") == tiny.LAYERS * tiny.HEADS


def assert_fails_in_one_line(run, message):
    assert run.returncode == 1
    assert run.stderr.startswith("model: ")
    assert message in run.stderr
    assert run.stderr.count("\n") == 1


def test_script_reports_a_missing_file(tmp_path):
    run = run_script("The cat", tmp_path / "page.html", tmp_path / "missing.gguf")
    assert_fails_in_one_line(run, "No such file")


def test_script_reports_a_long_text_and_writes_no_page(tmp_path, gguf):
    run = run_script("cat " * 17, tmp_path / "page.html", gguf)
    assert_fails_in_one_line(run, "tokens has 34 ids; expected 1 to 32")
    assert not (tmp_path / "page.html").exists()
