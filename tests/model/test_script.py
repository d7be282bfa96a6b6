"""The script that reads a sentence with a model, run on the tiny model."""

import subprocess
import sys

from tests.conftest import ROOT
from tests.model import tiny

READ = ROOT / "scripts" / "real_model" / "read.py"


def run_script(text, page, gguf):
    return subprocess.run(
        [sys.executable, str(READ), text, str(page), str(gguf)],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )


def test_script_writes_a_page_with_every_head(tmp_path):
    gguf = tiny.write_gguf(tmp_path / "tiny.gguf", tiny.tiny_weights())
    run = run_script("The cat sat", tmp_path / "page.html", gguf)
    assert (run.returncode, run.stderr) == (0, "")
    assert "tokens: T | h | e |   | cat |" in run.stdout
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.count("<title>layer ") == tiny.LAYERS * tiny.HEADS


def test_script_reports_an_unusable_file_or_text_in_one_line(tmp_path):
    weights = tiny.tiny_weights()
    weights["output_norm.weight"] = weights["output_norm.weight"][:-1]
    gguf = tiny.write_gguf(tmp_path / "tiny.gguf", tiny.tiny_weights())
    broken = tiny.write_gguf(tmp_path / "broken.gguf", weights)
    page = tmp_path / "page.html"
    for text, path, message in (
        ("The cat", broken, "output_norm.weight has shape (15,); expected shape (16,)"),
        ("The cat", tmp_path / "none.gguf", "No such file"),
        ("cat " * 17, gguf, "tokens has 34 ids; expected 1 to 32"),
    ):
        run = run_script(text, page, path)
        assert run.returncode == 1
        assert run.stderr.startswith("model: ")
        assert message in run.stderr
        assert run.stderr.count("\n") == 1
    assert not page.exists()
