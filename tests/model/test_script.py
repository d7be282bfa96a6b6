"""The script that reads a sentence with a model, run on the tiny model."""

import subprocess
import sys

from tests.conftest import ROOT

READ = ROOT / "scripts" / "real_model" / "read.py"


def run_script(text, gguf):
    return subprocess.run(
        [sys.executable, READ, text, gguf], capture_output=True, text=True, cwd=ROOT
    )


def test_script_prints_tokens_next_words_and_heads(gguf):
    run = run_script("The cat sat", gguf)
    assert (run.returncode, run.stderr) == (0, "")
    tokens, next_words, *heads = run.stdout.splitlines()
    assert tokens.startswith("tokens: T | h | e |   | cat |")
    assert next_words.startswith("next: ")
    assert all(": layer " in head for head in heads)


def assert_fails_in_one_line(run, message):
    assert run.returncode == 1
    assert run.stderr.startswith("model: ")
    assert message in run.stderr
    assert run.stderr.count("\n") == 1


def test_script_reports_a_missing_file(tmp_path):
    run = run_script("The cat", tmp_path / "missing.gguf")
    assert_fails_in_one_line(run, "No such file")


def test_script_reports_a_long_text(gguf):
    run = run_script("cat " * 17, gguf)
    assert_fails_in_one_line(run, "tokens has 34 ids; expected 1 to 32")
